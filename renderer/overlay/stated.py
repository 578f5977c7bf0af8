"""Overlays of base applications: where the base is, and what the values say of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson

from graph.model.errors import Invalid
from graph.model.value_path import value_path
from graph.model.values import Value
from graph.model.workload import Application, Base, Binding, BindingKind, Namespace
from renderer import paths
from renderer.failure import Failure, Unrenderable
from renderer.objects.manifest import kustomization
from renderer.objects.marks import Marking
from renderer.overlay.base_reading import Holdings
from renderer.overlay.binding import Statement, is_on, value_at
from renderer.overlay.fitting import misfit, misplaced_late, trespass
from renderer.overlay.owners import Owners
from renderer.rules import Rules
from renderer.shapes import check_shape

_UP = "../../"
"""From an overlay to the application's directory."""
_ESCAPE = "\\"
"""Stands before a dot in the name of a patch's target, which is a pattern."""


class Unbuildable(Unrenderable):
    """An overlay that could be written, and would not build: what it is made of does not."""

    def __init__(self, failure: Failure, written: bytes) -> None:
        super().__init__(failure)
        self.written = written


@dataclass(frozen=True, slots=True)
class Stated:
    """What an overlay takes of its owner's: the base, components, and what is filled in them."""

    base: str
    components: tuple[str, ...] = ()
    bindings: tuple[Binding, ...] = ()


class Recipe:
    """How the overlays of one application are made; what they share is looked at once."""

    def __init__(self, application: Application, namespace: Namespace, owners: Owners) -> None:
        self._application = application
        self._owners = owners
        self._marking = Marking(application, namespace)
        self._namespace = namespace.name
        self._base = _base_of(application)
        self._holdings: dict[str, Holdings | Failure] = {}
        self._bindings = [(each, value_path(each.key)) for each in self._base.bindings]
        self._components = [(each, value_path(each.key)) for each in self._base.components]
        self._misfits: dict[Binding, Failure | None] = {}
        self._objects: dict[str, frozenset[tuple[str, str, str]]] = {}

    def kustomization(
        self, key: str, values: Mapping[str, Value]
    ) -> tuple[bytes, frozenset[tuple[str, str, str]]]:
        """The kustomization of one overlay, and the objects it is known to bring.

        ``Unrenderable`` says why there is none.
        """
        if not self._base.path:
            return kustomization([], **self._marking.fields(key)), frozenset()
        components = tuple(
            each.path
            for each, parts in self._components
            if is_on(each.key, value_at(values, parts))
        )
        statement = Statement()
        bindings: list[Binding] = []
        for binding, parts in self._bindings:
            value = value_at(values, parts)
            if value is not None:
                statement.add(binding, value)
                bindings.append(binding)
        fields = {"namespace": self._namespace, **self._marking.fields(key), **statement.fields()}
        if components:
            fields["components"] = [_UP + path for path in components]
        written = kustomization([_UP + self._base.path], **fields)
        try:
            self.check(Stated(self._base.path, components, tuple(bindings)))
        except Unrenderable as error:
            raise Unbuildable(error.failure, written) from None
        return written, frozenset() if components else self._brought(self._base.path)

    def check(self, stated: Stated) -> None:
        """Refuse what does not build on what its owners have pushed."""
        if not stated.base:
            return
        holdings = self._held(stated.base)
        for path in stated.components:
            self._owners.expect(paths.below_application(self._application.name, path))
        for binding in stated.bindings if not stated.components else ():
            self._expect(binding, holdings)

    def _brought(self, base: str) -> frozenset[tuple[str, str, str]]:
        """Group, kind and name of every object of a base that keeps its name."""
        if base not in self._objects:
            found = self._held(base)
            self._objects[base] = frozenset(
                (api.rpartition("/")[0], kind, name)
                for (kind, name) in (found.objects if found.is_named else ())
                for api in found.versions.get((kind, name), ("v1",))
            )
        return self._objects[base]

    def read_back(self, written: bytes) -> Stated:
        """What a published overlay takes of its owner's."""
        return read_back(written, self._base.bindings)

    def _held(self, base: str) -> Holdings:
        """What the base holds; that it cannot be used is found out once."""
        if base not in self._holdings:
            self._holdings[base] = self._look(base)
        found = self._holdings[base]
        if isinstance(found, Failure):
            raise Unrenderable(found)
        return found

    def _look(self, base: str) -> Holdings | Failure:
        application = self._application
        rules = Rules(self._namespace, application.cluster_scoped)
        try:
            found = self._owners.holdings(paths.below_application(application.name, base))
        except Unrenderable as error:
            return error.failure
        return (
            trespass(found, rules)
            or (self._image_failure(found) if self._has_images else None)
            or misplaced_late(application, found)
            or found
        )

    @property
    def _has_images(self) -> bool:
        return any(each.kind is BindingKind.IMAGE for each in self._base.bindings)

    def _image_failure(self, holdings: Holdings) -> Failure | None:
        """Kustomize looks for images in every object, where it is told to set some."""
        for called, found in holdings.objects.items():
            try:
                if found is not None:
                    check_shape(found, strict=False, images=True)
            except Invalid as error:
                return Failure(error.message, error.hint, holdings.places[called])
        return None

    def _expect(self, binding: Binding, holdings: Holdings) -> None:
        if binding not in self._misfits:
            self._misfits[binding] = misfit(binding, holdings)
        failure = self._misfits[binding]
        if failure is not None:
            raise Unrenderable(failure)


def read_back(written: bytes, known: Iterable[Binding] = ()) -> Stated:
    """What an overlay takes of its owner's, as ``Recipe.kustomization`` wrote it."""
    fields: dict[str, list[object]] = {}
    at = ""
    for line in written.decode().splitlines():
        if line.startswith("- "):
            fields[at].append(orjson.loads(line[2:]))
        else:
            at = line.partition(":")[0]
            fields[at] = []
    names = {(each.kind, each.name, each.field): each for each in known}
    bindings = [
        names.get((kind, name, field)) or Binding(field or name, kind, name, field)
        for kind, name, field in _filled(fields)
    ]
    named = [str(each).removeprefix(_UP) for each in fields.get("components", ())]
    base = next((str(each).removeprefix(_UP) for each in fields.get("resources", ())), "")
    return Stated(base, tuple(named), tuple(bindings))


def _filled(fields: Mapping[str, list[object]]) -> Iterable[tuple[BindingKind, str, str]]:
    for each in fields.get("replicas", ()):
        match each:
            case {"name": str(name)}:
                yield BindingKind.REPLICAS, name, ""
            case _:
                pass
    for each in fields.get("patches", ()):
        match each:
            case {"target": {"kind": str(kind), "name": str(name)}, "patch": str(patch)}:
                for change in orjson.loads(patch):
                    yield BindingKind.FIELD, f"{kind}/{name.replace(_ESCAPE, '')}", change["path"]
            case {"patch": str(patch)}:
                merged = orjson.loads(patch)
                for entry in merged["data"]:
                    yield BindingKind.CONFIG_MAP, merged["metadata"]["name"], entry
            case _:
                pass


def _base_of(application: Application) -> Base:
    """Its base; an empty one where there is none."""
    return application.source if isinstance(application.source, Base) else Base("")
