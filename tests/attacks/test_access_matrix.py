"""Who may: everybody, every operation, every position of an object, through every door.

What is hidden is called so, and whatever is said is searched for it. What a scoped actor is told
is also compared with what somebody is told who sees all of a fleet in which the rest never was.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from graphql import (
    GraphQLObjectType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    parse,
    validate,
    visit,
)

from access_cases import (
    ABSENT,
    COVERED,
    HIDDEN,
    PEOPLE,
    POSITIONS,
    SCOPED,
    Person,
    Things,
    World,
    read,
    shown,
    twin_of,
)
from access_house import House, check, opened_house
from access_operations import (
    APPLY,
    EXPORTS,
    FORGET,
    LOGS,
    PREVIEW,
    PUBLISHED,
    READS,
    REPORT,
    REVERT,
    REVERTS,
    SUBSCRIPTIONS,
    WRITES,
    Read,
    documents,
    mutation,
)
from access_schema import readings
from api.schema.schema import GRAPHQL
from api.web.export import export_of
from graph.decide.revert import Everything as RevertEverything
from graph.decide.revert import Parts
from graph.engine import Engine
from graph.model.access import Role
from graph.model.change import Change, Entity, ref_of
from graph.model.command import Batch
from graph.model.inventory import Cluster, Group, LabelKey, SavedSelector
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.model.referring import selector_of
from graph.model.selector import Everything, InNamespace, Selector, mentions
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from graph.roles import ROLES
from graph.settings import GraphSettings
from sse_client import listen
from twin import Twin, twin_select
from ws_client import Failed, connect

OUTSIDE_SCOPE = "this would touch something outside your scope"
CELLS_MIN = 1_200
ROLE_OF = {
    command.__name__[0].lower() + command.__name__[1:]: role for command, role in ROLES.items()
}
THOROUGHLY = ("edits-texas", "edits-by-label", "edits-but-new-york", "edits-austin", "rules-texas")
OTHERWISE = ("inside", "outside")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened_house(tmp_path) as found:
        yield found


class Worlds:
    """The worlds of every scope, each made once."""

    def __init__(self, engine: Engine, whole: Twin) -> None:
        self._whole = whole
        scopes = {scope for person in PEOPLE for _, scope in person.grants}
        self.trees = {scope: read(scope, engine) for scope in scopes}
        self._made: dict[tuple[str, bool], World] = {}

    async def of(self, scope: str, *, grants: bool = False) -> World:
        key = scope, grants
        if key not in self._made:
            self._made[key] = await World.of(self._whole, self.trees[scope], grants=grants)
        return self._made[key]


def positions(person: Person) -> Mapping[str, Things]:
    """All of them to one person of each scope; two of them to the others."""
    if person.name in THOROUGHLY:
        return POSITIONS
    return {name: POSITIONS[name] for name in OTHERWISE}


def cells(reads: Mapping[str, Read], person: Person) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation once, or once in each position: its name, its document, its variables."""
    for name, each in reads.items():
        found = positions(person) if each.positioned else {"anywhere": POSITIONS["inside"]}
        for position, things in found.items():
            yield f"{name}, {position}", each.query, each.variables(things)


def plain(content: object) -> Any:
    """Content as it travels."""
    return orjson.loads(orjson.dumps(content))


def test_every_field_of_the_schema_is_asked_for() -> None:
    asked: set[str] = set()
    for text in documents():
        document = parse(text)
        assert not validate(GRAPHQL, document)
        info = TypeInfo(GRAPHQL)

        class Fields(Visitor):
            def enter_field(self, node: Any, *_: Any, info: TypeInfo = info) -> None:
                parent = info.get_parent_type()
                if parent is not None:
                    asked.add(f"{parent.name}.{node.name.value}")

        visit(document, TypeInfoVisitor(info, Fields()))
    missing = [
        f"{kind.name}.{name}"
        for kind in GRAPHQL.type_map.values()
        if isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__")
        for name in kind.fields
        if not any(f"{each.name}.{name}" in asked for each in (kind, *kind.interfaces))
    ]
    assert not missing


