"""Where reading begins: the fleet now and earlier, the log, objects by id, and who asks."""

from __future__ import annotations

import pytest
from graphql import get_named_type

from api.schema.schema import GRAPHQL, SCHEMA
from asking import ask, data
from doors import ADMIN, STRANGER, TEXAN, context
from engines import give
from graph.model.access import Actor, Role
from graph.model.command import DeleteSelector, GrantAccess, RetireCluster, UpdateCluster
from graph.model.errors import Denied


async def test_the_fleet_is_the_newest_unless_an_earlier_one_is_asked_for(fleet):
    query = """{
        now: fleet { revision clusters { totalCount } group(path: "/geo/us/ny/newyork") { name } }
        before: fleet(asOf: 1) { revision clusters { totalCount }
            group(path: "/geo/us/ny/newyork") { name }
            york: group(path: "/geo/us/ny/york") { name } }
        nothing: fleet(asOf: 0) { revision clusters { totalCount } }
    }"""
    assert await data(fleet, query) == {
        "now": {"revision": 2, "clusters": {"totalCount": 39}, "group": {"name": "newyork"}},
        "before": {
            "revision": 1,
            "clusters": {"totalCount": 40},
            "group": None,
            "york": {"name": "york"},
        },
        "nothing": {"revision": 0, "clusters": {"totalCount": 0}},
    }


@pytest.mark.parametrize(
    ("moment", "revision"),
    [("2999-01-01T00:00:00Z", 2), ("2026-11-16T14:00:00+02:00", 1), ("1999-01-01T00:00:00Z", 0)],
)
async def test_a_moment_stands_for_the_revision_the_fleet_was_at(fleet, moment, revision):
    query = "query ($when: RevisionOrTime) { fleet(asOf: $when) { revision } }"
    assert await data(fleet, query, when=moment) == {"fleet": {"revision": revision}}


async def test_one_answer_is_of_one_revision(fleet):
    found = await data(fleet, "{ a: fleet { revision } b: fleet(atLeast: 2) { revision } }")
    assert found == {"a": {"revision": 2}, "b": {"revision": 2}}


async def test_a_revision_that_is_not_there_yet_is_told_apart_from_none(fleet):
    ahead = await ask(fleet, "{ fleet(asOf: 99) { revision } }")
    assert ahead["errors"][0]["extensions"]["code"] in ("NOT_FOUND", "UNAVAILABLE")
    assert ahead["errors"][0]["extensions"]["hint"]


async def test_a_request_reads_few_earlier_revisions(fleet):
    for place in range(4):
        await give(fleet, UpdateCluster("austin-00", title=str(place)))
    fields = " ".join(f"a{n}: fleet(asOf: {n}) {{ revision }}" for n in range(1, 5))
    answer = await ask(fleet, f"{{ {fields} }}")
    assert answer["errors"][0]["extensions"]["code"] == "INVALID"
    assert "earlier revisions" in answer["errors"][0]["message"]
    twice = await data(fleet, "{ a: fleet(asOf: 1) { revision } b: fleet(asOf: 1) { revision } }")
    assert twice == {"a": {"revision": 1}, "b": {"revision": 1}}


