"""The shape of workload commands in a file; the same words as in the API.

An assignment or a prohibition names its applications right beside its selector: ``namespace``,
``applications`` and ``labels`` are together the choice of the core.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from cli.shape import CapacityShape, Shape
from graph.model import workload_command as commands
from graph.model.command import Command
from graph.model.inventory import Reconciler
from graph.model.workload import (
    Base,
    Binding,
    BindingKind,
    Choice,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    SecretProvider,
    SecretReference,
    Source,
    Template,
)

ReconcilerName = Annotated[Reconciler, Field(strict=False)]
BindingKindName = Annotated[BindingKind, Field(strict=False)]
EnforcementName = Annotated[Enforcement, Field(strict=False)]
SecretProviderName = Annotated[SecretProvider, Field(strict=False)]

CHOICE = ("namespace", "applications", "labels")


class BindingShape(Shape):
    """A value and what it fills."""

    key: str
    kind: BindingKindName
    name: str
    field: str = ""

    def noun(self) -> Binding:
        """The binding."""
        return Binding(**self.given())


class ComponentShape(Shape):
    """A component and the value that switches it on."""

    key: str
    path: str

    def noun(self) -> Component:
        """The component."""
        return Component(**self.given())


class BaseShape(Shape):
    """A directory of the owner."""

    path: str
    bindings: list[BindingShape] = []
    components: list[ComponentShape] = []

    def noun(self) -> Base:
        """The base."""
        return Base(**self.given())


class TemplateShape(Shape):
    """Template text by file name."""

    files: dict[str, str]

    def noun(self) -> Template:
        """The template."""
        return Template(**self.given())


class SourceShape(Shape):
    """One of ``base`` and ``template``."""

    base: BaseShape | None = None
    template: TemplateShape | None = None

    @model_validator(mode="after")
    def _one(self) -> SourceShape:
        if (self.base is None) is (self.template is None):
            raise ValueError("give one of base and template")
        return self

    def noun(self) -> Source:
        """The source."""
        if self.base is not None:
            return self.base.noun()
        assert self.template is not None, "one of the two is given"
        return self.template.noun()


class FieldTargetShape(Shape):
    """A field of a manifest."""

    object: str
    pointer: str

    def noun(self) -> FieldTarget:
        """The field."""
        return FieldTarget(**self.given())


class LateBoundShape(Shape):
    """A key that differs per cluster."""

    key: str
    source: str = ""
    fields_: list[FieldTargetShape] = Field(default=[], alias="fields")

    def noun(self) -> LateBound:
        """The key."""
        return LateBound(self.key, self.source, tuple(each.noun() for each in self.fields_))


class SecretReferenceShape(Shape):
    """Where a secret is kept."""

    name: str
    provider: SecretProviderName
    store: str
    keys: dict[str, str]

    def noun(self) -> SecretReference:
        """The reference."""
        return SecretReference(**self.given())


class OrderHierarchies(Shape):
    """See ``graph.model.workload_command``; so for all below."""

    names: list[str]


class DefineNamespace(Shape):
    """A namespace, whole."""

    name: str
    title: str = ""
    owners: list[str] = []
    cost_center: str = ""
    labels: dict[str, str] = {}
    quota: CapacityShape | None = None
    limits: CapacityShape | None = None
    secrets: list[SecretReferenceShape] = []


class DeleteNamespace(Shape):
    """A namespace that nothing names goes."""

    name: str


class DefineApplication(Shape):
    """An application, whole."""

    name: str
    namespace: str
    title: str = ""
    owner: str = ""
    labels: dict[str, str] = {}
    requires: str | None = None
    reconcilers: list[ReconcilerName] = []
    depends_on: list[str] = []
    requests: CapacityShape | None = None
    source: SourceShape | None = None
    values: dict[str, Any] = {}
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    late_bound: list[LateBoundShape] = []
    reads: list[str] = []
    cluster_scoped: list[str] = []

    def given(self) -> dict[str, Any]:
        """As any shape's; ``schema`` is a word pydantic has taken."""
        given = super().given()
        if "schema_" in given:
            given["schema"] = given.pop("schema_")
        return given


class DeleteApplication(Shape):
    """An application that nothing names goes."""

    name: str


class Assign(Shape):
    """An assignment, whole."""

    name: str
    namespace: str
    applications: list[str] = []
    labels: dict[str, str] = {}
    selector: str
    title: str = ""

    def given(self) -> dict[str, Any]:
        """With the choice put together."""
        return _with_choice(super().given())


class Unassign(Shape):
    """An assignment goes."""

    name: str


class Prohibit(Shape):
    """A prohibition, whole."""

    name: str
    namespace: str = ""
    applications: list[str] = []
    labels: dict[str, str] = {}
    selector: str
    title: str = ""

    def given(self) -> dict[str, Any]:
        """With the choice put together."""
        return _with_choice(super().given())


class LiftProhibition(Shape):
    """A prohibition goes."""

    name: str


class SetLayer(Shape):
    """A layer, whole."""

    name: str
    selector: str
    values: dict[str, Any]
    application: str = ""
    rank: int = 0
    title: str = ""


class RemoveLayer(Shape):
    """A layer goes."""

    name: str


class SetPolicy(Shape):
    """A policy, whole."""

    name: str
    namespaces: list[str] = []
    selector: str | None = None
    quota_max: CapacityShape | None = None
    required_labels: list[str] = []
    registries: list[str] = []
    oversubscription: EnforcementName | None = None
    title: str = ""


class RemovePolicy(Shape):
    """A policy goes."""

    name: str


WORKLOAD_SHAPES: tuple[tuple[type[Shape], type[Command]], ...] = (
    (OrderHierarchies, commands.OrderHierarchies),
    (DefineNamespace, commands.DefineNamespace),
    (DeleteNamespace, commands.DeleteNamespace),
    (DefineApplication, commands.DefineApplication),
    (DeleteApplication, commands.DeleteApplication),
    (Assign, commands.Assign),
    (Unassign, commands.Unassign),
    (Prohibit, commands.Prohibit),
    (LiftProhibition, commands.LiftProhibition),
    (SetLayer, commands.SetLayer),
    (RemoveLayer, commands.RemoveLayer),
    (SetPolicy, commands.SetPolicy),
    (RemovePolicy, commands.RemovePolicy),
)
"""The shape of each workload command, and the command it makes."""


def _with_choice(given: dict[str, Any]) -> dict[str, Any]:
    choice = {name: given.pop(name) for name in CHOICE if name in given}
    return {**given, "choice": Choice(**choice)}
