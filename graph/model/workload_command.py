"""Intents that concern the workload. Each defines one object whole, new or existing.

A definition that is sent again changes nothing, so that a directory of definitions can be applied
as often as one likes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.model.inventory import Capacity, Reconciler
from graph.model.selector import Selector, Written
from graph.model.workload import Choice, Enforcement, LateBound, SecretReference, Source


@dataclass(frozen=True, slots=True)
class OrderHierarchies:
    """The order in which layers on groups override each other, weakest first; names all."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DefineNamespace:
    """A namespace as it shall be."""

    name: str
    title: str = ""
    owners: tuple[str, ...] = ()
    cost_center: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    quota: Capacity | None = None
    limits: Capacity | None = None
    secrets: tuple[SecretReference, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteNamespace:
    """Remove a namespace that nothing names."""

    name: str


@dataclass(frozen=True, slots=True)
class DefineApplication:
    """An application as it shall be. Its namespace is final."""

    name: str
    namespace: str
    title: str = ""
    owner: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    requires: Written | Selector | None = None
    reconcilers: tuple[Reconciler, ...] = ()
    depends_on: tuple[str, ...] = ()
    requests: Capacity | None = None
    source: Source | None = None
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    schema: Mapping[str, object] | None = None
    late_bound: tuple[LateBound, ...] = ()
    reads: tuple[str, ...] = ()
    cluster_scoped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteApplication:
    """Remove an application that nothing names."""

    name: str


@dataclass(frozen=True, slots=True)
class Assign:
    """An assignment as it shall be."""

    name: str
    choice: Choice
    selector: Written | Selector
    title: str = ""


@dataclass(frozen=True, slots=True)
class Unassign:
    """Take an assignment back."""

    name: str


@dataclass(frozen=True, slots=True)
class Prohibit:
    """A prohibition as it shall be."""

    name: str
    choice: Choice
    selector: Written | Selector
    title: str = ""


@dataclass(frozen=True, slots=True)
class LiftProhibition:
    """Take a prohibition back."""

    name: str


@dataclass(frozen=True, slots=True)
class SetLayer:
    """A layer as it shall be. The application it is for is final."""

    name: str
    selector: Written | Selector
    values: Mapping[str, object]
    application: str = ""
    rank: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class RemoveLayer:
    """Take a layer away."""

    name: str


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """A policy as it shall be."""

    name: str
    namespaces: tuple[str, ...] = ()
    selector: Written | Selector | None = None
    quota_max: Capacity | None = None
    required_labels: tuple[str, ...] = ()
    registries: tuple[str, ...] = ()
    oversubscription: Enforcement | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class RemovePolicy:
    """Take a policy away."""

    name: str


WorkloadCommand = (
    OrderHierarchies
    | DefineNamespace
    | DeleteNamespace
    | DefineApplication
    | DeleteApplication
    | Assign
    | Unassign
    | Prohibit
    | LiftProhibition
    | SetLayer
    | RemoveLayer
    | SetPolicy
    | RemovePolicy
)