async def test_the_log_is_newest_first_and_pages(fleet):
    query = """query ($after: Cursor) { changesets(first: 1, after: $after) {
        nodes { revision actor reason changeCount } edges { cursor node { revision } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
    first = (await data(fleet, query, after=None))["changesets"]
    assert [each["revision"] for each in first["nodes"]] == [2]
    assert first["edges"][0]["cursor"] == first["pageInfo"]["endCursor"]
    assert first["pageInfo"]["hasNextPage"]
    second = (await data(fleet, query, after=first["pageInfo"]["endCursor"]))["changesets"]
    assert [each["revision"] for each in second["nodes"]] == [1]
    assert not second["pageInfo"]["hasNextPage"]
    assert second["pageInfo"]["hasPreviousPage"]


async def test_the_viewer_is_who_asks_with_what_they_may_do(fleet):
    query = "{ viewer { name claims permissions { role scope everywhere } } }"
    ana = (await data(fleet, query, actor=ADMIN))["viewer"]
    assert {each["role"] for each in ana["permissions"]} == {
        "READER", "EDITOR", "OPERATOR", "ADMIN",
    }  # fmt: skip
    assert all(each["everywhere"] for each in ana["permissions"])
    tess = (await data(fleet, query, actor=TEXAN))["viewer"]
    assert (tess["name"], tess["claims"]) == ("tess", ["texas"])
    assert {each["role"] for each in tess["permissions"]} == {"READER", "EDITOR"}
    assert not any(each["everywhere"] for each in tess["permissions"])


async def test_a_role_over_a_part_of_the_workload_is_shown_with_its_part(fleet):
    part = GrantAccess(
        "cooks", Role.EDITOR, subject="cook", namespaces=("kitchen",), applications=("player",)
    )
    await give(fleet, part, GrantAccess("ny", Role.READER, subject="cook", scope="/geo/us/ny"))
    query = "{ viewer { permissions { role scope everywhere namespaces applications } } }"
    found = (await data(fleet, query, actor=Actor("cook")))["viewer"]["permissions"]
    held = {"everywhere": False, "namespaces": [], "applications": []}
    covered = {"everywhere": False, "namespaces": ["kitchen"], "applications": ["player"]}
    assert found == [
        {"role": "READER", "scope": "/geo/us/ny", **held},
        {"role": "EDITOR", "scope": "all", **covered},
    ]
    query = "{ fleet { grants { name namespaces applications } } }"
    grants = {each["name"]: each for each in (await data(fleet, query))["fleet"]["grants"]}
    assert grants["cooks"] == {
        "name": "cooks", "namespaces": ["kitchen"], "applications": ["player"],
    }  # fmt: skip
    assert grants["texans"] == {"name": "texans", "namespaces": [], "applications": []}


async def test_whoever_may_see_nothing_is_refused_at_the_door(fleet):
    with pytest.raises(Denied):
        await ask(fleet, "{ fleet { revision } }", actor=STRANGER)


async def test_grants_are_for_admins(fleet):
    query = "{ fleet { grants { name role subject claim scope } } }"
    names = [each["name"] for each in (await data(fleet, query))["fleet"]["grants"]]
    assert names == ["tess-too", "texans"]
    refused = await ask(fleet, query, actor=TEXAN)
    assert refused["errors"][0]["extensions"]["code"] == "DENIED"


async def test_too_many_ids_are_refused(fleet):
    answer = await ask(
        fleet,
        "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }",
        {"ids": ["cluster:1"] * 1_001},
    )
    assert answer["errors"][0]["extensions"]["code"] == "INVALID"
    assert "1,001" in answer["errors"][0]["message"]


async def test_one_question_refused_leaves_the_others_answered(fleet):
    """Whatever can be refused for its arguments is null by itself."""
    refused = {
        "clusters": '(where: {text: "/gio"}) { totalCount }',
        "page": ": clusters(first: 10001) { nodes { name } }",
        "tree": '(root: "geo") { path }',
        "facets": '(by: [{label: "x"}]) { label }',
        "crossTab": '(rows: {label: "x"}, columns: {label: "x"}) { rows }',
        "explain": '(cluster: "nobody", where: {text: "all"}) { holds }',
        "complete": '(text: "", position: 0, first: -1) { insert }',
        "diff": '(from: 99, where: {text: "all"}) { complete }',
        "grants": "(first: -1) { name }",
        "hierarchies": "(first: -1) { name }",
        "labelKeys": "(first: -1) { name }",
        "savedSelectors": "(first: -1) { name }",
    }
    fields = " ".join(f"{name}{rest}" for name, rest in refused.items())
    answer = await ask(fleet, f"{{ fleet {{ revision {fields} }} viewer {{ name }} }}")
    assert answer["data"] == {
        "fleet": {"revision": 2} | dict.fromkeys(refused),
        "viewer": {"name": "ana"},
    }
    assert {each["path"][1] for each in answer["errors"]} == set(refused)
    assert all(each["extensions"]["hint"] for each in answer["errors"])


def test_every_connection_has_the_one_kind_of_page():
    """Relay's rule: a client treats all of them alike."""
    connections = [kind for name, kind in GRAPHQL.type_map.items() if name.endswith("Connection")]
    assert len(connections) >= 2
    for kind in connections:
        assert str(kind.fields["pageInfo"].type) == "PageInfo!"
        edge = get_named_type(kind.fields["edges"].type)
        assert str(edge.fields["cursor"].type) == "String!"
    page = GRAPHQL.type_map["PageInfo"].fields
    assert (str(page["startCursor"].type), str(page["endCursor"].type)) == ("String", "String")


REVERT = """query ($to: RevisionOrTime!, $scope: RevertScope!) {
    previewRevert(to: $to, scope: $scope) { __typename
        ... on Preview {
            base changeCount left changes { objectId action } impact { registeredCount } }
        ... on Failure { code path } } }"""


async def test_a_revert_is_previewed_with_what_it_would_leave(fleet):
    await give(fleet, RetireCluster("austin-00"))
    await give(fleet, DeleteSelector("grills"))
    found = await data(fleet, REVERT, to=2, scope={"id": "cluster:0"})
    assert found["previewRevert"] == {
        "__typename": "Preview",
        "base": 4,
        "changeCount": 1,
        "left": [],
        "changes": [{"objectId": "cluster:0", "action": "CREATED"}],
        "impact": {"registeredCount": 1},
    }
    assert fleet.view.cursor.revision == 4, "nothing was written"
    nowhere = await data(fleet, REVERT, to=2, scope={"subtree": "/geo/zz"})
    assert nowhere["previewRevert"] == {
        "__typename": "NotFound", "code": "NOT_FOUND", "path": ["scope", "subtree"],
    }  # fmt: skip
    later = await data(fleet, REVERT, to=99, scope={"everything": True})
    assert later["previewRevert"]["path"] == ["to"]


async def test_a_preview_of_a_revert_is_never_remembered(fleet):
    asked = context(fleet)
    query = '{ previewRevert(to: 1, scope: {id: "cluster:0"}) { __typename } }'
    assert (await SCHEMA.execute(query, context_value=asked)).errors is None
    assert asked.usage.fresh
