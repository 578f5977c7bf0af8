"""The graph in Neo4j says what the twin says, whatever was done to it and whatever is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

import neo4j
import pytest

from changes import random_changes, random_fleet, random_selector
from graph.model.change import Change, Changeset, net
from graph.model.names import Revision
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
    """Fleets, states of each, selectors in each state."""

    fleets: int
    states: int
    selectors: int


SIZES = {"test": Size(7, 3, 50), "campaign": Size(50, 4, 50)}


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
                for _ in range(size.selectors):
                    compare(session, rng, twin, f"seed {seed}, state {state}")
                    compared += 1
                changes = random_changes(rng, twin, Revision(twin.cursor.revision + 1))
                await commit(store, twin, changes)
        finally:
            await store.close()
    assert compared == size.fleets * size.states * size.selectors


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


def compare(session: neo4j.Session, rng: Random, twin: Twin, place: str) -> None:
    selector = random_selector(rng, twin)
    statement = compile_cypher(selector, twin)

    def ask(tx: neo4j.ManagedTransaction) -> list[int]:
        found = tx.run(statement.text, dict(statement.parameters))
        return [record["number"] for record in found]

    answer = session.execute_read(ask)
    assert answer == sorted(twin_select(selector, twin)), f"{place}: {selector}\n{statement.text}"
