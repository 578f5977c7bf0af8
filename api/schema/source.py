"""Where an application's manifests come from and how values reach them, as it travels."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.schema.workload_enums import BindingKind
from graph.model import workload as core


@strawberry.type(description="A value, and what of an owner's manifests it fills.")
class Binding:
    """As ``graph.model.workload.Binding``; so for all below."""

    key: str = strawberry.field(description="The dotted path of the value, as image.tag.")
    kind: BindingKind = strawberry.field(description="What it fills.")
    name: str = strawberry.field(
        description="The image, the object or the ConfigMap; of a field the object as Kind/name."
    )
    field: str = strawberry.field(
        description="The entry of a ConfigMap, or a JSON pointer to a field; else empty."
    )


@strawberry.type(description="An owner's kustomize component, switched on by a value.")
class Component:
    """A switch."""

    key: str = strawberry.field(description="It is on where the value at this dotted path is true.")
    path: str = strawberry.field(description="Its directory, below the application's own.")


@strawberry.type(description="Owners' manifests in a directory of the GitOps repository.")
class BaseSource:
    """Manifests used as they are."""

    path: str = strawberry.field(description="Below the application's own directory.")
    bindings: list[Binding] = strawberry.field(description="The values that fill something.")
    components: list[Component] = strawberry.field(description="What values switch on.")


@strawberry.type(description="A file of a template.")
class TemplateFile:
    """One file."""

    name: str = strawberry.field(description="Its name.")
    text: str = strawberry.field(description="The template.")


@strawberry.type(description="Manifests rendered from values.")
class TemplateSource:
    """Templates that are part of the definition."""

    files: list[TemplateFile] = strawberry.field(description="The files, by name.")


Source = Annotated[
    BaseSource | TemplateSource,
    strawberry.union("Source", description="Where an application's manifests come from."),
]


@strawberry.type(description="A field of a manifest.")
class FieldTarget:
    """An object and a place in it."""

    object: str = strawberry.field(description="The object, as Kind/name.")
    pointer: str = strawberry.field(description="A JSON pointer into it.")


@strawberry.type(
    description="A key whose value differs per cluster: the strongest layer that sets it wins, else"
    " its source is filled in."
)
class LateBound:
    """A late-bound key."""

    key: str = strawberry.field(description="The dotted path of the value.")
    source: str = strawberry.field(
        description="A text with {cluster} or {label} in it; empty when only layers give the value,"
        " or it names something you may not see."
    )
    fields: list[FieldTarget] = strawberry.field(description="What it fills.")


def source_of(source: core.Source) -> BaseSource | TemplateSource:
    """A source of the core as it travels."""
    if isinstance(source, core.Template):
        files = sorted(source.files.items())
        return TemplateSource(files=[TemplateFile(name=name, text=text) for name, text in files])
    return BaseSource(
        path=source.path,
        bindings=[
            Binding(key=one.key, kind=BindingKind(one.kind.value), name=one.name, field=one.field)
            for one in source.bindings
        ],
        components=[Component(key=one.key, path=one.path) for one in source.components],
    )


def late_bound_of(late: core.LateBound) -> LateBound:
    """A late-bound key of the core as it travels."""
    return LateBound(
        key=late.key,
        source=late.source,
        fields=[FieldTarget(object=one.object, pointer=one.pointer) for one in late.fields],
    )
