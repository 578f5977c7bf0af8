"""The definition of one application: everything that says where it runs and with which values.

A frozen value. Nothing here looks at clusters, so an earlier or a planned definition can be placed
on any inventory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from graph.composition.stack import Stack
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.referring import labels_in
from graph.model.selector import IsCluster, Under
from graph.model.view import FleetView
from graph.model.workload import Application, Assignment, Layer, Prohibition


@dataclass(frozen=True, slots=True)
class Footing:
    """The layers that make configurations, as they are numbered, by what they lie on."""

    groups: tuple[tuple[int, GroupNumber], ...]
    clusters: tuple[tuple[int, ClusterNumber], ...]
    others: tuple[tuple[int, str], ...]
    """Those that have to be asked, with their names."""

    @staticmethod
    def of(stack: Stack) -> Footing:
        """Of all keyed layers."""
        groups: list[tuple[int, GroupNumber]] = []
        clusters: list[tuple[int, ClusterNumber]] = []
        others: list[tuple[int, str]] = []
        for layer in stack.keyed:
            code = stack.numbering.bits[layer.name]
            match layer.selector:
                case Under(group):
                    groups.append((code, group))
                case IsCluster(cluster):
                    clusters.append((code, cluster))
                case _:
                    others.append((code, layer.name))
        return Footing(tuple(groups), tuple(clusters), tuple(others))


@dataclass(frozen=True, slots=True)
class Definition:
    """One application with what concerns it."""

    application: Application
    assignments: tuple[Ref, ...]
    """The assignments that choose it."""
    prohibitions: tuple[Ref, ...]
    """The prohibitions that forbid it."""
    stack: Stack
    """Its layers, and the fleet layers it reads."""
    placing: frozenset[Ref]
    """Whose answers decide where it is placed."""
    layers: Mapping[str, Layer]
    """The layers that make configurations, by name; weakest first."""
    footing: Footing
    """What they lie on."""
    late: frozenset[str]
    """The layers that give late-bound keys."""
    late_labels: frozenset[str]
    """The label keys its late-bound keys take their values from."""

    @property
    def late_bound(self) -> bool:
        """Whether it has late-bound keys."""
        return bool(self.application.late_bound)


def define(
    application: Application,
    fleet_layers: Iterable[Layer],
    view: FleetView,
    known: Definition | None = None,
    moved: Collection[GroupNumber] = (),
) -> Definition:
    """The definition of ``application`` as ``view`` has it.

    ``known`` is one it had while every group but those ``moved`` was where it is now.
    """
    workload = view.workload
    of_namespace = view.referrers(Ref(Kind.NAMESPACE, application.namespace))
    named = (workload.assignments[str(ref.key)] for ref in of_namespace if _is_assignment(ref))
    assignments = _taking(application, named, Kind.ASSIGNMENT)
    prohibitions = _taking(application, workload.prohibitions.values(), Kind.PROHIBITION)
    of_application = view.referrers(Ref(Kind.APPLICATION, application.name))
    layers = [workload.layers[str(ref.key)] for ref in of_application if ref.kind is Kind.LAYER]
    stack = Stack.of(
        application,
        layers,
        tuple(fleet_layers),
        view,
        None if known is None else known.stack,
        moved,
    )
    itself = Ref(Kind.APPLICATION, application.name)
    return Definition(
        application,
        assignments,
        prohibitions,
        stack,
        frozenset((*assignments, *prohibitions, itself)),
        {layer.name: layer for layer in stack.keyed},
        Footing.of(stack),
        frozenset(layer.name for layers in stack.late.values() for layer in layers),
        frozenset(key for late in application.late_bound for key in labels_in(late)),
    )


def in_order(applications: Mapping[str, Application]) -> tuple[str, ...]:
    """The names of all applications, each after those it depends on."""
    ordered: dict[str, None] = {}
    for name in sorted(applications):
        waiting = [name]
        while waiting:
            at = waiting[-1]
            needed = [each for each in applications[at].depends_on if each not in ordered]
            if needed:
                waiting += needed
            else:
                ordered.setdefault(waiting.pop())
    return tuple(ordered)


def dependents_of(applications: Mapping[str, Application]) -> dict[str, frozenset[str]]:
    """By application, those that depend on it, and so on its vetoes and on where it runs."""
    found: dict[str, set[str]] = {}
    for name, each in applications.items():
        for needed in each.depends_on:
            found.setdefault(needed, set()).add(name)
    return {name: frozenset(each) for name, each in found.items()}


def _taking(
    application: Application, found: Iterable[Assignment | Prohibition], kind: Kind
) -> tuple[Ref, ...]:
    """Those whose choice takes ``application``."""
    names = sorted(each.name for each in found if each.choice.takes(application))
    return tuple(Ref(kind, name) for name in names)


def _is_assignment(ref: Ref) -> bool:
    return ref.kind is Kind.ASSIGNMENT
