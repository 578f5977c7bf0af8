"""The quick way and graphql-core give the same answers, whatever is asked and whoever asks."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import orjson
import pytest

from api.execution.deadline import TookTooLong
from api.execution.documents import BadDocument, Document, Documents, Operation
from api.execution.executor import Answer, Executor
from api.problems import graphql_error
from api.schema.schema import GRAPHQL, SCHEMA
from api.settings import ApiSettings
from api.telemetry.metrics import Tallies
from doors import ADMIN, TEXAN, context, opened, words
from engines import give
from graph.model.command import RegisterCluster, RenameGroup, UpdateCluster
from graph.model.errors import Invalid
from graph.model.publication import Publication
from graph.store.embedded import EmbeddedStore
from graphql_documents import Generated, Maker

DOCUMENTS = {"test": 1_000, "campaign": 50_000}
ROUNDS = 2
"""Rows are encoded at the second time, and read back at the third."""
SETTINGS = ApiSettings(cost_max=10**9, at_least_seconds=0.001, documents_kept_max=0)
VARYING = frozenset({"Fleet.age", "Query.preview", "Query.previewRevert"})
"""What is not the same a moment later, and what no plan is made for."""


@pytest.fixture
async def engine(tmp_path):
    async with opened(tmp_path) as engine:
        yield engine


class Counted(Executor):
    """Counts how often the quick way was not gone, or not to its end."""

    stocks = 0

    async def stock(self, *given: Any) -> Answer:
        self.stocks += 1
        return await super().stock(*given)


def encoded(answer: Answer) -> tuple[bytes, list[dict[str, Any]]]:
    errors = [graphql_error(each, error_id_source=lambda: "e1") for each in answer.errors]
    return orjson.dumps(answer.data), errors


class Pair:
    """One executor that remembers, and one document at a time to compare on it."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.documents = Documents(GRAPHQL, SETTINGS, Tallies())
        self.quick = Counted(SCHEMA, SETTINGS)
        self.seen: Counter[str] = Counter()

    async def compare(self, made: Generated) -> None:
        try:
            document = self.documents.prepare(made.text)
        except (BadDocument, Invalid):
            self.seen["refused"] += 1
            return
        operation = document.operation(made.operation_name)
        for actor in (ADMIN, TEXAN):
            await self._compare(document, operation, made, actor)
            if made.others:  # by the same plan
                await self._compare(
                    document, operation, replace(made, variables=made.others), actor
                )

    async def _compare(
        self, document: Document, operation: Operation, made: Generated, actor: Any
    ) -> None:
        asked = context(self.engine, actor, at_least_seconds=SETTINGS.at_least_seconds)
        wanted = encoded(
            await super(Counted, self.quick).stock(document, operation, made.variables, asked)
        )
        before = self.quick.stocks
        for _ in range(ROUNDS):
            asked = context(self.engine, actor, at_least_seconds=SETTINGS.at_least_seconds)
            found = encoded(await self.quick.execute(document, operation, made.variables, asked))
            if found != wanted and self.quick.stocks > before:
                # of two fields that wait and fail, graphql-core tells of whichever was quicker
                assert found[0] == wanted[0], f"{actor.name}: {made}"
                assert found[1] and wanted[1], f"{actor.name}: {made}"
                continue
            assert found == wanted, f"{actor.name}: {made}"
        self.seen["planned" if self.quick.stocks == before else "stock"] += 1
        self.seen["errors" if wanted[1] else "data"] += 1


@pytest.mark.volume
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the same
async def test_every_document_is_answered_as_graphql_core_answers_it(engine, scale):
    pair = Pair(engine)
    rng = Random(20261116)
    known = replace(await words(engine), ahead=False)
    maker = Maker(GRAPHQL, rng, known, VARYING)
    for place in range(DOCUMENTS[scale]):
        await pair.compare(maker.document())
        if place % 100 == 99:  # rows remembered of one revision are not those of the next
            await give(engine, UpdateCluster("austin-00", title=f"changed {place}"))
    gc.collect()  # graphql-core forgets what it began beside a field that failed
    asked = 2 * DOCUMENTS[scale]
    assert pair.seen["planned"] > asked / 4, pair.seen
    assert pair.seen["errors"] > asked / 20, pair.seen
    assert pair.seen["refused"] < asked / 10, pair.seen


@pytest.fixture
def pair(engine):
    return Pair(engine)


async def test_an_answer_after_a_change_is_the_answer_of_the_change(pair, engine):
    """Rows encoded for one revision are not shown at another."""
    asked = Generated('{ fleet { clusters { nodes { name title place(hierarchy: "geo") } } } }', {})
    await pair.compare(asked)
    await give(engine, UpdateCluster("austin-05", title="renamed"))
    await pair.compare(asked)
    await give(engine, RegisterCluster("york-99", groups=("/geo/us/ny",)))
    await pair.compare(asked)
    await give(engine, RenameGroup("/geo/us/tx", "texas"))
    await pair.compare(asked)
    assert pair.seen["planned"] == 8


async def test_rows_remembered_for_one_reader_show_another_nothing_more(pair):
    """The scoped answer comes from rows that an admin warmed, and is the scoped answer still."""
    await pair.compare(Generated("{ fleet { clusters(first: 100) { nodes { id name } } } }", {}))
    document = pair.documents.prepare("{ fleet { clusters(first: 100) { nodes { id name } } } }")
    found = await pair.quick.execute(
        document, document.operation(None), {}, context(pair.engine, TEXAN)
    )
    rows = orjson.loads(orjson.dumps(found.data))["fleet"]["clusters"]["nodes"]
    assert len(rows) == 16
    assert {each["name"].split("-")[0] for each in rows} == {"austin", "dallas"}


