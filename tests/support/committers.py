"""Writers that do not give up, and what must be true of the record after them.

Each batch has an idempotency key and the key as its reason. A writer repeats a batch until it knows
that it happened; then the record must hold it once, whatever happened to connections and servers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from graph.model.change import Change, Changeset, Cursor
from graph.model.errors import Conflict, Unavailable
from graph.model.inventory import Cluster
from graph.model.names import Revision
from graph.store.codec import encode_body, seal
from graph.store.port import Claim, Entry, Store
from history import by_ref, exact, replay

START = datetime(2026, 11, 1, tzinfo=UTC)
ACTOR = "ann"


@dataclass
class Acknowledged:
    """What writers were told: for each key the place where its batch is recorded."""

    cursors: dict[str, Cursor] = field(default_factory=dict[str, Cursor])
    unavailable: int = 0
    """How often a writer was told to come back later."""
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def so_many_more(self, count: int) -> None:
        """Wait until writers were told of so many more batches."""
        wanted = len(self.cursors) + count
        while len(self.cursors) < wanted:
            self.news.clear()
            await self.news.wait()


async def commit_surely(store: Store, key: str, told: Acknowledged) -> None:
    """Register a cluster under ``key``, repeating until the record says that it happened."""
    while key not in told.cursors:
        try:
            kept = await store.kept(ACTOR, key)
            told.cursors[key] = kept.receipt.cursor if kept else await _try(store, key)
            told.news.set()
        except Conflict:
            await asyncio.sleep(0)
        except Unavailable:
            told.unavailable += 1
            await asyncio.sleep(0.02)


async def _try(store: Store, key: str) -> Cursor:
    head = await store.head()
    revision = Revision(head.cursor.revision + 1)
    made = Cluster(head.numbers.cluster, f"c{head.numbers.cluster}", changed=revision)
    at = START + timedelta(seconds=revision)
    changeset = Changeset(revision, at, ACTOR, key, (Change(None, made),))
    entry = Entry(changeset, Claim(ACTOR, key, key))
    (receipt,) = await store.commit([entry], expected=head.cursor, now=at)
    return receipt.cursor


async def write_until(
    stop: Callable[[], bool], store: Store, name: str, told: Acknowledged
) -> None:
    """Commit one batch after the other."""
    step = 0
    while not stop():
        await commit_surely(store, f"{name}-{step}", told)
        step += 1


async def check_record(store: Store, told: Acknowledged) -> None:
    """Each key once, each acknowledged place as told, the chain whole, facts as the log says."""
    head = await store.head()
    log = [changeset async for changeset in store.changesets(after=head.horizon)]
    assert [each.revision for each in log] == list(range(1, head.cursor.revision + 1))
    reasons = [each.reason for each in log]
    assert sorted(reasons) == sorted(told.cursors), "a batch is there twice, or lost, or unasked"
    assert {each.reason: each.cursor for each in log} == told.cursors
    chain = head.horizon_chain
    for each in log:
        chain = seal(chain, encode_body(each))
        assert each.chain == chain, f"the chain breaks at revision {each.revision}"
    facts = await store.load()
    assert exact(by_ref(facts.entities)) == exact(
        await replay(store.changesets(after=head.horizon))
    )
