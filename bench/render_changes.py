"""Changes to render, as the API takes them, by how many clusters they touch.

Each comes with the way back, which is a change of the same kind: so the fleet ends as it was. Each
is a difference, or nobody would be told: stores come from outside the west and move there, where
some applications do not go, and size decides about one more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from graph.index.snapshot import Snapshot
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import Under
from graph.model.view import group_at, path_of, subtree

ONE, HUNDRED, THOUSANDS = "1 cluster", "100 clusters", "5,000 clusters"
SIZES = {ONE: 1, HUNDRED: 100, THOUSANDS: 5_000}

Commands = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Change:
    """One kind of change: there and back, as often as one likes."""

    name: str
    touches: str
    there: Commands
    back: Commands


def changes(view: Snapshot, *, seed: int = 1) -> list[Change]:
    """Every kind of change that is rendered, by how many clusters it touches."""
    work = _Work(view, Random(seed))
    return [
        *(work.moved(each) for each in (ONE, HUNDRED)),
        *(work.relabelled(each) for each in (ONE, HUNDRED, THOUSANDS)),
        work.layered(),
        work.regrouped(),
    ]


def bumped(view: Snapshot, application: str) -> Change:
    """A new version of an application, wherever it runs: a layer on everything."""

    def layer(tag: str) -> Commands:
        values = {"image": {"tag": tag}}
        selector = {"everything": True}
        name = f"{application}-version"
        given = {"name": name, "selector": selector, "values": values, "application": application}
        return [{"setLayer": given}]

    return Change(f"another version of {application}", "all clusters", layer("v2"), layer("v3"))


def relabelled(view: Snapshot, cluster: ClusterNumber, *, back: bool = False) -> Mapping[str, Any]:
    """A store of another size: of some applications' size, or no longer."""
    size = str(view.label(cluster, "size"))
    value = size if back else "medium" if size == "small" else "small"
    labels = [{"key": "size", "value": value}]
    return {"updateCluster": {"name": view.cluster_name(cluster), "labels": labels}}


def layer_on(cluster: str, application: str) -> Commands:
    """A layer on one store."""
    layer = {
        "name": "measured",
        "selector": {"cluster": cluster},
        "values": {"replicas": 3},
        "application": application,
    }
    return [{"setLayer": layer}]


def movable(view: Snapshot) -> list[ClusterNumber]:
    """Stores about which size and region decide, whatever else is said of them."""
    found = view.members(_at(view, "/geo/us")) - view.members(_west(view))
    for name in ("app-002", "app-005"):
        also = view.workload.assignments[f"{name}-also"].selector
        assert isinstance(also, Under), "it is of a state"
        found -= view.members(also.group)
    return [ClusterNumber(each) for each in found.numbers()]


class _Work:
    """Changes of one fleet."""

    def __init__(self, view: Snapshot, random: Random) -> None:
        self._view, self._random = view, random
        self._stores = movable(view)

    def moved(self, size: str) -> Change:
        """Stores, each to a place in another region."""
        some = self._some(size)
        there = [self._joined(each, _last(self._view, _west(self._view))) for each in some]
        back = [self._joined(each, self._place(each)) for each in some]
        told = "a store moved" if size == ONE else "stores moved"
        return Change(f"{told} to another region", size, there, back)

    def relabelled(self, size: str) -> Change:
        """Stores of another size."""
        some = self._some(size)
        there = [relabelled(self._view, each) for each in some]
        back = [relabelled(self._view, each, back=True) for each in some]
        told = "a store" if size == ONE else "stores"
        return Change(f"{told} relabelled", size, there, back)

    def layered(self) -> Change:
        """A layer on one store, and gone again."""
        (cluster,) = self._some(ONE)
        application = min(self._view.workload.applications)
        there = layer_on(self._view.cluster_name(cluster), application)
        return Change("a layer on a store", ONE, there, [{"removeLayer": {"name": "measured"}}])

    def regrouped(self) -> Change:
        """A group of about so many stores, under another region."""
        view, west, wanted = self._view, _west(self._view), self._wanted(THOUSANDS)
        regions = [each for each in view.children(_at(view, "/geo/us")).values() if each != west]
        groups = [each for region in regions for each in view.children(region).values()]
        group = min(groups, key=lambda at: abs(len(view.members(at)) - wanted))
        path, parent = path_of(view, group), path_of(view, west)
        home, _, name = path.rpartition("/")
        return Change(
            "a state moved to another region",
            THOUSANDS,
            [{"moveGroup": {"path": path, "parent": parent}}],
            [{"moveGroup": {"path": f"{parent}/{name}", "parent": home}}],
        )

    def _some(self, size: str) -> list[ClusterNumber]:
        return self._random.sample(self._stores, min(self._wanted(size), len(self._stores)))

    def _wanted(self, size: str) -> int:
        return min(SIZES[size], len(self._view.everything()) // 12)

    def _place(self, cluster: ClusterNumber) -> GroupNumber:
        """Where it is in geo."""
        for group in self._view.memberships(cluster):
            found = self._view.group(group)
            if found is not None and found.hierarchy == "geo":
                return group
        raise AssertionError("every store of the sample has a place")

    def _joined(self, cluster: ClusterNumber, there: GroupNumber) -> Mapping[str, Any]:
        name = self._view.cluster_name(cluster)
        return {"join": {"cluster": name, "group": path_of(self._view, there)}}


def _west(view: Snapshot) -> GroupNumber:
    return _at(view, "/geo/us/west")


def _at(view: Snapshot, path: str) -> GroupNumber:
    found = group_at(view, path)
    assert found is not None, f"the sample has no {path}"
    return found


def _last(view: Snapshot, top: GroupNumber) -> GroupNumber:
    """The last place below a group that has nothing below it."""
    leaves = (each for each in subtree(view, top) if not view.children(each))
    return max(leaves, default=top)
