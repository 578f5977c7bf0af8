from __future__ import annotations

import pytest

from bench.fleet import CURSOR, facts, snapshot
from cli.sample import sample
from graph.decide.batch import decide
from graph.index.builder import edit
from graph.index.snapshot import Snapshot
from graph.model.change import CHAIN_DIGITS, Cursor, Entity
from graph.model.command import RetireCluster
from graph.model.names import Revision

CLUSTERS = 250


def decided() -> tuple[list[Entity], Snapshot]:
    """The same fleet the long way: every command decided, each on what those before it made."""
    draft = edit(Snapshot.empty(Cursor(Revision(0), "0" * CHAIN_DIGITS)))
    made: list[Entity] = []
    for command in sample(CLUSTERS):
        changes = decide(command, draft, CURSOR.revision)
        draft.apply(changes)
        made.extend(change.after for change in changes if change.after is not None)
    return made, draft.freeze(CURSOR)


def test_the_short_way_makes_the_facts_that_deciding_makes():
    entities, view = decided()
    found = facts(sample(CLUSTERS))
    assert found.entities == entities
    assert found.numbers == view.numbers


def test_its_snapshot_holds_the_whole_fleet():
    view = snapshot(CLUSTERS)
    assert len(view.everything()) == CLUSTERS
    assert view.cursor == CURSOR


def test_a_command_the_sample_does_not_use_is_not_passed_over():
    with pytest.raises(AssertionError, match="RetireCluster"):
        facts([RetireCluster("us-ny-1")])
