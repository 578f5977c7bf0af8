"""What `rendering` says, to whom, and in how many messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from api.caller.identity import Identified
from api.execution.documents import Documents
from api.execution.executor import Executor
from api.schema.schema import GRAPHQL, SCHEMA
from api.settings import ApiSettings
from api.streaming.hub import Hub
from api.streaming.selection import Asked
from api.streaming.stream import Payload
from api.telemetry.metrics import Tallies
from engines import give
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import GrantAccess, RegisterCluster, RetireCluster, UpdateCluster
from graph.model.names import Revision
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import (
    DefineApplication,
    LiftProhibition,
    Prohibit,
    SetLayer,
    Unassign,
)
from graph.store.embedded import EmbeddedStore
from small import SMALL
from small_door import small_door, small_engine
from wire_renderers import RENDERING, WORKLOAD, WireRenderer, should_hold
from ws_client import Failed, Operation, Socket, connect

TINY = {"rendering_items": 3, "rendering_bytes": 400}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with small_engine(tmp_path) as engine:
        await give(engine, *WORKLOAD)
        yield engine


async def step(operation: Operation) -> list[dict[str, Any]]:
    """The messages of one step, the last of which completes it."""
    found = [await operation.value()]
    while found[-1]["__typename"] != "RenderingComplete":
        assert found[-1]["__typename"] != "ResyncRequired", found
        found.append(await operation.value())
    return found


def kinds(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [each["__typename"].removeprefix("Rendering") for each in messages]


@asynccontextmanager
async def following(engine: Engine, **settings: Any) -> AsyncIterator[Operation]:
    """A rendering that has had its snapshot."""
    async with small_door(engine, **settings) as door, connect(door.ws_url) as socket:
        operation = await socket.subscribe(RENDERING)
        await step(operation)
        yield operation


async def test_a_snapshot_is_everything_in_order_and_its_last_message_completes_it(
    engine: Engine,
) -> None:
    async with small_door(engine) as door, connect(door.ws_url) as socket:
        messages = await step(await socket.subscribe(RENDERING))
    assert kinds(messages) == ["Definitions", "Settings", "Overlays", "Pointers", "Complete"]
    assert [each["cursor"] for each in messages[:-1]] == [None] * 4
    assert messages[-1] == {
        "__typename": "RenderingComplete",
        "cursor": f"{engine.view.cursor}.{await engine.identity()}",
        "revision": engine.view.cursor.revision,
        "acceptedLoss": 0,
    }
    overlay = next(
        each for each in messages[2]["overlays"] if each["layers"] == ["grill-tx", "telemetry-tx"]
    )
    assert overlay["values"] == {"tag": "1", "lanes": 2, "fleet": {"telemetry": {"traces": False}}}
    assert (overlay["application"], overlay["clusters"]) == ("grill", 2)
    pointer = next(each for each in messages[3]["pointers"] if each["cluster"] == "austin-1")
    grill = next(each for each in pointer["lines"] if each["application"] == "grill")
    assert grill == {
        "application": "grill",
        "namespace": "kitchen",
        "key": overlay["key"],
        "lateBound": {"host": "austin-1-large.example.com"},
    }
    assert (pointer["kind"], pointer["reconciler"]) == ("KUBERNETES", "FLUX")
    assert pointer["policies"] == ["images"]
    assert pointer["settings"] in {each["key"] for each in messages[1]["settings"]}


async def test_a_new_value_writes_overlays_and_no_pointer(engine: Engine) -> None:
    async with following(engine) as operation:
        await give(engine, SetLayer("grill-tx", "/geo/us/tx", {"lanes": 3}, "grill"))
        messages = await step(operation)
        assert kinds(messages) == ["Overlays", "Complete"]
        (overlay,) = messages[0]["overlays"]
        assert overlay["values"]["lanes"] == 3


async def test_a_cluster_that_moves_writes_its_pointer_and_only_the_lines_that_differ(
    engine: Engine,
) -> None:
    async with following(engine) as operation:
        await give(engine, UpdateCluster("austin-1", labels={"size": "small"}))
        messages = await step(operation)
        assert kinds(messages) == ["Pointers", "Complete"]
        (pointer,) = messages[0]["pointers"]
        assert [each["lateBound"] for each in pointer["lines"]] == [
            {"host": "austin-1-small.example.com"}
        ]


async def test_what_is_blocked_is_told_and_not_removed_and_told_again_when_it_is_free(
    engine: Engine,
) -> None:
    async with following(engine) as operation:
        await give(engine, UpdateCluster("york-1", labels={"size": None}), loss=1)
        messages = await step(operation)
        assert kinds(messages) == ["Removals", "Blocked", "Removals", "Complete"]
        assert messages[0]["lines"] == [
            {"application": "player", "cause": "LACKING", "clusters": ["york-1"]}
        ]
        assert {each["application"]: each["reasons"] for each in messages[1]["blocked"]} == {
            "board": [
                {
                    "reason": "DEPENDENCY",
                    "message": "grill, which it depends on, is not effective there",
                }
            ],
            "grill": [{"reason": "LATE_BOUND", "message": "no value for a late-bound key (host)"}],
        }
        assert messages[-1]["acceptedLoss"] == 1
        await give(engine, UpdateCluster("york-1", labels={"size": "small"}))
        messages = await step(operation)
        assert kinds(messages) == ["Overlays", "Pointers", "Complete"]
        (pointer,) = messages[1]["pointers"]
        assert [each["application"] for each in pointer["lines"]] == ["board", "grill", "player"]


async def test_what_goes_is_told_with_its_cause(engine: Engine) -> None:
    async with following(engine) as operation:
        await give(engine, Prohibit("law", Choice("", ("grill",)), "/geo/us/ny"), loss=2)
        messages = await step(operation)
        assert causes(messages) == {"board": "PROHIBITED", "grill": "PROHIBITED"}
        assert messages[-1]["acceptedLoss"] == 2
        await give(engine, LiftProhibition("law"))
        assert kinds(await step(operation)) == ["Overlays", "Pointers", "Complete"]
        await give(engine, RetireCluster("york-1"), loss=3)
        messages = await step(operation)
        assert causes(messages) == dict.fromkeys(("board", "grill", "player"), "RETIRED")
        assert [each["clusters"] for each in messages if each.get("clusters")] == [["york-1"]]
        await give(engine, Unassign("signs-all"), loss=3)
        assert causes(await step(operation)) == {"player": "UNASSIGNED"}


def causes(messages: Sequence[dict[str, Any]]) -> dict[str, str]:
    return {
        line["application"]: line["cause"] for each in messages for line in each.get("lines", ())
    }


async def test_a_snapshot_says_where_something_is_prohibited_in_case_there_is_a_line(
    engine: Engine,
) -> None:
    await give(engine, Prohibit("law", Choice("", ("player",)), "/geo/us/ny"), loss=1)
    async with small_door(engine) as door, connect(door.ws_url) as socket:
        messages = await step(await socket.subscribe(RENDERING))
    assert messages[0]["lines"] == [
        {"application": "player", "cause": "PROHIBITED", "clusters": ["york-1"]}
    ]


async def test_a_definition_can_be_read_whole_where_it_is_told(engine: Engine) -> None:
    query = """subscription { rendering { __typename ... on RenderingDefinitions {
        applications { name namespace { name } lateBound { key } } } } }"""
    async with small_door(engine) as door, connect(door.ws_url) as socket:
        operation = await socket.subscribe(query)
        assert (await operation.value())["applications"][1] == {
            "name": "grill",
            "namespace": {"name": "kitchen"},
            "lateBound": [{"key": "host"}],
        }
        while (await operation.value())["__typename"] != "RenderingComplete":
            pass
        late = (LateBound("id", "{cluster}"),)
        await give(engine, DefineApplication("board", "kitchen", late_bound=late))
        assert (await operation.value())["applications"] == [
            {"name": "board", "namespace": {"name": "kitchen"}, "lateBound": [{"key": "id"}]}
        ]


async def test_what_concerns_no_rendering_is_passed_over_but_for_where_one_is(
    engine: Engine,
) -> None:
    async with following(engine, progress_seconds=0.001) as operation:
        await asyncio.sleep(0.002)
        await give(engine, UpdateCluster("austin-1", title="no matter"))
        messages = await step(operation)
        assert kinds(messages) == ["Complete"]
        assert messages[0]["cursor"] == f"{engine.view.cursor}.{await engine.identity()}"
    async with following(engine, progress_seconds=60) as operation:
        await give(engine, UpdateCluster("austin-1", title="none at all"))
        await give(engine, UpdateCluster("austin-1", labels={"size": "small"}))
        messages = await step(operation)
        assert kinds(messages) == ["Pointers", "Complete"]


# who may


@pytest.mark.parametrize(
    "part",
    [
        GrantAccess("part", Role.ADMIN, subject="tess", scope="/geo/us"),
        GrantAccess("part", Role.ADMIN, subject="tess", namespaces=("kitchen", "signs")),
    ],
)
async def test_whoever_sees_less_than_all_is_refused(engine: Engine, part: GrantAccess) -> None:
    await give(engine, part)
    errors = (await told(engine, Actor("tess"))).errors
    assert errors[0]["extensions"]["code"] == "DENIED"
    assert "stores would be deleted" in errors[0]["message"]
    assert "grant" in errors[0]["extensions"]["hint"]


async def test_whoever_comes_to_see_less_is_told_to_start_again_and_is_then_refused(
    engine: Engine,
) -> None:
    everything = GrantAccess("all", Role.READER, subject="tess")
    await give(engine, everything)
    heard = await told(engine, Actor("tess"))
    assert heard.messages[-1]["__typename"] == "RenderingComplete"
    await give(engine, GrantAccess("all", Role.READER, subject="tess", scope="/geo/us/tx"))
    await give(engine, RegisterCluster("york-2", labels={"size": "large"}, groups=("/geo/us/ny",)))
    await heard.over.wait()
    assert heard.messages[-1]["__typename"] == "ResyncRequired"
    assert "york-2" not in json.dumps(heard.messages)
    assert (await told(engine, Actor("tess"))).errors[0]["extensions"]["code"] == "DENIED"


class Heard:
    """A sink that keeps what it is told."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.errors: list[dict[str, Any]] = []
        self.over = asyncio.Event()

    def next(self, payload: Payload) -> None:
        (value,) = json.loads(payload.text)["data"].values()
        self.messages.append(value)

    async def room(self) -> None:
        await asyncio.sleep(0)

    def fail(self, errors: Sequence[dict[str, Any]]) -> None:
        self.errors = list(errors)
        self.complete()

    def complete(self) -> None:
        self.over.set()


