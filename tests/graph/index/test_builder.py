"""Drafts: what one changeset does to the index, whatever the order inside it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random

import pytest

from changes import random_changes, random_fleet
from graph.index.builder import Draft, build, edit
from graph.index.snapshot import Snapshot
from graph.model.access import Grant, Role
from graph.model.change import Change, Cursor, Entity, Numbers, ref_of
from graph.model.inventory import (
    Cluster,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    Mode,
    SavedSelector,
)
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.selector import And, Comparison, HasLabel, Under
from graph.model.values import Values
from graph.model.workload import Application, Assignment, Choice, LateBound, Layer, Namespace
from twin import START, Twin, same_fleet

NEXT = Cursor(Revision(2), "f" * 16)

GEO, US, TX, AUSTIN, DALLAS, NY = map(GroupNumber, range(6))
ONE, TWO = ClusterNumber(0), ClusterNumber(1)


def group(number: GroupNumber, parent: GroupNumber | None, name: str) -> Group:
    return Group(number, "geo", parent, name)


FACTS: list[Entity] = [
    Hierarchy("geo", Mode.MANY),
    group(GEO, None, "geo"),
    group(US, GEO, "us"),
    group(TX, US, "tx"),
    group(AUSTIN, TX, "austin"),
    group(DALLAS, TX, "dallas"),
    group(NY, US, "ny"),
    LabelKey("lanes", LabelType.NUMBER),
    Cluster(ONE, "one", memberships=(AUSTIN, DALLAS), labels={"lanes": 2}),
    Cluster(TWO, "two", memberships=(TX, NY), labels={"lanes": 3}),
]


@pytest.fixture
def fleet() -> Snapshot:
    return build(FACTS, cursor=START, numbers=Numbers(ClusterNumber(2), GroupNumber(6)))


def made(snapshot: Snapshot, *changes: Change) -> Snapshot:
    draft = edit(snapshot)
    draft.apply(changes)
    return draft.freeze(NEXT)


def rewritten(snapshot: Snapshot, number: ClusterNumber, *memberships: GroupNumber) -> Change:
    cluster = snapshot.cluster(number)
    assert cluster is not None
    return Change(cluster, replace(cluster, memberships=memberships))


def resettled(
    snapshot: Snapshot, number: GroupNumber, parent: GroupNumber | None, name: str
) -> Change:
    before = snapshot.group(number)
    assert before is not None
    return Change(before, replace(before, parent=parent, name=name))


def test_a_cluster_that_leaves_one_of_two_groups_stays_in_what_is_above_both(
    fleet: Snapshot,
) -> None:
    after = made(fleet, rewritten(fleet, ONE, DALLAS))
    assert ONE not in after.members(AUSTIN)
    assert all(ONE in after.members(number) for number in (DALLAS, TX, US, GEO))


def test_a_cluster_that_leaves_its_last_group_leaves_all_above(fleet: Snapshot) -> None:
    after = made(fleet, rewritten(fleet, ONE))
    assert not any(ONE in after.members(GroupNumber(number)) for number in range(6))


def test_a_cluster_that_moves_leaves_every_ancestor_of_its_old_group(fleet: Snapshot) -> None:
    after = made(fleet, rewritten(fleet, ONE, NY))
    assert not any(ONE in after.members(number) for number in (AUSTIN, DALLAS, TX))
    assert all(ONE in after.members(number) for number in (NY, US, GEO))


def test_a_direct_member_of_an_inner_group_is_not_a_member_of_those_below(
    fleet: Snapshot,
) -> None:
    assert set(fleet.direct_members(TX)) == {TWO}
    assert set(fleet.members(TX)) == {ONE, TWO}
    after = made(fleet, rewritten(fleet, ONE, TX, AUSTIN), rewritten(fleet, TWO, NY))
    assert set(after.direct_members(TX)) == {ONE}
    assert set(after.members(TX)) == {ONE}
    again = made(after, rewritten(after, ONE, AUSTIN))
    assert not again.direct_members(TX)
    assert set(again.members(TX)) == {ONE}


def test_a_leaf_that_gets_a_child_and_loses_it_keeps_its_direct_members(fleet: Snapshot) -> None:
    below = group(GroupNumber(6), NY, "albany")
    inner = made(fleet, Change(None, below), rewritten(fleet, ONE, GroupNumber(6)))
    assert set(inner.direct_members(NY)) == {TWO}
    assert set(inner.members(NY)) == {ONE, TWO}
    leaf = made(inner, Change(below, None), rewritten(inner, ONE, NY))
    assert set(leaf.direct_members(NY)) == set(leaf.members(NY)) == {ONE, TWO}
    assert set(inner.members(NY)) == {ONE, TWO}
    assert set(fleet.members(NY)) == {TWO}


def test_a_moved_subtree_takes_its_clusters_along(fleet: Snapshot) -> None:
    after = made(fleet, resettled(fleet, TX, NY, "tx"))
    assert set(after.members(NY)) == {ONE, TWO}
    assert dict(after.children(US)) == {"ny": NY}
    assert set(after.direct_members(NY)) == {TWO}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_siblings_swap_names_and_a_third_takes_part_in_any_order(
    fleet: Snapshot, order: tuple[int, ...]
) -> None:
    changes = [
        resettled(fleet, AUSTIN, TX, "dallas"),
        resettled(fleet, DALLAS, US, "austin"),
        resettled(fleet, NY, TX, "austin"),
    ]
    after = made(fleet, *(changes[place] for place in order))
    assert dict(after.children(TX)) == {"dallas": AUSTIN, "austin": NY}
    assert dict(after.children(US)) == {"tx": TX, "austin": DALLAS}
    assert set(after.members(DALLAS)) == {ONE}


@pytest.mark.parametrize("order", list(permutations(range(2))))
def test_a_parent_and_its_child_change_places_in_either_order(
    fleet: Snapshot, order: tuple[int, ...]
) -> None:
    changes = [resettled(fleet, TX, AUSTIN, "austin"), resettled(fleet, AUSTIN, US, "tx")]
    after = made(fleet, *(changes[place] for place in order))
    assert dict(after.children(US)) == {"tx": AUSTIN, "ny": NY}
    assert dict(after.children(AUSTIN)) == {"austin": TX}
    assert set(after.members(TX)) == {ONE, TWO}
    assert set(after.direct_members(AUSTIN)) == {ONE}


def test_a_group_may_be_created_under_one_with_a_later_number(fleet: Snapshot) -> None:
    child, parent = GroupNumber(6), GroupNumber(7)
    after = made(
        fleet,
        Change(None, group(child, parent, "child")),
        Change(None, group(parent, US, "parent")),
        rewritten(fleet, ONE, child),
    )
    assert set(after.members(parent)) == {ONE}
    assert after.numbers.group == 8


def test_a_deleted_subtree_takes_its_members_out_of_everything_above(fleet: Snapshot) -> None:
    gone = [Change(fleet.group(number), None) for number in (TX, AUSTIN, DALLAS)]
    changes = [*gone, rewritten(fleet, ONE), rewritten(fleet, TWO, NY)]
    after = made(fleet, *changes)
    assert set(after.members(US)) == {TWO}
    assert after.group(TX) is None
    assert not after.members(TX)
    back = made(after, *(change.undone() for change in changes))
    assert same_fleet(back, fleet, ignoring=("cursor",)) is None


def test_a_name_passes_from_a_deleted_group_to_a_new_one(fleet: Snapshot) -> None:
    new = group(GroupNumber(6), US, "ny")
    after = made(
        fleet,
        Change(None, new),
        Change(fleet.group(NY), None),
        rewritten(fleet, TWO, TX, new.number),
    )
    assert dict(after.children(US)) == {"tx": TX, "ny": new.number}
    assert set(after.members(new.number)) == {TWO}


def test_a_name_passes_from_a_retired_cluster_to_a_new_one(fleet: Snapshot) -> None:
    new = Cluster(ClusterNumber(2), "one")
    for changes in permutations([Change(fleet.cluster(ONE), None), Change(None, new)]):
        after = made(fleet, *changes)
        assert after.cluster_number("one") == 2
        assert after.cluster(ONE) is None
        assert [name for name, _ in after.names_after("")] == ["one", "two"]


def test_numbers_only_grow(fleet: Snapshot) -> None:
    new = Cluster(ClusterNumber(2), "three")
    after = made(fleet, Change(None, new))
    assert after.numbers.cluster == 3
    assert made(after, Change(new, None)).numbers.cluster == 3


def test_a_label_key_that_comes_back_with_another_type_forgets_its_numbers(
    fleet: Snapshot,
) -> None:
    one, two = fleet.cluster(ONE), fleet.cluster(TWO)
    assert one is not None
    assert two is not None
    after = made(
        fleet,
        Change(one, replace(one, labels={"lanes": "2"})),
        Change(two, replace(two, labels={})),
        Change(fleet.label_key("lanes"), LabelKey("lanes", LabelType.TEXT)),
    )
    assert list(after.label_values("lanes")) == [("2", after.everything() - after.members(NY))]
    assert not after.label_range("lanes", Comparison.GE, 0)
    assert set(fleet.label_range("lanes", Comparison.GE, 3)) == {TWO}


def test_true_is_not_one(fleet: Snapshot) -> None:
    assert not fleet.label_equal("lanes", True)
    one = fleet.cluster(ONE)
    assert one is not None
    after = made(fleet, Change(one, replace(one, labels={"lanes": 1})))
    assert set(after.label_equal("lanes", 1)) == {ONE}
    assert not after.label_equal("lanes", True)


def test_a_saved_selector_is_known_by_what_it_mentions(fleet: Snapshot) -> None:
    saved = SavedSelector("texas", And((Under(TX), HasLabel("lanes"))))
    texas = frozenset({Ref(Kind.SAVED_SELECTOR, "texas")})
    after = made(fleet, Change(None, saved))
    assert after.referrers(Ref(Kind.GROUP, TX)) == texas
    assert after.referrers(Ref(Kind.LABEL_KEY, "lanes")) == texas
    changed = made(after, Change(saved, replace(saved, selector=Under(NY))))
    assert not changed.referrers(Ref(Kind.GROUP, TX))
    assert changed.referrers(Ref(Kind.GROUP, NY)) == texas
    assert after.referrers(Ref(Kind.GROUP, TX)) == texas


def test_a_grant_is_known_by_what_its_scope_mentions_and_what_it_covers(fleet: Snapshot) -> None:
    grant = Grant("texas", Role.READER, And((Under(TX), HasLabel("lanes"))), subject="ana")
    texas = frozenset({Ref(Kind.GRANT, "texas")})
    after = made(fleet, Change(None, grant))
    assert after.grant("texas") == grant
    assert after.referrers(Ref(Kind.GROUP, TX)) == texas
    changed = made(after, Change(grant, replace(grant, scope=Under(NY), namespaces=("pos",))))
    assert not changed.referrers(Ref(Kind.LABEL_KEY, "lanes"))
    assert changed.referrers(Ref(Kind.GROUP, NY)) == texas
    assert changed.referrers(Ref(Kind.NAMESPACE, "pos")) == texas
    gone = made(changed, Change(changed.grant("texas"), None))
    assert not gone.grants()
    assert not gone.referrers(Ref(Kind.GROUP, NY))
    assert after.referrers(Ref(Kind.GROUP, TX)) == texas


def test_an_object_of_the_workload_is_known_by_everything_it_names(fleet: Snapshot) -> None:
    pos, till = (
        Namespace("pos"),
        Application("till", "pos", late_bound=(LateBound("a", "{lanes}"),)),
    )
    grill = Application("grill", "pos", requires=HasLabel("lanes"), depends_on=("till",))
    spread = Assignment("spread", Choice("pos", ("till",)), Under(TX))
    layer = Layer("texas", Under(TX), Values.of({"a": 1}), "till")
    after = made(fleet, *(Change(None, each) for each in (pos, till, grill, spread, layer)))
    assert after.workload.applications == {"till": till, "grill": grill}
    of_pos = {Ref(Kind.APPLICATION, "till"), Ref(Kind.APPLICATION, "grill"), ref_of(spread)}
    assert after.referrers(ref_of(pos)) == of_pos
    assert after.referrers(ref_of(till)) == {ref_of(grill), ref_of(spread), ref_of(layer)}
    assert after.referrers(Ref(Kind.GROUP, TX)) == {ref_of(spread), ref_of(layer)}
    assert after.referrers(Ref(Kind.LABEL_KEY, "lanes")) == {ref_of(till), ref_of(grill)}
    changed = made(after, Change(grill, replace(grill, depends_on=())), Change(layer, None))
    assert changed.referrers(ref_of(till)) == {ref_of(spread)}
    assert after.workload.layers == {"texas": layer}
    assert changed.workload.layers == {}
    assert not fleet.workload.applications


def test_a_draft_shows_who_names_what_while_it_is_made(fleet: Snapshot) -> None:
    draft = edit(fleet)
    saved = SavedSelector("texas", Under(TX))
    draft.apply([Change(None, saved)])
    assert draft.referrers(Ref(Kind.GROUP, TX)) == {ref_of(saved)}
    draft.apply([Change(saved, None)])
    assert not draft.referrers(Ref(Kind.GROUP, TX))
    assert not draft.freeze(NEXT).catalog.referrers


def test_a_draft_shows_its_own_writes_and_its_base_does_not(fleet: Snapshot) -> None:
    draft = edit(fleet)
    draft.apply([rewritten(fleet, ONE, NY)])
    assert set(draft.members(NY)) == {ONE, TWO}
    draft.apply([Change(None, Cluster(ClusterNumber(2), "three", memberships=(NY,)))])
    assert set(draft.members(NY)) == {ONE, TWO, 2}
    assert draft.cluster_number("three") == 2
    assert set(fleet.members(NY)) == {TWO}
    assert draft.cursor == fleet.cursor
    assert draft.freeze(NEXT).cursor == NEXT


def test_a_draft_that_made_its_snapshot_takes_no_more_changes(fleet: Snapshot) -> None:
    draft = edit(fleet)
    draft.freeze(NEXT)
    with pytest.raises(AssertionError, match="made its snapshot"):
        draft.apply([])


def test_two_drafts_of_one_snapshot_know_nothing_of_each_other(fleet: Snapshot) -> None:
    one = fleet.cluster(ONE)
    assert one is not None
    left, right = edit(fleet), edit(fleet)
    left.apply([Change(one, replace(one, labels={"lanes": 7}))])
    right.apply([Change(one, replace(one, labels={"lanes": 8}))])
    assert [set(draft.label_equal("lanes", 7)) for draft in (left, right)] == [{ONE}, set()]
    assert [set(draft.label_equal("lanes", 8)) for draft in (left, right)] == [set(), {ONE}]


@pytest.mark.parametrize("seed", range(60))
def test_a_draft_follows_changeset_after_changeset_like_the_twin(seed: int) -> None:
    rng = Random(seed)
    twin = Twin.of(random_fleet(rng))
    base = build(twin.entities(), cursor=START, numbers=twin.numbers)
    untouched = Twin.of(twin.entities())
    draft: Draft = edit(base)
    for step in range(12):
        changes = random_changes(rng, twin, Revision(step + 2))
        twin.apply(changes)
        draft.apply(changes)
        assert same_fleet(draft, twin) is None
    assert same_fleet(draft.freeze(START), twin) is None
    assert same_fleet(base, untouched) is None


def test_an_empty_snapshot_answers_with_nothing() -> None:
    assert same_fleet(Snapshot.empty(START), Twin()) is None
    assert Snapshot.empty(START).group(GroupNumber(-1)) is None
