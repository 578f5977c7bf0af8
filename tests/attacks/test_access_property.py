"""Random fleets, grants and questions: what a scope shows is the whole answer, inside the scope.

Each question is asked through GraphQL by somebody with a random scope, and by an admin who adds
that scope to it. The two answers must be the same, in numbers, names and order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from access_cases import COST_MAX, OnlyFacts, operations
from api.caller.identity import Identified
from api.execution.operations import Operations
from api.execution.request import GraphQLRequest
from api.web.export import export_of
from changes import random_fleet, random_scope, random_selector
from graph.engine import Engine
from graph.model.access import Actor, Grant, Role
from graph.model.change import Cursor, Entity, Numbers
from graph.model.errors import TrellisError
from graph.model.inventory import Cluster, Group
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.selector import Selector
from graph.model.view import FleetView, path_of
from graph.targeting.parser import parse
from graph.targeting.structured import from_structured, to_structured
from graph.targeting.syntax import to_text
from restricted import restricted
from twin import Twin

CASES = {"test": 1_000, "campaign": 100_000}
QUESTIONS_A_SCOPE = 12
SCOPES_A_FLEET = 5
EXPORTS_SHARE = 0.15

BOSS = Actor("boss", standing=Role.ADMIN)
ANA = Actor("ana", frozenset({"crew"}))

QUESTION = """query (
  $where: SelectorInput!, $by: [FacetInput!]!, $rows: FacetInput!, $root: GroupPath!
  $after: String, $order: ClusterOrder!
) {
  fleet {
    clusters(where: $where, first: 7, orderBy: $order, after: $after) {
      totalCount nodes { id name title labels { key value } groups { path } }
      pageInfo { hasNextPage endCursor }
    }
    facets(where: $where, by: $by) { group label buckets { value count share } }
    crossTab(where: $where, rows: $rows, columns: $rows) { rows columns counts }
    tree(where: $where, root: $root, depth: 4) { path depth count share }
  }
}"""

ORDERS = ("NAME", "REGISTERED")
CURSORS = """query ($order: ClusterOrder!) {
  fleet { clusters(first: 100, orderBy: $order) { edges { cursor } } } }"""


@dataclass
class Fleet:
    """One random fleet, asked without a door."""

    twin: Twin
    engine: Engine
    answers: Operations
    cursors: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """By ordering, places behind any cluster of the fleet, hidden ones included."""

    async def ask(
        self, actor: Actor, variables: dict[str, Any], question: str = QUESTION
    ) -> dict[str, Any]:
        request = GraphQLRequest(question, None, variables)
        outcome = await self.answers.answer(request, Identified(actor, None))
        found: dict[str, Any] = orjson.loads(orjson.dumps(outcome.content))
        return found


@asynccontextmanager
async def opened(rng: Random, scope: Selector, entities: Sequence[Entity]) -> AsyncIterator[Fleet]:
    """The fleet with one grant more: ``scope``, by subject or by claim."""
    to = rng.choice(({"subject": "ana"}, {"claim": "crew"}))
    grant = Grant("hers", rng.choice(list(Role)), scope, **to)
    others = [each for each in entities if not isinstance(each, Grant)]
    twin = Twin.of([*others, grant])
    twin.cursor = Cursor(Revision(1), "a" * 16)
    twin.numbers = Numbers(
        ClusterNumber(_next(each.number for each in others if isinstance(each, Cluster))),
        GroupNumber(_next(each.number for each in others if isinstance(each, Group))),
    )
    engine = await Engine.open(OnlyFacts(twin.entities(), twin))
    try:
        fleet = Fleet(twin, engine, operations(engine, cost_max=COST_MAX))
        for order in ORDERS:
            found = await fleet.ask(BOSS, {"order": order}, CURSORS)
            edges = found["data"]["fleet"]["clusters"]["edges"]
            fleet.cursors[str(order)] = [each["cursor"] for each in edges[::8]]
        yield fleet
    finally:
        await engine.close()


def _next(numbers: Any) -> int:
    return max(numbers, default=-1) + 1


@pytest.mark.volume
@pytest.mark.parametrize("seed", [11, 12])
async def test_a_scoped_answer_is_the_whole_answer_inside_the_scope(seed: int, scale: str) -> None:
    rng = Random(seed)
    tally = Counter[str]()
    wanted = CASES[scale] // 2
    while tally["compared"] < wanted:
        entities = random_fleet(rng, clusters=rng.choice((6, 24, 40)))
        for _ in range(SCOPES_A_FLEET):
            scope = random_scope(rng, Twin.of(entities), depth=rng.choice((1, 2, 3)))
            async with opened(rng, scope, entities) as fleet:
                await _compare(rng, fleet, scope, tally)
    assert tally["chosen"] > tally["compared"]
    assert tally["hidden"] > wanted // 10, "the scopes hid little"
    assert tally["refused"] > wanted // 20, "nothing hidden was named"
    assert tally["exports"] > wanted // 20
    assert tally["pages"] > wanted // 20


async def _compare(rng: Random, fleet: Fleet, scope: Selector, tally: Counter[str]) -> None:
    seen = restricted(fleet.twin, scope)
    for _ in range(QUESTIONS_A_SCOPE):
        over = rng.choice((fleet.twin, seen, seen))
        selector = random_selector(rng, over, depth=rng.choice((0, 1, 2, 3)))
        variables = _variables(rng, fleet, seen, selector)
        if variables is None:
            continue
        told = await fleet.ask(ANA, variables)
        view = fleet.engine.view
        inside = {"and": [_written(rng, selector, view), _written(rng, scope, view)]}
        expected = await fleet.ask(BOSS, {**variables, "where": inside})
        assert "errors" not in expected, expected
        if "errors" in told:
            assert told["errors"][0]["message"] == _refusal(variables["where"], seen)
            tally["refused"] += 1
            continue
        assert told == expected, (variables, to_text(scope, view))
        tally["compared"] += 1
        page = told["data"]["fleet"]["clusters"]
        tally["chosen"] += page["totalCount"]
        whole = fleet.engine.count(selector)
        tally["hidden"] += whole > page["totalCount"]
        tally["pages"] += variables["after"] is not None
        if rng.random() < EXPORTS_SHARE:
            await _compare_exports(rng, fleet, selector, scope, tally)


def _variables(rng: Random, fleet: Fleet, seen: Twin, selector: Selector) -> dict[str, Any] | None:
    """Arguments of which all but the selector are in sight; None if there is no group in sight."""
    groups = seen.groups()
    if not groups:
        return None
    paths = [path_of(seen, each.number) for each in groups]
    keys = [each.name for each in seen.label_keys()]
    dimensions = [{"group": each} for each in paths] + [{"label": each} for each in keys] * 2
    order = rng.choice(ORDERS)
    return {
        "where": _written(rng, selector, fleet.engine.view),
        "by": rng.sample(dimensions, min(len(dimensions), 3)),
        "rows": rng.choice(dimensions),
        "root": rng.choice(paths),
        "order": order,
        "after": rng.choice((None, None, *fleet.cursors[str(order)])),
    }


def _written(rng: Random, selector: Selector, view: FleetView) -> dict[str, Any]:
    """As text or as a tree: they mean the same."""
    if rng.random() < 0.5:
        return {"text": to_text(selector, view)}
    form: dict[str, Any] = dict(to_structured(selector, view))
    return form


def _refusal(where: dict[str, Any], seen: Twin) -> str:
    """What is wrong with a selector where there is nothing but what may be seen."""
    with pytest.raises(TrellisError) as refused:
        if "text" in where:
            parse(where["text"], seen)
        else:
            from_structured(where, seen)
    return refused.value.message


async def _compare_exports(
    rng: Random, fleet: Fleet, selector: Selector, scope: Selector, tally: Counter[str]
) -> None:
    view = fleet.engine.view
    mine = fleet.engine.seen(fleet.engine.access(ANA))
    where, inside = to_text(selector, view), to_text(scope, view)
    named = [f"label:{each.name}" for each in mine.label_keys()]
    named += [f"places:{each.name}" for each in mine.hierarchies()]
    chosen = ",".join(["id", "name", *rng.sample(named, min(len(named), 3))])
    told = await _export(fleet, mine, {"where": where, "columns": chosen})
    both = {"where": f"({where}) and ({inside})", "columns": chosen}
    assert told == await _export(fleet, view, both)
    tally["exports"] += 1


async def _export(fleet: Fleet, view: FleetView, fields: dict[str, str]) -> bytes:
    export = export_of(fleet.engine, view, urlencode(fields).encode())
    lines = [each async for each in export.ndjson()] + [each async for each in export.csv()]
    return b"".join(lines)
