"""The log newest first: pages, filters, the archive behind it, and what moved a set."""

from __future__ import annotations

import pytest

from engines import give, ticking
from graph.engine import Engine
from graph.logbook import ChangesetPage
from graph.model.access import Actor, Role
from graph.model.change import Cursor
from graph.model.command import (
    CreateGroup,
    DeleteSelector,
    GrantAccess,
    Join,
    MoveGroup,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
)
from graph.model.errors import Invalid, ResyncRequired
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from small import SMALL

SETTINGS = GraphSettings(
    changesets_kept_max=3, changesets_page_max=50, changesets_looked_max=8, snapshots_kept_max=2
)


@pytest.fixture
async def engine(tmp_path):
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(
        store, settings=SETTINGS, archive=tmp_path / "archive", now=ticking()
    )
    await give(engine, *SMALL)
    for number in range(2, 31):
        title = f"title {number}"
        if number % 10 == 0:
            await give(engine, UpdateCluster("austin-1", title=title), actor="bo")
        else:
            await give(engine, UpdateGroup("/geo/us", title=title))
    yield engine
    await engine.close()


async def pages(engine: Engine, first: int, **wanted: object) -> list[ChangesetPage]:
    """Every page, each begun where the last one ended."""
    found = [await engine.changesets(first=first, **wanted)]
    while found[-1].more:
        assert len(found) < 100
        found.append(await engine.changesets(first=first, after=found[-1].end, **wanted))
    return found


def revisions(found: list[ChangesetPage]) -> list[int]:
    return [entry.header.revision for page in found for entry in page.entries]


@pytest.mark.parametrize("first", [1, 4, 7, 50])
@pytest.mark.parametrize("compacted", [0, 1, 17, 30])
async def test_pages_hold_every_changeset_once_newest_first(engine, first, compacted):
    if compacted:
        await engine.compact(Revision(compacted))
    found = await pages(engine, first)
    assert revisions(found) == list(range(30, 0, -1))
    assert all(len(page.entries) <= first for page in found)


async def test_the_log_ends_where_it_was_cut_when_there_is_no_archive(engine, tmp_path):
    await engine.compact(Revision(12))
    for path in (tmp_path / "archive").iterdir():
        path.unlink()
    bare = await Engine.open(await EmbeddedStore.open(tmp_path / "fleet.db", write=False))
    [page] = await pages(bare, 50)
    assert revisions([page]) == list(range(30, 12, -1))
    await bare.close()


async def test_the_changesets_of_one_actor_are_found_however_far_apart(engine):
    found = await pages(engine, 2, actor="bo")
    assert revisions(found) == [30, 20, 10]
    assert all(page.end is not None for page in found)


async def test_a_page_that_looked_far_and_found_little_says_where_to_go_on(engine):
    page = await engine.changesets(first=2, actor="bo")
    assert revisions([page]) == [30]
    assert page.more
    assert page.end is not None
    assert page.end.revision == 23, "eight were looked at"


async def test_the_changesets_that_wrote_an_object_are_found_without_looking_at_others(engine):
    cluster = engine.view.cluster_number("austin-1")
    page = await engine.changesets(first=10, touching=Ref(Kind.CLUSTER, cluster))
    assert revisions([page]) == [30, 20, 10, 1]
    assert not page.more
    found = await pages(engine, 1, touching=Ref(Kind.CLUSTER, cluster))
    assert revisions(found) == [30, 20, 10, 1]


async def test_what_wrote_an_object_before_it_was_deleted_and_made_anew_is_found(engine):
    saved = Ref(Kind.SAVED_SELECTOR, "texas")
    await give(engine, DeleteSelector("texas"))
    assert revisions(await pages(engine, 5, touching=saved)) == [31, 1]
    await give(engine, SaveSelector("texas", "/geo/us/tx/austin"))
    assert revisions(await pages(engine, 5, touching=saved)) == [32, 31, 1]


async def test_pages_of_nothing_and_of_too_much(engine):
    page = await engine.changesets(first=0)
    assert (page.entries, page.more) == ((), True)
    for first in (-1, 51):
        with pytest.raises(Invalid, match="changesets"):
            await engine.changesets(first=first)
    start = Cursor(Revision(0), "0" * 16)
    assert (await engine.changesets(first=5, after=start)).entries == ()


