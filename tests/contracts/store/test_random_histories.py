"""S9 whatever happens: random fleets and workloads, changed at random, are read back exactly."""

from __future__ import annotations

from random import Random

from changes import random_changes, random_fleet
from graph.model.change import Change, Changeset, net
from graph.model.names import Revision
from graph.model.ref import Kind
from graph.store.port import Entry, Store
from history import History, at, by_ref, exact, replay
from twin import Twin

COMMITS = {"test": 8, "campaign": 250}
CHANGESETS_A_COMMIT = 4


async def test_random_histories_are_read_back_exactly(store: Store, scale: str) -> None:
    rng = Random("random histories")
    history, twin = await History.of(store), Twin()
    born = net(Change(None, entity) for entity in random_fleet(rng))
    twin.apply(born)
    await history.commit(Entry(Changeset(Revision(1), at(1), "ann", "born", born)))
    kinds = {change.ref.kind for change in born}
    for _ in range(COMMITS[scale]):
        entries = random_entries(rng, history, twin)
        await history.commit(*entries)
        facts = await store.load()
        assert exact(by_ref(facts.entities)) == exact(by_ref(twin.entities()))
        assert facts.head.numbers == twin.numbers
        kinds.update(ref.kind for ref in history.facts)
    assert kinds == set(Kind)
    head = await store.head()
    assert exact(await replay(store.changesets(after=head.horizon))) == exact(history.facts)


def random_entries(rng: Random, history: History, twin: Twin) -> list[Entry]:
    """Changesets that follow one another, made in ``twin`` already."""
    entries: list[Entry] = []
    while len(entries) < CHANGESETS_A_COMMIT:
        revision = Revision(history.cursor.revision + len(entries) + 1)
        if changes := random_changes(rng, twin, revision):
            twin.apply(changes)
            entries.append(Entry(Changeset(revision, at(revision), "ann", "because", changes)))
    return entries
