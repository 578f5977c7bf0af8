"""An object of the workload without some of the names it holds, for whoever may not know them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import TypeVar, cast

from graph.model.ref import Kind, Ref
from graph.model.referring import labels_in
from graph.model.workload import (
    Application,
    Assignment,
    LateBound,
    Layer,
    Namespace,
    OfWorkload,
    Policy,
    Prohibition,
)

T = TypeVar("T", bound=OfWorkload)


def dispensable(entity: OfWorkload) -> frozenset[Ref]:
    """What ``entity`` names and can be shown without."""
    match entity:
        case Application(depends_on=names):
            keys = (key for late in entity.late_bound for key in labels_in(late))
            found = [*_applications(names), *(Ref(Kind.LABEL_KEY, key) for key in keys)]
        case Assignment(choice=choice) | Prohibition(choice=choice):
            found = [*_applications(choice.applications)]
        case Policy(namespaces=names):
            found = [Ref(Kind.NAMESPACE, name) for name in names]
        case Namespace() | Layer():
            found = []
    return frozenset(found)


def without(entity: T, hidden: Set[Ref]) -> T | None:
    """``entity`` without the names of ``hidden``; None if it would then be about anything."""
    shown: OfWorkload | None = entity
    match entity:
        case Application():
            late_bound = tuple(_without_source(late, hidden) for late in entity.late_bound)
            kept = _kept(Kind.APPLICATION, entity.depends_on, hidden)
            shown = replace(entity, depends_on=kept, late_bound=late_bound)
        case Assignment() | Prohibition():
            kept = _kept(Kind.APPLICATION, entity.choice.applications, hidden)
            choice = replace(entity.choice, applications=kept)
            emptied = bool(entity.choice.applications) and not kept
            shown = None if emptied else replace(entity, choice=choice)
        case Policy():
            kept = _kept(Kind.NAMESPACE, entity.namespaces, hidden)
            emptied = bool(entity.namespaces) and not kept
            shown = None if emptied else replace(entity, namespaces=kept)
        case _:
            pass
    return cast("T | None", shown)  # an object stays of its kind


def _kept(kind: Kind, names: tuple[str, ...], hidden: Set[Ref]) -> tuple[str, ...]:
    return tuple(name for name in names if Ref(kind, name) not in hidden)


def _without_source(late: LateBound, hidden: Set[Ref]) -> LateBound:
    keys = (Ref(Kind.LABEL_KEY, key) for key in labels_in(late))
    return late if hidden.isdisjoint(keys) else replace(late, source="")


def _applications(names: Iterable[str]) -> Iterator[Ref]:
    return (Ref(Kind.APPLICATION, name) for name in names)
