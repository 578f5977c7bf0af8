"""A fleet with its workload as it is read: whole, or through a scope and a coverage.

``kitchen`` is small enough to hold in the head, and has something of everything in the way.
"""

from __future__ import annotations

from collections.abc import Iterable

from effective_checks import snapshot_of
from graph.effective.reading import Reading
from graph.effective.state import begin
from graph.model.access import Coverage
from graph.model.command import Command, UpdateCluster
from graph.model.inventory import Capacity, Reconciler
from graph.model.names import ClusterNumber
from graph.model.selector import Selector
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    SetLayer,
)
from graph.scoped import ScopedView
from graph.states import read_through
from graph.targeting.parser import parse
from small import give, small
from twin import Twin

KITCHEN: tuple[Command, ...] = (
    DefineNamespace("kitchen", cost_center="4711"),
    DefineNamespace("signs"),
    DefineApplication(
        "grill",
        "kitchen",
        requires="/devices/grill and has lanes",
        requests=Capacity(100, 200),
        values={"image": {"tag": "1"}, "night": False},
        late_bound=(LateBound("host", "{cluster}.{size}"),),
        reads=("wan",),
    ),
    DefineApplication("board", "kitchen", depends_on=("grill",), requests=Capacity(10, 20)),
    DefineApplication("player", "signs", reconcilers=(Reconciler.ARGOCD,)),
    DefineApplication("advert", "signs", requests=Capacity(1, 2)),
    Assign("kitchens", Choice("kitchen"), "/geo/us"),
    Assign("more-grills", Choice("kitchen", ("grill",)), "size = large"),
    Assign("signs-tx", Choice("signs"), "@texas"),
    Prohibit("no-adverts", Choice("", ("advert",)), "size = small"),
    SetLayer("grill-tx", "/geo/us/tx", {"image": {"tag": "2"}}, "grill"),
    SetLayer("grill-large", "size = large", {"menu": ["a"]}, "grill"),
    SetLayer("satellite", "/geo/us", {"wan": {"batch": True}, "other": 1}),
)
"""grill on austin-1; board needs it and is nowhere else; player lacks a reconciler everywhere."""


def kitchen(*more: Command) -> Twin:
    """The small fleet with a kitchen and signs, and whatever else is said."""
    twin = small()
    give(twin, *KITCHEN)
    if more:
        give(twin, *more)
    return twin


def reading_of(
    twin: Twin, scope: Selector | str | None = None, covered: Coverage | None = None
) -> Reading:
    """What runs where in ``twin``, as somebody may see it."""
    snapshot = snapshot_of(twin)
    state = begin(snapshot)
    if scope is None:
        return read_through(state, snapshot)
    seen = parse(scope, snapshot) if isinstance(scope, str) else scope
    return read_through(state, ScopedView(snapshot, seen, covered=covered))


def number(reading: Reading, name: str) -> ClusterNumber:
    """The number of a cluster."""
    found = reading.view.cluster_number(name)
    assert found is not None, name
    return found


def names(reading: Reading, clusters: Iterable[ClusterNumber]) -> list[str]:
    """The names of some clusters."""
    return sorted(reading.view.cluster_name(each) for each in clusters)


TOO_SMALL = UpdateCluster("austin-1", capacity=Capacity(50, 4_096))
"""Not enough for grill."""
