"""The hub: one execution for a shape, and every subscriber told as if it were alone."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLError

from api.caller.identity import Identified
from api.execution.documents import Documents
from api.execution.executor import Executor
from api.schema.schema import GRAPHQL, SCHEMA
from api.settings import ApiSettings
from api.streaming.hub import Hub, Subscription
from api.streaming.selection import Asked
from api.streaming.stream import Payload
from api.telemetry.metrics import Tallies
from engines import give, names
from followers import CHANGES, CLUSTER_SET, LogFollower, SetFollower, revision_of
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import (
    CreateGroup,
    GrantAccess,
    Join,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    RevokeAccess,
    UpdateCluster,
)
from small_door import small_door, small_engine
from ws_client import Operation, connect

ADMIN = Actor("ana", standing=Role.ADMIN)
TEXAN = Actor("tess")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with small_engine(tmp_path) as engine:
        yield engine


class Heard:
    """A sink that keeps what it is told."""

    def __init__(self) -> None:
        self.payloads: list[dict[str, Any]] = []
        self.errors: list[dict[str, Any]] = []
        self.over = False
        self._more = asyncio.Event()

    def next(self, payload: Payload) -> None:
        assert not self.over, "nothing is said after the last word"
        self.payloads.append(json.loads(payload.text))
        self._more.set()

    async def room(self) -> None:
        await asyncio.sleep(0)

    def fail(self, errors: Sequence[dict[str, Any]]) -> None:
        self.errors = list(errors)
        self.complete()

    def complete(self) -> None:
        self.over = True
        self._more.set()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The values of the subscriptions' field."""
        return [value for payload in self.payloads for value in payload["data"].values()]

    async def has(self, count: int) -> None:
        """Wait until it has heard ``count`` messages."""
        async with asyncio.timeout(20):
            while len(self.payloads) < count and not self.over:
                self._more.clear()
                await self._more.wait()


class Party:
    """A hub, and subscribers of it."""

    def __init__(self, engine: Engine, *, kind: type[Executor] = Executor, **settings: Any) -> None:
        self.settings = ApiSettings.model_validate(settings)
        self.tallies = Tallies()
        self.executor = kind(SCHEMA, self.settings)
        self.hub = Hub(engine, GRAPHQL, self.executor, settings=self.settings, tallies=self.tallies)
        self._documents = Documents(GRAPHQL, self.settings, self.tallies)

    async def join(
        self,
        query: str,
        variables: dict[str, Any] | None = None,
        actor: Actor = ADMIN,
        sink: Heard | None = None,
    ) -> tuple[Heard, Subscription]:
        document = self._documents.prepare(query)
        operation = document.operation(None)
        asked = Asked(document, operation, variables or {}, Identified(actor, None))
        heard = sink or Heard()
        return heard, await self.hub.subscribe(asked, heard)


class Stock(Executor):
    """An executor that leaves every message to graphql-core."""

    async def message(self, *_: Any) -> Any:
        return None


class Counted(Executor):
    """An executor that counts the messages it leaves to graphql-core."""

    left = 0

    async def message(self, *given: Any) -> Any:
        found = await super().message(*given)
        self.left += found is None
        return found


def where(text: str, after: str | None = None) -> dict[str, Any]:
    return {"where": {"text": text}, "after": after}


async def test_each_change_is_executed_once_for_a_shape_however_many_subscribe(
    engine: Engine,
) -> None:
    party = Party(engine)
    shapes = [(CLUSTER_SET, where("/geo/us")), (CLUSTER_SET, where("size = large")), (CHANGES, {})]
    joined = [await party.join(*shapes[number % 3]) for number in range(200)]
    assert party.tallies.shapes_open == 3
    assert party.tallies.subscriptions_open == 200
    begun = [len(heard.payloads) for heard, _ in joined]
    assert party.tallies.messages_executed == 0
    for number in range(5):
        labels = {"size": "large"}
        await give(engine, RegisterCluster(f"n-{number}", labels=labels, groups=("/geo/us/ny",)))
        for (heard, _), count in zip(joined, begun, strict=True):
            await heard.has(count + number + 1)
        assert party.tallies.messages_executed == 3 * (number + 1)
    for _, subscription in joined:
        subscription.leave()
    assert party.tallies.shapes_open == 0
    assert party.tallies.subscriptions_open == 0
    assert party.tallies.messages_executed == 15


