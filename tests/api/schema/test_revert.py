"""Reverts through the API: what is named, what comes back, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ask, data
from engines import give, names, ticking
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.change import same
from graph.model.command import (
    Command,
    CreateGroup,
    DeleteGroup,
    GrantAccess,
    Join,
    MoveGroup,
    RenameGroup,
    RetireCluster,
    UpdateCluster,
    UpdateGroup,
)
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.model.view import entity_of
from graph.model.workload import Choice
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    RemovePolicy,
    SetLayer,
    SetPolicy,
)
from graph.store.embedded import EmbeddedStore
from small import SMALL

EDITOR = Actor("tess")
READER = Actor("ron")


@pytest.fixture
async def engine(tmp_path):
    engine = await Engine.open(await EmbeddedStore.open(tmp_path / "fleet.db"), now=ticking())
    await give(engine, *SMALL)
    await give(
        engine,
        GrantAccess("texans", Role.EDITOR, subject="tess", scope="/geo/us/tx"),
        GrantAccess("readers", Role.READER, subject="ron"),
    )
    yield engine
    await engine.close()


REVERT = """
    mutation ($to: RevisionOrTime!, $scope: RevertScope!, $key: String, $expected: Revision) {
        result: revert(
            to: $to, scope: $scope, reason: "back", idempotencyKey: $key,
            expectedRevision: $expected
        ) {
            __typename
            ... on Applied { revision changed left objects { id } }
            ... on Failure { code message path }
        }
    }
