"""Parts of the workload as they travel inwards: labels, values, sources, late-bound keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import strawberry

from api.schema.cluster_inputs import each_once
from api.schema.intent import choice, inside
from api.schema.names import Json, Name
from api.schema.workload_enums import BindingKind
from graph.model import workload as core
from graph.model.errors import Invalid


@strawberry.input(description="One label of a namespace or an application.")
class WorkloadLabelInput:
    """A key and a value."""

    key: Name = strawberry.field(description="The label key.")
    value: str = strawberry.field(description="Its value.")


@strawberry.input(description="A value, and what of an owner's manifests it fills.")
class BindingInput:
    """As ``graph.model.workload.Binding``; so for all below."""

    key: str = strawberry.field(description="The dotted path of the value, as image.tag.")
    kind: BindingKind = strawberry.field(description="What it fills.")
    name: str = strawberry.field(
        description="The image, the object or the ConfigMap; of a field the object as Kind/name."
    )
    field: str = strawberry.field(
        default="", description="The entry of a ConfigMap, or a JSON pointer to a field."
    )


@strawberry.input(description="An owner's kustomize component, switched on by a value.")
class ComponentInput:
    """A switch."""

    key: str = strawberry.field(description="It is on where the value at this dotted path is true.")
    path: str = strawberry.field(description="Its directory, below the application's own.")


@strawberry.input(description="Owners' manifests in a directory of the GitOps repository.")
class BaseSourceInput:
    """Manifests used as they are."""

    path: str = strawberry.field(description="Below the application's own directory, as base/v12.")
    bindings: list[BindingInput] = strawberry.field(
        default_factory=list[BindingInput], description="The values that fill something."
    )
    components: list[ComponentInput] = strawberry.field(
        default_factory=list[ComponentInput], description="What values switch on."
    )


@strawberry.input(description="A file of a template.")
class TemplateFileInput:
    """One file."""

    name: str = strawberry.field(description="Its name.")
    text: str = strawberry.field(description="The template.")


@strawberry.input(description="Manifests rendered from values.")
class TemplateSourceInput:
    """Templates that are part of the definition."""

    files: list[TemplateFileInput] = strawberry.field(description="The files, each name once.")


@strawberry.input(
    one_of=True, description="Where an application's manifests come from. Exactly one field."
)
class SourceInput:
    """A base or a template."""

    base: BaseSourceInput | None = strawberry.field(
        default=strawberry.UNSET,
        description="Owners' manifests in a directory of the GitOps repository.",
    )
    template: TemplateSourceInput | None = strawberry.field(
        default=strawberry.UNSET, description="Manifests rendered from values."
    )


@strawberry.input(description="A field of a manifest.")
class FieldTargetInput:
    """An object and a place in it."""

    object: str = strawberry.field(description="The object, as Kind/name.")
    pointer: str = strawberry.field(description="A JSON pointer into it.")


@strawberry.input(
    description="A key whose value differs per cluster: the strongest layer that sets it wins, else"
    " its source is filled in."
)
class LateBoundInput:
    """A late-bound key."""

    key: str = strawberry.field(description="The dotted path of the value.")
    source: str = strawberry.field(
        default="",
        description="A text with {cluster} or {label} in it, as pos-{store}.example.com; empty when"
        " only layers give the value.",
    )
    fields: list[FieldTargetInput] = strawberry.field(
        default_factory=list[FieldTargetInput], description="What it fills."
    )


def labels_of(given: Iterable[WorkloadLabelInput]) -> dict[str, str]:
    """Labels as the core knows them."""
    return each_once(((each.key, each.value) for each in given), "label", "labels")


def values_of(given: Json, name: str) -> Mapping[str, object]:
    """Values as the core knows them, given as the field ``name``; only a map is any."""
    found = cast("object", given)
    if not isinstance(found, dict):
        raise Invalid(f"{name} is no map", hint="send an object: values by key").at(name)
    return cast("dict[str, object]", found)


def maybe_values_of(given: Json | None, name: str) -> Mapping[str, object] | None:
    """As ``values_of``, where there may be none."""
    if given is None or given is strawberry.UNSET:
        return None
    return values_of(given, name)


def source_of(given: SourceInput) -> core.Source:
    """A source as the core knows it."""
    if given.base:
        return core.Base(
            path=given.base.path,
            bindings=tuple(map(_binding, given.base.bindings)),
            components=tuple(core.Component(one.key, one.path) for one in given.base.components),
        )
    assert given.template, "the input has exactly one field"
    files = ((each.name, each.text) for each in given.template.files)
    with inside("source", "template"):
        return core.Template(each_once(files, "file", "files"))


def late_bound_of(given: LateBoundInput) -> core.LateBound:
    """A late-bound key as the core knows it."""
    fields = tuple(core.FieldTarget(each.object, each.pointer) for each in given.fields)
    return core.LateBound(given.key, given.source, fields)


def _binding(given: BindingInput) -> core.Binding:
    kind = choice(core.BindingKind, given.kind)
    return core.Binding(given.key, kind, given.name, given.field)