async def test_200_subscribers_of_3_shapes_hear_exactly_what_lone_ones_hear(
    engine: Engine,
) -> None:
    shapes = [(CLUSTER_SET, where("/geo/us")), (CLUSTER_SET, where("size = large")), (CHANGES, {})]
    async with small_door(engine) as door, AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(connect(door.ws_url)) for _ in range(20)]
        lone_ones = [
            await sockets[number].subscribe(f"# by itself\n{query}", variables)
            for number, (query, variables) in enumerate(shapes)
        ]
        alone = [[await _begin(each)] for each in lone_ones]
        together = [
            await sockets[number % 20].subscribe(*shapes[number % 3]) for number in range(200)
        ]
        heard = [[await _begin(each)] for each in together]
        for number in range(10):
            await _change(engine, number)
            for operation, messages in zip(lone_ones, alone, strict=True):
                messages.append(await operation.value())
            for operation, messages in zip(together, heard, strict=True):
                messages.append(await operation.value())
        for number, messages in enumerate(heard):
            assert messages == alone[number % 3]


async def _begin(operation: Operation) -> dict[str, Any]:
    """The message that says that it has caught up."""
    while True:
        message = await operation.value()
        if message["__typename"] in ("CaughtUp", "Progress"):
            return message


async def _change(engine: Engine, number: int) -> None:
    """Something that moves every one of the sets, by one message."""
    if number % 3 == 2:
        await give(engine, RetireCluster(f"n-{number - 1}"))
    else:
        labels = {"size": "large"}
        await give(engine, RegisterCluster(f"n-{number}", labels=labels, groups=("/geo/us/tx",)))


@pytest.mark.volume
async def test_subscribers_that_come_and_go_while_things_change_miss_nothing_and_hear_nothing_twice(
    engine: Engine, scale: str
) -> None:
    party = Party(engine, progress_seconds=0.01)
    chance = random.Random(5)
    count = {"test": 150, "campaign": 3_000}[scale]
    writing = asyncio.create_task(_write(engine, count, chance))
    first = str(engine.view.cursor)
    guests: list[tuple[Heard, Subscription, str]] = []
    while not writing.done():
        if chance.random() < 0.5:
            heard, subscription = await party.join(CHANGES, {"after": first})
        else:
            heard, subscription = await party.join(CLUSTER_SET, where("size = large", first))
        guests.append((heard, subscription, first))
        if chance.random() < 0.3:
            guests.pop(chance.randrange(len(guests)))[1].leave()
        await asyncio.sleep(chance.random() / 100)
    await writing
    await give(engine, RegisterCluster("last", labels={"size": "large"}, groups=("/geo/ca",)))
    head = engine.view.cursor.revision
    assert len(guests) > 10
    for heard, _, after in guests:
        await _settled(heard, head)
        if heard.messages[0]["__typename"] in ("Changeset", "Progress"):
            log = LogFollower()
            for message in heard.messages:
                log.take(message)
            assert log.revisions == list(range(revision_of(after) + 1, head + 1))
        else:
            held = SetFollower("size = large")
            held.cursor, held.held = after, {"austin-1"}
            for message in heard.messages:
                held.take(message)
            assert held.held == names(engine, "size = large")


async def _settled(heard: Heard, head: int) -> None:
    async with asyncio.timeout(20):
        while revision_of(heard.messages[-1]["cursor"]) < head:  # noqa: ASYNC110 - a list tells nobody
            await asyncio.sleep(0.01)


async def _write(engine: Engine, count: int, chance: random.Random) -> None:
    for number in range(count):
        size = chance.choice(["small", "large"])
        if chance.random() < 0.5:
            labels = {"size": size}
            await give(engine, RegisterCluster(f"n-{number}", labels=labels, groups=("/geo/ca",)))
        else:
            await give(engine, UpdateCluster("austin-2", labels={"size": size}, title=f"{number}"))


