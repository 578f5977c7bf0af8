"""Effective states at hand: worked out once, beside the event loop, and read through a view."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import pytest

from effective_checks import between, snapshot_of
from engines import give
from graph.effective.state import State, begin
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.change import Cursor
from graph.model.command import CreateGroup, GrantAccess
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.model.workload_command import DefineNamespace, SetLayer
from graph.settings import GraphSettings
from graph.states import States, read_through, whole_of
from graph.store.embedded import EmbeddedStore
from small import SMALL
from told import KITCHEN, kitchen


class Slowly:
    """Works states out one at a time, when told to go on."""

    def __init__(self) -> None:
        self.begun = 0
        self.threads: set[int] = set()
        self.started, self.go_on = threading.Event(), threading.Event()

    def __call__(self, view: Any) -> State:
        self.begun += 1
        self.threads.add(threading.get_ident())
        self.started.set()
        assert self.go_on.wait(30)
        return begin(view)


def nothing_known(_: Cursor) -> None:
    """Of what came after a cursor."""


async def test_those_who_ask_at_once_wait_for_one_and_the_same(monkeypatch):
    slowly, states, view = Slowly(), States(4, nothing_known), snapshot_of(kitchen())
    monkeypatch.setattr("graph.states.begin", slowly)
    waiting = [asyncio.create_task(states.soon(view)) for _ in range(5)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    slowly.go_on.set()
    first, *others = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(first, asyncio.CancelledError)
    assert all(each is others[0] for each in others)
    assert slowly.begun == 1 and threading.get_ident() not in slowly.threads
    assert await states.soon(view) is others[0] is states.held(view.cursor)


async def test_what_cannot_be_worked_out_is_tried_again_by_the_next(monkeypatch):
    states, view = States(4, nothing_known), snapshot_of(kitchen())

    def broken(_: Any) -> State:
        raise OSError("broken")

    with monkeypatch.context() as patched:
        patched.setattr("graph.states.begin", broken)
        with pytest.raises(OSError, match="broken"):
            await states.soon(view)
    assert (await states.soon(view)).placements


@pytest.fixture
async def engine(tmp_path):
    engine = await Engine.open(await EmbeddedStore.open(tmp_path / "fleet.db"))
    await give(engine, *SMALL)
    texans = GrantAccess("texans", Role.READER, subject="tess", scope="/geo/us/tx")
    calm = [each for each in KITCHEN if getattr(each, "name", "") != "board"]  # it is blocked
    await give(engine, *calm, texans)
    yield engine
    await engine.close()


async def test_a_reading_shows_as_much_as_its_view(engine):
    seen = engine.seen(engine.access(Actor("tess")))
    mine, theirs = await engine.reading(engine.view), await engine.reading(seen)
    assert whole_of(seen) is engine.view and whole_of(engine.view) is engine.view
    assert mine.state is theirs.state
    assert len(mine.placement("grill").lacking) == 2
    assert len(theirs.placement("grill").lacking) == 1
    assert read_through(mine.state, engine.view).visible is None


async def test_an_earlier_view_has_the_state_of_then(engine):
    then = await engine.as_of(Revision(1))
    assert (await engine.reading(then)).state.placements == {}
    assert "grill" in (await engine.reading(engine.view)).state.placements


async def test_how_a_revision_wrote_an_object_can_be_told(engine):
    ref = Ref(Kind.NAMESPACE, "kitchen")
    await give(engine, DefineNamespace("kitchen", "Kitchens"), actor="bo", reason="a better name")
    line = await engine.written_by(ref, Revision(3))
    assert line is not None and (line.actor, line.reason) == ("bo", "a better name")
    assert await engine.written_by(ref, Revision(1)) is None
    assert await engine.written_by(ref, Revision(99)) is None


@pytest.fixture
async def reader(engine, tmp_path):
    """Another process that follows the record of ``engine``."""
    store = await EmbeddedStore.open(tmp_path / "fleet.db", write=False)
    reader = await Engine.open(store, settings=GraphSettings(changesets_kept_max=3))
    yield reader
    await reader.close()


async def lanes(engine: Engine, number: int) -> None:
    await give(engine, SetLayer("grill-tx", "/geo/us/tx", {"lanes": number}, "grill"))


async def late_by(count: int, engine: Engine, reader: Engine, slowly: Slowly) -> State:
    """The state the reader asked for, once the record has gone on by so many changesets."""
    asked = asyncio.create_task(reader.reading(reader.view))
    assert await asyncio.to_thread(slowly.started.wait, 30)
    for number in range(count):
        await lanes(engine, number)
    await reader.catch_up()
    slowly.go_on.set()
    return (await asked).state


@pytest.mark.parametrize("then", ["a question", "a changeset", "both"])
async def test_a_state_that_comes_late_leads_on_to_the_head(engine, reader, monkeypatch, then):
    slowly = Slowly()
    await engine.reading(engine.view)
    monkeypatch.setattr("graph.states.begin", slowly)
    asked_at = reader.view.cursor
    late = await late_by(2, engine, reader, slowly)
    assert late.view.cursor == asked_at != reader.view.cursor
    if then in ("a question", "both"):
        await reader.reading(reader.view)
    if then in ("a changeset", "both"):
        await lanes(engine, 7)
        await reader.catch_up()
    now = (await reader.reading(reader.view)).state
    assert now.view.cursor == reader.view.cursor == engine.view.cursor
    assert between(now, begin(reader.view)) is None
    assert slowly.begun == 1


async def test_those_who_ask_at_other_revisions_meanwhile_wait_for_the_first(
    engine, reader, monkeypatch
):
    slowly = Slowly()
    await engine.reading(engine.view)
    monkeypatch.setattr("graph.states.begin", slowly)
    waiting = [asyncio.create_task(reader.reading(reader.view))]
    for number in range(3):
        await lanes(engine, number)
        await reader.catch_up()
        waiting.append(asyncio.create_task(reader.reading(reader.view)))
    slowly.go_on.set()
    for found in await asyncio.gather(*waiting):
        assert between(found.state, begin(found.view)) is None
    assert slowly.begun == 1


async def test_a_state_that_comes_too_late_leads_nowhere(engine, reader, monkeypatch):
    slowly = Slowly()
    await engine.reading(engine.view)
    monkeypatch.setattr("graph.states.begin", slowly)
    await late_by(4, engine, reader, slowly)
    await lanes(engine, 7)
    await reader.catch_up()
    now = (await reader.reading(reader.view)).state
    assert between(now, begin(reader.view)) is None
    assert slowly.begun == 2, "memory does not reach back to it"


async def test_a_state_of_a_record_that_was_replaced_meanwhile_is_nobodys_newest(
    engine, reader, monkeypatch
):
    slowly = Slowly()
    await engine.reading(engine.view)
    monkeypatch.setattr("graph.states.begin", slowly)
    asked = asyncio.create_task(reader.reading(reader.view))
    assert await asyncio.to_thread(slowly.started.wait, 30)
    await lanes(engine, 1)
    await reader.reload()
    slowly.go_on.set()
    await asked
    for number in range(2, 5):
        now = (await reader.reading(reader.view)).state
        assert between(now, begin(reader.view)) is None
        await lanes(engine, number)
        await reader.catch_up()
    assert slowly.begun == 2, "once before and once after"


async def test_readers_of_the_past_do_not_push_the_newest_out(tmp_path, monkeypatch):
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, settings=GraphSettings(states_kept_max=2))
    await give(engine, *SMALL)
    for number in range(5):
        await give(engine, CreateGroup(f"/geo/g{number}"))
    for revision in range(1, 5):
        await engine.reading(await engine.as_of(Revision(revision)))

    def never(_: Any) -> State:
        raise AssertionError("worked out from nothing")

    monkeypatch.setattr("graph.states.begin", never)
    await give(engine, CreateGroup("/geo/last"))
    assert (await engine.reading(engine.view)).state.view is engine.view
    await engine.close()


class Knot:
    """Garbage that only a collection finds."""

    def __init__(self) -> None:
        self.itself = self


async def test_only_the_first_state_of_the_head_is_kept_from_collections(tmp_path):
    settings = GraphSettings(states_kept_max=1, changesets_kept_max=1)
    engine = await Engine.open(await EmbeddedStore.open(tmp_path / "fleet.db"), settings=settings)
    gone = []
    try:
        await give(engine, *SMALL)
        frozen = gc.get_freeze_count()
        assert frozen > 0
        for number in range(5):
            await give(engine, CreateGroup(f"/geo/g{number}"))
        for revision in range(1, 6):
            view = await engine.as_of(Revision(revision))
            gone.append(weakref.ref(Knot()))
            await engine.reading(view)
        gc.collect()
        assert [each() for each in gone] == [None] * 5
        assert gc.get_freeze_count() <= frozen
    finally:
        await engine.close()
