"""Pages of clusters: Relay's rules, and every cluster exactly once whatever happens meanwhile."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from random import Random
from typing import Any

import pytest

from asking import ADMIN, ask, data
from doors import TEXAN, served
from engines import give
from graph.engine import Engine
from graph.model.access import Actor
from graph.model.command import RegisterCluster, RetireCluster, UpdateCluster
from graph.store.embedded import EmbeddedStore

SIZES = (1, 2, 5, 16, 53, 100)
ORDERS = ("NAME", "REGISTERED")
PAGE = """query ($first: Int!, $after: String, $order: ClusterOrder!, $where: SelectorInput) {
    fleet { revision clusters(first: $first, after: $after, orderBy: $order, where: $where) {
        totalCount nodes { name } edges { cursor node { name } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""


async def page(engine: Any, actor: Actor = ADMIN, **asked: Any) -> dict[str, Any]:
    given = {"first": 5, "after": None, "order": "NAME", "where": None} | asked
    found = await data(engine, PAGE, actor=actor, **given)
    return found["fleet"]["clusters"]


def everybody(engine: Any) -> list[str]:
    view = engine.view
    return [view.cluster_name(number) for number in view.everything()]


def forged(revision: int, chain: str, order: str, key: str) -> str:
    return urlsafe_b64encode(f"{revision}.{chain}.{order}.{key}".encode()).decode().rstrip("=")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("first", SIZES)
async def test_pages_hold_every_cluster_once_and_agree_with_themselves(fleet, first, order):
    names, after, pages = [], None, 0
    while True:
        found = await page(fleet, first=first, after=after, order=order)
        rows = [each["name"] for each in found["nodes"]]
        info = found["pageInfo"]
        assert [each["node"]["name"] for each in found["edges"]] == rows
        assert len(rows) <= first
        assert found["totalCount"] == 39
        assert info["startCursor"] == found["edges"][0]["cursor"]
        assert info["endCursor"] == found["edges"][-1]["cursor"]
        assert info["hasPreviousPage"] is (after is not None)
        names += rows
        pages += 1
        assert info["hasNextPage"] is (len(names) < 39)
        if not info["hasNextPage"]:
            break
        after = info["endCursor"]
    assert pages == -(-39 // first)
    assert names == (sorted(names) if order == "NAME" else everybody(fleet))
    assert len(set(names)) == 39


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("first", SIZES)
async def test_clusters_present_throughout_are_seen_once_while_others_come_and_go(
    fleet, first, order
):
    rng = Random(f"{first}{order}")
    steady = set(rng.sample(everybody(fleet), 20))
    seen: list[str] = []
    after, made = None, 0
    while True:
        found = await page(fleet, first=first, after=after, order=order)
        seen += [each["name"] for each in found["nodes"]]
        if not found["pageInfo"]["hasNextPage"]:
            break
        after = found["pageInfo"]["endCursor"]
        if made < 30:
            made += 1
            name = f"{rng.choice(('a', 'm', 'z'))}-new-{made:02}"
            await give(fleet, RegisterCluster(name, groups=("/geo/ca",)))
            leaving = rng.choice([each for each in everybody(fleet) if each not in steady])
            await give(fleet, RetireCluster(leaving))
    assert len(seen) == len(set(seen)), "nothing is shown twice"
    assert steady <= set(seen), "nothing is skipped"


@pytest.mark.parametrize("order", ORDERS)
async def test_every_edge_is_a_place_to_begin(fleet, order):
    whole = await page(fleet, first=100, order=order)
    names = [each["name"] for each in whole["nodes"]]
    for place, edge in enumerate(whole["edges"]):
        found = await page(fleet, first=100, after=edge["cursor"], order=order)
        assert [each["name"] for each in found["nodes"]] == names[place + 1 :]
        assert found["pageInfo"]["hasNextPage"] is False


async def test_a_page_of_nothing_has_no_cursors(fleet):
    empty = {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None, "endCursor": None}
    found = await page(fleet, where={"not": {"everything": True}})
    assert found == {"totalCount": 0, "nodes": [], "edges": [], "pageInfo": empty}
    none = await page(fleet, first=0)
    assert (none["totalCount"], none["nodes"], none["edges"]) == (39, [], [])
    assert none["pageInfo"] == empty | {"hasNextPage": True}


async def test_a_total_is_of_the_whole_set_and_of_what_may_be_seen(fleet):
    where = {"text": "size = large"}
    large = (await page(fleet, first=100, where=where))["nodes"]
    assert (await page(fleet, first=1, where=where))["totalCount"] == len(large)
    texan = await page(fleet, TEXAN, first=100, where=where)
    assert texan["totalCount"] == len(texan["nodes"]) < len(large)


async def test_pages_of_one_revision_are_read_as_of_it(fleet):
    query = """query ($after: String) { fleet(asOf: 2) {
        clusters(first: 16, after: $after) {
            nodes { name } pageInfo { endCursor hasNextPage } } } }"""
    wanted, seen, after = set(everybody(fleet)), [], None
    while True:
        found = (await data(fleet, query, after=after))["fleet"]["clusters"]
        seen += [each["name"] for each in found["nodes"]]
        if not found["pageInfo"]["hasNextPage"]:
            break
        after = found["pageInfo"]["endCursor"]
        gone = next(each for each in everybody(fleet) if each not in seen)
        await give(fleet, RetireCluster(gone))
    assert sorted(seen) == sorted(wanted)


# cursors that are none


async def code_of(engine: Any, after: str, order: str = "NAME") -> str:
    given = {"first": 5, "after": after, "order": order, "where": None}
    answer = await ask(engine, PAGE, given)
    return answer["errors"][0]["extensions"]["code"]


async def test_a_forged_cursor_is_refused(fleet):
    good = (await page(fleet))["pageInfo"]["endCursor"]
    for after in (
        "", "x", "!!!!", "é", "=" * 8, good[:-4], "A" * 500, good + "A" * 500, "\x00",
        forged(1, "0" * 16, "name", "a")[:10], urlsafe_b64encode(b"\xff" * 30).decode(),
        urlsafe_b64encode(b"1.2.3").decode(), urlsafe_b64encode(b"x.y.name.z").decode(),
        forged(-1, "0" * 16, "name", "a"), forged(10**30, "0" * 16, "name", "a"),
    ):  # fmt: skip
        if after == good[:-4]:
            continue  # a shorter name is a place as well
        assert await code_of(fleet, after) == "INVALID", after


async def test_a_cursor_of_another_order_is_refused(fleet):
    by_name = (await page(fleet))["pageInfo"]["endCursor"]
    by_number = (await page(fleet, order="REGISTERED"))["pageInfo"]["endCursor"]
    assert await code_of(fleet, by_name, "REGISTERED") == "INVALID"
    assert await code_of(fleet, by_number, "NAME") == "INVALID"


async def test_a_number_that_is_none_is_refused(fleet):
    cursor = fleet.view.cursor
    for key in ("x", "-1", "", "1" * 11, "²", "1.5"):
        after = forged(cursor.revision, cursor.chain, "number", key)
        assert await code_of(fleet, after, "REGISTERED") == "INVALID", key


async def test_a_cursor_of_another_history_is_refused(fleet):
    other = forged(fleet.view.cursor.revision, "f" * 16, "name", "austin-00")
    assert await code_of(fleet, other) == "CONFLICT"


async def test_a_forged_key_shows_nothing_that_may_not_be_seen(fleet):
    cursor = fleet.view.cursor
    for key in ("", "a", "york-00", "zzz", "\x00", "é"):
        after = forged(cursor.revision, cursor.chain, "name", key)
        found = await page(fleet, TEXAN, first=100, after=after)
        assert {each["name"].split("-")[0] for each in found["nodes"]} <= {"austin", "dallas"}


async def test_a_negative_page_is_refused_also_where_only_its_number_is_asked_for(fleet):
    for part in (
        "clusters(first: -1)",
        'diff(from: 1, where: {text: "all"}) { gained(first: -1) ',
    ):
        close = "}" if "{ gained" in part else ""
        answer = await ask(fleet, f"{{ fleet {{ {part} {{ totalCount }} {close} }} }}")
        (error,) = answer["errors"]
        assert error["extensions"]["code"] == "INVALID"
        assert error["extensions"]["path"] == ["first"]


# cursors of a revision that is on its way


async def test_a_cursor_from_the_future_is_waited_for(fleet, tmp_path, an_issuer):
    """One process gave it out; another has not heard of that revision yet."""
    behind = await Engine.open(await EmbeddedStore.open(tmp_path / "fleet.db", write=False))
    await give(fleet, UpdateCluster("austin-00", title="arrived"))
    cursor = (await page(fleet, first=1))["pageInfo"]["endCursor"]
    assert behind.view.cursor.revision == 2
    given = {"first": 5, "after": cursor, "order": "NAME", "where": None}
    try:
        async with served(behind, issuer=an_issuer) as door:
            answer = (await door.data(PAGE, **given))["fleet"]
    finally:
        await behind.close()
    assert answer["revision"] == 3
    assert answer["clusters"]["nodes"][0]["name"] == "austin-05"


async def test_a_cursor_from_a_future_that_does_not_come_is_unavailable(fleet, an_issuer):
    later = forged(fleet.view.cursor.revision + 9, "0" * 16, "name", "austin-00")
    given = {"first": 5, "after": later, "order": "NAME", "where": None}
    async with served(fleet, issuer=an_issuer, at_least_seconds=0.05) as door:
        answer = (await door.ask(PAGE, given)).json()
    assert answer["data"]["fleet"] == {"revision": 2, "clusters": None}
    assert answer["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert "revision 11" in answer["errors"][0]["message"]