@pytest.mark.parametrize("field", ['place(hierarchy: "empty")', 'label(key: "open")'])
async def test_rows_remembered_for_one_reader_tell_another_of_no_hidden_name(pair, field):
    """The rows are the same for both, and only one may know what the field is called."""
    text = f'{{ fleet {{ clusters(where: {{text: "/geo/us/tx"}}) {{ nodes {{ {field} }} }} }} }}'
    await pair.compare(Generated(text, {}))
    assert (pair.seen["data"], pair.seen["errors"]) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "{ fleet { clusters { nodes { name @skip(if: true) } } } }",
        '{ fleet { tree(root: "/geo") { path @include(if: false) } } }',
        "{ fleet { clusters(first: 0) { nodes { name } } } }",
        "{ fleet { clusters(first: 3) { nodes { name name n: name __typename } } } }",
        '{ fleet { clusters(first: 3) { nodes { label(key: "size") other: label(key: "x") } } } }',
        "{ fleet { clusters(first: 3) { nodes { ... on Node { id } ... on Cluster { name } } } } }",
        "{ fleet { clusters(first: 3) { edges { cursor node { name groups { path } } } } } }",
        "{ a: fleet { ...F } b: fleet { ...F } } fragment F on Fleet { hierarchies { name } }",
        '{ node(id: "cluster:1") { id ... on Cluster { name } } }',
        "{ __typename fleet { __typename } }",
        "{ __schema { queryType { name } } fleet { revision } }",
        '{ fleet { clusters(where: {text: "/gio"}) { totalCount } revision } }',
        '{ fleet { group(path: "/nowhere") { name } cluster(name: "nobody") { name } } }',
        '{ fleet { clusters(where: {label: {key: "lanes", comparison: ">", value: 3}}) '
        "{ totalCount } } }",
        '{ fleet { clusters(where: {not: {or: [{group: "/geo/us"}, {saved: "grills"}]}}) '
        "{ totalCount nodes { name } } } }",
        "{ fleet(asOf: 1) { clusters(first: 2) { nodes { title } } } now: fleet { revision } }",
        "{ fleet(asOf: 7) { revision } }",
        "{ fleet(atLeast: 9) { revision } }",
        "{ viewer { name permissions { role scope everywhere } } }",
    ],
)
async def test_what_a_plan_can_trip_over_is_answered_all_the_same(pair, text):
    await pair.compare(Generated(text, {}))
    assert not pair.seen["refused"]


async def test_conditions_by_variable_make_a_plan_each(pair):
    text = """query ($yes: Boolean!, $no: Boolean = false) {
        fleet { revision @include(if: $yes) cursor @skip(if: $no)
                clusters { nodes { name @include(if: $yes) id } } } }"""
    for variables in ({"yes": True}, {"yes": False}, {"yes": True, "no": True}, {"yes": False}):
        await pair.compare(Generated(text, variables))
    assert pair.seen["planned"] == 8


async def test_variables_that_do_not_fit_are_refused_before_execution(pair):
    document = pair.documents.prepare(
        "query ($n: Int!) { fleet { clusters(first: $n) { totalCount } } }"
    )
    operation = document.operation(None)
    for given in ({}, {"n": None}, {"n": "1"}, {"n": 1.5}, {"n": 2**31}, {"n": [1]}):
        found = await pair.quick.execute(document, operation, given, context(pair.engine))
        assert not found.executed, given
        assert "$n" in found.errors[0].message


@pytest.mark.parametrize(
    "text", ["{ a: fleet { revision } b: fleet { cursor } }", '{ node(id: "cluster:1") { id } }']
)
async def test_an_operation_that_never_waits_is_given_up_as_well(engine, text):
    """Between its roots the clock is looked at, and before graphql-core begins."""
    settings = ApiSettings(execution_seconds=1e-9)
    document = Documents(GRAPHQL, settings, Tallies()).prepare(text)
    with pytest.raises(TookTooLong):
        await Executor(SCHEMA, settings).execute(
            document, document.operation(None), {}, context(engine)
        )


async def test_trees_that_are_too_long_together_are_refused_and_counted_once(engine):
    """The quick way has counted them already when graphql-core begins again."""
    tree = 'tree(root: "/geo", depth: 1) { path }'
    settings = ApiSettings(cost_max=10**9, tree_rows_max=5)
    document = Documents(GRAPHQL, settings, Tallies()).prepare(
        f"{{ fleet {{ a: {tree} b: {tree} }} }}"
    )
    asked = context(engine, tree_rows_max=5)
    found = await Executor(SCHEMA, settings).execute(document, document.operation(None), {}, asked)
    assert [each["path"] for each in found.data["fleet"]["a"]] == ["/geo", "/geo/ca", "/geo/us"]
    assert [each.path for each in found.errors] == [["fleet", "b"]]
    assert "more than 5 rows" in found.errors[0].message


class Stuck(EmbeddedStore):
    """A store that never says what was published."""

    async def publications(self) -> tuple[Publication, ...]:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


async def test_an_operation_that_takes_too_long_is_given_up(tmp_path):
    settings = ApiSettings(execution_seconds=0.05)
    documents = Documents(GRAPHQL, settings, Tallies())
    executor = Executor(SCHEMA, settings)
    document = documents.prepare("{ publications { name } }")
    store = await Stuck.open(tmp_path / "fleet.db", write=True, create=True)
    async with opened(tmp_path, store) as engine:
        asked = context(engine, execution_seconds=0.05)
        with pytest.raises(TookTooLong, match=r"longer than 0\.05 s") as refused:
            await executor.execute(document, document.operation(None), {}, asked)
    assert refused.value.hint
