"""A format of somebody's own: a directory of templates in the repository.

``format.yaml`` says which kind of object takes the late-bound patches, and where:

    late: {kind: ClusterProfile, pointer: /spec/patches}

Every other file right in the directory is a template of a file that tells the reconciler of one
overlay; ``.j2`` at the end of its name is left away. The object that takes the patches is named
after the application and holds a list there, which may be empty. Without ``late`` the patches go
right to the application's objects, and without templates lines lead to overlays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graph.model.errors import Invalid, TrellisError
from graph.model.names import counted, quoted
from graph.model.values import Value
from graph.model.workload import Application
from renderer import canonical, paths
from renderer.failure import Failure, Unrenderable
from renderer.formats.late import Patch, handed_on, object_patches
from renderer.formats.port import Unit
from renderer.objects.business import labels_of
from renderer.objects.manifest import kustomization
from renderer.shapes import check_shape
from renderer.tree import Tree

DESCRIPTION = "format.yaml"
FILES_MAX = 32
BYTES_MAX = 131_072
"""Of all files of a format."""

Render = Callable[[Mapping[str, str], Mapping[str, object]], Mapping[str, str]]
"""Renders files by name from a context; raises ``Unrenderable``."""


class Taker(BaseModel):
    """What takes the late-bound patches."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = Field(pattern=r"^[A-Z][A-Za-z0-9]{0,62}$")
    pointer: str = Field(pattern=r"^(/([!-.0-}]|~[01])+)+$")


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    late: Taker | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """A format as it was read."""

    templates: Mapping[str, str] = field(default_factory=dict[str, str])
    taker: Taker | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """A format that cannot be read: what was told in its words stays, and the rest waits."""

    name: str
    failure: Failure

    def leads_to(self, application: str, key: str) -> str:
        """Where it told of an overlay before, as far as can be known."""
        return paths.sync(application, self.name, key)

    def files(self, unit: Unit, tree: Tree) -> Mapping[str, bytes]:
        """None."""
        raise Unrenderable(self.failure)

    def patches(self, application: Application, late: Mapping[str, Value]) -> Sequence[Patch]:
        """None."""
        raise Unrenderable(self.failure)


class Own:
    """The words of a reconciler that nobody here knows."""

    def __init__(self, name: str, description: Description, render: Render) -> None:
        self.name = name
        self._description = description
        self._render = render

    def leads_to(self, application: str, key: str) -> str:
        """What tells the reconciler, or the overlay where there is nothing to tell."""
        if self._description.templates:
            return paths.sync(application, self.name, key)
        return paths.overlay(application, key)

    def files(self, unit: Unit, tree: Tree) -> Mapping[str, bytes]:
        """The rendered templates, and a kustomization of them unless there is one among them."""
        if not self._description.templates:
            return {}
        made = self._render(self._description.templates, context_of(unit))
        if len(made.keys() & set(paths.KUSTOMIZATIONS)) > 1:
            raise Unrenderable(
                Failure("the format gives several kustomizations", "keep one of them")
            )
        for name, text in made.items():
            _check(name, text)
        files = {name: text.encode() for name, text in sorted(made.items())}
        if any(name in files for name in paths.KUSTOMIZATIONS):
            return files
        labels, annotations = labels_of(unit.application, unit.namespace, unit.key)
        marks = {"labels": [{"pairs": labels}], "commonAnnotations": annotations}
        return files | {paths.KUSTOMIZATION: kustomization(list(files), **marks)}

    def patches(self, application: Application, late: Mapping[str, Value]) -> Sequence[Patch]:
        """Handed on to the object that takes them, or for the objects themselves."""
        taker = self._description.taker
        if taker is None:
            return object_patches(application, late, namespace=application.namespace)
        filled = object_patches(application, late)
        last = f"{taker.pointer}/-"
        return [handed_on(taker.kind, application.name, last, each) for each in filled]


def read_own(directory: str, tree: Tree) -> Description | Failure:
    """The format in a directory, or why there is none: told of every overlay that wants it."""
    try:
        return _read(directory, tree)
    except TrellisError as error:
        return Failure(error.message, error.hint, directory)


def own(name: str, directory: str, tree: Tree, render: Render) -> Own | Broken:
    """The format of a reconciler that is in a directory."""
    found = read_own(directory, tree)
    return Broken(name, found) if isinstance(found, Failure) else Own(name, found, render)


def context_of(unit: Unit) -> dict[str, object]:
    """What the templates of a format know."""
    application, namespace = unit.application, unit.namespace
    labels, annotations = labels_of(application, namespace, unit.key)
    return {
        "application": {
            "name": application.name,
            "title": application.title,
            "owner": application.owner,
            "labels": dict(application.labels),
            "cluster_scoped": list(application.cluster_scoped),
        },
        "namespace": {
            "name": namespace.name,
            "title": namespace.title,
            "owners": list(namespace.owners),
            "cost_center": namespace.cost_center,
            "labels": dict(namespace.labels),
        },
        "overlay": {"key": unit.key, "path": paths.overlay(application.name, unit.key)},
        "needs": [{"application": each, "namespace": where} for each, where in unit.needs],
        "wave": unit.wave,
        "labels": labels,
        "annotations": annotations,
    }


def _read(directory: str, tree: Tree) -> Description:
    names = tree.names(directory)
    if DESCRIPTION not in names:
        raise Invalid(
            f"{directory} holds no {DESCRIPTION}, so it is no format",
            hint=f"write {DESCRIPTION}, or correct the setting of own formats",
        )
    held = tree.read_many(f"{directory}/{name}" for name in names)
    if len(held) > FILES_MAX or sum(map(len, held.values())) > BYTES_MAX:
        raise Invalid(
            f"the format in {directory} is larger than a format may be",
            hint=f"keep it to {counted(FILES_MAX, 'file')} and {BYTES_MAX:,} bytes",
        )
    texts = {path.rpartition("/")[2]: _text(path, each) for path, each in held.items()}
    described = canonical.read(texts.pop(DESCRIPTION).strip() or "{}")
    templates = {name.removesuffix(".j2"): text for name, text in sorted(texts.items())}
    for name in templates:
        paths.inside(directory, name)
    return Description(templates, _taker(described, f"{directory}/{DESCRIPTION}"))


def _text(path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is no text", hint="save the file as UTF-8") from error


def _taker(described: object, path: str) -> Taker | None:
    try:
        return _Described.model_validate(described or {}).late
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = ".".join(map(str, first["loc"]))
        raise Invalid(
            f"{path} cannot be read as the description of a format: {at}: {first['msg']}",
            hint="write late: {kind: KIND, pointer: /path/of/its/list}, or nothing",
        ) from None


def _check(name: str, text: str) -> None:
    """A file that no kustomization can name, or that is no YAML, is not written."""
    try:
        paths.inside("sync", name)
        found = [
            cast("dict[str, object]", each)
            for each in canonical.read_all(text)
            if isinstance(each, dict)
        ]
        if not found:
            raise Invalid(f"{quoted(name)} holds no object", hint="every file of a format does")
        if name not in paths.KUSTOMIZATIONS:
            for each in found:
                check_shape(each, strict=False)
    except TrellisError as error:
        raise Unrenderable(Failure(error.message, error.hint, name)) from error
