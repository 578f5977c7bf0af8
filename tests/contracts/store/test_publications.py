"""S10: publications lie beside the log, the last of each name, and never go back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from graph.model.change import Cursor
from graph.model.errors import ResyncRequired
from graph.model.names import Revision
from graph.model.publication import HeldBack, Publication
from graph.store.port import PUBLICATIONS_MAX, Store
from history import START, History, cluster
from stores import Adapter, Opener

HELD = (
    HeldBack("till", "failed", 'größe 🏪 \u2028 \\ " does not render', 12_345, Revision(1)),
    HeldBack("", "blocked", "", 0, Revision(0)),
)


def publication(cursor: Cursor, name: str = "main", **other: object) -> Publication:
    made = Publication(name, cursor, "c0ffee", HELD, actor="Ünal", at=START)
    return replace(made, **other)  # type: ignore[arg-type] # whatever a test changes


async def test_a_record_has_no_publications_at_first(history: History) -> None:
    assert await history.store.publications() == ()


async def test_a_publication_comes_back_whole(history: History) -> None:
    made = publication(history.cursor)
    assert await history.store.keep_publication(made) == made
    assert await history.store.publications() == (made,)


async def test_a_publication_may_be_of_an_empty_record(store: Store) -> None:
    made = publication((await store.head()).cursor, held=())
    await store.keep_publication(made)
    assert await store.publications() == (made,)


async def test_the_last_of_a_name_counts_and_names_are_listed_in_order(history: History) -> None:
    first = publication(history.cursor, "b")
    await history.store.keep_publication(first)
    await history.put(cluster(0))
    for each in (publication(history.cursor, "c"), publication(history.cursor, "a")):
        await history.store.keep_publication(each)
    again = publication(history.cursor, "b", commit="beef", held=(), at=START + timedelta(1))
    assert await history.store.keep_publication(again) == again
    found = await history.store.publications()
    assert [each.name for each in found] == ["a", "b", "c"]
    assert found[1] == again


async def test_the_same_place_may_be_reported_otherwise(history: History) -> None:
    await history.store.keep_publication(publication(history.cursor))
    other = publication(history.cursor, held=(), commit="beef")
    assert await history.store.keep_publication(other) == other
    assert await history.store.publications() == (other,)


async def test_a_publication_never_goes_back(history: History) -> None:
    earlier = history.cursor
    await history.put(cluster(0))
    newest = publication(history.cursor)
    await history.store.keep_publication(newest)
    late = publication(earlier, commit="slow", at=START + timedelta(1))
    assert await history.store.keep_publication(late) == newest
    assert await history.store.publications() == (newest,)


async def test_a_place_of_another_history_is_refused(history: History) -> None:
    kept = publication(history.cursor)
    await history.store.keep_publication(kept)
    for other in (
        Cursor(history.cursor.revision, "f" * 16),
        Cursor(Revision(history.cursor.revision + 1), history.cursor.chain),
    ):
        with pytest.raises(ResyncRequired):
            await history.store.keep_publication(publication(other))
    assert await history.store.publications() == (kept,)


async def test_a_place_that_the_log_no_longer_reaches_is_refused_and_what_was_kept_stays(
    history: History,
) -> None:
    first = history.cursor
    kept = publication(first)
    await history.store.keep_publication(kept)
    for number in range(3):
        await history.put(cluster(number))
    await history.store.drop(history.cursor)
    with pytest.raises(ResyncRequired):
        await history.store.keep_publication(publication(first, "other"))
    assert await history.store.publications() == (kept,)
    at_horizon = publication(history.cursor)
    assert await history.store.keep_publication(at_horizon) == at_horizon


async def test_publications_are_no_part_of_the_log_or_of_the_facts(history: History) -> None:
    head, facts = await history.store.head(), await history.store.load()
    await history.store.keep_publication(publication(history.cursor))
    assert await history.store.head() == head
    assert await history.store.load() == facts


async def test_publications_survive_a_restart(
    history: History, restart: Callable[[], Awaitable[Store]]
) -> None:
    made = publication(history.cursor)
    await history.store.keep_publication(made)
    assert await (await restart()).publications() == (made,)


async def test_publications_are_seen_through_another_connection(
    history: History, open_store: Opener, adapter: Adapter
) -> None:
    other = await open_store(write=adapter.writers_max > 1)
    for commit in ("one", "two"):
        made = publication(history.cursor, commit=commit)
        await history.store.keep_publication(made)
        assert await other.publications() == (made,)


async def test_the_name_reported_longest_ago_makes_room(history: History) -> None:
    for number in range(PUBLICATIONS_MAX + 2):
        made = publication(history.cursor, f"n{number:03}", at=START + timedelta(seconds=number))
        await history.store.keep_publication(replace(made, held=()))
    names = [each.name for each in await history.store.publications()]
    assert names == [f"n{number:03}" for number in range(2, PUBLICATIONS_MAX + 2)]


async def test_a_publication_can_be_forgotten(history: History) -> None:
    await history.store.keep_publication(publication(history.cursor, "gone"))
    kept = publication(history.cursor, "main")
    await history.store.keep_publication(kept)
    assert await history.store.forget_publication("gone")
    assert await history.store.publications() == (kept,)
    assert not await history.store.forget_publication("gone")
