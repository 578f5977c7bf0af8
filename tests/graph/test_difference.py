"""How sets differ between two views, against plain sets, and what is said to have moved them."""

from __future__ import annotations

from random import Random

import pytest

from changes import random_changes, random_fleet, random_selector
from graph.difference import Movers, MovingSet, difference
from graph.index.builder import build
from graph.model.change import Cursor, net
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.command import DeclareLabel, RemoveLabel, RenameGroup, UpdateCluster
from graph.model.errors import ResyncRequired
from graph.model.inventory import LabelType
from graph.model.names import Revision
from graph.targeting.parser import parse
from small import give, small
from twin import Twin, twin_select


def built(twin: Twin, revision: int):
    return build(twin.entities(), cursor=Cursor(Revision(revision), "0" * 16), numbers=twin.numbers)


@pytest.mark.volume
def test_a_set_that_moved_was_moved_by_a_change_that_is_named(scale: str) -> None:
    rng = Random(3)
    moves = 0
    for _ in range(60 if scale == "test" else 1_500):
        twin = Twin.of(random_fleet(rng))
        for revision in range(2, 7):
            before = twin.copy()
            changes = net(random_changes(rng, twin, Revision(revision)))
            twin.apply(changes)
            views = built(before, revision - 1), built(twin, revision)
            for _ in range(4):
                selector = random_selector(rng, before)
                found = difference(*views, selector)
                assert found.lost <= ClusterSet.of(before.in_fleet())
                moves += bool(found)
                movers = Movers.of(selector, *views, found.gained | found.lost)
                named = [change for change in changes if movers.include(change)]
                assert named or not found, (selector, changes)
    assert moves > 100


def test_a_difference_is_what_plain_sets_give() -> None:
    rng = Random(9)
    for _ in range(40):
        twin = Twin.of(random_fleet(rng))
        before = twin.copy()
        selector = random_selector(rng, twin)
        changes = random_changes(rng, twin, Revision(2))
        kinds = {change.ref.kind for change in changes}
        twin.apply(net(changes))
        if not kinds <= {"cluster", "group"}:
            continue  # plain sets know no selector that names what is gone
        was, now = twin_select(selector, before), twin_select(selector, twin)
        found = difference(built(before, 1), built(twin, 2), selector)
        in_both = now & twin.in_fleet(), was & before.in_fleet()
        assert set(found.gained) == in_both[0] - in_both[1]
        assert set(found.lost) == in_both[1] - in_both[0]


def test_a_label_that_had_another_type_is_neither_ordered_nor_equal() -> None:
    fleet = small()
    before = fleet.copy()
    tree = parse("/geo and lanes > 0", fleet)
    for name in ("austin-1", "york-1"):
        give(fleet, UpdateCluster(name, labels={"lanes": None}))
    give(fleet, RemoveLabel("lanes"))
    give(fleet, DeclareLabel("lanes", LabelType.TEXT))
    give(fleet, UpdateCluster("austin-1", labels={"lanes": "two"}))
    found = difference(built(before, 1), built(fleet, 2), tree)
    assert found.gained == EMPTY
    assert len(found.lost) == 2


def test_a_moving_set_keeps_its_meaning_and_asks_for_a_new_beginning_when_the_text_has_another():
    fleet = small()
    moving = MovingSet(lambda view: parse("/geo/us/tx", view), fleet)
    assert len(moving.held) == 2
    give(fleet, RenameGroup("/geo/us/tx", "texas"))
    assert not moving.move(fleet, None)
    give(fleet, RenameGroup("/geo/us/ny", "tx"))
    with pytest.raises(ResyncRequired):
        moving.move(fleet, None)
