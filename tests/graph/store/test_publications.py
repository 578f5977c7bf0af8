"""Publications in the embedded store: what a contract over every adapter cannot bring about."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from graph.model.errors import Denied, Invalid
from graph.model.names import Revision
from graph.model.publication import HeldBack, Publication
from graph.store.embedded import EmbeddedStore
from graph.store.publication_codec import decode_held, encode_held
from history import BUSINESS, START, History


async def test_what_is_kept_of_another_history_gives_way(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    store = await EmbeddedStore.open(path)
    history = await History.of(store)
    await history.put(*BUSINESS)
    made = Publication("main", history.cursor, "c0ffee", (), actor="ann", at=START)
    await store.keep_publication(made)
    with closing(apsw.Connection(str(path))) as file:
        file.execute("UPDATE publications SET cursor = '99.ffffffffffffffff'")
    assert [each.cursor.revision for each in await store.publications()] == [99]
    assert await store.keep_publication(made) == made
    assert await store.publications() == (made,)
    await store.close()


async def test_a_store_that_is_open_for_reading_keeps_no_report(tmp_path: Path) -> None:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    reader = await EmbeddedStore.open(tmp_path / "fleet.db", write=False)
    cursor = (await store.head()).cursor
    with pytest.raises(Denied, match="open for reading only"):
        await reader.keep_publication(Publication("main", cursor, "c", actor="a", at=START))
    await reader.close()
    await store.close()


def test_the_written_form_of_what_is_held_back_stays_as_it_is() -> None:
    held = (HeldBack("till", "failed", "no", 2, Revision(7)),)
    assert encode_held(held) == (
        b'[{"application":"till","clusters":2,"message":"no","reason":"failed","since":7}]'
    )
    assert decode_held(encode_held(held)) == held


@pytest.mark.parametrize("data", [b"{", b"5", b"[5]", b"[{}]"])
def test_bytes_that_are_no_held_list_are_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        decode_held(data)