async def test_a_large_step_comes_in_parts_and_only_the_last_may_be_resumed_from(
    engine: Engine,
) -> None:
    party = Party(engine, chunk_clusters=2)
    heard, _ = await party.join(CLUSTER_SET, where("/geo/us"))
    kinds = [message["__typename"] for message in heard.messages]
    assert kinds == ["Snapshot", "Snapshot", "CaughtUp"]
    assert [message["cursor"] for message in heard.messages[:2]] == [None, None]
    before = str(engine.view.cursor)
    fresh = [RegisterCluster(f"n-{number}", groups=("/geo/us/ny",)) for number in range(3)]
    await give(engine, *fresh, RetireCluster("york-1"))
    await heard.has(6)
    moved = heard.messages[3:]
    assert [message["__typename"] for message in moved] == ["Gained", "Gained", "Lost"]
    after = str(engine.view.cursor)
    assert [message["cursor"] for message in moved] == [before, before, after]
    again, _ = await party.join(CLUSTER_SET, where("/geo/us", before))
    assert again.messages[:-1] == moved
    assert again.messages[-1] == {"__typename": "CaughtUp", "cursor": after, "count": 5}


async def test_what_is_quiet_says_now_and_then_how_far_it_is(engine: Engine) -> None:
    party = Party(engine, progress_seconds=0.000_001)
    held, _ = await party.join(CLUSTER_SET, where("/devices/camera"))
    await give(engine, GrantAccess("tess", Role.READER, subject="tess", scope="/devices/camera"))
    log, _ = await party.join(CHANGES, actor=TEXAN)
    await give(engine, RegisterCluster("n-1", groups=("/geo/us/ny",)))
    head = str(engine.view.cursor)
    await held.has(4)
    await log.has(2)
    assert held.messages[-1] == {"__typename": "CaughtUp", "cursor": head, "count": 1}
    assert log.messages[-1] == {"__typename": "Progress", "cursor": head}

    patient = Party(engine, progress_seconds=3_600)
    held, _ = await patient.join(CLUSTER_SET, where("/devices/camera"))
    await give(engine, RegisterCluster("n-2", groups=("/geo/us/ny",)))
    await give(engine, RetireCluster("york-1"))
    await held.has(3)
    assert [each["__typename"] for each in held.messages] == ["Snapshot", "CaughtUp", "Lost"]


async def test_callers_who_see_different_things_do_not_share_a_shape(engine: Engine) -> None:
    await give(engine, GrantAccess("tess", Role.READER, subject="tess", scope="/geo/us/tx"))
    party = Party(engine)
    everything, _ = await party.join(CLUSTER_SET, where("all"))
    texas, _ = await party.join(CLUSTER_SET, where("all"), TEXAN)
    assert party.tallies.shapes_open == 2
    await give(engine, RegisterCluster("york-2", groups=("/geo/us/ny",)))
    await give(engine, RegisterCluster("austin-9", groups=("/geo/us/tx",)))
    await everything.has(4)
    await texas.has(3)
    assert [each["clusters"] for each in texas.messages[2:]] == [[{"name": "austin-9"}]]


async def test_a_cluster_that_leaves_what_may_be_seen_is_lost_and_one_that_comes_is_gained(
    engine: Engine,
) -> None:
    await give(engine, GrantAccess("tess", Role.READER, subject="tess", scope="/geo/us/tx"))
    party = Party(engine)
    heard, _ = await party.join(CLUSTER_SET, where("all"), TEXAN)
    log, _ = await party.join(CHANGES, actor=TEXAN)
    await give(engine, Join("austin-1", "/geo/us/ny"))
    await give(engine, Join("york-1", "/geo/us/tx"))
    await heard.has(4)
    await log.has(3)
    lost, gained = heard.messages[2:]
    assert [each["name"] for each in lost["clusters"]] == ["austin-1"]
    assert gained["clusters"] == [{"name": "york-1"}]
    seen = [(each["name"], each["action"]) for one in log.messages[1:] for each in one["changes"]]
    assert seen == [("austin-1", "REMOVED"), ("york-1", "CREATED")]
    again, _ = await party.join(CLUSTER_SET, where("all", lost["cursor"]), TEXAN)
    assert again.messages[0] == gained


