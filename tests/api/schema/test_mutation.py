"""Mutations: each command by itself, batches, reverts, previews, and every way to be refused."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import pytest

from asking import ask, data
from command_inputs import input_of, name_of
from engines import give, names, ticking
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteHierarchy,
    DeleteSelector,
    GrantAccess,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    Revert,
    RevokeAccess,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
    UpdateHierarchy,
)
from graph.model.errors import OutcomeUnknown, Unavailable
from graph.model.inventory import Capacity, LabelType, Mode
from graph.model.names import Revision
from graph.model.workload import Choice, LateBound, Template
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    DeleteApplication,
    DeleteNamespace,
    LiftProhibition,
    OrderHierarchies,
    Prohibit,
    RemoveLayer,
    RemovePolicy,
    SetLayer,
    SetPolicy,
    Unassign,
)
from graph.store.embedded import EmbeddedStore
from small import SMALL
from twin import same_fleet

MORE: tuple[Command, ...] = (
    CreateHierarchy("empty"),
    DeclareLabel("unused", LabelType.TEXT),
    GrantAccess("texans", Role.EDITOR, claim="texas", scope="/geo/us/tx"),
    GrantAccess("readers", Role.READER, subject="ron"),
    DefineNamespace("pos"),
    DefineNamespace("void"),
    DefineApplication("till", "pos", values={"lanes": 1}),
    DefineApplication("idle", "pos"),
    Assign("tills", Choice("pos", ("till",)), "all"),
    Assign("tills-us", Choice("pos", ("till",)), "/geo/us"),
    Prohibit("no-till", Choice("pos", ("till",)), "/geo/ca"),
    SetLayer("till-us", "/geo/us", {"lanes": 3}, "till"),
    SetPolicy("old", ("pos",), registries=("registry.example.com",)),
)
"""What the small fleet has besides, at revision 2."""

EDITOR = Actor("tess", frozenset({"texas"}))
READER = Actor("ron")

FAILURE = """
    __typename
    ... on Failure { code message hint path }
    ... on Invalid { selector { column length nearest } }
    ... on NotFound { selector { column length nearest } }
    ... on Conflict { revision }
    ... on Rejected { reasons }
"""
APPLY = f"""
    mutation ($input: ApplyInput!) {{
        result: apply(input: $input) {{
            ... on Applied {{
                revision changed cursor left
                objects {{ __typename id }}
                fleet {{ revision clusters {{ totalCount }} }}
            }}
            {FAILURE}
        }}
    }}
