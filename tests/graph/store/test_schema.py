"""Files that earlier versions made: they open, lose nothing, and take what came since."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from graph.model.errors import Conflict
from graph.model.inventory import Group, Hierarchy, Mode, SavedSelector
from graph.model.names import GroupNumber, Revision
from graph.model.selector import Under
from graph.store.codec import genesis, seal
from graph.store.embedded import EmbeddedStore
from graph.store.schema import SCHEMA_VERSION
from history import GRANTS, History, by_ref, exact, group

BEFORE_GRANTS = """
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
"""The tables of schema version 2, as that version wrote them."""

FACTS: tuple[tuple[str, str | int, bytes], ...] = (
    ("hierarchy", "geo", b'{"changed":1,"mode":"single","name":"geo"}'),
    ("group", 0, b'{"changed":1,"hierarchy":"geo","name":"geo","number":0}'),
    ("saved_selector", "all-geo", b'{"changed":1,"name":"all-geo","selector":["under",0]}'),
)
AT = "2026-11-01T00:01:00.000Z"


@pytest.fixture
def before_grants(tmp_path: Path) -> Path:
    """A store of schema version 2, with one changeset in it."""
    path = tmp_path / "fleet.db"
    changes = b",".join(b'["%s",null,%s]' % (kind.encode(), body) for kind, _, body in FACTS)
    body = b'{"actor":"ann","at":"%s","changes":[%s],"reason":"because","revision":1}' % (
        AT.encode(),
        changes,
    )
    start = genesis("an old store")
    chain = seal(start, body)
    with closing(apsw.Connection(str(path))) as file:
        file.pragma("application_id", 0x54524C53)
        file.execute(BEFORE_GRANTS)
        file.pragma("user_version", 2)
        file.executemany("INSERT INTO facts VALUES (?, ?, ?)", FACTS)
        file.execute("INSERT INTO changesets VALUES (1, ?, 'ann', ?, ?)", (AT, chain, body))
        file.execute(
            "INSERT INTO meta VALUES (1, 'an old store', 1, ?, ?, 0, ?, NULL, 0, 1)",
            (chain, AT, start),
        )
        file.pragma("journal_mode", "wal")
    return path


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


async def test_a_reader_leaves_a_store_from_before_grants_as_it_is(before_grants: Path) -> None:
    with pytest.raises(Conflict, match="older schema version 2") as refusal:
        await EmbeddedStore.open(before_grants, write=False)
    assert "open it for writing once" in refusal.value.hint
    with closing(apsw.Connection(str(before_grants))) as file:
        assert file.pragma("user_version") == 2


async def test_a_version_that_knows_no_grants_is_kept_out(before_grants: Path) -> None:
    """It would read the fleet without them, and show all of it to everybody."""
    await (await EmbeddedStore.open(before_grants)).close()
    with closing(apsw.Connection(str(before_grants))) as file:
        assert file.pragma("user_version") == SCHEMA_VERSION > 2