async def test_every_read_is_answered_as_if_the_rest_of_the_fleet_had_never_been(
    house: House,
) -> None:
    worlds = Worlds(house.engine, twin_of(house.engine.view))
    count = 0
    for person in PEOPLE[1:]:
        assert person.reads is not None
        admin = not person.hides and person.scope(Role.ADMIN) == "all"
        world = await worlds.of(person.reads, grants=admin)
        actor = person.standing(Role.ADMIN if admin else Role.READER)
        for cell, query, variables in cells(READS, person):
            told = await house.ask(person, query, variables)
            expected = plain(await world.ask(query, variables, actor))
            assert told == expected, f"{person.name}: {cell}"
            assert "INTERNAL" not in str(told), f"{person.name}: {cell}"
            count += 1
    assert count >= CELLS_MIN, count


PAST = frozenset(
    {"history", "since", "changesets", "diff", "previewRevert", "historyOfGone", "record"}
)
"""Fields that read the log, which a world of nothing but the visible has not got."""
ASKER = frozenset({"viewer", "age", "preview"})
"""Fields that tell of who asks."""
BESIDE = frozenset({"publications", "published"})
"""Fields that tell of what lies beside the log."""
WORDS = frozenset({"text", "tree", "cypher"})
"""Fields that write selectors, which may name what such a world has not got."""


HASHES = frozenset({"key", "digest", "edges", "pageInfo"})
"""Fields that are made from layers a coverage hides, and tell nothing of them."""
READERS = (SCOPED[0], SCOPED[1], SCOPED[4], *COVERED)
"""One for every way to see a part."""


@pytest.mark.parametrize("person", READERS, ids=lambda each: each.name)
async def test_what_runs_is_told_as_if_the_rest_had_never_been(
    house: House, person: Person
) -> None:
    assert person.reads is not None
    scope, whole = read(person.reads, house.engine), twin_of(house.engine.view)
    world = await World.of(whole, scope, covered=person.coverage)
    without = PAST | ASKER | BESIDE | WORDS | (HASHES if person.coverage else frozenset())
    for position in ("inside", "outside", "ancestor"):
        for query in readings(POSITIONS[position].names, without):
            told = await house.ask(person, query, {})
            expected = plain(await world.ask(query, {}, person.standing(Role.READER)))
            assert told == expected, f"{person.name}, {position}: {query}"


@pytest.mark.parametrize("person", READERS, ids=lambda each: each.name)
async def test_no_field_whatever_names_what_is_hidden(house: House, person: Person) -> None:
    for position in ("inside", "outside"):
        for query in readings(POSITIONS[position].names):
            told = await house.ask(person, query, {})
            assert "INTERNAL" not in str(told), query


@pytest.mark.parametrize("person", [*SCOPED, *COVERED], ids=lambda each: each.name)
async def test_a_rendering_is_for_whoever_sees_all(house: House, person: Person) -> None:
    async with connect(house.door.ws_url, token=house.tokens[person.name]) as socket:
        operation = await socket.subscribe("subscription { rendering { __typename } }")
        with pytest.raises(Failed) as failed:
            await operation.next()
    assert failed.value.code == "DENIED"
    check(person, "", str(failed.value.errors))


@pytest.mark.parametrize("person", [*PEOPLE[1:], *COVERED], ids=lambda each: each.name)
async def test_what_is_held_back_is_told_to_whoever_sees_all(house: House, person: Person) -> None:
    told = await house.ask(person, PUBLISHED, {})
    (found,), (reached,) = told["data"]["publications"], told["data"]["published"]
    assert (found["name"], found["commit"], found["behind"]) == ("main", "c0ffee", 0)
    assert found["cursor"] == str(house.engine.view.cursor)
    if house.engine.access(person.actor).sees_all:
        assert found["actor"] and found["held"][0]["application"] and reached["held"]
    else:
        assert found["actor"] is None and found["held"] is None and reached["held"] is None


@pytest.mark.parametrize("person", [*PEOPLE, *COVERED], ids=lambda each: each.name)
async def test_whoever_edits_everything_reports_what_is_published(
    house: House, person: Person
) -> None:
    report = {"name": "main", "cursor": str(house.engine.view.cursor), "commit": "beef"}
    told = await house.ask(person, REPORT, {"input": report})
    access = house.engine.access(person.actor)
    may = access.scope(Role.EDITOR) == Everything()
    if may:
        assert told["data"]["reportPublished"]["publication"]["commit"] == "beef"
    else:
        failed = told["data"]["reportPublished"] if told.get("data") else told["errors"][0]
        assert "DENIED" in str(failed)
    (kept,) = await house.engine.publications()
    assert kept.commit == ("beef" if may else "c0ffee")
    assert not may or kept.actor == person.name


