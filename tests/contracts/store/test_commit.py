"""S1 to S3: whole commits, gapless revisions, nothing on a stale head."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from graph.model.change import Change, Changeset, Cursor, Numbers
from graph.model.errors import Conflict, Invalid
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.store.port import Claim, Entry, Store
from history import BUSINESS, MINUTE, START, History, at, by_ref, cluster, exact, replay
from stores import Adapter, Opener


async def test_an_empty_record_stands_at_revision_zero(store: Store) -> None:
    head = await store.head()
    assert head.cursor.revision == 0
    assert head.cursor == head.horizon
    assert head.horizon_chain.startswith(head.cursor.chain)
    assert head.numbers == Numbers()
    assert head.at is None
    facts = await store.load()
    assert (facts.head, list(facts.entities)) == (head, [])


async def test_two_records_have_no_cursor_in_common(
    adapter: Adapter, store: Store, tmp_path: Path
) -> None:
    first = (await store.head()).cursor
    await store.close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = await (await adapter.empty(elsewhere))()
    assert (await other.head()).cursor.revision == first.revision
    assert (await other.head()).cursor.chain != first.chain
    await other.close()


async def test_each_changeset_takes_the_next_revision(history: History) -> None:
    receipts = [await history.put(cluster(number)) for number in range(5)]
    assert [receipt.revision for receipt in receipts] == [2, 3, 4, 5, 6]
    assert all(receipt.changed for receipt in receipts)
    head = await history.store.head()
    assert (head.cursor, head.at) == (receipts[-1].cursor, at(6))


async def test_a_group_of_entries_is_committed_together(history: History) -> None:
    entries = [Entry(history.changeset(cluster(n), ahead=n + 1)) for n in range(3)]
    receipts = await history.commit(entries[0], Entry(None), *entries[1:])
    assert [receipt.revision for receipt in receipts] == [2, 2, 3, 4]
    assert [receipt.changed for receipt in receipts] == [True, False, True, True]
    assert by_ref((await history.store.load()).entities) == history.facts


async def test_an_entry_that_cannot_be_written_takes_the_whole_group_with_it(
    history: History,
) -> None:
    before = await history.store.load()
    good = Entry(history.changeset(cluster(0)), Claim("ann", "good", "d"))
    gap = Entry(history.changeset(cluster(1), ahead=3), Claim("ann", "gap", "d"))
    with pytest.raises(Invalid, match="revision 4 cannot follow 2"):
        await history.commit(good, gap)
    assert await history.store.load() == before
    assert await history.store.kept("ann", "good") is None
    await history.commit(good)
    assert (await history.store.head()).cursor.revision == 2


async def test_text_that_no_record_can_keep_takes_the_whole_group_with_it(
    history: History,
) -> None:
    before = await history.store.load()
    good = Entry(history.changeset(cluster(0)))
    bad = Entry(history.changeset(cluster(1, title="lone \ud800 surrogate"), ahead=2))
    with pytest.raises(Invalid):
        await history.commit(good, bad)
    assert await history.store.load() == before


async def test_a_changeset_dated_before_its_predecessor_is_refused(history: History) -> None:
    early = replace(history.changeset(cluster(0)), at=START)
    with pytest.raises(Invalid, match="dated"):
        await history.commit(Entry(early))
    same_moment = replace(early, at=at(1))
    (receipt,) = await history.commit(Entry(same_moment))
    assert receipt.revision == 2


async def test_a_stale_expected_is_refused_and_burns_no_revision(history: History) -> None:
    stale = history.cursor
    late = history.changeset(cluster(1))
    await history.put(cluster(0))
    with pytest.raises(Conflict):
        await history.store.commit([Entry(late)], expected=stale, now=at(9))
    assert (await history.store.head()).cursor == history.cursor
    assert (await history.put(cluster(1))).revision == 3


async def test_an_expected_of_another_history_is_refused(history: History) -> None:
    foreign = Cursor(history.cursor.revision, "0123456789abcdef")
    with pytest.raises(Conflict):
        await history.store.commit(
            [Entry(history.changeset(cluster(0)))], expected=foreign, now=at(2)
        )
    assert (await history.store.head()).cursor == history.cursor


async def test_of_two_commits_on_one_head_only_one_passes(history: History) -> None:
    store, head = history.store, history.cursor
    outcomes = await asyncio.gather(
        *(
            store.commit([Entry(history.changeset(cluster(n)))], expected=head, now=at(2))
            for n in range(8)
        ),
        return_exceptions=True,
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert len(refused) == 7, outcomes
    assert (await store.head()).cursor.revision == 2


async def test_forty_concurrent_writers_leave_no_gap(
    adapter: Adapter, store: Store, open_store: Opener
) -> None:
    writers, commits_each = 40, 3
    stores = [store]
    while len(stores) < min(4, adapter.writers_max):
        stores.append(await open_store())
    await (await History.of(store)).put(*BUSINESS)
    acknowledged: list[Cursor] = []

    async def write(writer: int) -> None:
        own = stores[writer % len(stores)]
        for step in range(commits_each):
            made = cluster(writer * commits_each + step)
            while True:
                head = await own.head()
                revision = Revision(head.cursor.revision + 1)
                changes = (Change(None, replace(made, changed=revision)),)
                changeset = Changeset(revision, at(revision), "ann", f"writer {writer}", changes)
                try:
                    (receipt,) = await own.commit(
                        [Entry(changeset)], expected=head.cursor, now=at(revision)
                    )
                except Conflict:
                    continue
                acknowledged.append(receipt.cursor)
                break

    async with asyncio.timeout(120):
        await asyncio.gather(*(write(writer) for writer in range(writers)))

    log = [changeset async for changeset in store.changesets(after=(await store.head()).horizon)]
    assert [changeset.revision for changeset in log] == list(range(1, writers * commits_each + 2))
    assert sorted(map(str, acknowledged)) == sorted(str(each.cursor) for each in log[1:])
    facts = await store.load()
    assert facts.head.numbers.cluster == writers * commits_each
    assert exact(by_ref(facts.entities)) == exact(
        await replay(store.changesets(after=facts.head.horizon))
    )


async def test_numbers_never_go_back(history: History) -> None:
    highest = cluster(41)
    await history.put(highest)
    head = await history.store.head()
    assert head.numbers == Numbers(ClusterNumber(42), GroupNumber(5))
    await history.put(gone=[highest])
    head = await history.store.head()
    assert head.numbers == Numbers(ClusterNumber(42), GroupNumber(5))


async def test_numbers_are_kept_over_a_restart(history: History, restart: Opener) -> None:
    await history.put(cluster(9))
    await history.put(gone=[cluster(9)])
    store = await restart()
    assert (await store.head()).numbers.cluster == 10


async def test_moments_keep_their_milliseconds(history: History) -> None:
    precise = at(2).replace(microsecond=123_000)
    await history.commit(Entry(replace(history.changeset(cluster(0)), at=precise)))
    assert (await history.store.head()).at == precise
    assert (await history.store.changeset(Revision(2))).at == precise
    assert await history.store.revision_at(precise - MINUTE / 60_000) == 1