async def told(
    engine: Engine,
    actor: Actor,
    executor: type[Executor] = Executor,
    *,
    heard: Heard | None = None,
    **bounds: int,
) -> Heard:
    """What one subscriber hears until it has joined the others, and from then on."""
    settings, tallies, heard = ApiSettings.model_validate(bounds), Tallies(), heard or Heard()
    hub = Hub(engine, GRAPHQL, executor(SCHEMA, settings), settings=settings, tallies=tallies)
    document = Documents(GRAPHQL, settings, tallies).prepare(RENDERING)
    asked = Asked(document, document.operation(None), {}, Identified(actor, None))
    await hub.subscribe(asked, heard)
    return heard


class Stock(Executor):
    """An executor that leaves every message to graphql-core."""

    async def message(self, *_: Any) -> Any:
        return None


class Quick(Executor):
    """An executor that leaves none."""

    async def message(self, *given: Any) -> Any:
        found = await super().message(*given)
        assert found is not None, "the quick way gave up"
        return found


async def test_every_message_goes_the_quick_way_and_says_what_the_stock_way_says(
    engine: Engine,
) -> None:
    await give(engine, Prohibit("law", Choice("", ("player",)), "/geo/us/ny"), loss=1)
    await give(engine, UpdateCluster("york-1", labels={"size": None}), loss=1)
    admin = Actor("ana", standing=Role.ADMIN)
    quick, stock = await told(engine, admin, Quick), await told(engine, admin, Stock)
    assert quick.messages == stock.messages
    assert len(kinds(quick.messages)) == 7