@pytest.mark.parametrize("person", [*PEOPLE, *COVERED], ids=lambda each: each.name)
async def test_whoever_edits_everything_forgets_what_is_published_no_more(
    house: House, person: Person
) -> None:
    told = await house.ask(person, FORGET, {"input": {"name": "main"}})
    access = house.engine.access(person.actor)
    may = access.scope(Role.EDITOR) == Everything()
    if may:
        assert told["data"]["forgetPublication"]["name"] == "main"
        again = await house.ask(person, FORGET, {"input": {"name": "main"}})
        assert again["data"]["forgetPublication"]["code"] == "NOT_FOUND"
    else:
        failed = told["data"]["forgetPublication"] if told.get("data") else told["errors"][0]
        assert "DENIED" in str(failed)
    assert len(await house.engine.publications()) == (0 if may else 1)


async def test_whoever_has_no_role_is_told_so_and_nothing_else(house: House) -> None:
    nobody = PEOPLE[0]
    for cell, query, variables in (*cells(READS, nobody), *cells(LOGS, nobody)):
        told = await house.ask(nobody, query, variables)
        assert told["errors"][0]["message"] == '"nobody" has not got the role reader', cell
        assert told.get("data") is None, cell
    for name, things in POSITIONS.items():
        for write in WRITES.values():
            told = await house.ask(nobody, mutation(write.command), {"input": write.input(things)})
            assert told["errors"][0]["extensions"]["code"] == "DENIED", name


# the log


def told_log(
    views: Sequence[Twin], changes: Sequence[Sequence[Change]], person: Person, engine: Engine
) -> dict[int, list[tuple[str, str]]]:
    """By revision, the changes one sees: each state by the fleet of its own revision."""
    assert person.reads is not None
    seen = [shown(each, read(person.reads, engine), person.coverage) for each in views]
    found: dict[int, list[tuple[str, str]]] = {}
    for revision, made in enumerate(changes, 1):
        lines = []
        for change in made:
            before = _is_there(change.before, seen[revision - 1])
            after = _is_there(change.after, seen[revision])
            if before or after:
                action = "CHANGED" if before and after else "CREATED" if after else "REMOVED"
                lines.append((str(change.ref), action))
        if lines:
            found[revision] = lines
    return found


def _is_there(state: Entity | None, seen: Twin) -> bool:
    """The past of a selector is its text, so what holds one is there if all that names is."""
    if state is None or seen.get(ref_of(state)) is None:
        return False
    selector = selector_of(state)
    return selector is None or all(seen.get(ref) is not None for ref in mentions(selector))


async def past(engine: Engine) -> tuple[list[Twin], list[Sequence[Change]]]:
    """Every revision of the fleet, and what each but the first changed."""
    head = engine.view.cursor.revision
    views = [twin_of(await engine.as_of(Revision(number))) for number in range(head + 1)]
    changesets = [await engine.changeset(Revision(number)) for number in range(1, head + 1)]
    return views, [each.changes for each in changesets]


def lines_of(nodes: Sequence[dict[str, Any]]) -> dict[int, list[tuple[str, str]]]:
    return {
        each["revision"]: [(line["objectId"], line["action"]) for line in each["changes"]]
        for each in reversed(nodes)
    }


async def test_the_log_tells_what_could_be_seen_at_each_revision(house: House) -> None:
    views, changes = await past(house.engine)
    for person in (*SCOPED, *COVERED):
        expected = told_log(views, changes, person, house.engine)
        nodes = (await house.ask(person, LOGS["log"].query, {}))["data"]["changesets"]["nodes"]
        assert lines_of(nodes) == expected, person.name
        assert {each["changeCount"] for each in nodes} >= {1}

        by_pages: list[dict[str, Any]] = []
        after: str | None = None
        query = LOGS["log"].query.replace("{ changesets", "query ($after: Cursor) { changesets", 1)
        query = query.replace("first: 50", "first: 2, after: $after")
        while True:
            page = (await house.ask(person, query, {"after": after}))["data"]["changesets"]
            by_pages += page["nodes"]
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                break
        assert by_pages == nodes, person.name

        for cluster in (
            await house.ask(
                person,
                "{ fleet { clusters { nodes { id history { revision change { id action } } } } } }",
                {},
            )
        )["data"]["fleet"]["clusters"]["nodes"]:
            history = [(each["revision"], each["change"]["action"]) for each in cluster["history"]]
            assert history == [
                (revision, action)
                for revision in sorted(expected, reverse=True)
                for identity, action in expected[revision]
                if identity == cluster["id"]
            ]


