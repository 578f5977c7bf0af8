"""Plans: which queries get one, and that what they do not know is left to graphql-core."""

from __future__ import annotations

import time
from typing import Any

import pytest
from graphql import FragmentDefinitionNode, OperationDefinitionNode, OperationType, parse
from graphql.execution import VariableValues

from api.execution.arguments import Converters
from api.execution.deadline import Deadline, TookTooLong
from api.execution.plan import Plan, Planner, Run, Unplannable
from api.execution.rows import RowMemory
from api.schema.schema import GRAPHQL, SCHEMA
from doors import context, opened

SOON = Deadline.after(60, OperationType.QUERY)


def planned(text: str, **variables: Any) -> Plan | None:
    nodes = parse(text).definitions
    fragments = {n.name.value: n for n in nodes if isinstance(n, FragmentDefinitionNode)}
    operation = next(n for n in nodes if isinstance(n, OperationDefinitionNode))
    values = VariableValues({}, variables)
    return Planner(GRAPHQL, Converters(SCHEMA.config), fragments, values).plan(operation)


@pytest.fixture
async def engine(tmp_path):
    async with opened(tmp_path) as engine:
        yield engine


async def run(engine: Any, text: str, rows: RowMemory | None = None) -> Any:
    plan = planned(text)
    assert plan is not None
    memory = RowMemory(100_000) if rows is None else rows
    asked = Run(context(engine), VariableValues({}, {}), memory, SOON)
    return await plan.run(asked)


@pytest.mark.parametrize(
    "text",
    [
        '{ fleet { revision clusters { totalCount nodes { id name label(key: "size") } } } }',
        '{ fleet { facets(by: [{label: "size"}]) { buckets { value count share } } } }',
        '{ fleet { tree(root: "/geo") { path } hierarchies { root { children { name } } } } }',
        '{ fleet { explain(cluster: "a", where: {text: "all"}) { holds summary } } }',
        "{ fleet(asOf: 1) { revision } }",
        "{ viewer { name } }",
        "{ __typename }",
        "{ ...F } fragment F on Query { fleet { ... on Fleet { revision } ... { cursor } } }",
    ],
)
def test_what_dashboards_ask_is_planned(text):
    assert planned(text) is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{ node(id: "cluster:1") { id } }', "an interface"),
        ('{ fleet { cluster(name: "a") { history { revision } } } }', "a wait below the root"),
        ('{ fleet { diff(from: 1, where: {text: "all"}) { complete } } }', "a wait"),
        ("{ __schema { queryType { name } } }", "introspection"),
        ("{ changesets { nodes { revision } } }", "a root that always waits"),
    ],
)
def test_what_the_quick_way_does_not_know_has_no_plan(text, why):
    assert planned(text) is None, why


def test_fragments_that_multiply_into_many_fields_have_no_plan():
    """A document is short, and what it would be compiled to is not kept for ever."""
    parts = [f"a: parent {{ ...F{n + 1} }} b: parent {{ ...F{n + 1} }}" for n in range(15)]
    bodies = [f"fragment F{n} on Group {{ {part} }}" for n, part in enumerate([*parts, "name"])]
    text = '{ fleet { group(path: "/geo") { ...F0 } } } ' + " ".join(bodies)
    started = time.process_time()
    assert planned(text) is None
    assert time.process_time() - started < 1.0, "bounded, with room for a busy machine"


def test_a_plan_counts_its_fields_as_often_as_fragments_lead_to_them():
    plan = planned(
        "{ a: fleet { ...F } b: fleet { ...F } } fragment F on Fleet { revision cursor }"
    )
    assert plan is not None
    assert plan.fields == 6


async def test_the_clock_is_looked_at_between_roots(engine):
    plan = planned("{ a: fleet { revision } b: fleet { revision } c: fleet { revision } }")
    assert plan is not None
    passed = Deadline.after(-1, OperationType.QUERY)
    asked = Run(context(engine), VariableValues({}, {}), RowMemory(0), passed)
    with pytest.raises(TookTooLong):
        await plan.run(asked)
    one = planned("{ fleet { revision } }")
    assert one is not None
    assert await one.run(asked) == {"fleet": {"revision": 2}}, "there is nothing in between"


@pytest.mark.parametrize("yes", [True, False])
def test_a_plan_is_made_for_the_way_its_conditions_fall_out(yes):
    text = "query ($yes: Boolean!) { fleet { revision @include(if: $yes) cursor @skip(if: $yes) } }"
    plan = planned(text, yes=yes)
    assert plan is not None
    assert [root.key for root in plan.roots] == ["fleet"]


async def test_columns_and_rows_are_read_once_per_page(engine):
    found = await run(engine, "{ fleet { clusters(first: 2) { nodes { name kind changed } } } }")
    assert found["fleet"]["clusters"]["nodes"] == [
        {"name": "austin-00", "kind": "KUBERNETES", "changed": 2},
        {"name": "austin-05", "kind": "KUBERNETES", "changed": 1},
    ]


async def test_fields_come_in_the_order_they_were_asked_for(engine):
    text = """{ fleet { ...F revision clusters(first: 1) { nodes { title name } } } }
        fragment F on Fleet { cursor revision clusters(first: 1) { nodes { id title } } }"""
    found = (await run(engine, text))["fleet"]
    assert list(found) == ["cursor", "revision", "clusters"]
    assert list(found["clusters"]["nodes"][0]) == ["id", "title", "name"]


async def test_a_null_that_may_not_be_ends_the_quick_way(engine):
    """graphql-core is asked then, and knows where the null goes."""
    with pytest.raises(Exception, match="gio"):
        await run(engine, '{ fleet { clusters(where: {text: "/gio"}) { totalCount } } }')


async def test_an_object_that_is_not_there_is_null(engine):
    found = await run(engine, '{ fleet { cluster(name: "nobody") { name } } }')
    assert found == {"fleet": {"cluster": None}}


def test_a_null_is_told_apart_from_what_may_be_null():
    assert issubclass(Unplannable, Exception)
    assert planned('{ fleet { cluster(name: "a") { label(key: "size") } } }') is not None