class Turns(Heard):
    """A sink with room for everything, that counts the turns everybody else has meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0
        self.heard_at: list[int] = []
        self.steps = asyncio.Queue[None]()

    def next(self, payload: Payload) -> None:
        super().next(payload)
        self.heard_at.append(self.turns)
        if self.messages[-1]["__typename"] == "RenderingComplete":
            self.steps.put_nowait(None)

    async def room(self) -> None:
        """There is always some, so nothing is waited for."""

    async def others(self) -> None:
        """Have a turn whenever there is one."""
        while True:
            self.turns += 1
            await asyncio.sleep(0)

    def between(self) -> list[int]:
        """Turns of the others between each message and the next."""
        return [after - before for before, after in pairwise(self.heard_at)]


async def test_everybody_else_has_a_turn_between_any_two_messages(engine: Engine) -> None:
    sink = Turns()
    others = asyncio.create_task(sink.others())
    try:
        await told(engine, Actor("ana", standing=Role.ADMIN), heard=sink, **TINY)
        snapshot = len(sink.messages)
        assert snapshot > 10
        assert all(sink.between())
        await sink.steps.get()
        await give(engine, Prohibit("law", Choice("", ("grill",)), "all"), loss=100)
        async with asyncio.timeout(20):
            await sink.steps.get()
        assert len(sink.messages) > snapshot + 2
        assert all(sink.between())
    finally:
        others.cancel()


# places


async def test_a_place_that_is_gone_or_was_never_here_has_to_be_started_again(
    engine: Engine,
) -> None:
    foreign = f"{engine.view.cursor.revision}.{'0' * 16}"
    async with small_door(engine) as door, connect(door.ws_url) as socket:
        message = await (await socket.subscribe(RENDERING, {"after": foreign})).value()
        assert message["__typename"] == "ResyncRequired"
        assert message["head"] == str(engine.view.cursor)
        with pytest.raises(Failed, match="not a cursor"):
            await (await socket.subscribe(RENDERING, {"after": "yesterday"})).value()


async def test_a_place_that_was_compacted_away_has_to_be_started_again(tmp_path: Path) -> None:
    store = await EmbeddedStore.open(tmp_path / "compacted.db")
    first = await Engine.open(store, archive=tmp_path / "archive")
    await give(first, *SMALL, *WORKLOAD)
    place = str(first.view.cursor)
    for number in range(4):
        await give(first, UpdateCluster("austin-1", title=str(number)))
    await first.compact(Revision(first.view.cursor.revision - 1))
    await first.close()
    again = await Engine.open(await EmbeddedStore.open(tmp_path / "compacted.db"))
    try:
        async with small_door(again) as door, connect(door.ws_url) as socket:
            message = await (await socket.subscribe(RENDERING, {"after": place})).value()
            assert message["__typename"] == "ResyncRequired"
    finally:
        await again.close()


# readers


async def test_renderers_of_one_fleet_are_told_with_one_execution(engine: Engine) -> None:
    async with small_door(engine, **TINY) as door, connect(door.ws_url) as socket:
        renderers = [await begun(socket) for _ in range(5)]
        assert (door.tallies.shapes_open, door.tallies.messages_executed) == (1, 0)
        await give(engine, SetLayer("grill-tx", "/geo/us/tx", {"lanes": 3}, "grill"))
        heard = [await step(operation) for operation, _ in renderers]
        assert all(each == heard[0] for each in heard)
        assert door.tallies.messages_executed == len(heard[0])


async def begun(socket: Socket) -> tuple[Operation, WireRenderer]:
    """A renderer that has had its snapshot."""
    renderer = WireRenderer()
    renderer.begin()
    operation = await socket.subscribe(RENDERING)
    for message in await step(operation):
        renderer.take(message)
    return operation, renderer


async def test_a_large_change_waits_for_its_readers_and_none_of_them_is_given_up(
    engine: Engine,
) -> None:
    async with (
        small_door(engine, **TINY, queue_messages_max=4) as door,
        connect(door.ws_url) as socket,
    ):
        operation, renderer = await begun(socket)
        labels = {"size": "large"}
        clusters = [
            RegisterCluster(f"n-{number}", labels=labels, groups=("/geo/us/ny",))
            for number in range(60)
        ]
        await give(engine, *clusters)
        messages = await step(operation)
        assert len(messages) > 60
        for message in messages:
            renderer.take(message)
        assert renderer.held == should_hold(engine)
        assert door.tallies.readers_dropped == 0
