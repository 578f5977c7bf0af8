"""Whether what a binding fills is there, in bases of which that can be told for certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from graph.model.errors import Invalid
from graph.model.names import did_you_mean, nearest
from graph.model.workload import Application, Base, Binding, BindingKind
from renderer.failure import Failure
from renderer.overlay.base_reading import Holdings
from renderer.overlay.binding import op_at
from renderer.rules import Rules, is_cluster_scoped, is_for_reconcilers

_SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
"""What kustomize sets replicas of."""
_FILLED_BY_OTHERS = ("/labels/", "/annotations/")
"""Maps that kustomize makes where there are none."""


def misfit(binding: Binding, holdings: Holdings) -> Failure | None:
    """Why a binding cannot be stated; None if it can, or may."""
    if not holdings.is_complete:
        return None
    match binding.kind:
        case BindingKind.REPLICAS:
            return _missing(binding, holdings, _SCALED, binding.name)
        case BindingKind.CONFIG_MAP:
            return _missing(binding, holdings, ("ConfigMap",), binding.name)
        case BindingKind.FIELD:
            kind, _, name = binding.name.partition("/")
            absent = _missing(binding, holdings, (kind,), name)
            return absent or _misplaced(binding, holdings.objects[kind, name])
        case BindingKind.IMAGE:
            return None


def trespass(holdings: Holdings, rules: Rules) -> Failure | None:
    """Why a base may not be used: an object that is everybody's, and not its own."""
    for (kind, name), place in holdings.places.items():
        try:
            is_cluster_scoped(kind, name, rules)
            for api in sorted(holdings.versions.get((kind, name), ())):
                is_for_reconcilers(api, kind, name, rules)
        except Invalid as error:
            return Failure(error.message, error.hint, file=place)
    return None


def misplaced_late(application: Application, holdings: Holdings) -> Failure | None:
    """Why a late-bound value has no place to go: the patch in the pointer would not build."""
    source = application.source
    if not holdings.is_complete or (isinstance(source, Base) and source.components):
        return None
    filled = {each.name.rpartition("/")[2] for each in bindings_of(application)}
    for late in application.late_bound:
        for field in late.fields:
            kind, _, name = field.object.partition("/")
            found = holdings.objects.get((kind, name))
            wanted = Binding(late.key, BindingKind.FIELD, field.object, field.pointer)
            if name not in filled and (failure := _misplaced(wanted, found)) is not None:
                return replace(failure, file=holdings.places[kind, name])
    return None


def bindings_of(application: Application) -> tuple[Binding, ...]:
    """What values fill; nothing in a template, which fills itself."""
    return application.source.bindings if isinstance(application.source, Base) else ()


def _missing(
    binding: Binding, holdings: Holdings, kinds: tuple[str, ...], name: str
) -> Failure | None:
    if any((kind, name) in holdings.objects for kind in kinds):
        return None
    known = sorted({held for kind, held in holdings.objects if kind in kinds})
    return Failure(
        f"{binding.key} fills {kinds[0]}/{name}, and the base has none",
        did_you_mean(nearest(name, known)) or "correct the binding, or push the base that has it",
    )


def _misplaced(binding: Binding, found: Mapping[str, object] | None) -> Failure | None:
    if found is None or any(part in binding.field for part in _FILLED_BY_OTHERS):
        return None
    *parents, last = [
        token.replace("~1", "/").replace("~0", "~") for token in binding.field.split("/")[1:]
    ]
    place: object = found
    for token in parents:
        place = _inside(place, token)
    is_there = _inside(place, last) is not None
    if isinstance(place, dict | list) and (is_there or op_at(binding.field) == "add"):
        return None
    return Failure(
        f"{binding.key} fills {binding.field} of {binding.name}, and there is no such place",
        "correct the pointer, or write the field into the object",
    )


def _inside(place: object, token: str) -> object:
    if isinstance(place, dict):
        return cast("dict[str, object]", place).get(token)
    if isinstance(place, list) and token.isdecimal():
        items = cast("list[object]", place)
        return items[int(token)] if int(token) < len(items) else None
    return None
