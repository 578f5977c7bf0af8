"""Global ids: one for every object, for as long as it lives, and no others."""

from __future__ import annotations

import pytest

from api.schema.ref import Named, named_by, ref_from
from asking import ADMIN, ask, data
from doors import TEXAN
from engines import give
from graph.model.access import Role
from graph.model.command import GrantAccess, RenameGroup, RetireCluster, UpdateCluster
from graph.model.errors import Invalid
from graph.model.names import Revision
from graph.model.ref import Kind, Ref

EVERYTHING = """{ fleet {
    clusters(first: 100) { nodes { id __typename name } }
    hierarchies { id __typename name root { id __typename path children { id __typename path } } }
    labelKeys { id __typename name }
    savedSelectors { id __typename name }
    grants { id __typename name }
    namespaces { id __typename } applications { id __typename } assignments { id __typename }
    prohibitions { id __typename } layers { id __typename } policies { id __typename }
} }"""


def objects(found: object) -> dict[str, str]:
    """Every id in an answer with the type that has it."""
    if isinstance(found, list):
        return {key: value for each in found for key, value in objects(each).items()}
    if isinstance(found, dict):
        inside = objects(list(found.values()))
        return inside | {found["id"]: found["__typename"]} if "id" in found else inside
    return {}


async def test_every_object_is_found_again_by_its_id(fleet):
    known = objects(await data(fleet, EVERYTHING))
    assert set(known.values()) == {
        "Cluster", "Hierarchy", "Group", "LabelKey", "SavedSelector", "Grant", "Namespace",
        "Application", "Assignment", "Prohibition", "Layer", "Policy",
    }  # fmt: skip
    ids = list(known)
    found = await data(
        fleet, "query ($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }", ids=ids
    )
    assert [(each["id"], each["__typename"]) for each in found["nodes"]] == list(known.items())
    for identity, kind in known.items():
        one = await data(fleet, "query ($id: ID!) { node(id: $id) { id __typename } }", id=identity)
        assert one["node"] == {"id": identity, "__typename": kind}


async def test_an_id_survives_a_rename(fleet):
    query = '{ fleet { group(path: "/geo/us/tx") { id } } }'
    identity = (await data(fleet, query))["fleet"]["group"]["id"]
    await give(fleet, RenameGroup("/geo/us/tx", "texas"))
    found = await data(
        fleet, "query ($id: ID!) { node(id: $id) { ... on Group { path } } }", id=identity
    )
    assert found["node"] == {"path": "/geo/us/texas"}


async def test_what_is_gone_or_was_never_there_is_null(fleet):
    found = await data(fleet, '{ fleet { cluster(name: "austin-00") { id } } }')
    identity = found["fleet"]["cluster"]["id"]
    await give(fleet, RetireCluster("austin-00"))
    query = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    ids = [identity, "cluster:99999", "hierarchy:nowhere", "saved_selector:nobody", "grant:none"]
    assert (await data(fleet, query, ids=ids))["nodes"] == [None] * 5


async def test_what_may_not_be_seen_is_null_exactly_like_what_is_not_there(fleet):
    query = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    york = (await data(fleet, '{ fleet { cluster(name: "york-03") { id } } }'))["fleet"]["cluster"]
    ids = [york["id"], "cluster:99999", "grant:texans", "hierarchy:empty", "label_key:open"]
    assert (await data(fleet, query, ids=ids, actor=TEXAN))["nodes"] == [None] * 5
    for identity in ids:
        answer = await ask(
            fleet, "query ($id: ID!) { node(id: $id) { id } }", {"id": identity}, actor=TEXAN
        )
        assert answer == {"data": {"node": None}}
    assert (await data(fleet, query, ids=ids, actor=ADMIN))["nodes"][0] == {"id": york["id"]}