async def test_a_name_that_comes_to_mean_something_else_ends_the_stream_with_a_resync(
    engine: Engine,
) -> None:
    party = Party(engine)
    heard, _ = await party.join(CLUSTER_SET, where("/geo/us/ny"))
    await give(
        engine,
        RenameGroup("/geo/us/ny", "york"),
        CreateGroup("/geo/us/ny"),
    )
    await heard.has(3)
    assert heard.messages[-1]["__typename"] == "ResyncRequired"
    assert heard.over
    assert party.tallies.shapes_open == 0


class Breaking(Executor):
    """An executor that cannot say the last message of a stream."""

    async def message(self, document: Any, operation: Any, values: Any, message: Any) -> Any:
        if message.last:
            raise GraphQLError("what nobody outside should read")
        return await super().message(document, operation, values, message)


async def test_streams_that_cannot_even_be_told_to_begin_again_are_told_that_something_went_wrong(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    party = Party(engine, kind=Breaking)
    guests = [await party.join(CLUSTER_SET, where("/geo/us/ny")) for _ in range(3)]
    await give(engine, RenameGroup("/geo/us/ny", "york"), CreateGroup("/geo/us/ny"))
    for heard, _ in guests:
        await heard.has(3)
        assert heard.over
        assert heard.errors[0]["message"] == "something went wrong"
        assert heard.errors[0]["extensions"]["code"] == "INTERNAL"
    assert (party.tallies.shapes_open, party.tallies.subscriptions_open) == (0, 0)
    faults = [each for each in caplog.records if each.levelname == "ERROR"]
    assert len(faults) == 1


async def test_a_shape_nobody_may_see_any_more_ends(engine: Engine) -> None:
    await give(engine, GrantAccess("tess", Role.READER, subject="tess", scope="/geo/us/tx"))
    party = Party(engine)
    heard, _ = await party.join(CHANGES, actor=TEXAN)
    await give(engine, RevokeAccess("tess"))
    await heard.has(2)
    assert heard.errors[0]["extensions"]["code"] == "DENIED"
    async with asyncio.timeout(10):
        while party.tallies.shapes_open:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)


