"""Sets that are followed: whatever happens, the follower ends with what a fresh question gives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from changes import random_changes, random_fleet, random_selector
from engines import NOON, give, ticking
from graph.access import reader_scope
from graph.engine import Engine
from graph.following import ScopeOf, SetStep
from graph.index.snapshot import Snapshot
from graph.model.access import Actor, Role
from graph.model.change import Change, Changeset, Cursor, net
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.command import (
    CreateGroup,
    GrantAccess,
    MoveGroup,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    RevokeAccess,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
)
from graph.model.errors import (
    Denied,
    Invalid,
    NotFound,
    ResyncRequired,
    SelectorNotFound,
    TrellisError,
)
from graph.model.names import Revision
from graph.model.selector import Saved, Selector, clauses
from graph.model.view import FleetView
from graph.scoped import ScopedView
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from graph.store.port import Entry
from graph.targeting.evaluate import evaluate
from graph.targeting.syntax import to_text
from small import SMALL
from twin import Twin

SETTINGS = GraphSettings(
    poll_seconds=0.02, snapshots_kept_max=3, snapshots_kept_seconds=0, changesets_kept_max=5
)


@pytest.fixture
async def engine(tmp_path):
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(
        store, settings=SETTINGS, archive=tmp_path / "archive", now=ticking()
    )
    await give(engine, *SMALL)
    yield engine
    await engine.close()


async def step_of(steps: AsyncGenerator[SetStep]) -> SetStep:
    return await asyncio.wait_for(anext(steps), 20)


def named(engine: Engine, chosen: ClusterSet) -> set[str]:
    return {engine.view.cluster_name(each) for each in chosen}


async def test_a_set_is_told_whole_and_then_by_what_moves(engine):
    async with aclosing(engine.follow_set("/geo/us/tx")) as steps:
        first = await step_of(steps)
        assert first == SetStep(engine.view.cursor, engine.resolve("/geo/us/tx"), EMPTY, whole=True)
        await give(engine, RegisterCluster("austin-3", groups=("/geo/us/tx",)))
        second = await step_of(steps)
        assert (named(engine, second.gained), second.lost) == ({"austin-3"}, EMPTY)
        assert second.cursor == engine.view.cursor
        lost = engine.resolve("cluster austin-1")
        await give(engine, UpdateCluster("york-1", title="no move"))
        await give(engine, RetireCluster("austin-1"))
        third = await step_of(steps)
        assert (third.gained, third.lost, third.whole) == (EMPTY, lost, False)


async def test_a_follower_that_returns_is_told_what_moved_meanwhile(engine):
    cursor = engine.view.cursor
    await give(engine, RegisterCluster("austin-3", groups=("/geo/us/tx",)))
    for number in range(9):
        await give(engine, UpdateGroup("/geo", title=str(number)))
    async with aclosing(engine.follow_set("/geo/us/tx", cursor)) as steps:
        step = await step_of(steps)
        assert (named(engine, step.gained), step.lost) == ({"austin-3"}, EMPTY)
        assert (step.cursor, step.whole) == (engine.view.cursor, False)
    async with aclosing(engine.follow_set("/geo/us/tx", step.cursor)) as steps:
        assert await step_of(steps) == SetStep(step.cursor, EMPTY, EMPTY)


async def test_a_quiet_set_says_now_and_then_how_far_the_follower_has_come(engine):
    async with aclosing(engine.follow_set("/geo/us/tx")) as steps:
        first = await step_of(steps)
        waiting = asyncio.create_task(step_of(steps))
        for number in range(SETTINGS.snapshots_kept_max):
            await give(engine, UpdateGroup("/geo", title=str(number)))
        step = await waiting
        assert (step.gained, step.lost) == (EMPTY, EMPTY)
        assert step.cursor.revision > first.cursor.revision


async def test_a_selector_is_bound_when_the_following_begins(engine):
    async with aclosing(engine.follow_set("/geo/us/tx")) as steps:
        await step_of(steps)
        await give(engine, RenameGroup("/geo/us/tx", "texas"))
        await give(engine, MoveGroup("/geo/us/texas", "/geo/ca"))
        await give(engine, RegisterCluster("austin-3", groups=("/geo/ca/texas",)))
        step = await step_of(steps)
        while not step.gained:
            step = await step_of(steps)
        assert named(engine, step.gained) == {"austin-3"}
    with pytest.raises(SelectorNotFound):
        await step_of(engine.follow_set("/geo/us/tx", step.cursor))


async def test_a_text_that_comes_to_mean_something_else_must_be_begun_again(engine):
    start = engine.view.cursor
    async with aclosing(engine.follow_set("/geo/us/tx")) as steps:
        await step_of(steps)
        await give(engine, RenameGroup("/geo/us/tx", "texas"))
        renamed = engine.view.cursor
        await give(engine, RenameGroup("/geo/us/ny", "tx"))
        with pytest.raises(ResyncRequired, match="mean something else"):
            await step_of(steps)
    for cursor in (start, renamed):
        with pytest.raises(ResyncRequired):
            await step_of(engine.follow_set("/geo/us/tx", cursor))


async def test_a_tree_is_followed_whatever_its_names_become(engine):
    cursor = engine.view.cursor
    tree = engine.parse("/geo/us/tx")
    await give(engine, RenameGroup("/geo/us/tx", "aside"), CreateGroup("/geo/us/tx"))
    await give(engine, RetireCluster("austin-2"))
    step = await step_of(engine.follow_set(tree, cursor))
    assert len(step.lost) == 1


async def test_a_saved_selector_is_followed_by_name(engine):
    async with aclosing(engine.follow_set("@texas")) as steps:
        await step_of(steps)
        await give(engine, SaveSelector("texas", "/geo/us/ny"))
        step = await step_of(steps)
        assert (len(step.gained), len(step.lost)) == (1, 2)


async def test_a_cursor_that_cannot_be_returned_to_asks_for_a_new_beginning(engine):
    old = engine.view.cursor
    for number in range(6):
        await give(engine, UpdateGroup("/geo", title=str(number)))
    middle = engine.view.cursor
    await give(engine, UpdateGroup("/geo", title="end"))
    await engine.compact(Revision(middle.revision - 1))
    elsewhere = Cursor(middle.revision, "f" * 16)
    ahead = Cursor(Revision(99), "f" * 16)
    for cursor in (old, elsewhere, ahead):
        with pytest.raises(ResyncRequired):
            await step_of(engine.follow_set("all", cursor))
    assert await step_of(engine.follow_set("all", middle))


async def test_a_follower_too_far_behind_starts_again(tmp_path):
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, settings=GraphSettings(resume_changesets_max=1))
    await give(engine, *SMALL)
    cursor = engine.view.cursor
    await give(engine, UpdateGroup("/geo", title="1"))
    assert await step_of(engine.follow_set("all", cursor))
    await give(engine, UpdateGroup("/geo", title="2"))
    with pytest.raises(ResyncRequired, match="2 changesets behind"):
        await step_of(engine.follow_set("all", cursor))
    await engine.close()


async def test_a_record_that_was_replaced_ends_the_following(engine, tmp_path):
    await engine._store.backup(tmp_path / "copy.db")
    await give(engine, RetireCluster("york-1"))
    async with aclosing(engine.follow_set("all")) as steps:
        await step_of(steps)
        await engine._store.restore(tmp_path / "copy.db")
        await engine.reload()
        with pytest.raises(ResyncRequired, match="replaced"):
            await step_of(steps)


async def test_a_closing_engine_lets_its_followers_go(engine):
    steps = engine.follow_set("all")
    await step_of(steps)
    waiting = asyncio.create_task(anext(steps, None))
    await asyncio.sleep(0)
    await engine.close()
    assert await asyncio.wait_for(waiting, 20) is None


# under a scope


def scope_of(engine: Engine, name: str) -> ScopeOf:
    return lambda view: engine.seen(engine.access(Actor(name)), view)


async def test_a_scope_that_changes_moves_the_set_at_once(engine):
    await give(engine, GrantAccess("ann", Role.READER, subject="ann", scope="/geo/us/ny"))
    async with aclosing(engine.follow_set("all", None, scope_of(engine, "ann"))) as steps:
        assert named(engine, (await step_of(steps)).gained) == {"york-1"}
        await give(engine, GrantAccess("ann", Role.READER, subject="ann", scope="/geo/us/tx"))
        step = await step_of(steps)
        assert named(engine, step.gained) == {"austin-1", "austin-2"}
        assert named(engine, step.lost) == {"york-1"}
        await give(engine, RevokeAccess("ann"))
        with pytest.raises(Denied):
            await step_of(steps)


async def test_grants_that_changed_meanwhile_ask_for_a_new_beginning(engine):
    await give(engine, GrantAccess("ann", Role.READER, subject="ann", scope="/geo/us/ny"))
    cursor = engine.view.cursor
    assert await step_of(engine.follow_set("all", cursor, scope_of(engine, "ann")))
    await give(engine, GrantAccess("ann", Role.READER, subject="ann", scope="/geo/us"))
    with pytest.raises(ResyncRequired, match="grants have changed"):
        await step_of(engine.follow_set("all", cursor, scope_of(engine, "ann")))


async def test_grants_to_others_do_not_send_a_follower_back_to_the_beginning(engine):
    def granted(view: FleetView) -> object:
        return reader_scope(Actor("ann"), view)

    seen = scope_of(engine, "ann")
    await give(engine, GrantAccess("ann", Role.READER, subject="ann", scope="/geo/us/ny"))
    cursor = engine.view.cursor
    await give(engine, GrantAccess("bob", Role.ADMIN, subject="bob"))
    await give(engine, GrantAccess("ann-too", Role.READER, subject="ann", scope="/geo/us/ny"))
    await give(engine, RetireCluster("york-1"))
    step = await step_of(engine.follow_set("all", cursor, seen, granted))
    assert (len(step.gained), len(step.lost), step.whole) == (0, 1, False)
    await give(engine, GrantAccess("ann-too", Role.READER, subject="ann", scope="/geo/us/tx"))
    with pytest.raises(ResyncRequired, match="grants have changed"):
        await step_of(engine.follow_set("all", cursor, seen, granted))
    assert not (await step_of(engine.follow_set("all", step.cursor))).whole, "who sees all goes on"


# random stories


@dataclass(slots=True)
class Author:
    """Another process that writes random changes into the record."""

    rng: Random
    store: EmbeddedStore
    twin: Twin
    cursor: Cursor

    async def write(self) -> None:
        revision = Revision(self.cursor.revision + 1)
        changes = net(random_changes(self.rng, self.twin, revision))
        if changes:
            await self.commit(changes)

    async def commit(self, changes: tuple[Change, ...]) -> None:
        revision = Revision(self.cursor.revision + 1)
        entry = Entry(Changeset(revision, NOON, "other", "because", changes))
        [receipt] = await self.store.commit([entry], expected=self.cursor, now=NOON)
        self.twin.apply(changes)
        self.cursor = receipt.cursor


@dataclass(slots=True)
class Reader:
    """A follower that is killed and returns, holding what it was told."""

    engine: Engine
    text: str
    scope_of: Callable[[Snapshot], FleetView]
    held: ClusterSet = EMPTY
    cursor: Cursor | None = None
    bound: Selector | None = None
    steps: AsyncGenerator[SetStep] | None = None
    told: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("begun", "returned"), 0))

    async def kill(self) -> None:
        if self.steps is not None:
            await self.steps.aclose()
            self.steps = None

    async def keep_up(self) -> None:
        """Be told until there is nothing more to be told, begin again where that is asked for."""
        try:
            if self.steps is None or self.expected() != self.held:
                await self.take()
        except ResyncRequired:
            self.steps = self.cursor = None
            await self.take()
        assert self.held == self.expected()

    async def take(self) -> None:
        if self.steps is None:
            self.told["begun" if self.cursor is None else "returned"] += 1
            self.steps = self.engine.follow_set(self.text, self.cursor, self.scope_of)
            self.bound = None
        step = await step_of(self.steps)
        self.held = step.gained if step.whole else (self.held | step.gained) - step.lost
        self.cursor = step.cursor

    def expected(self) -> ClusterSet:
        """What a fresh question gives; while the text is not read, what it meant."""
        view = self.scope_of(self.engine.view)
        try:
            self.bound = self.engine.parse(self.text, view)
        except TrellisError:
            assert self.bound is not None
        return evaluate(self.bound, view)


@pytest.mark.volume
@pytest.mark.parametrize("scoped", [False, True])
async def test_a_reader_killed_at_random_ends_with_the_set_a_fresh_question_gives(
    tmp_path: Path, scale: str, scoped: bool
) -> None:
    rng = Random(23)
    told = {"begun": 0, "returned": 0}
    for story in range(4 if scale == "test" else 120):
        store = await EmbeddedStore.open(tmp_path / f"{scoped}-{story}.db")
        author = Author(rng, store, Twin(), (await store.head()).cursor)
        await author.commit(net(Change(None, each) for each in random_fleet(rng)))
        engine = await Engine.open(store, settings=SETTINGS)
        scope = random_scope(rng, author.twin) if scoped else None
        reader = new_reader(rng, engine, author.twin, scope)
        for _ in range(50):
            for _ in range(rng.choice((1, 1, 2, 7))):
                await author.write()
            await engine.catch_up()
            if rng.random() < 0.4:
                await reader.kill()
            try:
                await reader.keep_up()
            except (NotFound, Invalid):  # what it was written with is gone, or of another type
                await reader.kill()
                told = {key: told[key] + reader.told[key] for key in told}
                reader = new_reader(rng, engine, author.twin, scope)
                await reader.keep_up()
        await reader.kill()
        told = {key: told[key] + reader.told[key] for key in told}
        await engine.close()
    assert told["returned"] > told["begun"], "most come back to where they were"


def new_reader(rng: Random, engine: Engine, twin: Twin, scope: Selector | None) -> Reader:
    def seen(view: Snapshot) -> FleetView:
        return view if scope is None else ScopedView(view, scope)

    for depth in (*[3] * 50, *[0] * 50):
        text = to_text(random_selector(rng, twin, depth=depth), twin)
        try:
            engine.parse(text, seen(engine.view))
        except TrellisError:
            continue
        return Reader(engine, text, seen)
    return Reader(engine, "all", seen)


def random_scope(rng: Random, twin: Twin) -> Selector:
    while True:
        scope = random_selector(rng, twin)
        if evaluate(scope, twin) and not any(isinstance(each, Saved) for each in clauses(scope)):
            return scope