async def test_a_cursor_of_another_history_is_refused(engine):
    for cursor in (Cursor(Revision(9), "f" * 16), Cursor(Revision(99), "f" * 16)):
        with pytest.raises(ResyncRequired):
            await engine.changesets(first=5, after=cursor)


async def test_under_a_scope_only_what_may_be_seen_is_told_and_can_be_asked_for(engine):
    await give(engine, GrantAccess("ann-ny", Role.READER, subject="ann", scope="/geo/us/ny"))
    access = engine.access(Actor("ann"))
    hidden = engine.view.cluster_number("austin-1")
    found = await pages(engine, 50, access=access)
    told = {
        change.ref for page in found for each in page.entries for change in each.changeset.changes
    }
    assert Ref(Kind.CLUSTER, hidden) not in told
    assert Ref(Kind.CLUSTER, engine.view.cluster_number("york-1")) in told
    asked = await pages(engine, 50, access=access, touching=Ref(Kind.CLUSTER, hidden))
    nowhere = await pages(engine, 50, access=access, touching=Ref(Kind.CLUSTER, 4_711))
    assert asked == nowhere


# differences


async def test_a_difference_names_what_moved_and_the_changesets_that_can_have_done_it(engine):
    before = engine.view
    await give(engine, RegisterCluster("austin-3", groups=("/geo/us/tx/austin",)))
    await give(engine, UpdateGroup("/geo/us/tx", title="no move"))
    await give(engine, Join("york-1", "/geo/us/tx"), reason="moved house")
    await give(engine, RegisterCluster("elsewhere", groups=("/geo/ca",)))
    await give(engine, RetireCluster("austin-2"))
    found = await engine.diff("/geo/us/tx", before)
    view = engine.view
    assert {view.cluster_name(each) for each in found.gained} == {"austin-3", "york-1"}
    assert {before.cluster_name(each) for each in found.lost} == {"austin-2"}
    assert (found.before, found.after) == (30, 35)
    assert [(each.header.revision, each.header.reason) for each in found.entries] == [
        (35, "because"),
        (33, "moved house"),
        (31, "because"),
    ]
    assert found.complete


async def test_a_group_that_moves_moves_what_is_in_it(engine):
    before = engine.view
    await give(engine, RenameGroup("/geo/us/tx", "texas"))
    await give(engine, MoveGroup("/geo/us/texas/austin", "/geo/ca"))
    found = await engine.diff("/geo/us", before)
    assert len(found.lost) == 2
    assert [each.header.revision for each in found.entries] == [32, 31]


async def test_a_saved_selector_that_means_something_else_is_among_the_causes(engine):
    before = engine.view
    await give(engine, SaveSelector("texas", "/geo/us/ny"))
    found = await engine.diff("@texas", before)
    assert (len(found.gained), len(found.lost)) == (1, 2)
    assert [each.header.revision for each in found.entries] == [31]


async def test_a_selector_that_names_what_came_later_chose_nothing_before(engine):
    before = engine.view
    await give(engine, CreateGroup("/geo/mx"), SaveSelector("late", "/geo/us"))
    await give(engine, Join("york-1", "/geo/mx"))
    found = await engine.diff("/geo/mx or @late", before)
    assert (len(found.gained), len(found.lost)) == (3, 0)


async def test_backwards_in_time_a_difference_is_mirrored(engine):
    before = engine.view
    await give(engine, RetireCluster("york-1"))
    there, back = (
        await engine.diff("all", before, engine.view),
        await engine.diff("all", engine.view, before),
    )
    assert (there.gained, there.lost) == (back.lost, back.gained)
    assert there.entries == back.entries


async def test_a_difference_over_a_long_time_says_that_not_all_was_looked_at(engine):
    before = engine.view
    await give(engine, RetireCluster("york-1"))
    for number in range(10):
        await give(engine, UpdateGroup("/geo/us", title=str(number)))
    found = await engine.diff("all", before)
    assert (len(found.lost), found.entries, found.complete) == (1, (), False)