class Patient(Heard):
    """A sink that takes as many messages as it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = asyncio.Semaphore(0)

    async def room(self) -> None:
        await self.turns.acquire()

    def let(self, count: int) -> None:
        for _ in range(count):
            self.turns.release()


async def test_a_subscriber_that_others_leave_too_far_behind_resumes_where_it_is(
    engine: Engine,
) -> None:
    party = Party(engine, queue_messages_max=3, chunk_clusters=1)
    quick, _ = await party.join(CLUSTER_SET, where("all"))
    begun = len(quick.payloads)
    late = Patient()
    joining = asyncio.create_task(party.join(CLUSTER_SET, where("all"), sink=late))
    late.let(1)
    await late.has(1)
    await _grow(engine, quick, range(5))  # it joins behind these
    late.let(begun - 1)
    async with asyncio.timeout(10):
        while party.tallies.subscriptions_open < 2:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)
    await _grow(engine, quick, range(5, 15))  # these have to wait for it
    late.let(100)
    _, subscription = await joining
    assert late.over
    (error,) = late.errors
    assert error["extensions"]["code"] == subscription.code == "SLOW_READER"
    assert party.tallies.readers_dropped == party.tallies.subscriptions_open == 1
    held = SetFollower("all")
    held.begin()
    for message in late.messages:
        held.take(message)
    assert error["extensions"]["cursor"] == held.cursor
    again, _ = await party.join(CLUSTER_SET, where("all", held.cursor))
    for message in again.messages:
        held.take(message)
    assert held.held == names(engine, "all")


async def test_one_that_comes_a_little_behind_is_told_everything_at_its_own_pace(
    engine: Engine,
) -> None:
    party = Party(engine, queue_messages_max=10, chunk_clusters=1)
    quick, _ = await party.join(CLUSTER_SET, where("all"))
    begun = len(quick.payloads)
    late = Patient()
    joining = asyncio.create_task(party.join(CLUSTER_SET, where("all"), sink=late))
    late.let(1)
    await late.has(1)
    await _grow(engine, quick, range(2))
    late.let(begun - 1)
    async with asyncio.timeout(10):
        while party.tallies.subscriptions_open < 2:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)
    await _grow(engine, quick, range(2, 10))
    for turn in (2, 1, 1):
        told = len(late.payloads) + turn
        late.let(turn)
        await late.has(told)
        await asyncio.sleep(0.01)
        assert len(late.payloads) == told, "nothing is said to it before there is room"
    late.let(100)
    await joining
    await late.has(len(quick.payloads))
    gained = [each["clusters"] for each in late.messages if each["__typename"] == "Gained"]
    assert gained == [[{"name": f"n-{number}"}] for number in range(10)]


async def _grow(engine: Engine, heard: Heard, numbers: range) -> None:
    """A change for each number, which ``heard`` hears of."""
    for number in numbers:
        before = len(heard.payloads)
        await give(engine, RegisterCluster(f"n-{number}", groups=("/geo/ca",)))
        await heard.has(before + 1)


async def test_variables_that_only_say_where_to_begin_do_not_make_another_shape(
    engine: Engine,
) -> None:
    party = Party(engine)
    place = str(engine.view.cursor)
    await party.join(CHANGES)
    await party.join(CHANGES, {"after": place})
    await party.join(CHANGES, {"after": None})
    assert party.tallies.shapes_open == 1
    twice = "subscription($after: Cursor) { changes(after: $after) { ... on Progress { cursor } } }"
    await party.join(twice, {"after": place})
    assert party.tallies.shapes_open == 2
    await party.join(CLUSTER_SET, where("/geo/us"))
    await party.join(CLUSTER_SET, where("/geo/us", place))
    assert party.tallies.shapes_open == 3


async def test_an_engine_that_closes_ends_every_stream(tmp_path: Path) -> None:
    async with small_engine(tmp_path) as engine:
        party = Party(engine)
        heard, _ = await party.join(CHANGES)
    async with asyncio.timeout(10):
        await heard.has(2)
    assert heard.errors[0]["extensions"]["code"] == "UNAVAILABLE"


SHOWN = [
    "{ __typename ... on Snapshot { clusters { name } } ... on CaughtUp { count at: cursor } }",
    """{ kind: __typename
      ... on Snapshot { clusters { __typename id name size: label(key: "size") } }
      ... on Gained { clusters { ...all place(hierarchy: "geo") } cursor }
      ... on Lost { clusters { id gone: name } cursor again: cursor } }""",
    """{ ... @include(if: $with) { __typename } ... on Gained @skip(if: $with) { cursor }
      ... on Snapshot { clusters { name @skip(if: $with) title } } }""",
    "{ ... on Gained { clusters { name groups { path } labels { key value } } } }",
]
WAITING = "{ __typename ... on Gained { clusters { name history(first: 1) { revision } } } }"
FRAGMENT = "fragment all on Cluster { name title kind reconciler timeZone changed }"


@pytest.mark.parametrize("shown", [*SHOWN, WAITING])
@pytest.mark.parametrize("with_it", [True, False])
async def test_the_quick_way_says_exactly_what_graphql_core_says(
    shown: str, with_it: bool, engine: Engine
) -> None:
    used = "$with: Boolean!" if "$with" in shown else ""
    query = f"subscription($where: SelectorInput!, {used}) {{ clusterSet(where: $where) {shown} }}"
    query += FRAGMENT if "...all" in shown else ""
    variables = {"where": {"text": "/geo/us"}, **({"with": with_it} if used else {})}
    quick, stock = Party(engine, kind=Counted), Party(engine, kind=Stock)
    heard, _ = await quick.join(query, variables)
    wanted, _ = await stock.join(query, variables)
    await give(engine, RegisterCluster("n-1", labels={"lanes": 3}, groups=("/geo/us/ny",)))
    await give(engine, RetireCluster("austin-1"))
    await heard.has(4)
    await wanted.has(4)
    assert heard.payloads == wanted.payloads
    assert isinstance(quick.executor, Counted)
    assert quick.executor.left == (1 if shown == WAITING else 0)