async def test_everything_that_reads_the_past_names_nothing_hidden(house: House) -> None:
    views, _ = await past(house.engine)
    count = Counter[str]()
    for person in SCOPED:
        assert person.reads is not None
        scope = read(person.reads, house.engine)
        world = await World.of(views[6], scope)
        visible = [{each.name for each in shown(view, scope).clusters()} for view in views]
        for cell, query, variables in cells(LOGS, person):
            told = await house.ask(person, query, variables)
            count[cell.partition(",")[0]] += 1
            assert "INTERNAL" not in str(told), cell
            if cell.startswith("earlier"):
                now = query.replace("(asOf: $r)", "").replace(", $r: RevisionOrTime!", "")
                asked = {name: value for name, value in variables.items() if name != "r"}
                expected = await world.ask(now, asked, person.standing(Role.READER))
                assert told == plain(expected), f"{person.name}: {cell}"
            if cell.startswith("difference of all"):
                diff = told["data"]["fleet"]["diff"]
                names = [
                    {each["name"] for each in diff[way]["nodes"]} for way in ("gained", "lost")
                ]
                assert names == [visible[-1] - visible[1], visible[1] - visible[-1]]
                assert names == [{"comer-1"}, {"mover-1"}] or person.reads.endswith("austin")
            if cell.startswith("log of somebody") and variables["actor"] == "zzhidden-hand":
                assert told["data"]["changesets"]["nodes"] == []
    assert set(count) == set(LOGS)


async def test_an_old_change_that_must_be_judged_by_today_names_nothing_hidden(
    tmp_path: Path,
) -> None:
    """With no earlier revision at hand, as after a restart and many changes."""
    short = GraphSettings(snapshots_kept_max=1, snapshots_kept_seconds=0)
    async with opened_house(tmp_path, settings=short) as house:
        for person in SCOPED:
            for cell, query, variables in cells(LOGS, person):
                told = await house.ask(person, query, variables)
                assert "INTERNAL" not in str(told), cell


async def test_viewers_are_told_their_own_scope_unless_it_names_what_they_may_not_see(
    house: House,
) -> None:
    for person in PEOPLE[1:]:
        viewer = (await house.ask(person, LOGS["viewer"].query, {}))["data"]["viewer"]
        assert viewer["name"] == person.name
        assert viewer["claims"] == sorted(person.actor.claims)
        found = {each["role"].lower(): each for each in viewer["permissions"]}
        held = [role for role in Role if person.scope(role) is not None]
        assert list(found) == [str(role) for role in held]
        for role in held:
            scope = str(person.scope(role))
            assert found[role]["everywhere"] is (scope == "all")
            if HIDDEN in scope:
                assert found[role]["scope"] is None
            elif len(person.grants) == 1:  # of several, it is their union
                assert found[role]["scope"] == scope


# the other doors


async def test_sockets_and_event_streams_answer_as_http_does(house: House) -> None:
    count = 0
    for person in PEOPLE:
        token = house.tokens[person.name]
        async with connect(house.door.ws_url, token=token) as socket:
            for position in ("outside", "sibling"):
                things = POSITIONS[position]
                for name, each in READS.items():
                    if not each.positioned and position == "sibling":
                        continue
                    variables = each.variables(things)
                    operation = await socket.subscribe(each.query, variables)
                    told: Any
                    try:
                        told = await operation.next()
                    except Failed as failure:
                        told = {"errors": failure.errors}
                    check(person, json.dumps(variables), json.dumps(told))
                    by_http = await house.ask(person, each.query, variables)
                    assert told == by_http, f"{person.name}: {name}"
                    count += 1
        for name in ("cluster", "facets from the top", "complete a cluster", "grants"):
            variables = READS[name].variables(POSITIONS["outside"])
            async with listen(
                house.door.graphql, READS[name].query, variables, headers=house.as_(person)
            ) as events:
                event = await anext(events)
            check(person, json.dumps(variables), event.data)
            assert event.payload == await house.ask(person, READS[name].query, variables)
    assert count >= len(PEOPLE) * len(READS)


