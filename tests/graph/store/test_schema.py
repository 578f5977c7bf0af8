"""Files that earlier versions made: they open, lose nothing, and take what came since."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from graph.model.access import Grant, Role
from graph.model.errors import Conflict
from graph.model.inventory import Group, Hierarchy, Mode, SavedSelector
from graph.model.names import GroupNumber, Revision
from graph.model.publication import Publication
from graph.model.selector import Everything, Under
from graph.store.codec import genesis, seal
from graph.store.embedded import EmbeddedStore
from graph.store.schema import SCHEMA_VERSION
from history import (
    BUSINESS,
    FULL_CLUSTER,
    GRANTS,
    SELECTORS,
    START,
    History,
    by_ref,
    exact,
    group,
    replay,
)
from workload_samples import FULL_WORKLOAD

TABLES = """
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    store TEXT NOT NULL,
    revision INTEGER NOT NULL,
    chain TEXT NOT NULL,
    at TEXT,
    horizon INTEGER NOT NULL,
    horizon_chain TEXT NOT NULL,
    horizon_at TEXT,
    next_cluster INTEGER NOT NULL,
    next_group INTEGER NOT NULL
) STRICT;
CREATE TABLE facts (
    kind TEXT NOT NULL,
    key ANY NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE changesets (
    revision INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    chain TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE receipts (
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    cursor TEXT NOT NULL,
    changed INTEGER NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX changesets_by_time ON changesets (at, revision);
CREATE INDEX receipts_by_time ON receipts (at);
"""
"""The tables of schema versions 2 to 4, as version 2 wrote them; 5 added one."""

Fact = tuple[str, str | int, bytes]
FACTS: tuple[Fact, ...] = (
    ("hierarchy", "geo", b'{"changed":1,"mode":"single","name":"geo"}'),
    ("group", 0, b'{"changed":1,"hierarchy":"geo","name":"geo","number":0}'),
    ("saved_selector", "all-geo", b'{"changed":1,"name":"all-geo","selector":["under",0]}'),
)
GRANTED: tuple[Fact, ...] = (
    ("hierarchy", "devices", b'{"changed":1,"mode":"many","name":"devices","title":"Devices"}'),
    *FACTS,
    ("grant", "ana", b'{"changed":1,"name":"ana","role":"editor","scope":["all"],"subject":"a"}'),
)
AT = "2026-11-01T00:01:00.000Z"


def old_store(path: Path, version: int, facts: tuple[Fact, ...]) -> Path:
    """A store as ``version`` of the schema left it, with one changeset in it."""
    changes = b",".join(b'["%s",null,%s]' % (kind.encode(), body) for kind, _, body in facts)
    body = b'{"actor":"ann","at":"%s","changes":[%s],"reason":"because","revision":1}' % (
        AT.encode(),
        changes,
    )
    start = genesis("an old store")
    chain = seal(start, body)
    with closing(apsw.Connection(str(path))) as file:
        file.pragma("application_id", 0x54524C53)
        file.execute(TABLES)
        file.pragma("user_version", version)
        file.executemany("INSERT INTO facts VALUES (?, ?, ?)", facts)
        file.execute("INSERT INTO changesets VALUES (1, ?, 'ann', ?, ?)", (AT, chain, body))
        file.execute(
            "INSERT INTO meta VALUES (1, 'an old store', 1, ?, ?, 0, ?, NULL, 0, 1)",
            (chain, AT, start),
        )
        file.pragma("journal_mode", "wal")
    return path


@pytest.fixture
def before_grants(tmp_path: Path) -> Path:
    """A store of schema version 2."""
    return old_store(tmp_path / "fleet.db", 2, FACTS)


@pytest.fixture
def before_workload(tmp_path: Path) -> Path:
    """A store of schema version 3, in which hierarchies have no order."""
    return old_store(tmp_path / "fleet.db", 3, GRANTED)


async def test_a_store_from_before_grants_keeps_all_it_had(before_grants: Path) -> None:
    store = await EmbeddedStore.open(before_grants)
    facts = await store.load()
    assert list(facts.entities) == [
        Hierarchy("geo", Mode.SINGLE, changed=Revision(1)),
        Group(GroupNumber(0), "geo", None, "geo", changed=Revision(1)),
        SavedSelector("all-geo", Under(GroupNumber(0)), changed=Revision(1)),
    ]
    (changeset,) = [each async for each in store.changesets(after=facts.head.horizon)]
    assert [change.after for change in changeset.changes] == list(facts.entities)
    await store.close()


async def test_a_store_from_before_grants_takes_them(before_grants: Path) -> None:
    store = await EmbeddedStore.open(before_grants)
    history = await History.of(store)
    await history.put(group(1, "geo", 0, "us"), group(2, "geo", 1, "tx"), GRANTS[0])
    await store.close()
    again = await EmbeddedStore.open(before_grants, write=False)
    assert exact(by_ref((await again.load()).entities)) == exact(history.facts)
    assert (await again.head()).cursor == history.cursor
    await again.close()


async def test_a_version_that_knows_no_grants_is_kept_out(before_grants: Path) -> None:
    """It would read the fleet without them, and show all of it to everybody."""
    await (await EmbeddedStore.open(before_grants)).close()
    assert version_of(before_grants) == SCHEMA_VERSION > 2


async def test_a_store_from_before_the_workload_keeps_all_it_had(before_workload: Path) -> None:
    store = await EmbeddedStore.open(before_workload)
    facts = await store.load()
    assert list(facts.entities) == [
        Hierarchy("devices", Mode.MANY, title="Devices", precedence=0, changed=Revision(1)),
        Hierarchy("geo", Mode.SINGLE, precedence=0, changed=Revision(1)),
        Group(GroupNumber(0), "geo", None, "geo", changed=Revision(1)),
        SavedSelector("all-geo", Under(GroupNumber(0)), changed=Revision(1)),
        Grant("ana", Role.EDITOR, Everything(), subject="a", changed=Revision(1)),
    ]
    (changeset,) = [each async for each in store.changesets(after=facts.head.horizon)]
    assert [change.after for change in changeset.changes] == list(facts.entities)
    assert changeset.accepted_loss == 0
    await store.close()


async def test_a_store_from_before_the_workload_is_not_rewritten(before_workload: Path) -> None:
    await (await EmbeddedStore.open(before_workload)).close()
    with closing(apsw.Connection(str(before_workload))) as file:
        rows = list(file.execute("SELECT kind, key, body FROM facts"))
    assert sorted(rows, key=str) == sorted(GRANTED, key=str)


async def test_a_store_from_before_the_workload_takes_one(before_workload: Path) -> None:
    store = await EmbeddedStore.open(before_workload)
    history = await History.of(store)
    await history.put(*BUSINESS[:2])
    await history.put(*BUSINESS[2:], *SELECTORS, FULL_CLUSTER, *FULL_WORKLOAD)
    await store.close()
    again = await EmbeddedStore.open(before_workload, write=False)
    facts = await again.load()
    assert exact(by_ref(facts.entities)) == exact(history.facts)
    replayed = await replay(again.changesets(after=facts.head.horizon))
    assert exact(replayed) == exact(history.facts)
    await again.close()


async def test_a_version_that_knows_no_workload_is_kept_out(before_workload: Path) -> None:
    """It would delete what layers name, and take a part of the workload for the whole."""
    await (await EmbeddedStore.open(before_workload)).close()
    assert version_of(before_workload) == SCHEMA_VERSION > 3


async def test_a_store_from_before_publications_takes_them(tmp_path: Path) -> None:
    path = old_store(tmp_path / "fleet.db", 4, GRANTED)
    store = await EmbeddedStore.open(path)
    assert await store.publications() == ()
    made = Publication("main", (await store.head()).cursor, "c0ffee", actor="ann", at=START)
    await store.keep_publication(made)
    await store.close()
    again = await EmbeddedStore.open(path, write=False)
    assert await again.publications() == (made,)
    await again.close()
    assert version_of(path) == SCHEMA_VERSION > 4


async def test_a_store_from_before_headers_is_listed_without_its_changes(tmp_path: Path) -> None:
    path = old_store(tmp_path / "fleet.db", 4, GRANTED)
    store = await EmbeddedStore.open(path)
    (header,) = await store.headers(Revision(1), 10)
    assert header == (await store.changeset(Revision(1))).header
    assert (header.reason, header.change_count, header.grant_count) == ("because", 5, 1)
    await store.close()
    assert version_of(path) == SCHEMA_VERSION > 5


@pytest.mark.parametrize(("version", "facts"), [(2, FACTS), (3, GRANTED), (4, GRANTED)])
async def test_a_reader_leaves_an_older_store_as_it_is(
    tmp_path: Path, version: int, facts: tuple[Fact, ...]
) -> None:
    path = old_store(tmp_path / "fleet.db", version, facts)
    with pytest.raises(Conflict, match=f"older schema version {version}") as refusal:
        await EmbeddedStore.open(path, write=False)
    assert "open it for writing once" in refusal.value.hint
    assert version_of(path) == version


def version_of(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as file:
        return int(file.pragma("user_version"))
