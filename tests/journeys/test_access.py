"""A franchise and its user: granted, at work, and let go while they are watching.

The process is the real one; the tokens are of a real issuer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from api_process import Api, calling
from issuer import Issuer, issuing
from serving import Serving, serve
from trellis_process import Trellis
from ws_client import Failed, connect

GRANT = """
mutation Grant($scope: SelectorInput!) {
  grantAccess(
    input: {name: "franchise-crew", claim: "franchise", role: EDITOR, scope: $scope}
    reason: "they look after their own stores"
  ) { __typename ... on Applied { revision } ... on Failure { code message hint } }
}
"""
REVOKE = """
mutation { revokeAccess(input: {name: "franchise-crew"}, reason: "the contract has ended") {
  __typename ... on Failure { code message hint } } }
"""
LOOK = """
query Look($franchise: GroupPath!) {
  viewer { name permissions { role scope everywhere } }
  fleet {
    clusters(first: 1000) { totalCount nodes { name place(hierarchy: "franchise") } }
    facets(by: [{group: $franchise}]) { buckets { value count } }
    complete(text: "/franchise/", position: 11) { insert }
  }
}
"""
RETITLE = """
mutation Retitle($name: Name!) {
  updateCluster(input: {name: $name, title: "Ours"}, reason: "a better name") {
    __typename ... on Applied { revision } ... on Failure { code message hint }
  }
}
"""
NAMES = """
query Names($where: SelectorInput!) {
  fleet { clusters(where: $where, first: 2000) { nodes { name } } }
}
"""
RENAME = """
mutation Rename {
  renameGroup(input: {path: "/geo/us", name: "ours"}, reason: "it holds stores of ours") {
    __typename ... on Failure { code message hint }
  }
}
"""
FOLLOW = """
subscription {
  changes { __typename
    ... on Changeset { actor reason changes { name lines } } ... on Progress { cursor }
    ... on ResyncRequired { message hint } }
}
"""


@pytest.fixture
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Issuer]:
    with issuing(tmp_path_factory.mktemp("issuer")) as found:
        yield found


@pytest.fixture
def api(fleet: Trellis, issuer: Issuer) -> Iterator[Serving]:
    """A serving process over a sample fleet, which believes the issuer and knows one admin."""
    settings = {**issuer.settings(), "TRELLIS_AUTH_FIRST_ADMINS": "ann"}
    with serve(fleet.directory / "trellis.db", settings) as serving:
        yield serving


async def test_a_franchise_user_is_granted_works_is_refused_elsewhere_and_is_let_go(
    api: Serving, issuer: Issuer
) -> None:
    crew = issuer.token(sub="fred", groups=["franchise"])
    async with calling(api, issuer.token(sub="ann")) as ann, calling(api, crew) as fred:
        mine, theirs, others = await _franchises(ann)

        before = (await fred.post(LOOK, franchise=mine)).json()
        assert before["errors"][0]["message"] == '"fred" has not got the role reader'
        assert before["errors"][0]["extensions"]["hint"] == "ask an admin for a grant of reader"

        granted = await ann.data(GRANT, scope={"text": mine})
        assert granted["grantAccess"]["__typename"] == "Applied", granted

        seen = await fred.data(LOOK, franchise=mine)
        _sees_only(seen, mine, theirs)
        await _edits(fred, theirs, others)
        await _is_let_go(api, ann, fred, crew, theirs, mine)


async def _franchises(ann: Api) -> tuple[str, set[str], list[str]]:
    """The path of the largest franchise, its stores, and some of the others'."""
    data = await ann.data(
        '{ fleet { facets(by: [{group: "/franchise"}]) { buckets { value count } } } }'
    )
    buckets = data["fleet"]["facets"][0]["buckets"]
    mine = str(max(buckets, key=lambda each: each["count"])["value"])
    found = await ann.data(NAMES, where={"text": mine})
    rest = await ann.data(NAMES, where={"text": f"not {mine}"})
    theirs = {each["name"] for each in found["fleet"]["clusters"]["nodes"]}
    others = [each["name"] for each in rest["fleet"]["clusters"]["nodes"]]
    assert theirs and others
    return mine, theirs, others


def _sees_only(seen: dict[str, Any], mine: str, theirs: set[str]) -> None:
    fleet = seen["fleet"]
    assert seen["viewer"]["permissions"][1] == {
        "role": "EDITOR",
        "scope": mine,
        "everywhere": False,
    }
    assert fleet["clusters"]["totalCount"] == len(theirs)
    assert {each["name"] for each in fleet["clusters"]["nodes"]} <= theirs
    assert all(each["place"].startswith(mine) for each in fleet["clusters"]["nodes"])
    assert [each["insert"] for each in fleet["complete"]] == [mine.rpartition("/")[2]]


async def _edits(fred: Api, theirs: set[str], others: list[str]) -> None:
    done = await fred.data(RETITLE, name=min(theirs))
    assert done["updateCluster"]["__typename"] == "Applied", done
    refused = (await fred.data(RETITLE, name=others[0]))["updateCluster"]
    absent = (await fred.data(RETITLE, name="nowhere-1"))["updateCluster"]
    assert refused["code"] == absent["code"] == "NOT_FOUND"
    assert refused["message"] == f'no cluster called "{others[0]}"'
    said = refused["hint"]
    assert not any(name in said for name in others)
    shared = (await fred.data(RENAME))["renameGroup"]
    assert shared["code"] == "DENIED", shared
    assert shared["message"] == "this would touch something outside your scope"
    assert not any(name in shared["hint"] for name in others)


async def _is_let_go(
    api: Serving, ann: Api, fred: Api, token: str, theirs: set[str], mine: str
) -> None:
    async with connect(api.ws_url, token=token) as socket:
        stream = await socket.subscribe(FOLLOW)
        assert (await stream.value())["__typename"] == "Progress"
        await ann.data(RETITLE, name=max(theirs))
        told = await stream.value()
        assert told["actor"] == "ann"
        assert [each["name"] for each in told["changes"]] == [max(theirs)]
        revoked = await ann.data(REVOKE)
        assert revoked["revokeAccess"]["__typename"] == "Applied"
        with pytest.raises(Failed) as failed:
            await asyncio.wait_for(stream.next(), 30)
        assert failed.value.code == "DENIED"
        assert failed.value.errors[0]["message"] == "you may no longer see the fleet"
        assert "ask an admin" in failed.value.errors[0]["extensions"]["hint"]
    after = (await fred.post(LOOK, franchise=mine)).json()
    assert after["errors"][0]["extensions"]["code"] == "DENIED"
    assert "data" not in after or after["data"] is None