async def test_exports_hold_what_a_fleet_of_nothing_but_the_visible_would_export(
    house: House,
) -> None:
    worlds = Worlds(house.engine, twin_of(house.engine.view))
    answered = Counter[int]()
    for person in PEOPLE:
        for name, address in EXPORTS.items():
            for position, things in POSITIONS.items():
                form = address(things)
                answer = await house.client.get(
                    f"/export/clusters.{form}", headers=house.as_(person)
                )
                check(person, form, f"{answer.headers} {answer.text}")
                answered[answer.status_code] += 1
                if person.reads is None:
                    assert answer.status_code == 403
                elif answer.status_code == 200:
                    world = await worlds.of(person.reads)
                    query = form.partition("?")[2].encode()
                    export = export_of(world.engine, world.engine.view, query)
                    lines = export.csv() if form.startswith("csv") else export.ndjson()
                    assert answer.content == b"".join([each async for each in lines]), (
                        f"{person.name}: {name}, {position}"
                    )
    assert set(answered) == {200, 403, 404}, answered


@pytest.mark.parametrize("door", ["socket", "events"])
async def test_a_stream_from_the_beginning_tells_the_log_as_far_as_it_may_be_seen(
    house: House, door: str
) -> None:
    views, changes = await past(house.engine)
    first = (await house.engine.changeset(Revision(2))).cursor
    last = house.engine.view.cursor
    for person in (*PEOPLE, *COVERED):
        if person.reads is None:
            continue
        told: dict[int, list[tuple[str, str]]] = {}
        variables = {"after": str(first)}
        async for value in follow(house, person, door, "changes", variables):
            if value["__typename"] == "Changeset":
                told[value["revision"]] = [(e["objectId"], e["action"]) for e in value["changes"]]
            if value.get("cursor") == str(last):
                break
        expected = told_log(views, changes, person, house.engine)
        assert told == {each: lines for each, lines in expected.items() if each > 2}, person.name


async def follow(
    house: House, person: Person, door: str, field: str, variables: Mapping[str, Any]
) -> AsyncIterator[dict[str, Any]]:
    """What a stream says, searched for hidden names."""
    query = SUBSCRIPTIONS[field]
    asked = json.dumps(variables)
    if door == "socket":
        async with connect(house.door.ws_url, token=house.tokens[person.name]) as socket:
            operation = await socket.subscribe(query, dict(variables))
            while (payload := await operation.next()) is not None:
                check(person, asked, json.dumps(payload))
                yield payload["data"][field]
    else:
        async with listen(
            house.door.graphql, query, dict(variables), headers=house.as_(person)
        ) as events:
            async for event in events:
                check(person, asked, f"{event.id} {event.data}")
                if event.name == "next":
                    yield event.payload["data"][field]


@pytest.mark.parametrize("door", ["socket", "events"])
async def test_a_followed_set_begins_with_what_may_be_seen(house: House, door: str) -> None:
    for person in PEOPLE[1:]:
        assert person.reads is not None
        world = shown(twin_of(house.engine.view), read(person.reads, house.engine))
        names: set[str] = set()
        async for value in follow(
            house, person, door, "clusterSet", {"where": {"text": "lanes > 0 or @mixed"}}
        ):
            if value["__typename"] == "CaughtUp":
                assert value["count"] == len(names)
                break
            names |= {each["name"] for each in value["clusters"]}
        assert names == {each.name for each in world.clusters()}, person.name


async def test_whoever_has_no_role_follows_nothing(house: House) -> None:
    nobody = PEOPLE[0]
    for field, variables in (("changes", {}), ("clusterSet", {"where": {"text": "all"}})):
        async with connect(house.door.ws_url, token=house.tokens[nobody.name]) as socket:
            operation = await socket.subscribe(SUBSCRIPTIONS[field], variables)
            with pytest.raises(Failed) as failed:
                await operation.next()
        assert failed.value.code == "DENIED"
        check(nobody, "", str(failed.value.errors))


# changes


