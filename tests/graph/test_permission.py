"""Batches under a scope: what is allowed is inside it, and a refusal tells nothing of the rest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from changes import Selectors, random_fleet
from graph.access import Access, access_of
from graph.decide.batch import decide_batch
from graph.impact import impact
from graph.index.builder import Draft, build, edit
from graph.index.snapshot import Snapshot
from graph.model.access import Actor, Grant, Role
from graph.model.change import Change, Entity
from graph.model.cluster_set import ClusterSet
from graph.model.command import Batch, UpdateCluster
from graph.model.errors import Denied, TrellisError
from graph.model.ref import Kind
from graph.model.selector import Everything, Selector
from graph.permission import decide_for
from graph.scoped import ScopedView, outside_scope
from restricted import restricted
from small import small
from twin import START, Twin
from wishes import Wishes

BATCHES = {"test": 3_000, "campaign": 600_000}
SCOPES_A_FLEET = 6
BATCHES_A_SCOPE = 25


@dataclass(slots=True)
class Tally:
    """What happened, so that a run in which too little did fails."""

    batches: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])


@pytest.mark.volume
@pytest.mark.timeout(6 * 3600)
def test_what_lies_outside_a_scope_neither_changes_nor_shows(scale: str) -> None:
    tally = Tally()
    seed = 0
    while tally.batches < BATCHES[scale]:
        ask_all(seed, tally)
        seed += 1
    assert tally.outcomes["allowed"] > tally.batches // 20, tally
    assert tally.outcomes["denied"] > tally.batches // 20, tally
    assert tally.outcomes["denied by name"] > tally.batches // 20, tally
    assert tally.outcomes["refused"] > tally.batches // 20, tally
    print(tally, f"{seed:,} fleets")


def ask_all(seed: int, tally: Tally) -> None:
    rng = Random(seed)
    facts = random_fleet(rng)
    twin = Twin.of(facts)
    whole = build(facts, cursor=START, numbers=twin.numbers)
    scopes = Selectors(rng, twin.groups(), twin.label_keys(), twin.clusters(), [])
    for _ in range(SCOPES_A_FLEET):
        scope = scopes.tree(rng.choice((0, 0, 1, 2)))
        if isinstance(scope, Everything):
            continue  # whoever sees all is decided for as if there were no access
        grant = Grant("mine", Role.ADMIN, scope, subject="ana")
        wider = Grant("wider", Role.READER, scopes.tree(rng.choice((0, 1))), subject="ana")
        access = access_of(Actor("ana"), [grant, *rng.choice(((), (), (wider,)))])
        sight = access.need(Role.READER)
        less = twin if isinstance(sight, Everything) else restricted(twin, sight)
        part = build(less.entities(), cursor=START, numbers=twin.numbers)
        for _ in range(BATCHES_A_SCOPE):
            declare = tally.batches % 2 == 0
            commands = Wishes(rng, twin, scope).batch()
            batch = Batch(commands, "ana", "because", declare_labels=declare)
            ask(f"seed {seed}, {scope}: {batch.commands}", access, batch, whole, part, tally)


def ask(
    what: str, access: Access, batch: Batch, whole: Snapshot, part: Snapshot, tally: Tally
) -> None:
    """The same batch on the fleet, and on one that has nothing but what may be seen of it."""
    draft = edit(whole)
    found = outcome(access, batch, whole, draft)
    alone = outcome(access, batch, part, edit(part))
    tally.batches += 1
    if isinstance(found, Denied):
        tally.outcomes["denied"] += 1
        if found.message != outside_scope().message and "you do not see" not in found.message:
            tally.outcomes["denied by name"] += 1
            assert str(found) == str(alone), what
    elif isinstance(found, TrellisError):
        tally.outcomes["refused"] += 1
        assert isinstance(alone, TrellisError), f"{what}: {found} tells of something hidden"
        assert (str(found), found.path) == (str(alone), alone.path), what
    else:
        tally.outcomes["allowed" if found else "nothing to do"] += 1
        assert not isinstance(alone, TrellisError), f"{what}: {alone}"
        assert written(found) == written(alone), what
        assert found == decide_batch(batch, whole, edit(whole)), what
        check_impact(what, access.need(Role.ADMIN), whole, draft)


def outcome(
    access: Access, batch: Batch, base: Snapshot, draft: Draft
) -> tuple[Change, ...] | TrellisError:
    try:
        return decide_for(access, batch, base, draft, lambda: edit(base))
    except TrellisError as refusal:
        return refusal


def written(changes: tuple[Change, ...]) -> list[tuple[str, Entity | None]]:
    """What comes of it; without label keys: one that is there outside need not be declared again.

    What an object of the workload was may have held names out of sight.
    """
    kept = (change for change in changes if change.ref.kind is not Kind.LABEL_KEY)
    return [(str(change.ref), change.after) for change in kept]


def check_impact(what: str, scope: Selector, before: Snapshot, after: Draft) -> None:
    was, now = ScopedView(before, scope).everything(), ScopedView(after, scope).everything()
    moved = impact(before, after)
    sets = (move.gained | move.lost for move in moved.moves)
    touched = ClusterSet.union([*sets, moved.registered, moved.retired])
    assert touched & before.everything() <= was, what
    assert touched & after.everything() <= now, what


def test_a_batch_that_accepts_a_loss_needs_an_operator() -> None:
    whole = build(small().entities(), cursor=START, numbers=small().numbers)
    batch = Batch((UpdateCluster("york-1", title="York"),), "ana", "because", expected_loss=3)

    def asked_by(role: Role) -> tuple[Change, ...] | TrellisError:
        access = access_of(Actor("ana"), [Grant("mine", role, Everything(), subject="ana")])
        return outcome(access, batch, whole, edit(whole))

    refusal = asked_by(Role.EDITOR)
    assert isinstance(refusal, Denied)
    assert refusal.message == (
        'stating an expected loss needs the role operator, which "ana" has not got'
    )
    assert refusal.path == ("expected_loss",)
    assert isinstance(asked_by(Role.OPERATOR), tuple)
