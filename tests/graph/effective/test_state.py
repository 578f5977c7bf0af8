"""The next state from the one before: what must be noticed, and what must be left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from effective_checks import advanced, against_naive, between, snapshot_of
from graph.composition.problem import Reason
from graph.effective.state import State, begin
from graph.effective.step import advance
from graph.model.change import Change, Entity, ref_of
from graph.model.inventory import (
    Capacity,
    Cluster,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    Mode,
    SavedSelector,
)
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.ref import Ref
from graph.model.selector import Everything, InNamespace, Matching, Not, Saved, Under
from graph.model.values import Values
from graph.model.workload import Application, Assignment, Choice, LateBound, Layer, Namespace
from naive_workload import Naive
from twin import Twin

GEO, US, TX, DEVICES, GRILL, CAMERA = map(GroupNumber, range(6))
AUSTIN, DALLAS, NEW = map(ClusterNumber, range(3))

INVENTORY: tuple[Entity, ...] = (
    Hierarchy("geo", Mode.SINGLE, precedence=0),
    Hierarchy("devices", Mode.MANY, precedence=1),
    Group(GEO, "geo", None, "geo"),
    Group(US, "geo", GEO, "us"),
    Group(TX, "geo", US, "tx"),
    Group(DEVICES, "devices", None, "devices"),
    Group(GRILL, "devices", DEVICES, "grill"),
    Group(CAMERA, "devices", DEVICES, "camera"),
    LabelKey("zone", LabelType.TEXT),
    Cluster(AUSTIN, "austin", labels={"zone": "south"}, memberships=(TX, GRILL, CAMERA)),
    Cluster(DALLAS, "dallas", labels={"zone": "south"}, memberships=(TX,)),
    Namespace("front"),
    Namespace("back"),
    Application("pos", "front"),
    Application("kds", "back", requests=Capacity(100, 100)),
    Assignment("front-all", Choice("front"), Everything()),
    Assignment("back-texas", Choice("back"), Under(TX)),
)


class Story:
    """A fleet and its state, which every step compares with the one from scratch."""

    def __init__(self, *more: Entity) -> None:
        self.twin = Twin.of((*INVENTORY, *more))
        self.snapshot = snapshot_of(self.twin)
        self.state = begin(self.snapshot)

    def write(self, *entities: Entity) -> State:
        """Have these objects as they are given; the state before is returned."""
        return self._make([Change(self.twin.get(ref_of(each)), each) for each in entities])

    def erase(self, *refs: Ref) -> State:
        return self._make([Change(self.twin.get(ref), None) for ref in refs])

    def _make(self, changes: Sequence[Change]) -> State:
        before = self.state
        self.twin.apply(changes)
        self.snapshot = advanced(self.snapshot, changes)
        self.state = advance(before, self.snapshot, changes)
        assert between(self.state, begin(self.snapshot)) is None
        assert against_naive(self.state, Naive.of(self.twin)) is None
        return before

    def cluster(self, number: ClusterNumber) -> Cluster:
        found = self.twin.cluster(number)
        assert found is not None
        return found


def layer(name: str, group: GroupNumber, value: object) -> Layer:
    return Layer(name, Under(group), Values.of({"a": value}), "pos")


def test_a_group_that_comes_under_another_ends_the_conflict_of_their_layers() -> None:
    story = Story(layer("grill", GRILL, 1), layer("camera", CAMERA, 2))
    assert story.state.placements["pos"].blocked.keys() == {Reason.CONFLICT}
    story.write(Group(CAMERA, "devices", GRILL, "camera"))
    assert story.state.placements["pos"].blocked == {}
    story.write(Group(CAMERA, "devices", DEVICES, "camera"))
    assert story.state.placements["pos"].blocked.keys() == {Reason.CONFLICT}


def test_hierarchies_that_are_put_in_order_end_the_conflict_of_their_layers() -> None:
    story = Story(layer("texas", TX, 1), layer("grill", GRILL, 2))
    story.write(Hierarchy("geo", Mode.SINGLE, precedence=1))
    assert story.state.placements["pos"].blocked.keys() == {Reason.CONFLICT}
    story.write(Hierarchy("geo", Mode.SINGLE, precedence=2))
    stack = story.state.definitions["pos"].stack
    assert stack.compose({"texas", "grill"}).values == {"a": 1}


def test_a_cluster_that_comes_is_where_not_and_all_say_and_leaves_when_it_goes() -> None:
    story = Story(Assignment("rest", Choice("back"), Not(Under(TX))))
    story.write(Cluster(NEW, "new"))
    assert set(story.state.placements["kds"].placed) == {AUSTIN, DALLAS, NEW}
    story.erase(ref_of(story.cluster(NEW)))
    assert set(story.state.placements["pos"].placed) == {AUSTIN, DALLAS}


def test_a_renamed_group_far_below_moves_those_a_pattern_chose() -> None:
    story = Story(Assignment("star", Choice("back"), Matching(GEO, ("*", "ny"))))
    story.erase(ref_of(story.twin.workload.assignments["back-texas"]))
    story.write(Group(TX, "geo", US, "ny"))
    assert set(story.state.placements["kds"].placed) == {AUSTIN, DALLAS}


def test_a_chain_of_saved_selectors_and_namespaces_is_followed_to_its_end() -> None:
    story = Story(
        SavedSelector("grills", Under(GRILL)),
        Assignment("narrow", Choice("front", ("pos",)), Saved("grills")),
        SavedSelector("beside", InNamespace("front")),
        Assignment("follow", Choice("back"), Saved("beside")),
    )
    story.erase(ref_of(story.twin.workload.assignments["front-all"]))
    story.erase(ref_of(story.twin.workload.assignments["back-texas"]))
    assert set(story.state.placements["kds"].placed) == {AUSTIN}
    story.write(replace(story.cluster(DALLAS), memberships=(TX, GRILL)))
    assert set(story.state.placements["kds"].placed) == {AUSTIN, DALLAS}
    story.write(SavedSelector("grills", Under(CAMERA)))
    assert set(story.state.placements["kds"].placed) == {AUSTIN}


def test_a_label_that_goes_unbinds_a_late_bound_key() -> None:
    story = Story(Application("ads", "front", late_bound=(LateBound("host", "{zone}"),)))
    story.write(replace(story.cluster(DALLAS), labels={}))
    assert set(story.state.placements["ads"].blocked[Reason.LATE_BOUND]) == {DALLAS}


def test_a_cluster_that_shrinks_blocks_and_one_that_grows_frees() -> None:
    story = Story()
    story.write(replace(story.cluster(DALLAS), capacity=Capacity(50, 4096)))
    assert set(story.state.placements["kds"].blocked[Reason.CAPACITY]) == {DALLAS}
    story.write(replace(story.cluster(DALLAS), capacity=Capacity(100, 4096)))
    assert story.state.placements["kds"].blocked == {}


def test_an_application_that_comes_back_in_another_namespace_is_another_one() -> None:
    story = Story()
    story.write(Application("pos", "back"))
    assert story.state.placements["pos"].assigned == story.state.placements["kds"].assigned


def test_what_nothing_touched_is_the_same_object() -> None:
    story = Story(layer("texas", TX, 1))
    before = story.write(replace(story.cluster(AUSTIN), title="Austin"))
    for name, placement in before.placements.items():
        assert story.state.placements[name] is placement
    before = story.write(layer("texas", TX, 2))
    assert story.state.placements["kds"] is before.placements["kds"]
    assert story.state.placements["pos"].placed == before.placements["pos"].placed
