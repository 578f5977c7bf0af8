"""S4 and S7: following, cursors, single changesets, moments, and what compaction leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from graph.model.access import Grant, Role
from graph.model.change import Change, Cursor, Relation
from graph.model.errors import NotFound, ResyncRequired, RevisionExpired
from graph.model.names import Revision
from graph.model.selector import Everything
from graph.store.codec import encode_body, seal
from graph.store.port import Claim, Entry, Store
from history import MINUTE, History, at, by_ref, cluster, exact


@pytest.fixture
async def six(history: History) -> History:
    """A history of six revisions."""
    for number in range(5):
        await history.put(cluster(number))
    return history


async def revisions(store: Store, after: Cursor) -> list[int]:
    return [changeset.revision async for changeset in store.changesets(after=after)]


async def test_a_follower_gets_what_comes_after_its_cursor(six: History) -> None:
    third = (await six.store.changeset(Revision(3))).cursor
    assert await revisions(six.store, third) == [4, 5, 6]
    assert await revisions(six.store, six.cursor) == []


async def test_a_long_log_is_followed_without_gap_or_repeat(history: History) -> None:
    entries = [Entry(history.changeset(cluster(n), ahead=n + 1)) for n in range(700)]
    await history.commit(*entries)
    log = [each async for each in history.store.changesets(after=history.cursor)]
    assert log == []
    zero = (await history.store.head()).horizon
    assert await revisions(history.store, zero) == list(range(1, 702))


async def test_commits_during_a_read_neither_disturb_it_nor_get_lost(six: History) -> None:
    seen: list[int] = []
    cursor = (await six.store.head()).horizon
    async for changeset in six.store.changesets(after=cursor):
        if changeset.revision <= 3:
            await six.put(cluster(40 + changeset.revision))
        seen.append(changeset.revision)
        cursor = changeset.cursor
    seen += await revisions(six.store, cursor)
    assert seen == [1, 2, 3, 4, 5, 6, 7, 8, 9]


async def test_a_log_cut_under_a_follower_is_never_silence(history: History) -> None:
    await history.commit(*map(Entry, history.changesets(*([cluster(n)] for n in range(700)))))
    seen: list[int] = []
    with pytest.raises(ResyncRequired):
        async for changeset in history.store.changesets(after=(await history.store.head()).horizon):
            if not seen:
                await history.store.drop(history.cursor)
            seen.append(changeset.revision)
        if seen == list(range(1, 702)):
            raise ResyncRequired("an adapter may also have read everything before the cut")
    assert seen == list(range(1, len(seen) + 1))


async def test_changesets_come_back_as_they_were_committed(history: History) -> None:
    committed = history.changeset(cluster(0, "Größe"), reason="a new site")
    (receipt,) = await history.commit(Entry(committed))
    found = await history.store.changeset(Revision(2))
    assert found.cursor == receipt.cursor
    assert encode_body(found) == encode_body(committed)
    assert (found.actor, found.reason, found.at) == ("ann", "a new site", at(2))


async def test_the_chain_can_be_computed_from_the_horizon_on(six: History) -> None:
    head = await six.store.head()
    chain = head.horizon_chain
    async for changeset in six.store.changesets(after=head.horizon):
        chain = seal(chain, encode_body(changeset))
        assert chain == changeset.chain
    assert chain.startswith(head.cursor.chain)


@pytest.mark.parametrize(
    "cursor",
    [
        Cursor(Revision(3), "0123456789abcdef"),
        Cursor(Revision(0), "0123456789abcdef"),
        Cursor(Revision(6), "0123456789abcdef"),
        Cursor(Revision(7), "0123456789abcdef"),
        Cursor(Revision(10**17), "0123456789abcdef"),
    ],
    ids=str,
)
async def test_a_cursor_of_another_history_must_resync(six: History, cursor: Cursor) -> None:
    with pytest.raises(ResyncRequired):
        await anext(aiter(six.store.changesets(after=cursor)))


async def test_a_cursor_with_the_right_chain_at_the_wrong_revision_must_resync(
    six: History,
) -> None:
    moved = Cursor(Revision(5), six.cursor.chain)
    with pytest.raises(ResyncRequired):
        await anext(aiter(six.store.changesets(after=moved)))


async def test_a_kept_cursor_is_judged_by_its_place_and_its_store(six: History) -> None:
    store = six.store
    identity = await store.identity()
    third = (await store.changeset(Revision(3))).cursor
    begin = Cursor(Revision(0), identity)
    for cursor in (begin, third, six.cursor):
        assert await store.relation(cursor) is Relation.CONTAINED
        assert await store.relation(replace(cursor, store=identity)) is Relation.CONTAINED
        assert await store.relation(replace(cursor, store="0" * 16)) is Relation.OTHER
        assert await store.relation(replace(cursor, chain="0" * 16)) is Relation.OTHER
    ahead = Cursor(Revision(7), "0" * 16)
    assert await store.relation(ahead) is Relation.AHEAD
    assert await store.relation(replace(ahead, store=identity)) is Relation.AHEAD
    assert await store.relation(replace(ahead, store="0" * 16)) is Relation.OTHER


async def test_a_revision_that_is_not_there_is_not_found(six: History) -> None:
    for revision in (-1, 0, 7, 10**12, 10**30):
        with pytest.raises(NotFound) as caught:
            await six.store.changeset(Revision(revision))
        assert not isinstance(caught.value, RevisionExpired)


async def test_headers_say_what_their_changesets_say(six: History) -> None:
    grant = Grant("ana", Role.READER, Everything(), subject="ana")
    loss = replace(six.changeset(grant, cluster(0, "new")), accepted_loss=3)
    await six.commit(Entry(loss))
    log = [each async for each in six.store.changesets(after=(await six.store.head()).horizon)]
    headers = [each.header for each in log]
    assert (headers[-1].change_count, headers[-1].grant_count) == (2, 1)
    assert list(await six.store.headers(Revision(7), 100)) == headers
    assert list(await six.store.headers(Revision(5), 3)) == headers[2:5]
    for revision in (-1, 0, 8, 10**12):
        with pytest.raises(NotFound) as caught:
            await six.store.headers(Revision(revision), 3)
        assert not isinstance(caught.value, RevisionExpired)


async def test_a_change_is_looked_for_up_to_the_first_that_is_wanted(history: History) -> None:
    await history.put(*map(cluster, range(20)))
    seen: list[object] = []

    def wanted(change: Change) -> bool:
        seen.append(change.ref.key)
        return change.ref.key == 4

    assert await history.store.has_change(Revision(2), wanted)
    assert seen == [0, 1, 2, 3, 4]
    assert not await history.store.has_change(Revision(2), lambda _: False)
    for revision in (0, 3):
        with pytest.raises(NotFound):
            await history.store.has_change(Revision(revision), wanted)


async def test_a_moment_leads_to_the_last_revision_made_until_then(six: History) -> None:
    store = six.store
    assert await store.revision_at(at(3)) == 3
    assert await store.revision_at(at(3) + MINUTE / 2) == 3
    assert await store.revision_at(at(4) - MINUTE / 60_000) == 3
    assert await store.revision_at(at(6) + 1000 * MINUTE) == 6
    assert await store.revision_at(at(1) - MINUTE) == 0


async def test_of_several_revisions_of_one_moment_the_last_counts(history: History) -> None:
    changesets = [history.changeset(cluster(n), ahead=n + 1) for n in range(3)]
    moment = changesets[-1].at
    await history.commit(*(Entry(replace(each, at=moment)) for each in changesets))
    assert await history.store.revision_at(moment) == 4
    assert await history.store.revision_at(moment - MINUTE / 60_000) == 1


class TestAfterDrop:
    """Revisions 1 to 4 dropped, 5 and 6 kept."""

    @pytest.fixture
    async def dropped(self, six: History) -> History:
        await six.store.commit(
            [Entry(None, Claim("ann", "k", "d"))], expected=six.cursor, now=at(6)
        )
        await six.store.drop((await six.store.changeset(Revision(4))).cursor)
        return six

    async def test_facts_receipts_and_head_stay(self, dropped: History) -> None:
        facts = await dropped.store.load()
        assert exact(by_ref(facts.entities)) == exact(dropped.facts)
        assert facts.head.cursor == dropped.cursor
        assert facts.head.numbers.cluster == 5
        assert await dropped.store.kept("ann", "k") is not None

    async def test_the_horizon_is_where_the_log_begins(self, dropped: History) -> None:
        head = await dropped.store.head()
        assert head.horizon.revision == 4
        assert head.horizon_chain.startswith(head.horizon.chain)
        assert await revisions(dropped.store, head.horizon) == [5, 6]

    async def test_the_chain_still_holds(self, dropped: History) -> None:
        head = await dropped.store.head()
        chain = head.horizon_chain
        async for changeset in dropped.store.changesets(after=head.horizon):
            chain = seal(chain, encode_body(changeset))
            assert chain == changeset.chain

    async def test_an_older_cursor_must_resync(self, dropped: History) -> None:
        for revision in range(4):
            with pytest.raises(ResyncRequired):
                old = Cursor(Revision(revision), "0123456789abcdef")
                await anext(aiter(dropped.store.changesets(after=old)))

    async def test_an_older_cursor_can_no_longer_be_judged(self, dropped: History) -> None:
        store = dropped.store
        identity = await store.identity()
        old = Cursor(Revision(3), "0" * 16)
        assert await store.relation(old) is Relation.FORGOTTEN
        assert await store.relation(replace(old, store="0" * 16)) is Relation.OTHER
        assert await store.relation((await store.head()).horizon) is Relation.CONTAINED
        assert await store.relation(Cursor(Revision(0), identity)) is Relation.CONTAINED

    async def test_an_older_revision_has_expired(self, dropped: History) -> None:
        for revision in (1, 4):
            with pytest.raises(RevisionExpired):
                await dropped.store.changeset(Revision(revision))
            with pytest.raises(RevisionExpired):
                await dropped.store.headers(Revision(revision), 1)
            with pytest.raises(RevisionExpired):
                await dropped.store.has_change(Revision(revision), lambda _: True)
        assert (await dropped.store.changeset(Revision(5))).revision == 5
        headers = await dropped.store.headers(Revision(6), 6)
        assert [each.revision for each in headers] == [5, 6]

    async def test_an_older_moment_has_expired(self, dropped: History) -> None:
        assert await dropped.store.revision_at(at(4)) == 4
        assert await dropped.store.revision_at(at(5)) == 5
        with pytest.raises(RevisionExpired):
            await dropped.store.revision_at(at(4) - MINUTE / 60_000)

    async def test_dropping_to_the_horizon_again_changes_nothing(self, dropped: History) -> None:
        head = await dropped.store.head()
        await dropped.store.drop(head.horizon)
        assert await dropped.store.head() == head

    @pytest.mark.parametrize("revision", [2, 5, 9])
    async def test_a_foreign_or_older_cursor_drops_nothing(
        self, dropped: History, revision: int
    ) -> None:
        head = await dropped.store.head()
        with pytest.raises(ResyncRequired):
            await dropped.store.drop(Cursor(Revision(revision), "0123456789abcdef"))
        assert await dropped.store.head() == head

    async def test_everything_may_be_dropped_and_work_goes_on(self, dropped: History) -> None:
        await dropped.store.drop(dropped.cursor)
        assert await revisions(dropped.store, dropped.cursor) == []
        receipt = await dropped.put(cluster(50))
        assert receipt.revision == 7
        assert (await dropped.store.load()).head.horizon.revision == 6
        assert await dropped.store.revision_at(at(7)) == 7

    async def test_a_restart_changes_nothing(
        self, dropped: History, restart: Callable[[], Awaitable[Store]]
    ) -> None:
        before = await dropped.store.load()
        store = await restart()
        assert await store.load() == before
        assert await revisions(store, before.head.horizon) == [5, 6]