"""


@pytest.fixture
async def store(tmp_path):
    store = await Gated.open(tmp_path / "fleet.db")
    yield store
    await store.close()


@pytest.fixture
async def engine(store):
    engine = await Engine.open(store, now=ticking())
    await give(engine, *SMALL)
    await give(engine, *MORE)
    return engine


class Gated(EmbeddedStore):
    """A store whose commits can be held up, or fail."""

    gate: asyncio.Event | None = None
    waiting = 0
    fault: Exception | None = None

    async def commit(self, entries, *, expected, now):
        if self.fault is not None:
            raise self.fault
        if self.gate is not None:
            self.waiting += 1
            await self.gate.wait()
        return await super().commit(entries, expected=expected, now=now)


async def apply(
    engine: Engine, *commands: Command | dict[str, Any], actor: Actor | None = None, **more: Any
) -> dict[str, Any]:
    written = [
        each if isinstance(each, dict) else {name_of(each): input_of(each, engine.view)}
        for each in commands
    ]
    batch = {"commands": written, "reason": "because", **more}
    asked = {} if actor is None else {"actor": actor}
    return (await data(engine, APPLY, input=batch, **asked))["result"]


async def alone(engine: Engine, command: Command, **more: Any) -> dict[str, Any]:
    """One command through the mutation of its name."""
    name = name_of(command)
    kind = f"{name[0].upper()}{name[1:]}Input"
    document = f"""
        mutation ($input: {kind}!, $expected: Revision, $key: String) {{
            result: {name}(
                input: $input, reason: "because", expectedRevision: $expected, idempotencyKey: $key
            ) {{ ... on Applied {{ revision changed objects {{ id }} }} {FAILURE} }}
        }}
    """
    found = await data(engine, document, input=input_of(command, engine.view), **more)
    return found["result"]


# every command

EACH: tuple[Command, ...] = (
    RegisterCluster("new-1", labels={"size": "large", "lanes": 1}, groups=("/geo/ca",)),
    UpdateCluster("austin-1", labels={"size": None, "lanes": 4}, capacity=Capacity(1, 2, 3)),
    RetireCluster("york-1"),
    Join("york-1", "/geo/ca"),
    Leave("york-1", "/devices/camera"),
    CreateHierarchy("ring", Mode.MANY, title="Rings"),
    UpdateHierarchy("devices", title="Devices"),
    DeleteHierarchy("empty"),
    DeclareLabel("lanes", LabelType.NUMBER, "Lanes", "lanes"),
    RemoveLabel("unused"),
    CreateGroup("/geo/mx", "Mexico"),
    UpdateGroup("/geo/us", "United States"),
    RenameGroup("/geo/us/tx", "texas"),
    MoveGroup("/geo/us/ny", "/geo/ca"),
    DeleteGroup("/devices/grill", cascade=True),
    SaveSelector("large", "size = large and /geo/us", "Large ones"),
    DeleteSelector("texas"),
    GrantAccess("ops", Role.OPERATOR, subject="olga", scope="/geo/us", title="Operators"),
    RevokeAccess("texans"),
    OrderHierarchies(("geo", "devices", "empty")),
    DefineNamespace("pos", "Point of sale", ("retail",), "4711", {"tier": "gold"}, Capacity(9, 9)),
    DeleteNamespace("void"),
    DefineApplication(
        "idle", "pos", requires="/geo/us", depends_on=("till",), source=Template({"a": "b"}),
        values={"a": [1, 1.0, True, None]}, late_bound=(LateBound("host", "{cluster}"),),
    ),
    DeleteApplication("idle"),
    Assign("tills-us", Choice("pos"), "/geo/us and size = large", "Tills"),
    Unassign("tills-us"),
    Prohibit("no-idle", Choice("pos", ("idle",)), "/geo/us"),
    LiftProhibition("no-till"),
    SetLayer("till-tx", "/geo/us/tx", {"lanes": 2, "night": {"on": True}}, "till", 7, "Texas"),
    RemoveLayer("till-us"),
    SetPolicy("old", selector="/geo/us", quota_max=Capacity(1, 2), title="New"),
    RemovePolicy("old"),
)  # fmt: skip


@pytest.mark.parametrize("command", EACH, ids=name_of)
async def test_the_mutation_of_a_command_does_what_the_command_does(engine, tmp_path, command):
    other_store = await EmbeddedStore.open(tmp_path / "other.db")
    other = await Engine.open(other_store, now=ticking())
    for commands in (SMALL, MORE, (command,)):
        await give(other, *commands)
    found = await alone(engine, command)
    assert (found["__typename"], found["revision"], found["changed"]) == ("Applied", 3, True)
    assert same_fleet(engine.view, other.view, ignoring=("cursor",)) is None
    changeset = await engine.changeset(Revision(3))
    assert (changeset.actor, changeset.reason) == ("ana", "because")
    assert changeset.changes == (await other.changeset(Revision(3))).changes
    there = [str(each.ref) for each in changeset.changes if each.after is not None]
    assert [each["id"] for each in found["objects"]] == there
    await other.close()


NAMING = [each for each in EACH if not isinstance(each, CreateHierarchy)]
"""Commands that name something that is there, and so can be too late."""


async def test_a_command_alone_and_in_a_batch_are_refused_alike(engine):
    for command in NAMING:
        in_batch = await apply(engine, command, expectedRevision=0)
        by_itself = await alone(engine, command, expected=0)
        assert in_batch["__typename"] == "Conflict", command
        assert in_batch.pop("path") == ["commands", "0"]
        assert by_itself.pop("path") == []
        assert by_itself == in_batch
    assert engine.view.cursor.revision == 2


async def test_every_command_has_its_mutation_tried():
    assert {type(each) for each in EACH} == set(get_args(Command)) - {Revert}


# batches


async def test_the_loss_a_batch_accepts_is_in_the_record_and_on_the_wire(engine):
    everywhere = Assign("kitchen-all", Choice("kitchen"), "all")
    await apply(
        engine, DefineNamespace("kitchen"), DefineApplication("grill", "kitchen"), everywhere
    )
    await apply(engine, RetireCluster("york-1"), expectedLoss=12)
    await alone(engine, UpdateGroup("/geo/us", "United States"))
    query = "{ changesets(first: 2) { nodes { revision acceptedLoss } } }"
    found = (await data(engine, query))["changesets"]["nodes"]
    assert found == [{"revision": 5, "acceptedLoss": 0}, {"revision": 4, "acceptedLoss": 2}]


async def test_whoever_may_accept_no_loss_is_refused_it(engine):
    texas = UpdateGroup("/geo/us/tx", "Texas")
    found = await apply(engine, texas, actor=EDITOR, expectedLoss=0)
    assert (found["__typename"], found["code"]) == ("Denied", "DENIED")
    assert (await apply(engine, texas, actor=EDITOR))["__typename"] == "Applied"


async def test_a_batch_is_one_revision_and_each_command_sees_those_before(engine):
    found = await apply(
        engine,
        CreateGroup("/geo/mx"),
        RegisterCluster("mx-1", groups=("/geo/mx",)),
        SaveSelector("mexico", "/geo/mx"),
    )
    assert (found["__typename"], found["revision"], found["left"]) == ("Applied", 3, [])
    assert found["cursor"] == str(engine.view.cursor)
    assert found["fleet"] == {"revision": 3, "clusters": {"totalCount": 4}}
    kinds = [each["__typename"] for each in found["objects"]]
    assert kinds == ["Group", "Cluster", "SavedSelector"]
    assert names(engine, "@mexico") == {"mx-1"}


async def test_a_batch_with_one_refused_command_changes_nothing(engine):
    found = await apply(engine, RetireCluster("york-1"), Join("austin-1", "/geo/us/nv"))
    assert (found["__typename"], found["path"]) == ("NotFound", ["commands", "1", "group"])
    assert engine.view.cursor.revision == 2
    assert "york-1" in names(engine, "all")


async def test_a_batch_that_leaves_all_as_it_was_says_so(engine):
    found = await apply(engine, Join("york-1", "/geo/us/ny"))
    assert (found["changed"], found["revision"], found["objects"]) == (False, 2, [])


async def test_the_objects_of_a_batch_are_bounded_and_leave_out_what_is_gone(engine):
    document = """
        mutation ($input: ApplyInput!, $first: Int!) {
            apply(input: $input) { ... on Applied { objects(first: $first) { id } } }
        }
    """
    commands = [{"retireCluster": {"name": "york-1"}}, {"createGroup": {"path": "/geo/mx"}}]
    batch = {"commands": commands, "reason": "because"}
    found = await ask(engine, document, {"input": batch, "first": 1})
    assert [each["id"].split(":")[0] for each in found["data"]["apply"]["objects"]] == ["group"]
    batch["commands"] = [{"createGroup": {"path": "/geo/pa"}}]
    found = await ask(engine, document, {"input": batch, "first": 5_000})
    assert found["data"]["apply"] == {"objects": None}, "the receipt stays, the list does not"
    assert found["errors"][0]["extensions"]["code"] == "INVALID"


async def test_the_mutations_of_one_request_happen_in_order_each_seeing_those_before(engine):
    found = await data(
        engine,
        """mutation {
            one: createGroup(input: {path: "/geo/mx"}, reason: "a") { ... on Applied { revision } }
            two: saveSelector(
                input: {name: "mexico", selector: {group: "/geo/mx"}}, reason: "b"
            ) { ... on Applied { revision fleet { savedSelector(name: "mexico") { text } } } }
            three: createGroup(input: {path: "/geo/mx"}, reason: "c") { ... on Failure { code } }
        }""",
    )
    assert found == {
        "one": {"revision": 3},
        "two": {"revision": 4, "fleet": {"savedSelector": {"text": "/geo/mx"}}},
        "three": {"code": "CONFLICT"},
    }


async def test_a_selector_given_as_a_tree_is_the_same_as_its_text(engine):
    tree = {
        "and": [{"group": "/geo/us"}, {"label": {"key": "lanes", "comparison": ">=", "value": 1}}]
    }
    await apply(
        engine,
        {"saveSelector": {"name": "a", "selector": tree}},
        {"saveSelector": {"name": "b", "selector": {"text": "/geo/us and lanes >= 1"}}},
    )
    view = engine.view
    assert view.saved_selector("a").selector == view.saved_selector("b").selector


@pytest.mark.parametrize("selector", [{"group": "/geo/mx"}, {"text": "/geo/mx"}])
async def test_a_selector_may_name_what_its_own_batch_makes(engine, selector):
    save = {"saveSelector": {"name": "mexico", "selector": selector}}
    found = await apply(engine, save, CreateGroup("/geo/mx"))
    assert found["__typename"] == "NotFound"
    assert found["path"] == [
        "commands",
        "0",
        "selector",
        *(each for each in selector if each == "group"),
    ]
    assert (await apply(engine, CreateGroup("/geo/mx"), save))["__typename"] == "Applied"


@pytest.mark.parametrize("selector", [{"group": "/geo/us/ny"}, {"text": "/geo/us/ny"}])
async def test_a_retry_finds_its_receipt_although_its_own_batch_has_moved_what_it_names(
    engine, selector
):
    batch = (
        {"saveSelector": {"name": "york", "selector": selector}},
        {"renameGroup": {"path": "/geo/us/ny", "name": "york"}},
    )
    once = await apply(engine, *batch, idempotencyKey="job-8")
    assert once["__typename"] == "Applied"
    assert await apply(engine, *batch, idempotencyKey="job-8") == once


# retries and expectations


async def test_sent_again_under_its_key_a_batch_takes_effect_once(engine):
    once = await apply(engine, RegisterCluster("new-1"), idempotencyKey="job-7")
    again = await apply(engine, RegisterCluster("new-1"), idempotencyKey="job-7")
    assert again == once
    assert (again["revision"], engine.view.cursor.revision) == (3, 3)


async def test_a_receipt_kept_from_long_ago_leads_to_what_there_is_today(engine):
    """What it leads to has the ids of today, under which clients overwrite what they have."""
    once = await apply(engine, RegisterCluster("new-1"), idempotencyKey="job-7")
    await apply(engine, RegisterCluster("new-2"), UpdateCluster("new-1", title="renamed"))
    again = await apply(engine, RegisterCluster("new-1"), idempotencyKey="job-7")
    assert (again["revision"], again["cursor"]) == (once["revision"], once["cursor"])
    assert again["objects"] == once["objects"]
    assert once["fleet"]["clusters"]["totalCount"] == 4
    assert again["fleet"]["clusters"]["totalCount"] == 5


async def test_a_key_names_one_batch(engine):
    await apply(engine, RegisterCluster("new-1"), idempotencyKey="job-7")
    found = await apply(engine, RegisterCluster("new-2"), idempotencyKey="job-7")
    assert (found["__typename"], found["code"], found["revision"]) == ("Conflict", "CONFLICT", 3)
    assert "another batch" in found["message"] and found["hint"]


async def test_the_mutation_of_a_command_takes_a_key_too(engine):
    once = await alone(engine, RegisterCluster("new-1"), key="job-7")
    assert await alone(engine, RegisterCluster("new-1"), key="job-7") == once


async def test_a_batch_is_refused_if_what_it_names_has_changed_since(engine):
    await apply(engine, UpdateGroup("/geo/us/ny", "New York"))
    late = await apply(engine, Join("austin-1", "/geo/us/ny"), expectedRevision=2)
    assert (late["__typename"], late["path"], late["revision"]) == (
        "Conflict",
        ["commands", "0"],
        3,
    )
    untouched = await apply(engine, Join("austin-1", "/geo/ca"), expectedRevision=2)
    assert untouched["__typename"] == "Applied"


# every kind of failure


@pytest.mark.parametrize(
    ("command", "kind", "code"),
    [
        (RegisterCluster("Not A Name"), "Invalid", "INVALID"),
        (SaveSelector("x", "/geo/us and ("), "Invalid", "SELECTOR_INVALID"),
        (SaveSelector("x", "/gio/us"), "NotFound", "SELECTOR_NOT_FOUND"),
        (RetireCluster("austin-9"), "NotFound", "NOT_FOUND"),
        (RegisterCluster("austin-1"), "Conflict", "CONFLICT"),
        (DeleteGroup("/geo/us/tx", cascade=True), "Rejected", "REJECTED"),
    ],
)
async def test_a_refusal_says_what_is_wrong_where_and_what_to_do_next(engine, command, kind, code):
    found = await apply(engine, CreateGroup("/geo/mx"), command)
    assert (found["__typename"], found["code"]) == (kind, code)
    assert found["path"][:2] == ["commands", "1"]
    assert found["message"] and (found["hint"] or found["selector"])
    assert engine.view.cursor.revision == 2


async def test_a_refused_selector_points_at_its_column_and_at_what_may_be_meant(engine):
    found = await alone(engine, SaveSelector("x", "lanes > 1 and /gio/us"))
    assert found["selector"] == {"column": 16, "length": 3, "nearest": ["geo"]}
    assert (await alone(engine, RegisterCluster("Bad")))["selector"] is None


async def test_a_rejected_batch_lists_what_stands_against_it(engine):
    found = await apply(engine, DeleteGroup("/geo/us/tx", cascade=True))
    assert found["reasons"] == ["@texas", "grant texans"]


async def test_a_reader_may_change_nothing(engine):
    for command in EACH:
        found = await apply(engine, command, actor=READER)
        assert (found["__typename"], found["path"]) == ("Denied", ["commands", "0"]), command
    assert engine.view.cursor.revision == 2


async def test_an_editor_changes_what_lies_inside_the_scope_and_nothing_else(engine):
    inside = await apply(engine, UpdateCluster("austin-1", title="Austin"), actor=EDITOR)
    assert inside["__typename"] == "Applied"
    assert [each["id"] for each in inside["objects"]] == ["cluster:0"]
    assert inside["fleet"]["clusters"]["totalCount"] == 2
    outside = await apply(engine, UpdateCluster("york-1", title="York"), actor=EDITOR)
    missing = await apply(engine, UpdateCluster("york-9", title="York"), actor=EDITOR)
    assert outside["__typename"] == missing["__typename"] == "NotFound"
    assert outside["message"].replace("york-1", "x") == missing["message"].replace("york-9", "x")
    taken = await apply(engine, RegisterCluster("york-1", groups=("/geo/us/tx",)), actor=EDITOR)
    assert taken["__typename"] == "Denied" and "york" not in taken["message"] + taken["hint"]
    admins = await apply(engine, CreateHierarchy("ring"), actor=EDITOR)
    assert admins["__typename"] == "Denied" and "admin" in admins["message"]


async def test_a_tree_is_read_as_its_author_sees_the_fleet(engine):
    """A hidden group and one that is not there are the same to them."""
    for path in ("/geo/us/ny", "/geo/us/no"):
        command = {"saveSelector": {"name": "x", "selector": {"group": path}}}
        found = await apply(engine, command, actor=EDITOR)
        assert (found["__typename"], found["selector"]["nearest"]) == ("NotFound", [])


async def test_a_batch_in_the_record_carries_the_name_of_its_actor(engine):
    await apply(engine, UpdateCluster("austin-1", title="Austin"), actor=EDITOR)
    assert (await engine.changeset(Revision(3))).actor == "tess"


async def test_whoever_gives_up_their_access_still_gets_the_receipt(engine):
    await apply(engine, GrantAccess("boss", Role.ADMIN, subject="bo"))
    document = """mutation { revokeAccess(input: {name: "boss"}, reason: "done") {
        ... on Applied { revision changed objects { id } fleet { revision } } } }"""
    found = await ask(engine, document, actor=Actor("bo"))
    assert found["data"]["revokeAccess"] == {
        "revision": 4, "changed": True, "objects": None, "fleet": None,
    }  # fmt: skip
    assert {each["extensions"]["code"] for each in found["errors"]} == {"DENIED"}


async def test_while_the_store_is_away_a_batch_says_so_and_how_to_go_on(engine, store):
    for fault, unknown in ((Unavailable("no answer"), False), (OutcomeUnknown("cut"), True)):
        store.fault = fault
        found = await apply(engine, CreateGroup("/geo/mx"), idempotencyKey="job-7")
        assert (found["__typename"], found["code"]) == ("Unavailable", "UNAVAILABLE")
        assert ("not known" in found["message"]) is unknown
        assert ("same idempotency key" in found["hint"]) is unknown
    store.fault = None
    again = await apply(engine, CreateGroup("/geo/mx"), idempotencyKey="job-7")
    assert (again["__typename"], again["revision"]) == ("Applied", 3)


async def test_a_fault_is_no_result_and_tells_nothing(engine, store):
    store.fault = RuntimeError("cannot open /srv/secret/fleet.db")
    batch = {"commands": [{"createGroup": {"path": "/geo/mx"}}], "reason": "because"}
    found = await ask(engine, APPLY, {"input": batch})
    assert found["data"] is None
    (error,) = found["errors"]
    assert error["extensions"] == {"code": "INTERNAL", "errorId": "e1"}
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    "more", [{"reason": " "}, {"idempotencyKey": ""}, {"idempotencyKey": "x" * 201}]
)
async def test_an_unsigned_batch_is_invalid(engine, more):
    found = await apply(engine, CreateGroup("/geo/mx"), **more)
    assert (found["__typename"], found["path"]) == ("Invalid", [])
    assert engine.view.cursor.revision == 2


async def test_an_empty_batch_is_invalid(engine):
    assert (await apply(engine))["__typename"] == "Invalid"


@pytest.mark.parametrize(
    "command",
    [{}, {"join": None}, {"createGroup": {"path": "/geo/mx"}, "retireCluster": {"name": "york-1"}}],
)
async def test_a_command_that_is_not_exactly_one_is_an_error_of_the_request(engine, command):
    batch = {"commands": [command], "reason": "because"}
    found = await ask(engine, APPLY, {"input": batch})
    assert found["data"] is None
    assert found["errors"][0]["extensions"]["code"] == "BAD_REQUEST"
    assert engine.view.cursor.revision == 2


# callers that go away


async def test_a_batch_that_waits_takes_effect_though_its_caller_has_gone(engine, store):
    store.gate = asyncio.Event()
    first = asyncio.create_task(apply(engine, CreateGroup("/geo/mx")))
    await until(lambda: store.waiting)
    second = asyncio.create_task(apply(engine, CreateGroup("/geo/pa")))
    await until(lambda: engine._writer._waiting)
    for each in (first, second):
        each.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    assert engine.view.cursor.revision == 2
    store.gate.set()
    view = await engine.at_least(Revision(4), timeout_seconds=30)
    assert {each.name for each in map(view.group, view.children(view.root("geo")).values())} >= {
        "mx",
        "pa",
    }


async def until(true: Any) -> None:
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110 - what is waited for announces itself to nobody
            await asyncio.sleep(0.001)
