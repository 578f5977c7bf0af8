"""S6: an idempotency key is its actor's, and is kept with its receipt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from graph.model.errors import Conflict, Invalid
from graph.store.port import RECEIPTS_KEPT_DAYS, Claim, Entry, Kept, Store
from history import History, at, cluster


async def test_an_unused_key_is_free(store: Store) -> None:
    assert await store.kept("ann", "k") is None


async def test_a_key_is_kept_with_its_digest_and_receipt(history: History) -> None:
    claim = Claim("ann", "k-1", "digest of the batch")
    receipt = await history.put(cluster(0), claim=claim)
    assert await history.store.kept("ann", "k-1") == Kept(claim, receipt)
    await history.put(cluster(1))
    assert await history.store.kept("ann", "k-1") == Kept(claim, receipt)


async def test_a_batch_that_changed_nothing_keeps_its_receipt_too(history: History) -> None:
    claim = Claim("ann", "idle", "d")
    (receipt,) = await history.commit(Entry(None, claim))
    assert (receipt.changed, receipt.cursor) == (False, history.cursor)
    assert await history.store.kept("ann", "idle") == Kept(claim, receipt)
    assert (await history.store.head()).cursor.revision == 1


async def test_each_entry_of_a_group_has_its_own_receipt(history: History) -> None:
    claims = [Claim("ann", f"k-{n}", f"d-{n}") for n in range(3)]
    receipts = await history.commit(
        Entry(history.changeset(cluster(0)), claims[0]),
        Entry(None, claims[1]),
        Entry(history.changeset(cluster(1), ahead=2), claims[2]),
    )
    for claim, receipt in zip(claims, receipts, strict=True):
        assert await history.store.kept("ann", claim.key) == Kept(claim, receipt)


async def test_a_key_used_before_is_refused_with_everything_beside_it(history: History) -> None:
    first = await history.put(cluster(0), claim=Claim("ann", "k", "d"))
    before = await history.store.load()
    again = Entry(history.changeset(cluster(2), ahead=2), Claim("ann", "k", "other"))
    with pytest.raises(Conflict):
        await history.commit(Entry(history.changeset(cluster(1))), again)
    assert await history.store.load() == before
    assert await history.store.kept("ann", "k") == Kept(Claim("ann", "k", "d"), first)


async def test_a_key_twice_in_one_group_is_refused(history: History) -> None:
    claim = Claim("ann", "k", "d")
    with pytest.raises(Conflict):
        await history.commit(Entry(history.changeset(cluster(0)), claim), Entry(None, claim))
    assert await history.store.kept("ann", "k") is None


async def test_a_refusal_leaves_the_key_free(history: History) -> None:
    claim = Claim("ann", "k", "d")
    stale = history.cursor
    await history.put(cluster(0))
    with pytest.raises(Conflict):
        await history.store.commit([Entry(None, claim)], expected=stale, now=at(3))
    with pytest.raises(Invalid):
        await history.commit(Entry(history.changeset(cluster(1), ahead=5), claim))
    assert await history.store.kept("ann", "k") is None
    assert (await history.put(cluster(1), claim=claim)).changed


async def test_keys_of_two_actors_are_apart(history: History) -> None:
    anns = await history.put(cluster(0), claim=Claim("ann", "k", "a"))
    bobs = await history.put(cluster(1), claim=Claim("bob", "k", "b"))
    assert await history.store.kept("ann", "k") == Kept(Claim("ann", "k", "a"), anns)
    assert await history.store.kept("bob", "k") == Kept(Claim("bob", "k", "b"), bobs)
    assert await history.store.kept("annk", "") is None


async def test_actors_and_keys_compare_byte_for_byte(history: History) -> None:
    twins = ["key", "KEY", "key ", " key", "ke\u0301y", "k\u00e9y", "kéy\u200b", "ключ", "🔑", ""]
    for position, key in enumerate(twins):
        await history.commit(Entry(None, Claim("ann", key, str(position))))
    await history.commit(Entry(None, Claim("Ann", "key", "another actor")))
    for position, key in enumerate(twins):
        found = await history.store.kept("ann", key)
        assert found is not None
        assert found.claim == Claim("ann", key, str(position))


async def test_receipts_survive_a_restart(
    history: History, restart: Callable[[], Awaitable[Store]]
) -> None:
    claim = Claim("ann", "k", "d")
    receipt = await history.put(cluster(0), claim=claim)
    store = await restart()
    assert await store.kept("ann", "k") == Kept(claim, receipt)


async def test_receipts_are_forgotten_after_their_days_and_not_before(history: History) -> None:
    await history.put(cluster(0), claim=Claim("ann", "old", "d"))
    days = timedelta(days=RECEIPTS_KEPT_DAYS)
    store, dated = history.store, at(history.cursor.revision)
    await store.commit([Entry(None)], expected=history.cursor, now=dated + days)
    assert await store.kept("ann", "old") is not None
    again = [Entry(None, Claim("ann", "old", "another batch"))]
    later = dated + days + timedelta(minutes=1)
    await store.commit(again, expected=history.cursor, now=later)
    found = await store.kept("ann", "old")
    assert found is not None
    assert found.claim.digest == "another batch"
