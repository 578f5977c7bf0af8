"""Global ids: one for every object, for as long as it lives, and no others."""

from __future__ import annotations

import pytest

from api.schema.ref import ref_from
from asking import ADMIN, ask, data
from doors import TEXAN
from engines import give
from graph.model.command import RenameGroup, RetireCluster
from graph.model.errors import Invalid
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