@pytest.mark.parametrize(
    "identity",
    [
        "", ":", "cluster", "cluster:", "cluster:x", "cluster:01", "cluster:-1", "cluster: 1",
        "cluster:1.0", "cluster:²", "cluster:" + "9" * 11, "Cluster:1", "node:1", "group:/geo",
        "hierarchy:", "x" * 10_000, "cluster:1:2", "\x00",
        "cluster:1@", "cluster:1@x", "cluster:1@01", "cluster:1@-1", "cluster:1@1@2", "@1",
        "cluster:1@1+", "cluster:1@1+xyz", "cluster:1@" + "9" * 17, "cluster:1@1 ", "cluster:1@²",
    ],
)  # fmt: skip
async def test_what_can_be_no_id_is_refused(fleet, identity):
    with pytest.raises(Invalid) as refused:
        ref_from(identity)
    assert refused.value.hint
    assert len(refused.value.message) < 200
    answer = await ask(fleet, "query ($id: ID!) { node(id: $id) { id } }", {"id": identity})
    assert answer["errors"][0]["extensions"]["code"] == "INVALID"


@pytest.mark.parametrize(
    "ref",
    [Ref(Kind.CLUSTER, 0), Ref(Kind.GROUP, 2**32 - 1)]
    + [Ref(kind, "a-name") for kind in Kind if kind not in (Kind.CLUSTER, Kind.GROUP)],
    ids=str,
)
def test_an_id_names_the_object_it_was_made_of(ref):
    assert ref_from(str(ref)) == ref


@pytest.mark.parametrize("ref", [Ref(Kind.CLUSTER, 5), Ref(Kind.LAYER, "a-name")], ids=str)
def test_an_id_says_what_it_stands_for(ref):
    assert named_by(str(ref)) == Named(ref)
    assert named_by(f"{ref}@0") == Named(ref, Revision(0))
    assert named_by(f"{ref}@12") == Named(ref, Revision(12))
    assert named_by(f"{ref}@12+{'0f' * 8}") == Named(ref, Revision(12), in_preview=True)


NODES = "query ($ids: [ID!]!) { nodes(ids: $ids) { id __typename ... on Cluster { title } } }"


@pytest.mark.parametrize("when", ["1", "2", '"2026-11-16T14:00:00+02:00"'])
async def test_every_object_read_as_of_a_revision_is_found_again_there(fleet, when):
    revision = 2 if when == "2" else 1
    known = objects(await data(fleet, EVERYTHING.replace("fleet", f"fleet(asOf: {when})")))
    assert len(known) > 50
    assert all(identity.endswith(f"@{revision}") for identity in known)
    for _ in range(2):
        found = (await data(fleet, NODES, ids=list(known)))["nodes"]
        assert [(each["id"], each["__typename"]) for each in found] == list(known.items())
        await give(fleet, UpdateCluster("austin-00", title="as it is later"))


async def test_an_earlier_object_is_read_as_it_was_with_all_that_is_around_it(fleet):
    query = """query ($id: ID!) { node(id: $id) { id ... on Group {
        path count parent { id } children { id path } hierarchy { id } history { revision } } } }"""
    now = '{ fleet { group(path: "/geo/us/ny/newyork") { id } } }'
    identity = (await data(fleet, now))["fleet"]["group"]["id"]
    today = (await data(fleet, query, id=identity))["node"]
    before = (await data(fleet, query, id=f"{identity}@1"))["node"]
    assert (today["path"], before["path"]) == ("/geo/us/ny/newyork", "/geo/us/ny/york")
    assert before["id"] == f"{identity}@1"
    assert before["parent"]["id"] == f"{today['parent']['id']}@1"
    assert before["hierarchy"]["id"] == "hierarchy:geo@1"
    assert {each["revision"] for each in before["history"]} == {1}


async def test_few_earlier_revisions_are_read_by_ids_in_one_request(fleet):
    for place in range(3):
        await give(fleet, UpdateCluster("austin-00", title=str(place)))
    answer = await ask(fleet, NODES, {"ids": [f"cluster:1@{at}" for at in (1, 2, 3)]})
    assert "earlier revisions" in answer["errors"][0]["message"]
    mixed = """{ a: fleet(asOf: 1) { revision } b: node(id: "cluster:1@2") { id }
        c: node(id: "cluster:1@1") { id } d: node(id: "cluster:1@5") { id } }"""
    assert "errors" not in await ask(fleet, mixed)