"""


async def revert(engine: Engine, to: Any, scope: dict[str, Any], **more: Any) -> dict[str, Any]:
    return (await data(engine, REVERT, to=to, scope=scope, **more))["result"]


async def test_the_whole_fleet_goes_back(engine):
    before = engine.view
    await give(engine, RetireCluster("york-1"), RenameGroup("/geo/us", "usa"))
    found = await revert(engine, 2, {"everything": True})
    assert (found["__typename"], found["revision"], found["left"]) == ("Applied", 4, [])
    assert names(engine, "/geo/us") == {before.cluster_name(each) for each in before.everything()}


async def test_one_object_goes_back_and_the_rest_stays(engine):
    await give(engine, UpdateCluster("austin-1", title="A"), UpdateCluster("austin-2", title="B"))
    found = await revert(engine, 2, {"id": "cluster:0"})
    assert [each["id"] for each in found["objects"]] == ["cluster:0"]
    titles = {each.name: each.title for each in map(engine.view.cluster, engine.view.everything())}
    assert titles == {"austin-1": "", "austin-2": "B", "york-1": ""}


WORKLOAD: tuple[Command, ...] = (
    DefineNamespace("pos"),
    DefineApplication("till", "pos", values={"lanes": 1}),
    Assign("tills", Choice("pos"), "/geo/us"),
    Prohibit("no-till", Choice("pos", ("till",)), "/geo/ca"),
    SetLayer("till-tx", "/geo/us/tx", {"lanes": 2}, "till"),
    SetPolicy("all-pos", ("pos",), registries=("registry.example.com",)),
)
OTHERWISE: tuple[Command, ...] = (
    DefineNamespace("pos", "Point of sale"),
    DefineApplication("till", "pos", values={"lanes": True}),
    Assign("tills", Choice("pos"), "all"),
    Prohibit("no-till", Choice("pos", ("till",)), "/geo/ca", title="t"),
    SetLayer("till-tx", "/geo/us/tx", {"lanes": 2.0}, "till"),
    RemovePolicy("all-pos"),
)


@pytest.mark.parametrize(
    "ref",
    [
        Ref(Kind.NAMESPACE, "pos"),
        Ref(Kind.APPLICATION, "till"),
        Ref(Kind.ASSIGNMENT, "tills"),
        Ref(Kind.PROHIBITION, "no-till"),
        Ref(Kind.LAYER, "till-tx"),
        Ref(Kind.POLICY, "all-pos"),
    ],
    ids=str,
)
async def test_each_object_of_the_workload_goes_back_by_its_id(engine, ref):
    await give(engine, *WORKLOAD)
    before = engine.view
    await give(engine, *OTHERWISE)
    found = await revert(engine, 3, {"id": str(ref)})
    assert (found["__typename"], found["left"]) == ("Applied", [])
    assert str(ref) in [each["id"] for each in found["objects"]]
    assert same(entity_of(engine.view, ref), entity_of(before, ref))


async def test_a_subtree_goes_back_by_path_and_by_time(engine):
    await give(engine, MoveGroup("/geo/us/tx/austin", "/geo/ca"), Join("york-1", "/geo/ca"))
    at = (await engine.changeset(Revision(2))).at.isoformat()
    assert (await revert(engine, at, {"subtree": "/geo/us/tx"}))["changed"] is True
    assert names(engine, "/geo/us/tx/austin") == {"austin-1", "austin-2"}
    assert names(engine, "/geo/ca") == {"york-1"}


async def test_several_parts_go_back_together(engine):
    await give(engine, UpdateGroup("/geo/ca", "Canada"), UpdateCluster("york-1", title="York"))
    parts = [{"subtree": "/geo/ca"}, {"id": "cluster:2"}]
    found = await revert(engine, 2, {"parts": parts})
    assert len(found["objects"]) == 2
    assert (await revert(engine, 2, {"parts": parts}))["changed"] is False


async def test_a_revert_says_what_it_left_and_why(engine):
    await give(engine, RetireCluster("york-1"), DeleteGroup("/geo/us/ny"))
    found = await revert(engine, 2, {"id": "cluster:2"})
    assert found["left"] == ["cluster york-1: 1 of its groups is gone"]


async def test_a_revert_sent_again_is_the_same_though_its_path_leads_elsewhere_now(engine):
    await give(engine, RenameGroup("/geo/us/ny", "old"), CreateGroup("/geo/us/ny"))
    once = await revert(engine, 2, {"subtree": "/geo/us/ny"}, key="undo-1")
    assert (once["__typename"], once["revision"]) == ("Applied", 4)
    again = await revert(engine, 2, {"subtree": "/geo/us/ny"}, key="undo-1")
    assert (again["__typename"], again["revision"]) == ("Applied", 4)
    other = await revert(engine, 2, {"subtree": "/geo/us/tx"}, key="undo-1")
    assert other["__typename"] == "Conflict"


@pytest.mark.parametrize(
    ("to", "scope", "kind", "path"),
    [
        (2, {"subtree": "/geo/nowhere"}, "NotFound", ["scope", "subtree"]),
        (2, {"subtree": "geo"}, "Invalid", ["scope", "subtree"]),
        (2, {"parts": []}, "Invalid", ["scope", "parts"]),
        (2, {"parts": [{"id": "group:1"}, {"id": "x"}]}, "Invalid", ["scope", "parts", "1", "id"]),
        (2, {"everything": False}, "Invalid", ["scope", "everything"]),
        (99, {"everything": True}, "NotFound", ["to"]),
        ("2020-01-01T00:00:00Z", {"everything": True}, "Applied", None),
    ],
)  # fmt: skip
async def test_a_revert_of_nothing_known_is_refused_with_its_place(engine, to, scope, kind, path):
    found = await revert(engine, to, scope)
    assert found["__typename"] == kind
    assert found.get("path") == path


async def test_a_revert_expects_as_any_batch_does(engine):
    await give(engine, UpdateCluster("york-1", title="York"))
    found = await revert(engine, 2, {"id": "cluster:2"}, expected=2)
    assert found["__typename"] == "Conflict"


async def test_a_revert_beyond_the_scope_is_denied(engine):
    await give(engine, UpdateCluster("york-1", title="York"), UpdateGroup("/geo/us", "USA"))
    for scope in ({"id": "cluster:2"}, {"everything": True}):
        answer = await ask(engine, REVERT, {"to": 2, "scope": scope}, actor=READER)
        assert answer["data"]["result"]["__typename"] == "Denied"
    found = await ask(engine, REVERT, {"to": 2, "scope": {"everything": True}}, actor=EDITOR)
    said = found["data"]["result"]
    assert "york" not in str(said) and engine.view.cursor.revision == 3
