"""The façade on the embedded store: questions, changes, the past, and what can go wrong."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

import apsw
import pytest

from engines import NOON, give, names, ticking
from graph.decide.revert import Everything, Subtree
from graph.effective.state import begin
from graph.engine import Engine
from graph.facets import ByGroup, ByLabel
from graph.model.access import Actor, Role
from graph.model.change import Cursor
from graph.model.command import (
    Batch,
    CreateGroup,
    DeleteGroup,
    DeleteSelector,
    GrantAccess,
    Join,
    MoveGroup,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
)
from graph.model.errors import (
    Conflict,
    Invalid,
    NotFound,
    OutcomeUnknown,
    ResyncRequired,
    RevisionExpired,
    Unavailable,
)
from graph.model.names import GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.view import group_at
from graph.page import Order
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from graph.writer import claim_of
from small import SMALL
from twin import same_fleet


@pytest.fixture
async def store(tmp_path):
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    yield store
    await store.close()


@pytest.fixture
async def engine(store, tmp_path):
    engine = await Engine.open(
        store,
        snapshot_file=tmp_path / "fleet.snapshot",
        archive=tmp_path / "archive",
        now=ticking(),
        settings=GraphSettings(snapshots_kept_max=3, snapshots_kept_seconds=0),
    )
    await give(engine, *SMALL)
    return engine


# questions


async def test_a_selector_is_answered_from_text_or_tree_and_remembered(engine):
    text = "/geo/us and lanes >= 1"
    assert names(engine, text) == {"austin-1", "york-1"}
    assert engine.resolve(text) is engine.resolve(engine.parse(text))


async def test_a_remembered_text_means_the_new_group_after_a_rename_swap(engine):
    assert names(engine, "/geo/us/ny") == {"york-1"}
    await give(
        engine,
        RenameGroup("/geo/us/ny", "aside"),
        RenameGroup("/geo/us/tx", "ny"),
        RenameGroup("/geo/us/aside", "tx"),
    )
    assert names(engine, "/geo/us/ny") == {"austin-1", "austin-2"}


async def test_a_held_view_keeps_answering_at_its_revision(engine):
    view = engine.view
    await give(engine, RetireCluster("york-1"))
    assert len(engine.resolve("all", view)) == 3
    assert len(engine.resolve("all")) == 2


async def test_facets_trees_and_cross_tabs_count_along_the_business(engine):
    geo = group_at(engine.view, "/geo")
    us = group_at(engine.view, "/geo/us")
    assert [(b.value, b.clusters) for b in engine.facet(ByGroup(us))] == [
        ("/geo/us/ny", 1),
        ("/geo/us/tx", 2),
    ]
    assert [(b.value, b.clusters) for b in engine.facet(ByLabel("lanes"))] == [(1, 1), (2, 1)]
    within = engine.resolve("size = large")
    assert [
        (row.path, row.depth, row.clusters) for row in engine.tree(geo, depth=9, within=within)
    ] == [
        ("/geo", 0, 1),
        ("/geo/us", 1, 1),
        ("/geo/us/tx", 2, 1),
        ("/geo/us/tx/austin", 3, 1),
    ]
    table = engine.cross_tab(ByGroup(us), ByLabel("size"))
    assert (table.rows, table.columns, table.counts) == (
        ("/geo/us/ny", "/geo/us/tx"),
        ("large", "small"),
        ((0, 0), (1, 1)),
    )


async def test_a_tree_with_too_many_rows_says_what_to_do(store):
    engine = await Engine.open(store, settings=GraphSettings(tree_rows_max=3))
    await give(engine, *SMALL)
    with pytest.raises(Invalid, match="more than 3 rows"):
        engine.tree(group_at(engine.view, "/geo"), depth=9)


@pytest.mark.parametrize("order", list(Order))
async def test_pages_cover_a_set_once_in_order(engine, order):
    await give(engine, *(RegisterCluster(f"n{number:03}") for number in range(150, 0, -1)))
    for selector in ("all", "/geo/us"):
        chosen = engine.resolve(selector)
        seen, after = [], None
        while True:
            page = engine.page(chosen, first=7, order=order, after=after)
            seen.extend(page.clusters)
            assert page.total == len(chosen)
            if not page.more:
                break
            after = page.clusters[-1]
            if order is Order.NAME:
                after = engine.view.cluster_name(after)
        key = engine.view.cluster_name if order is Order.NAME else int
        assert seen == sorted(chosen, key=key)


async def test_a_page_beyond_the_bound_is_refused(engine):
    for first in (-1, 10_001):
        with pytest.raises(Invalid, match="a page of"):
            engine.page(engine.resolve("all"), first=first)


async def test_a_page_goes_on_after_a_cluster_that_is_gone(engine):
    await give(engine, RetireCluster("austin-2"))
    page = engine.page(engine.resolve("all"), first=9, after="austin-2")
    assert [engine.view.cluster_name(each) for each in page.clusters] == ["york-1"]


@pytest.mark.parametrize(
    ("order", "after"),
    [(Order.NAME, 3), (Order.NUMBER, "x"), (Order.NUMBER, -5), (Order.NUMBER, 2**32)],
)
async def test_a_page_that_begins_nowhere_is_refused(engine, order, after):
    with pytest.raises(Invalid, match="does not begin after"):
        engine.page(engine.resolve("all"), first=1, order=order, after=after)


async def test_counts_along_what_is_not_there_are_refused(engine):
    with pytest.raises(NotFound, match="no group with number 99"):
        engine.tree(GroupNumber(99), depth=1)
    with pytest.raises(NotFound, match="no label key"):
        engine.facet(ByLabel("sise"))


async def test_a_count_is_the_size_of_the_set(engine):
    for selector in ("all", "/geo/us and lanes >= 1", "not @texas"):
        assert engine.count(selector) == len(engine.resolve(selector)) == engine.count(selector)


# changes


async def test_a_batch_that_changes_nothing_makes_no_revision(engine):
    receipt = await give(engine, Join("york-1", "/geo/us/ny"))
    assert (receipt.changed, receipt.revision) == (False, 1)


async def test_batches_that_wait_together_share_a_commit(engine, store, monkeypatch):
    groups = []
    commit = store.commit

    async def counting(entries, **rest):
        groups.append(len(entries))
        return await commit(entries, **rest)

    monkeypatch.setattr(store, "commit", counting)
    receipts = await asyncio.gather(
        *(give(engine, RegisterCluster(f"new-{number}")) for number in range(100))
    )
    assert [receipt.revision for receipt in receipts] == list(range(2, 102))
    assert sum(groups) == 100
    assert len(groups) <= 3
    assert (await engine.verify()).whole


async def test_one_refused_batch_does_not_disturb_those_it_waits_with(engine):
    results = await asyncio.gather(
        give(engine, RegisterCluster("one")),
        give(engine, RegisterCluster("york-1")),
        give(engine, RegisterCluster("one")),
        give(engine, RegisterCluster("two")),
        return_exceptions=True,
    )
    assert [type(each).__name__ for each in results] == [
        "Receipt",
        "Conflict",
        "Conflict",
        "Receipt",
    ]
    assert engine.view.cursor.revision == 3
    assert (await engine.verify()).whole


async def test_too_many_waiting_batches_are_refused_at_once(store):
    engine = await Engine.open(store, settings=GraphSettings(writes_waiting_max=5))
    results = await asyncio.gather(
        *(give(engine, RegisterCluster(f"new-{number}")) for number in range(50)),
        return_exceptions=True,
    )
    refused = [each for each in results if isinstance(each, Unavailable)]
    assert refused
    assert len(results) - len(refused) == engine.view.cursor.revision


async def test_a_cancelled_caller_leaves_the_engine_whole(engine):
    callers = [
        asyncio.create_task(give(engine, RegisterCluster(f"new-{number}"))) for number in range(20)
    ]
    await asyncio.sleep(0)
    for caller in callers[::2]:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    await give(engine, RegisterCluster("after"))
    assert "after" in names(engine, "all")
    assert (await engine.verify()).whole


async def test_a_batch_that_trips_the_rules_themselves_takes_no_other_along(engine, caplog):
    bad = Batch((object(),), "ana", "because")
    results = await asyncio.gather(
        engine.execute(bad),
        *(give(engine, RegisterCluster(f"new-{number}")) for number in range(200)),
        return_exceptions=True,
    )
    assert isinstance(results[0], KeyError)
    assert len({receipt.revision for receipt in results[1:]}) == 200
    assert "could not be decided" in caplog.text
    await engine.close()


async def test_a_receipt_given_elsewhere_is_visible_here(store):
    one, two = [await Engine.open(store, now=ticking()) for _ in range(2)]
    receipt = await give(one, *SMALL, key="k")
    assert await give(two, *SMALL, key="k") == receipt
    assert two.view.cursor.revision == 1
    late = await give(one, RetireCluster("york-1"))
    assert (await two.as_of(NOON + timedelta(days=9))).cursor == late.cursor


class Cut:
    """A store whose next commit succeeds or fails, and whose answer is lost either way."""

    def __init__(self, store):
        self._store = store
        self.cut = None

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def commit(self, entries, **rest):
        cut, self.cut = self.cut, None
        if cut != "before":
            receipts = await self._store.commit(entries, **rest)
        if cut:
            raise OutcomeUnknown("the connection was lost", hint="")
        return receipts


@pytest.mark.parametrize("cut", ["before", "after"])
async def test_after_a_lost_answer_the_same_key_gives_the_one_receipt(store, cut):
    lossy = Cut(store)
    engine = await Engine.open(lossy, now=ticking())
    await give(engine, *SMALL)
    lossy.cut = cut
    with pytest.raises(Unavailable, match="whether the batch took effect is not known") as lost:
        await give(engine, RegisterCluster("york-2"), key="k")
    assert "same idempotency key" in lost.value.hint
    receipt = await give(engine, RegisterCluster("york-2"), key="k")
    assert receipt.revision == engine.view.cursor.revision == 2
    assert (await engine.verify()).whole


class Away:
    """A store that knows it is out of reach."""

    def __init__(self, store):
        self._store = store
        self.asked = []
        self.away = False

    def check_available(self):
        if self.away:
            raise Unavailable("the store has been away for 3 s")

    def __getattr__(self, name):
        self.asked.append(name)
        return getattr(self._store, name)


async def test_a_store_that_is_known_to_be_away_is_not_asked_by_a_write(store):
    away = Away(store)
    engine = await Engine.open(away, now=ticking())
    await give(engine, *SMALL)
    away.away, away.asked = True, []
    for key in (None, "k"):
        with pytest.raises(Unavailable, match=r"away for 3 s$"):
            await give(engine, RegisterCluster("york-2"), key=key)
    assert not away.asked
    away.away = False
    assert (await give(engine, RegisterCluster("york-2"), key="k")).revision == 2


def test_a_key_that_was_kept_before_losses_could_be_stated_is_still_of_the_same_batch():
    batch = Batch((RetireCluster("york-1"),), "ana", "because", idempotency_key="k")
    known = repr(([*batch.commands], "because", None))
    claim = claim_of(batch)
    assert claim is not None and claim.digest == sha256(known.encode()).hexdigest()
    stated = [claim_of(replace(batch, expected_loss=loss)) for loss in (0, 1)]
    assert len({claim, *stated}) == 3


async def test_preview_says_what_would_move_and_writes_nothing(engine):
    await give(engine, SaveSelector("laned", "has lanes"), SaveSelector("canada", "/geo/ca"))
    preview = await engine.preview(
        Batch((Join("york-1", "/geo/ca"), RetireCluster("austin-1")), "ana", "because")
    )
    moves = {
        move.name: (
            {engine.view.cluster_name(each) for each in move.gained},
            {engine.view.cluster_name(each) for each in move.lost},
        )
        for move in preview.impact.moves
    }
    assert moves == {
        "canada": ({"york-1"}, set()),
        "laned": (set(), {"austin-1"}),
        "texas": (set(), {"austin-1"}),
    }
    assert len(preview.impact.retired) == 1
    assert engine.view.cursor.revision == 2
    with pytest.raises(NotFound):
        await engine.preview(Batch((RetireCluster("nobody"),), "ana", "because"))


async def test_a_preview_overtaken_by_a_write_hides_nothing_from_who_sees_all(store, monkeypatch):
    engine, other = await Engine.open(store, now=ticking()), await Engine.open(store, now=ticking())
    await give(other, *SMALL)
    await engine.catch_up()
    await give(other, CreateGroup("/geo/mx"))
    begun, go_on = threading.Event(), threading.Event()

    def held_up(view):
        begun.set()
        assert go_on.wait(timeout=30)
        return begin(view)

    monkeypatch.setattr("graph.states.begin", held_up)
    grant = GrantAccess("g", Role.READER, subject="ben")
    root = Actor("root", standing=Role.ADMIN)
    asking = asyncio.create_task(engine.preview(Batch((grant,), "root", "because"), root))
    try:
        assert await asyncio.to_thread(begun.wait, 30)
        await engine.catch_up()
    finally:
        go_on.set()
    preview = await asking
    assert preview.base.revision == engine.view.cursor.revision - 1
    assert [change.ref for change in preview.changes] == [Ref(Kind.GRANT, "g")]
    assert [grant.name for grant in preview.after.grants()] == ["g"]


# the past


async def test_an_earlier_revision_or_time_is_what_it_was(engine):
    views = [engine.view]
    for command in (
        MoveGroup("/geo/us/tx", "/geo/ca"),
        RetireCluster("austin-2"),
        DeleteGroup("/devices/grill", cascade=True),
        RegisterCluster("late", labels={"lanes": 4}, groups=("/geo/ca/tx",)),
        DeleteSelector("texas"),
        RenameGroup("/geo/ca/tx", "texas"),
        UpdateCluster("york-1", labels={"lanes": 9}),
    ):
        await give(engine, command)
        views.append(engine.view)
    for view in views:
        then = await engine.as_of(view.cursor.revision)
        assert same_fleet(then, view, ignoring=("numbers",)) is None, view.cursor
    history = await engine.history(Ref(Kind.CLUSTER, 2))
    moment = history[0].at
    assert (await engine.as_of(moment)).cursor.revision == history[0].revision
    assert (await engine.as_of(moment - timedelta(milliseconds=1))).cursor.revision == 7
    empty = await engine.as_of(Revision(0))
    assert (len(empty.everything()), list(empty.hierarchies())) == (0, [])


async def test_a_revision_that_never_was_or_a_time_without_zone_is_refused(engine):
    with pytest.raises(NotFound, match="there is no revision 99"):
        await engine.as_of(Revision(99))
    with pytest.raises(Invalid, match="no zone"):
        await engine.as_of(datetime(2026, 1, 1))


async def test_history_is_read_newest_first_also_of_what_is_gone(engine):
    await give(engine, Join("york-1", "/geo/ca"), reason="franchise transfer 4711")
    await give(engine, UpdateCluster("york-1", title="Toronto"))
    await give(engine, RetireCluster("york-1"))
    lines = await engine.history_of_gone(Kind.CLUSTER, "york-1")
    assert [line.revision for line in lines] == [4, 3, 2, 1]
    assert lines[2].reason == "franchise transfer 4711"
    with pytest.raises(NotFound, match="now or earlier"):
        await engine.history_of_gone(Kind.CLUSTER, "york-9")


async def test_a_membership_knows_since_when_and_why(engine):
    await give(engine, Join("york-1", "/geo/ca"), reason="franchise transfer 4711")
    await give(engine, UpdateCluster("york-1", title="Toronto"))
    number = engine.view.cluster_number("york-1")
    line = await engine.member_since(number, group_at(engine.view, "/geo/ca"))
    assert (line.revision, line.reason) == (2, "franchise transfer 4711")
    assert await engine.member_since(number, group_at(engine.view, "/geo/us")) is None


async def test_a_revert_is_planned_previewed_and_one_changeset(engine):
    before = engine.view
    await give(engine, DeleteGroup("/devices/grill", cascade=True))
    await give(engine, MoveGroup("/geo/us/tx", "/geo/ca"), RetireCluster("york-1"))
    plan = await engine.plan_revert(Everything(), Revision(1))
    assert plan.left == ()
    batch = Batch((plan.command,), "ana", "back to how it was", None, "revert-1")
    preview = await engine.preview(batch)
    assert len(preview.impact.registered) == 1
    receipt = await engine.execute(batch)
    assert receipt.revision == 4
    for selector in ("all", "/geo/us/tx", "/devices/grill", "@texas", "only /devices/grill"):
        assert engine.resolve(selector) == engine.resolve(selector, before)
    again = await engine.plan_revert(Everything(), Revision(1))
    retried = Batch((again.command,), "ana", "back to how it was", None, "revert-1")
    assert await engine.execute(retried) == receipt
    assert (await engine.verify()).whole


async def test_a_subtree_is_reverted_alone(engine):
    grill = group_at(engine.view, "/devices/grill")
    await give(engine, DeleteGroup("/devices/grill", cascade=True))
    await give(engine, UpdateCluster("austin-1", title="kept"))
    first = (await engine.history(Ref(Kind.GROUP, group_at(engine.view, "/geo"))))[-1]
    plan = await engine.plan_revert(Subtree(grill), first.at)
    await give(engine, plan.command)
    assert names(engine, "/devices/grill/acme3000") == {"austin-1"}
    assert engine.view.cluster(0).title == "kept"


# following


async def follow(engine, after, count):
    found = []
    async with aclosing(engine.follow(after)) as changesets:
        async for changeset in changesets:
            found.append(changeset)
            if len(found) == count:
                break
    return found


async def test_a_follower_gets_every_changeset_once_whether_kept_or_stored(store):
    engine = await Engine.open(store, settings=GraphSettings(changesets_kept_max=4))
    start = engine.view.cursor
    follower = asyncio.create_task(follow(engine, start, 40))
    late = []
    for number in range(40):
        await give(engine, RegisterCluster(f"new-{number}"))
        if number % 10 == 3:
            late.append(asyncio.create_task(follow(engine, engine.view.cursor, 39 - number)))
    seen = await asyncio.wait_for(follower, 20)
    assert [each.revision for each in seen] == list(range(1, 41))
    for position, task in enumerate(late):
        revisions = [each.revision for each in await asyncio.wait_for(task, 20)]
        assert revisions == list(range(position * 10 + 5, 41))
    resumed = await follow(engine, seen[9].cursor, 30)
    assert [each.cursor for each in resumed] == [each.cursor for each in seen[10:]]


async def test_a_cursor_of_another_history_must_start_again(engine):
    for cursor in (Cursor(Revision(1), "0" * 16), Cursor(Revision(99), "0" * 16)):
        with pytest.raises(ResyncRequired):
            await follow(engine, cursor, 1)


async def test_after_compaction_old_cursors_start_again_and_history_stays(engine, store, tmp_path):
    start = engine.view.cursor
    for number in range(6):
        await give(engine, UpdateCluster("york-1", title=f"title {number}"))
    (path,) = await engine.compact(Revision(5))
    assert path.parent == tmp_path / "archive"
    assert await engine.compact(Revision(5)) == []
    with pytest.raises(RevisionExpired, match="oldest revision that can be read is 5"):
        await engine.as_of(Revision(2))
    lines = await engine.history(Ref(Kind.CLUSTER, 2))
    assert [line.revision for line in lines] == [7, 6, 5, 4, 3, 2, 1]
    verification = await engine.verify()
    assert verification.whole, verification
    assert any("archive" in finding.check for finding in verification.findings)
    fresh = await Engine.open(store, settings=GraphSettings(changesets_kept_max=1))
    with pytest.raises(ResyncRequired):
        await follow(fresh, start, 1)


async def test_a_follower_sees_what_another_process_writes_and_ends_when_the_engine_closes(store):
    one, two = [await Engine.open(store, now=ticking()) for _ in range(2)]
    seen = []

    async def watch():
        async for changeset in two.follow(two.view.cursor):
            seen.append(changeset.revision)

    watching = asyncio.create_task(watch())
    await give(one, *SMALL)
    await give(one, RetireCluster("york-1"))
    await two.at_least(Revision(2), timeout_seconds=10)
    await two.close()
    await asyncio.wait_for(watching, 10)
    assert seen == [1, 2]


# a record that is replaced


async def test_the_past_of_a_replaced_record_is_the_new_records_past(engine, store, tmp_path):
    await store.backup(tmp_path / "backup.db")
    for number in range(4):
        await give(engine, UpdateCluster("york-1", title=f"old {number}"))
    reader = await Engine.open(
        store, settings=GraphSettings(snapshots_kept_max=1, snapshots_kept_seconds=0)
    )
    await store.restore(tmp_path / "backup.db")
    writer = await Engine.open(store, now=ticking(NOON + timedelta(days=1)))
    for number in range(6):
        await give(writer, UpdateCluster("york-1", title=f"new {number}"))
    then = await reader.as_of(Revision(3))
    assert then.cluster(then.cluster_number("york-1")).title == "new 1"
    assert same_fleet(then, await writer.as_of(Revision(3)), ignoring=("numbers",)) is None


async def test_after_a_restore_changes_are_dated_after_the_records_own(store, tmp_path):
    ahead = await Engine.open(store, now=ticking(NOON + timedelta(days=1)))
    await give(ahead, *SMALL)
    behind = await Engine.open(store, now=ticking())
    await behind.reload()
    assert (await give(behind, RetireCluster("york-1"))).revision == 2
    assert (await behind.verify()).whole


async def test_the_archive_of_an_abandoned_history_is_passed_over(engine, store, tmp_path):
    await store.backup(tmp_path / "backup.db")
    for number in range(4):
        await give(engine, UpdateCluster("york-1", title=f"old {number}"))
    await engine.compact(Revision(4))
    await store.restore(tmp_path / "backup.db")
    await engine.reload()
    for number in range(6):
        await give(engine, UpdateCluster("york-1", title=f"new {number}"))
    await engine.compact(Revision(3))
    await engine.compact(Revision(5))
    lines = await engine.history(Ref(Kind.CLUSTER, 2))
    assert [line.change.after.title for line in lines] == [
        *(f"new {n}" for n in range(5, -1, -1)),
        "",
    ]
    verification = await engine.verify()
    assert verification.whole, verification


# the proof


def tamper(path, statement, *values):
    connection = apsw.Connection(str(path))
    connection.execute(statement, values)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (
            "UPDATE changesets SET body = CAST(replace(body, 'because', 'my cause') AS BLOB)"
            " WHERE revision = 2",
            "revision 2 does not hash",
        ),
        ("DELETE FROM changesets WHERE revision = 2", "revision"),
        ("DELETE FROM facts WHERE kind = 'cluster' AND key = 1", "cluster:1"),
        ("DELETE FROM facts WHERE kind = 'grant'", "grant:texas"),
        (
            "UPDATE facts SET body = CAST(replace(body, 'reader', 'admin') AS BLOB)"
            " WHERE kind = 'grant'",
            "grants: all",
        ),
    ],
)
async def test_verify_names_the_first_difference(engine, tmp_path, statement, says):
    await give(engine, UpdateCluster("york-1", title="one"))
    await give(engine, UpdateCluster("york-1", title="two"))
    await give(engine, GrantAccess("texas", Role.READER, "ana", scope="/geo/us/tx"))
    assert (await engine.verify()).whole
    tamper(tmp_path / "fleet.db", statement)
    verification = await engine.verify()
    assert not verification.whole
    assert any(says in finding.difference for finding in verification.findings), verification


async def test_verify_misses_neither_a_lost_archive_nor_a_fact_forged_behind_the_horizon(
    engine, tmp_path
):
    for number in range(4):
        await give(engine, UpdateCluster("york-1", title=f"title {number}"))
    (first,) = await engine.compact(Revision(2))
    await engine.compact(Revision(4))
    assert (await engine.verify()).whole
    tamper(
        tmp_path / "fleet.db",
        "UPDATE facts SET body = CAST(replace(body, 'austin-2', 'austin-9') AS BLOB)"
        " WHERE kind = 'cluster' AND key = 1",
    )
    forged = await engine.verify()
    assert any("cluster:1 is not what the log" in each.difference for each in forged.findings)
    first.unlink()
    lost = await engine.verify()
    assert any("no archive that ends at revision 2" in each.difference for each in lost.findings)


# start and stop


async def test_the_snapshot_file_spares_reading_the_facts(tmp_path, monkeypatch):
    async def opened():
        store = await EmbeddedStore.open(tmp_path / "fleet.db")
        return await Engine.open(store, snapshot_file=tmp_path / "fleet.snapshot", now=ticking())

    engine = await opened()
    await give(engine, *SMALL)
    await engine.close()
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    writer = await Engine.open(store, now=ticking())
    await give(writer, RetireCluster("austin-2"))  # a tail the file does not have
    await writer.close()

    async def never(self):
        raise AssertionError("the facts were read")

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedStore, "load", never)
        engine = await opened()
    assert names(engine, "all") == {"austin-1", "york-1"}
    await engine.close()


@pytest.mark.parametrize("damage", ["truncated", "foreign", "of another fleet"])
async def test_a_snapshot_file_that_cannot_be_used_is_said_and_replaced(tmp_path, damage):
    file = tmp_path / "fleet.snapshot"
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, snapshot_file=file, now=ticking())
    await give(engine, *SMALL)
    await engine.close()
    if damage == "truncated":
        file.write_bytes(file.read_bytes()[:-100])
    elif damage == "foreign":
        file.write_bytes(b"#!/bin/sh\n" * 100)
    else:
        other = await EmbeddedStore.open(tmp_path / "other.db")
        elsewhere = await Engine.open(other, snapshot_file=file, now=ticking())
        await give(elsewhere, *SMALL)
        await give(elsewhere, RetireCluster("austin-1"))
        await elsewhere.close()
    said = []
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, snapshot_file=file, now=ticking(), progress=said.append)
    assert len(engine.resolve("all")) == 3
    if damage != "of another fleet":
        assert any("reading the store instead" in each for each in said)
        assert not (await engine.verify()).whole
    await engine.close()
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, snapshot_file=file)
    assert (await engine.verify()).whole
    await engine.close()


async def test_a_restore_while_running_shows_the_backup_and_followers_start_again(
    engine, store, tmp_path
):
    await store.backup(tmp_path / "backup.db")
    await give(engine, RetireCluster("york-1"))
    cursor = engine.view.cursor
    waiting = asyncio.create_task(follow(engine, cursor, 1))
    await asyncio.sleep(0)
    await store.restore(tmp_path / "backup.db")
    await engine.reload()
    assert "york-1" in names(engine, "all")
    with pytest.raises(ResyncRequired):
        await asyncio.wait_for(waiting, 10)
    await give(engine, RetireCluster("austin-1"))
    assert engine.view.cursor.revision == 2
    assert engine.view.cursor != cursor
    assert (await engine.verify()).whole


async def test_a_closing_engine_finishes_what_waits_and_takes_nothing_more(tmp_path):
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store)
    waiting = [asyncio.create_task(give(engine, RegisterCluster(f"n{n}"))) for n in range(30)]
    await asyncio.sleep(0)
    await engine.close()
    assert len({(await task).revision for task in waiting}) == 30
    with pytest.raises(Unavailable, match="closing"):
        await give(engine, CreateGroup("/geo/us"))


async def test_another_writers_changes_are_seen_at_the_asked_revision(store):
    one, two = [await Engine.open(store, now=ticking()) for _ in range(2)]
    receipt = await give(one, *SMALL)
    view = await two.at_least(receipt.revision, timeout_seconds=5)
    assert same_fleet(view, one.view) is None
    with pytest.raises(Unavailable, match="not yet at 9"):
        await two.at_least(Revision(9), timeout_seconds=0.2)


async def test_two_engines_that_write_by_turns_decide_again_from_the_newer_view(store):
    one, two = [await Engine.open(store, now=ticking()) for _ in range(2)]
    await give(one, *SMALL)
    await give(two, RegisterCluster("york-2", groups=("/geo/us/ny",)))
    with pytest.raises(Conflict):
        await give(one, RegisterCluster("york-2"))
    assert (await give(one, RegisterCluster("york-3"))).revision == 3
