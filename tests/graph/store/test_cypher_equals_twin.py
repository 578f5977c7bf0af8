"""The graph in Neo4j says what the twin says, whatever was done to it and whatever is asked.

Neo4j spends a third of a second on planning a statement it has not seen, and a few milliseconds on
answering it. So each random tree is asked many times with other leaves of the same kinds: the same
text with other parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

import neo4j
import pytest

from changes import random_changes, random_fleet, random_selector
from graph.model.change import Change, Changeset, net
from graph.model.names import Revision
from graph.model.selector import (
    And,
    Clause,
    Except,
    LabelIs,
    Matching,
    Not,
    Or,
    Saved,
    Selector,
    clauses,
)
from graph.store.neo4j import Neo4jStore
from graph.store.port import Entry
from graph.targeting.cypher import compile_cypher
from history import by_ref, exact
from neo4j_server import Server, server
from twin import Twin, twin_select

pytestmark = [pytest.mark.neo4j, pytest.mark.volume]

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Size:
    """Fleets, states of each, trees in each state, selectors of each tree."""

    fleets: int
    states: int
    trees: int
    selectors: int

    @property
    def comparisons(self) -> int:
        return self.fleets * self.states * self.trees * self.selectors


SIZES = {"test": Size(7, 3, 2, 24), "campaign": Size(50, 4, 5, 10)}
CLAUSES_DRAWN = 200


@pytest.fixture
def where() -> Server:
    return server()


@pytest.fixture
def session(where: Server) -> Iterator[neo4j.Session]:
    with (
        neo4j.GraphDatabase.driver(where.url, auth=(where.user, where.password)) as driver,
        driver.session() as session,
    ):
        yield session


async def test_cypher_on_the_stored_graph_answers_as_the_twin_does(
    where: Server, session: neo4j.Session, scale: str
) -> None:
    size = SIZES[scale]
    compared = 0
    for seed in range(size.fleets):
        rng = Random(f"cypher {seed}")
        where.wipe()
        store = await Neo4jStore.open(where.url, user=where.user, password=where.password)
        try:
            twin = Twin()
            fleet = random_fleet(rng, clusters=rng.randint(5, 40), groups=rng.randint(5, 40))
            await commit(store, twin, net(Change(None, entity) for entity in fleet))
            for state in range(size.states):
                for selector in selectors(rng, twin, size):
                    compare(session, selector, twin, f"seed {seed}, state {state}")
                    compared += 1
                changes = random_changes(rng, twin, Revision(twin.cursor.revision + 1))
                await commit(store, twin, changes)
        finally:
            await store.close()
    assert compared == size.comparisons


async def commit(store: Neo4jStore, twin: Twin, changes: tuple[Change, ...]) -> None:
    """Make ``changes`` in both, and find the two equal."""
    head = await store.head()
    if changes:
        revision = Revision(head.cursor.revision + 1)
        entry = Entry(Changeset(revision, NOW, "ann", "because", changes))
        (receipt,) = await store.commit([entry], expected=head.cursor, now=NOW)
        twin.apply(changes)
        twin.cursor = receipt.cursor
    facts = await store.load()
    assert facts.head.cursor == (await store.head()).cursor
    assert facts.head.numbers == twin.numbers
    assert exact(by_ref(facts.entities)) == exact(by_ref(twin.entities()))


def selectors(rng: Random, twin: Twin, size: Size) -> Iterator[Selector]:
    """Random trees, each with many random leaves."""
    drawn: dict[object, dict[Clause, None]] = {}
    for _ in range(CLAUSES_DRAWN):
        for clause in clauses(random_selector(rng, twin)):
            drawn.setdefault(kind_of(clause), {})[clause] = None
    for _ in range(size.trees):
        tree = random_selector(rng, twin)
        for _ in range(size.selectors):
            yield with_leaves(tree, other_leaves(rng, tree, drawn).__getitem__)


def other_leaves(
    rng: Random, tree: Selector, drawn: Mapping[object, Collection[Clause]]
) -> dict[Clause, Clause]:
    """A leaf for each leaf, equal ones for equal ones only: the compiler shares what is equal."""
    found: dict[Clause, Clause] = {}
    leaves = dict.fromkeys(clauses(tree))
    for kind in dict.fromkeys(map(kind_of, leaves)):
        alike = [leaf for leaf in leaves if kind_of(leaf) == kind]
        pool = list(dict.fromkeys([*drawn.get(kind, ()), *alike]))
        found.update(zip(alike, rng.sample(pool, len(alike)), strict=True))
    return found


def kind_of(clause: Clause) -> object:
    """Clauses of one kind differ in parameters, not in the compiled text."""
    match clause:
        case LabelIs(comparison=comparison):
            return comparison
        case Matching(rest=rest, only=only):
            return len(rest), only
        case Saved(name):
            return name
        case _:
            return type(clause)


def with_leaves(tree: Selector, leaf: Callable[[Clause], Clause]) -> Selector:
    match tree:
        case And(operands):
            return And(tuple(with_leaves(each, leaf) for each in operands))
        case Or(operands):
            return Or(tuple(with_leaves(each, leaf) for each in operands))
        case Not(operand):
            return Not(with_leaves(operand, leaf))
        case Except(left, right):
            return Except(with_leaves(left, leaf), with_leaves(right, leaf))
        case _:
            return leaf(tree)


def compare(session: neo4j.Session, selector: Selector, twin: Twin, place: str) -> None:
    statement = compile_cypher(selector, twin)

    def ask(tx: neo4j.ManagedTransaction) -> list[int]:
        found = tx.run(statement.text, dict(statement.parameters))
        return [record["number"] for record in found]

    answer = session.execute_read(ask)
    assert answer == sorted(twin_select(selector, twin)), f"{place}: {selector}\n{statement.text}"
