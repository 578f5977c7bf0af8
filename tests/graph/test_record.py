"""One object's past: read once where it can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engines import give, ticking
from graph import record
from graph.engine import Engine
from graph.model.change import Changeset
from graph.model.command import RegisterCluster, UpdateCluster
from graph.model.names import ClusterNumber, Revision
from graph.model.ref import Kind, Ref
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore

CLUSTERS = 20


class Counting(EmbeddedStore):
    """A store that counts what is read of its log, one changeset at a time."""

    reads: Counter[Revision]

    async def changeset(self, revision: Revision) -> Changeset:
        self.reads[revision] += 1
        return await super().changeset(revision)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    store = await Counting.open(tmp_path / "fleet.db")
    assert isinstance(store, Counting)
    store.reads = Counter()
    engine = await Engine.open(store, now=ticking(), settings=GraphSettings(changesets_kept_max=1))
    await give(engine, *(RegisterCluster(f"c-{each}") for each in range(CLUSTERS)))
    for each in range(4):
        await give(engine, UpdateCluster(f"c-{each}", title="t"))
    yield engine
    await engine.close()


def reads(engine: Engine) -> Counter[Revision]:
    store = engine._store
    assert isinstance(store, Counting)
    return store.reads


async def test_a_load_in_many_histories_is_read_once(engine: Engine) -> None:
    for each in range(CLUSTERS):
        lines = await engine.history(Ref(Kind.CLUSTER, ClusterNumber(each)))
        assert [line.revision for line in lines] == [each + 2, 1][each >= 4 :]
    assert reads(engine) == Counter({Revision(each): 1 for each in (1, 2, 3, 4)}), (
        "the newest is in memory"
    )


async def test_what_was_read_is_kept_up_to_a_bound(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "CHANGES_KEPT_MAX", CLUSTERS + 1)
    for revision in (1, 2, 1, 3, 1):
        assert (await engine.changeset(Revision(revision))).revision == revision
    assert reads(engine) == Counter({Revision(each): 1 for each in (1, 2, 3)}), (
        "what was asked for longest ago goes first"
    )
    await engine.changeset(Revision(2))
    assert reads(engine)[Revision(2)] == 2


async def test_a_record_that_was_replaced_is_read_anew(engine: Engine) -> None:
    await engine.changeset(Revision(1))
    await engine.reload()
    await engine.changeset(Revision(1))
    assert reads(engine)[Revision(1)] == 2