def fault_of(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Why a change was refused; None if it was not. A preview shows what the guards say."""
    if result["__typename"] in ("Applied", "Preview"):
        return fault_of(result["refusals"][0]) if result.get("refusals") else None
    said = {name: value for name, value in result.items() if name not in ("path", "revision")}
    said["message"] = re.sub(r"revision [\d,]+", "revision N", result["message"])  # undone since
    around = ("input", "commands", *ROLE_OF)  # a mutation has no list of commands around it
    path = [each for each in result["path"] if each not in around and not each.isdigit()]
    return {**said, "path": path}


async def undo(engine: Engine, to: Revision) -> None:
    """Take everything back, as whoever owns the store may."""
    if engine.view.cursor.revision == to:
        return
    views = await engine.as_of(to), engine.view
    named = {Ref(Kind.GRANT, each.name) for view in views for each in view.grants()}
    for scope in (RevertEverything(), Parts(tuple(named))):
        plan = await engine.plan_revert(scope, to)
        await engine.execute(Batch((plan.command,), "test", "undone"))


async def test_every_change_is_refused_as_if_the_rest_were_not_there_or_without_a_reason(
    house: House,
) -> None:
    engine = house.engine
    whole, start = twin_of(engine.view), engine.view.cursor.revision
    worlds, before = Worlds(engine, whole), whole
    count, applied = 0, Counter[str]()
    for person in PEOPLE[1:]:
        async with connect(house.door.ws_url, token=house.tokens[person.name]) as socket:
            for name, write in WRITES.items():
                role = ROLE_OF[write.command]
                scope = person.scope(role)
                sight = person.scope(Role.READER) if scope else None
                world = await worlds.of(sight or "all", grants=scope == "all")
                held = max((r for r, _ in person.grants), key=list(Role).index)
                actor = person.standing(held)
                for position, things in positions(person).items():
                    cell = f"{person.name}: {name}, {position}"
                    given = write.input(things)
                    batch = {"input": {"reason": "r", "commands": [{write.command: given}]}}
                    expected = fault_of(
                        plain(await world.ask(PREVIEW, batch, actor))["data"]["preview"]
                    )
                    previewed = await socket.execute(PREVIEW, batch)
                    check(person, json.dumps(batch), json.dumps(previewed))
                    told = await house.ask(person, mutation(write.command), {"input": given})
                    assert "errors" not in told, cell
                    (result,) = told["data"].values()
                    fault = fault_of(result)
                    assert fault == fault_of(previewed["data"]["preview"]), cell
                    if not person.hides or (fault and fault["message"] != OUTSIDE_SCOPE):
                        _same_fault(fault, expected, cell)
                    if fault is None:
                        applied[person.name] += 1
                        # a value may be allowed though nobody in sight has it, and what is lost
                        # here may be little of what there is: the fleet judges
                        judged = ("allowed value", "goes without saying")
                        assert expected is None or any(e in expected["message"] for e in judged), (
                            cell
                        )
                        assert scope is not None, cell
                        await worlds.of(scope, grants=scope == "all")
                        tree = worlds.trees[scope]
                        _only_theirs_changed(person, tree, before, engine, cell)
                        await undo(engine, start)
                        before, start = twin_of(engine.view), engine.view.cursor.revision
                    count += 1
    assert count >= CELLS_MIN, count
    assert {each.name for each in PEOPLE if each.scope(Role.EDITOR)} == set(applied)


def _same_fault(fault: dict[str, Any] | None, expected: dict[str, Any] | None, cell: str) -> None:
    """Word for word; but a scope's own refusals are known to no fleet without scopes."""
    own = (
        "could choose clusters outside your scope",
        "and you could not see it",
        "does not lie inside what you may change",
        "a new namespace takes an operator of everything",
        "which this would take out of it",
    )
    if fault is not None and fault["message"].endswith(own):
        return
    assert fault == expected, cell


def _only_theirs_changed(
    person: Person, scope: Selector, before: Twin, engine: Engine, cell: str
) -> None:
    """Every object that changed was in sight and still is, with every cluster it concerns."""
    if not person.hides:
        return
    after = twin_of(engine.view)
    refs = {ref_of(each) for each in (*before.entities(), *after.entities())}
    changed = [ref for ref in refs if before.get(ref) != after.get(ref)]
    for whole in (before, after):
        seen = shown(whole, scope)
        visible = {each.number for each in seen.clusters()}
        for ref in changed:
            state = whole.get(ref)
            if state is not None:
                assert seen.get(ref) is not None, f"{cell} changed {ref}, which is hidden"
                assert _concerned(state, whole) <= visible, f"{cell} changed {ref} for others"


def _concerned(state: Entity, whole: Twin) -> set[int]:
    """The clusters an object matters to; a hierarchy and a grant matter to all."""
    match state:
        case Cluster(number=number):
            return {number}
        case Group(number=number):
            return whole.in_any(whole.at_or_under(number))
        case LabelKey(name=name):
            return {each.number for each in whole.clusters() if name in each.labels}
        case SavedSelector():
            return set()  # by what it says: tests/graph/targeting/test_narrower.py
        case Assignment() | Prohibition() | Layer() | Policy(namespaces=()):
            assert state.selector is not None
            return twin_select(state.selector, whole)
        case Application(namespace=name) | Namespace(name=name):
            return twin_select(InNamespace(name), whole)
        case Policy(namespaces=names):
            return set().union(*(twin_select(InNamespace(name), whole) for name in names))
        case _:
            return whole.in_fleet()


@pytest.mark.parametrize("person", COVERED, ids=lambda each: each.name)
async def test_whoever_is_covered_for_a_part_changes_nothing_else(
    house: House, person: Person
) -> None:
    engine = house.engine
    before, start = twin_of(engine.view), engine.view.cursor.revision
    applied = set[str]()
    for name, write in WRITES.items():
        for position, things in POSITIONS.items():
            given = {"input": write.input(things)}
            told = await house.ask(person, mutation(write.command), given)
            (result,) = (told["data"] or {"": {"__typename": "Denied"}}).values()
            cell = f"{person.name}: {name}, {position}: {result}"
            if result["__typename"] != "Applied" or engine.view.cursor.revision == start:
                continue
            assert person.scope(ROLE_OF[write.command]) is not None, cell
            after = twin_of(engine.view)
            refs = {ref_of(each) for each in (*before.entities(), *after.entities())}
            for ref in refs:
                was, now = before.get(ref), after.get(ref)
                assert was == now or _space_of(was or now, after) in person.namespaces, cell
            applied.add(write.command)
            await undo(engine, start)
            before, start = twin_of(engine.view), engine.view.cursor.revision
    expected = {"reads-grills": 0, "edits-grills": 4, "operates-wide": 8}[person.name]
    assert len(applied) >= expected, applied
    assert bool(applied) is bool(expected)


def _space_of(state: Entity | None, whole: Twin) -> str:
    """The namespace an object is of; none if it is of no single one."""
    match state:
        case Namespace(name=name) | Application(namespace=name):
            return name
        case Assignment(choice=choice) | Prohibition(choice=choice):
            return choice.namespace
        case Layer(application=name) if name:
            return whole.workload.applications[name].namespace
        case Policy(namespaces=(name,)):
            return name
        case _:
            return ""


async def test_inside_their_scope_editors_do_what_editors_may(house: House) -> None:
    inside = POSITIONS["inside"]
    for person in SCOPED:
        if person.scope(Role.EDITOR) is None:
            continue
        for name, write in WRITES.items():
            if write.inside:
                told = await house.ask(
                    person, mutation(write.command), {"input": write.input(inside)}
                )
                (result,) = told["data"].values()
                assert result["__typename"] == "Applied", f"{person.name}: {name}: {result}"
                await undo(house.engine, Revision(11))


@pytest.mark.parametrize("guard", ["none", "old", "new"])
async def test_a_batch_and_its_guards_speak_of_what_may_be_seen(house: House, guard: str) -> None:
    for person in SCOPED:
        for things in POSITIONS.values():
            start = house.engine.view.cursor.revision
            expected = {"none": None, "old": 1, "new": start}[guard]
            commands = [
                {"updateCluster": {"name": "austin-1", "title": "one"}},
                {"updateCluster": {"name": things.cluster, "title": "two"}},
            ]
            batch = {"reason": "r", "commands": commands, "expectedRevision": expected}
            told = (await house.ask(person, APPLY, {"input": batch}))["data"]["apply"]
            may = person.scope(Role.EDITOR) is not None and things.cluster == "austin-1"
            assert (told["__typename"] == "Applied") is (may and guard != "old"), told
            await undo(house.engine, start)


async def test_a_revert_takes_back_nothing_hidden_and_tells_nothing_of_it(house: House) -> None:
    engine = house.engine
    whole, start = twin_of(engine.view), engine.view.cursor.revision
    worlds = Worlds(engine, whole)
    outcomes = Counter[str]()
    for person in PEOPLE[1:]:
        for name, scope in REVERTS.items():
            for position, things in positions(person).items():
                for to in (2, 7):
                    variables = {"to": to, "scope": scope(things)}
                    told = (await house.ask(person, REVERT, variables))["data"]["revert"]
                    outcomes[told["__typename"]] += 1
                    if told["__typename"] == "Applied" and engine.view.cursor.revision > start:
                        cell = f"{person.name}: {name}, {position}"
                        edits = person.scope(Role.EDITOR)
                        assert edits is not None, cell
                        tree = worlds.trees[edits]
                        _only_theirs_changed(person, tree, whole, engine, cell)
                        await undo(engine, start)
                        start, whole = engine.view.cursor.revision, twin_of(engine.view)
    assert outcomes["Applied"] and outcomes["Denied"] and outcomes["NotFound"], outcomes


# missing and hidden


@pytest.mark.parametrize("person", SCOPED, ids=lambda each: each.name)
async def test_what_is_hidden_is_answered_like_what_is_not_there(
    house: House, person: Person
) -> None:
    hidden, absent = POSITIONS["outside"], POSITIONS["absent"]
    for name, each in (*READS.items(), *LOGS.items()):
        if not each.positioned or name == "log of somebody":
            continue
        told = [await house.ask(person, each.query, each.variables(at)) for at in (hidden, absent)]
        assert json.dumps(told[0]).replace(HIDDEN, ABSENT) == json.dumps(told[1]), name
    for number, missing in ((5, 999), (9, 998), (10, 997)):  # clusters: hidden, and not there
        ids = [f"cluster:{number}", f"cluster:{missing}"]
        for query in ("query ($id: ID!) { node(id: $id) { id } }", _TOUCHING):
            one, other = [await house.ask(person, query, {"id": each}) for each in ids]
            assert one == other, (query, number)


_TOUCHING = "query ($id: ID!) { changesets(touching: $id) { nodes { revision } } }"


@pytest.mark.parametrize("person", SCOPED, ids=lambda each: each.name)
async def test_a_change_of_what_is_hidden_is_refused_like_one_of_what_is_not_there(
    house: House, person: Person
) -> None:
    """Where a name would be taken that cannot be: it may be taken elsewhere, and that is said."""
    hidden, absent = POSITIONS["outside"], POSITIONS["absent"]
    compared = 0
    for name, write in WRITES.items():
        if write.input(hidden) == write.input(absent):
            continue
        query = mutation(write.command)
        told: list[dict[str, Any]] = []
        for at in (hidden, absent):
            (result,) = (await house.ask(person, query, {"input": write.input(at)}))[
                "data"
            ].values()
            told.append({**result, "revision": None, "objects": None})
            if result["__typename"] == "Applied":
                await undo(house.engine, Revision(11))
        if told[0].get("message") == OUTSIDE_SCOPE:
            continue
        assert _said(told[0]).replace(HIDDEN, ABSENT) == _said(told[1]), name
        compared += 1
    assert compared >= len(WRITES) // 2


def _said(result: Mapping[str, Any]) -> str:
    """An answer without names that are near: to two words, not the same ones are."""
    return re.sub(r'did you mean [^?]*|"nearest": \[[^]]*', "", json.dumps(result))


async def test_a_cursor_says_nothing_about_the_cluster_it_is_of(house: House) -> None:
    """A page may begin behind any name, whether or not there is such a cluster."""
    query = """query ($after: String) { fleet { clusters(first: 2, after: $after) {
      nodes { name } pageInfo { hasNextPage } } } }"""
    first = PEOPLE[-1]
    edges = (
        await house.ask(first, "{ fleet { clusters { edges { cursor node { name } } } } }", {})
    )["data"]["fleet"]["clusters"]["edges"]
    for person in SCOPED:
        for edge in edges:
            told = await house.ask(person, query, {"after": edge["cursor"]})
            nodes = told["data"]["fleet"]["clusters"]["nodes"]
            assert all(each["name"] > edge["node"]["name"] for each in nodes)
