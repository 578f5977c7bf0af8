"""The workload a revert would leave behind, and why an object of it cannot be as it was.

Beside ``outcome``, which asks this of the inventory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from graph.decide.applications import chain_back
from graph.decide.claims import held_by_others
from graph.decide.late_bound import in_the_way
from graph.decide.quotas import newly_over, tightens
from graph.decide.references import called
from graph.model.change import Entity, ref_of
from graph.model.ref import Kind, Ref
from graph.model.selector import InNamespace
from graph.model.view import FleetView, entity_of
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    Layer,
    Namespace,
    OfWorkload,
    Policy,
    Prohibition,
    Workload,
)
from graph.targeting.cycles import reaches
from graph.targeting.meaning import Naming

_T = TypeVar("_T", bound=OfWorkload)


def overlaid(workload: Workload, wanted: Mapping[Ref, Entity | None]) -> Workload:
    """``workload`` with the ``wanted`` states put over it."""
    by_kind: dict[Kind, dict[str | int, Entity | None]] = {}
    for ref, state in wanted.items():
        by_kind.setdefault(ref.kind, {})[ref.key] = state

    def over(table: Mapping[str, _T], kind: Kind, noun: type[_T]) -> Mapping[str, _T]:
        states = by_kind.get(kind)
        if not states:
            return table
        kept = {name: each for name, each in table.items() if name not in states}
        return kept | {each.name: each for each in states.values() if isinstance(each, noun)}

    return replace(
        workload,
        namespaces=over(workload.namespaces, Kind.NAMESPACE, Namespace),
        applications=over(workload.applications, Kind.APPLICATION, Application),
        assignments=over(workload.assignments, Kind.ASSIGNMENT, Assignment),
        prohibitions=over(workload.prohibitions, Kind.PROHIBITION, Prohibition),
        layers=over(workload.layers, Kind.LAYER, Layer),
        policies=over(workload.policies, Kind.POLICY, Policy),
    )


def why_not_workload(wanted: OfWorkload, now: Workload, fleet: Naming) -> str:
    """Why ``wanted`` cannot be in ``fleet``, where all it names is there; empty if it can."""
    match wanted:
        case Application():
            return _why_not_application(wanted, now, fleet.workload)
        case Assignment():
            return _why_not_assignment(wanted, fleet)
        case Prohibition():
            return _why_not_choice(wanted.choice, fleet.workload)
        case Layer():
            return _why_not_layer(wanted, fleet.workload)
        case Namespace() | Policy():
            return ""


def quota_newly_broken(wanted: Entity | None, view: FleetView, workload: Workload) -> str:
    """The quota that ``wanted`` would take its namespace over in ``workload``; empty if none."""
    match wanted:
        case Namespace(name=namespace) | Application(namespace=namespace):
            over = newly_over(namespace, view.workload, workload)
            if over and tightens(entity_of(view, ref_of(wanted)), wanted):
                return f"namespace {namespace} would request {', '.join(map(str, over))}"
        case _:
            pass
    return ""


def _why_not_application(wanted: Application, now: Workload, workload: Workload) -> str:
    held = now.applications.get(wanted.name)
    if held is not None and held.namespace != wanted.namespace:
        for ref, choice in _choices(workload):
            if wanted.name in choice.applications and choice.namespace == held.namespace:
                return f"{called(ref)} names it in namespace {held.namespace}"

    def needs(name: str) -> tuple[str, ...]:
        found = workload.applications.get(name)
        return () if found is None else found.depends_on

    if chain_back(wanted.name, wanted.depends_on, needs) is not None:
        return "it would depend on itself"
    for claimed, holder in held_by_others(wanted, workload):
        return f"{claimed} is application {holder}'s now"
    return ""


def _why_not_layer(wanted: Layer, workload: Workload) -> str:
    application = workload.applications.get(wanted.application)
    for late in () if application is None else application.late_bound:
        if in_the_way(wanted.values, late) is not None:
            return f"it would leave no place for {late.key}, which is late-bound"
    return ""


def _choices(workload: Workload) -> Iterator[tuple[Ref, Choice]]:
    for name, assignment in workload.assignments.items():
        yield Ref(Kind.ASSIGNMENT, name), assignment.choice
    for name, prohibition in workload.prohibitions.items():
        yield Ref(Kind.PROHIBITION, name), prohibition.choice


def _why_not_assignment(wanted: Assignment, fleet: Naming) -> str:
    if reaches(wanted.selector, InNamespace(wanted.choice.namespace), fleet) is not None:
        return "its namespace would select through itself"
    return _why_not_choice(wanted.choice, fleet.workload)


def _why_not_choice(choice: Choice, workload: Workload) -> str:
    for name in choice.applications if choice.namespace else ():
        found = workload.applications.get(name)
        if found is not None and found.namespace != choice.namespace:
            return f"application {name} is in namespace {found.namespace} now"
    return ""