async def test_ids_of_revisions_that_are_not_there_are_refused_as_as_of_is(fleet):
    for query in ('{ node(id: "cluster:1@99") { id } }', "{ fleet(asOf: 99) { revision } }"):
        (error,) = (await ask(fleet, query))["errors"]
        assert error["extensions"]["code"] == "NOT_FOUND"
        assert "no revision 99" in error["message"]
    gone = '{ node(id: "cluster:1@0") { id } }'
    assert await data(fleet, gone) == {"node": None}


async def test_what_may_not_be_seen_today_is_not_there_earlier(fleet):
    york = (await data(fleet, '{ fleet { cluster(name: "york-03") { id } } }'))["fleet"]["cluster"]
    austin = (await data(fleet, '{ fleet { cluster(name: "austin-00") { id } } }'))["fleet"]
    ids = [f"{york['id']}@1", f"{austin['cluster']['id']}@1"]
    found = (await data(fleet, NODES, ids=ids, actor=TEXAN))["nodes"]
    assert found[0] is None
    assert found[1]["id"] == ids[1]
    await give(fleet, GrantAccess("nobodys", Role.READER, subject="nobody"))
    granted = '{ node(id: "grant:nobodys@3") { id } }'
    assert await data(fleet, granted, actor=TEXAN) == {"node": None}
    assert await data(fleet, granted) == {"node": {"id": "grant:nobodys@3"}}


async def test_objects_of_a_preview_have_ids_that_nothing_else_has(fleet):
    query = """query ($title: String!) { preview(input: {reason: "x", commands: [
        {registerCluster: {name: "new-00", title: $title, groups: ["/geo/us/tx/austin"]}}
    ]}) { ... on Preview {
        changes { id objectId } impact { registered { nodes { id title } } } } } }"""
    one = (await data(fleet, query, title="one"))["preview"]
    other = (await data(fleet, query, title="other"))["preview"]
    shown = [each["impact"]["registered"]["nodes"][0]["id"] for each in (one, other)]
    assert len(set(shown)) == 2
    assert all(named_by(identity).in_preview for identity in shown)
    assert [each["id"] for each in one["changes"]] == [shown[0]]
    (error,) = (await ask(fleet, f'{{ node(id: "{shown[0]}") {{ id }} }}'))["errors"]
    assert error["extensions"]["code"] == "NOT_FOUND"
    assert "preview" in error["message"]


async def test_an_id_of_any_revision_names_the_object_to_the_log_and_to_a_revert(fleet):
    await give(fleet, UpdateCluster("austin-00", title="new"))
    found = await data(fleet, '{ fleet { cluster(name: "austin-00") { id } } }')
    identity = found["fleet"]["cluster"]["id"]
    log = "query ($id: ID!) { changesets(touching: $id) { nodes { revision } } }"
    revert = """query ($id: ID!) { previewRevert(to: 2, scope: {id: $id}) {
        ... on Preview { changeCount } } }"""
    for suffix in ("", "@1", "@3", f"@2+{'ab' * 8}"):
        touched = await data(fleet, log, id=identity + suffix)
        assert touched["changesets"]["nodes"][0] == {"revision": 3}
        reverted = await data(fleet, revert, id=identity + suffix)
        assert reverted["previewRevert"]["changeCount"] == 1


async def test_a_part_of_the_changes_goes_on_behind_an_id_of_any_revision(fleet):
    query = """query ($after: ID) { changesets(first: 1, after: null) { nodes {
        changes(first: 1, after: $after) { id objectId } } } }"""
    await give(fleet, *(UpdateCluster(name, title="x") for name in ("austin-00", "york-03")))
    (first,) = (await data(fleet, query))["changesets"]["nodes"][0]["changes"]
    assert first["id"] == f"{first['objectId']}@3"
    following = [
        (await data(fleet, query, after=first[key]))["changesets"]["nodes"][0]["changes"]
        for key in ("id", "objectId")
    ]
    assert following[0] == following[1] != [first]
