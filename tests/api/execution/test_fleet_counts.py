"""A page counts as no longer than the fleet, and never as shorter than what is answered."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import orjson
import pytest

from api.execution.cost import Cost
from api.execution.documents import BadDocument, Documents
from api.execution.executor import Executor
from api.execution.fleet_counts import LEAST, UNBOUNDED, FleetCounts
from api.execution.sizes import size_of
from api.schema.schema import GRAPHQL, SCHEMA
from api.settings import ApiSettings
from api.telemetry.metrics import Tallies
from doors import ADMIN, TEXAN, context, opened, words
from graph.model.errors import Invalid
from graphql_documents import Maker

DOCUMENTS = {"test": 250, "campaign": 20_000}
TWELVE = FleetCounts(12, 20, 2, 3, 4, 2, 5, 1, 7, 1)
SETTINGS = ApiSettings(cost_max=10**12, at_least_seconds=0.001)
VARYING = frozenset({"Query.preview", "Query.previewRevert"})
PAGE = "{ clusters(first: 1000) { nodes { name } } }"


def cost(
    text: str, counts: FleetCounts | None, variables: Any = None, name: str | None = None
) -> int:
    document = Documents(GRAPHQL, SETTINGS, Tallies()).prepare(text)
    sizes = {name: size_of(value) for name, value in (variables or {}).items()}
    bounds = {"depth_max": 50, "tree_rows_max": SETTINGS.tree_rows_max}
    measure = Cost(GRAPHQL, document.fragments, sizes, **bounds, counts=counts)
    return measure.of(document.operation(name).node)


@pytest.mark.parametrize(
    ("text", "on_twelve", "declared"),
    [
        (f"{{ fleet {PAGE} }}", 2 + 1 + 12, 2 + 1 + 1_000),
        ("{ fleet { clusters(first: 5) { nodes { name } } } }", 2 + 1 + 5, 2 + 1 + 5),
        ("{ fleet { clusters(first: 1000) { edges { node { name } } } } }", 3 + 24, 3 + 2_000),
        ("{ fleet { labelKeys(first: 1000) { name } } }", 2 + 3, 2 + 1_000),
        (
            "{ fleet { hierarchies { root { children(first: 1000) { name } } } } }",
            2 + 2 * (2 + 20),
            2 + 100 * (2 + 1_000),
        ),
        (
            'query ($n: Int = 900) { fleet { facets(by: [{label: "a"}]) { buckets(first: $n)'
            " { value } } } }",
            None,
            None,
        ),
        ("query { ...Q } fragment Q on Query { fleet " + PAGE + " }", 15, 1_003),
    ],
)
def test_a_page_counts_as_no_longer_than_the_fleet(text, on_twelve, declared):
    found, full = cost(text, TWELVE), cost(text, None)
    assert found <= full
    if on_twelve is not None:
        assert (found, full) == (on_twelve, declared)


@pytest.mark.parametrize(
    "text",
    [
        f"{{ fleet(asOf: 1) {PAGE} }}",
        f"{{ fleet(atLeast: 9) {PAGE} }}",
        f"query ($r: Revision) {{ fleet(atLeast: $r) {PAGE} }}",
        '{ fleet { diff(from: 1, where: {text: "all"}) { lost(first: 1000) { nodes { name } } }'
        " } }",
        '{ node(id: "group:1") { ... on Group { children(first: 1000) { name } } } }',
        "{ changesets(first: 100) { nodes { revision } } }",
    ],
)
def test_what_may_be_of_another_revision_counts_as_declared(text):
    assert cost(text, TWELVE) == cost(text, None)


def test_a_fragment_counts_in_each_fleet_by_itself():
    text = "{ now: fleet { ...P } before: fleet(asOf: 1) { ...P } } fragment P on Fleet " + PAGE
    alone = cost(f"{{ fleet {PAGE} }}", TWELVE) + cost(f"{{ fleet(asOf: 1) {PAGE} }}", None)
    assert cost(text, TWELVE) == alone


def test_what_is_too_dear_as_declared_is_measured_by_the_fleet_at_hand():
    documents = Documents(GRAPHQL, ApiSettings(), Tallies())
    dear = "{ fleet { clusters(first: 200000) { nodes { name } } } }"
    document = documents.prepare(dear)
    assert documents.prepare(dear) is document, "what is remembered depends on no fleet"
    operation = document.operation(None)
    assert not documents.check_cost(document, operation, {})
    documents.check_cost_on(TWELVE, document, operation, {})
    with pytest.raises(Invalid, match="costs 200,003"):
        documents.check_cost_on(TWELVE._replace(clusters=10**6), document, operation, {})


def test_what_is_too_dear_on_every_fleet_is_refused_before_it_is_validated():
    names = " ".join(f"a{n}: nothing {{ x }}" for n in range(60))
    bomb = "{ fleet(asOf: 1) { clusters(first: 5000) { nodes { " + names + " } } } }"
    with pytest.raises(Invalid, match="costs"):
        Documents(GRAPHQL, ApiSettings(), Tallies()).prepare(bomb)
    follow = (
        "subscription { rendering { ... on RenderingDefinitions { applications {"
        " dependsOn(first: 1000) { dependsOn(first: 1000) { name } } } } } }"
    )
    with pytest.raises(Invalid, match="costs"):
        Documents(GRAPHQL, ApiSettings(), Tallies()).prepare(follow)


async def test_counts_are_of_what_the_actor_sees(tmp_path):
    async with opened(tmp_path) as engine:
        whole = FleetCounts.of(context(engine, ADMIN).seen, whole=True)
        part = FleetCounts.of(context(engine, TEXAN).seen, whole=False)
    assert LEAST.clusters < part.clusters < whole.clusters
    assert part.groups == UNBOUNDED


@pytest.mark.volume
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the same
async def test_an_answer_never_holds_more_than_was_counted(tmp_path, scale):
    """Only lists without a page may be longer than they count as, on any fleet."""
    executor, spared = Executor(SCHEMA, SETTINGS), 0
    async with opened(tmp_path) as engine:
        known = replace(await words(engine), ahead=False)
        maker = Maker(GRAPHQL, Random("counts"), known, VARYING)
        documents = Documents(GRAPHQL, SETTINGS, Tallies())
        for _ in range(DOCUMENTS[scale]):
            made = maker.document()
            try:
                document = documents.prepare(made.text)
            except (BadDocument, Invalid):
                continue
            operation = document.operation(made.operation_name)
            for actor in (ADMIN, TEXAN):
                asked = context(engine, actor, at_least_seconds=0.001)
                answer = await executor.execute(document, operation, made.variables, asked)
                counts = FleetCounts.of(asked.seen, whole=asked.access.sees_all)
                bounded, declared = (
                    cost(made.text, each, made.variables, made.operation_name)
                    for each in (counts, None)
                )
                held = fields_in(orjson.loads(orjson.dumps(answer.data)))
                assert bounded <= declared
                assert held <= bounded or held > declared, made
                spared += bounded < declared
    assert spared > DOCUMENTS[scale] // 10


def fields_in(value: Any) -> int:
    """Fields of objects, at any depth; JSON that is a value counts as well."""
    if isinstance(value, dict):
        return len(value) + sum(map(fields_in, value.values()))
    return sum(map(fields_in, value)) if isinstance(value, list) else 0
