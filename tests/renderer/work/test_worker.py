"""The loop: gone on from what is published, whatever ends it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from api_process import eventually
from graph.effective.portion import Removals
from graph.model.errors import Conflict, Denied, Rejected, Unavailable
from listing_plan import ListingPlan
from memory_publisher import Commit, MemoryPublisher
from renderer.settings import RenderSettings, SourceSettings
from renderer.tree import Told
from renderer.work.measures import Measures
from renderer.work.publishing import Publishing
from renderer.work.stamp import Stamp
from renderer.work.worker import Backoff, Worker
from scripted import ScriptedSource, cursor, pointers

OURS, OTHERS = Stamp(2, "a" * 12), Stamp(2, "b" * 12)


def publishing_of(source, output, *, stamp=OURS, adopt=False):
    return Publishing(
        source, output, ListingPlan, stamp, name="main", measures=Measures(), adopt=adopt
    )


@asynccontextmanager
async def working(source, output, *, stamp=OURS, adopt=False, **settings):
    """A worker at work; cancelled at the end, as a signal does."""
    publishing = publishing_of(source, output, stamp=stamp, adopt=adopt)
    given = {"batch_milliseconds": 0, "retry_seconds": 0.05} | settings
    worker = Worker(
        publishing,
        RenderSettings.model_validate(given),
        SourceSettings(retry_seconds=0.001, retry_seconds_max=0.01),
    )
    running = asyncio.create_task(worker.run())
    try:
        yield running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        publishing.close()
        output.close()


@pytest.fixture
def source():
    return ScriptedSource()


@pytest.fixture
def output():
    return MemoryPublisher()


async def reported(source, revision):
    """Wait until it was told that a revision is out."""

    async def state():
        return any(str(each.cursor) == cursor(revision) for each in source.reports)

    await eventually(state)


async def test_a_first_worker_renders_everything_and_follows_from_there(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output):
        await reported(source, 1)
        source.say(pointers("york-2"), revision=2)
        await reported(source, 2)
    assert sorted(output.files) == ["clusters/york-1", "clusters/york-2"]
    assert source.followed == [None]
    assert [each.told.subject for each in output.log] == [
        "Render everything at revision 1",
        "why 2",
    ]
    assert output.log[-1].told.cursor == cursor(2)
    assert output.log[-1].told.stamp == str(OURS)
    assert source.reports[-1].commit == "2"


async def test_the_next_worker_goes_on_from_the_newest_commit(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output):
        await reported(source, 1)
    source.say(pointers("york-2"), revision=2)
    async with working(source, output):
        await reported(source, 2)
    assert source.followed == [None, cursor(1)]
    assert len(output.log) == 2


async def test_where_no_file_differs_there_is_no_commit_and_that_is_told(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output):
        await reported(source, 1)
        source.say(pointers("york-1"), revision=2)
        await reported(source, 2)
        source.endings.append(Unavailable("gone"))
        source.say(pointers("york-2"), revision=3)
        await reported(source, 3)
    assert [each.told.cursor for each in output.log] == [cursor(1), cursor(3)]
    assert {str(each.cursor): each.commit for each in source.reports} == {
        cursor(1): "1",
        cursor(2): "1",
        cursor(3): "2",
    }


async def test_steps_that_come_close_together_are_one_commit(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output, batch_milliseconds=100):
        await reported(source, 1)
        for revision in (2, 3, 4):
            source.say(pointers(f"york-{revision}"), revision=revision)
        await reported(source, 4)
    assert [each.told.cursor for each in output.log] == [cursor(1), cursor(4)]
    assert output.log[-1].told.subject == "3 changes: why 2; why 3; why 4"
    assert output.log[-1].told.body.startswith("2 ana: why 2\n3 ana: why 3\n4 ana: why 4\n\n")


async def test_a_stream_of_steps_is_published_though_it_never_pauses(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output, batch_milliseconds=10_000, batch_seconds_max=0.05):
        await reported(source, 1)
        for revision in range(2, 50):
            source.say(pointers(f"york-{revision}"), revision=revision)
            await asyncio.sleep(0.005)
        await reported(source, 49)
    assert len(output.log) > 2


async def test_whoever_was_overtaken_plans_again_on_the_new_head(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output):
        await reported(source, 1)
        output.edit({"owners/readme": b"mine"})
        source.say(pointers("york-2"), revision=2)
        await reported(source, 2)
    assert set(output.files) == {"clusters/york-1", "clusters/york-2", "owners/readme"}
    assert source.followed == [None, cursor(1)]


async def test_two_workers_make_one_line_of_commits(source, output):
    source.say(pointers("york-0"), revision=1)
    async with working(source, output), working(source, output):
        for revision in range(2, 12):
            source.say(pointers(f"york-{revision}"), revision=revision)
            await reported(source, revision)
    cursors = [each.told.cursor for each in output.log]
    assert cursors == sorted(set(cursors), key=lambda each: int(each.partition(".")[0]))
    assert len(output.files) == 11


async def test_a_source_that_goes_away_is_gone_on_with(source, output):
    source.say(pointers("york-1"), revision=1)
    source.endings = [Unavailable("away")] * 5
    async with working(source, output):
        await reported(source, 1)
        source.say(pointers("york-2"), revision=2)
        await reported(source, 2)
    assert source.followed[0] is None
    assert source.followed[1:] and set(source.followed[1:]) <= {cursor(1), cursor(2)}


async def test_a_cursor_that_is_too_old_is_answered_by_rendering_everything(source, output):
    source.say(pointers("york-1", "york-2"), revision=1)
    async with working(source, output):
        await reported(source, 1)
    source.unknown.add(cursor(1))
    source.steps.clear()
    source.say(pointers("york-2"), revision=5)
    async with working(source, output):
        await reported(source, 5)
    assert source.followed == [None, cursor(1), None]
    assert list(output.files) == ["clusters/york-2"]


async def test_a_commit_that_fails_is_made_later(source, output):
    source.say(pointers("york-1"), revision=1)
    output.failures = [Unavailable("the remote is away"), OSError(28, "no room"), Conflict("late")]
    async with working(source, output):
        await reported(source, 1)
    assert len(output.log) == 1


async def test_what_no_wait_can_mend_ends_the_worker(source, output):
    source.endings = [Denied("not you")]
    async with working(source, output) as running:
        with pytest.raises(Denied):
            await running


async def test_what_failed_is_tried_again_when_its_owner_has_mended_it(source, output):
    source.say(pointers("york-1", "broken"), revision=1)
    async with working(source, output):
        await reported(source, 1)
        assert source.reports[-1].held
        output.edit({"owners/broken": b"mended"})

        async def mended():
            return "clusters/broken" in output.files

        await eventually(mended)

        async def told():
            return not source.reports[-1].held

        await eventually(told)
    assert output.log[-1].told.subject.startswith("Render what could not be rendered before")
    assert output.log[-1].told.cursor == cursor(1)


async def test_an_edit_of_what_is_rendered_is_undone_and_said_so(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output):
        await reported(source, 1)
        output.edit({"clusters/york-1": b"mine", "owners/readme": b"mine"})

        async def undone():
            return output.files["clusters/york-1"] == b"york-1"

        await eventually(undone)
    assert output.files["owners/readme"] == b"mine"
    assert "restored: clusters/york-1" in output.log[-1].told.body


async def test_a_report_that_fails_stops_nothing(source, output):
    source.say(pointers("york-1"), revision=1)
    source.refusing = Unavailable("away")
    async with working(source, output):

        async def published():
            return len(output.log) == 1

        await eventually(published)
        source.refusing = None
        source.say(Removals(pointers=("york-1",)), revision=2)
        await reported(source, 2)
    assert output.files == {}


async def test_output_of_other_settings_is_left_alone_unless_adopted(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output):
        await reported(source, 1)
    async with working(source, output, stamp=OTHERS) as running:
        with pytest.raises(Rejected, match="other settings"):
            await running
    source.say(pointers("york-2"), revision=2)
    async with working(source, output, stamp=OTHERS, adopt=True):
        await reported(source, 2)
    assert source.followed == [None, None]
    assert output.log[-1].told.stamp == str(OTHERS)


async def test_a_worker_that_is_overruled_stops(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output, adopt=True) as running:
        await reported(source, 1)
        told = Told("other settings", "", cursor(1), str(OTHERS))
        output.log.append(Commit({"clusters/york-1": b"other"}, told))
        with pytest.raises(Rejected):
            await running


async def test_what_was_adopted_stays_so_though_no_file_differs(source, output):
    source.say(pointers("york-1"), revision=1)
    async with working(source, output):
        await reported(source, 1)
    async with working(source, output, stamp=OTHERS, adopt=True):
        source.reports.clear()
        await reported(source, 1)
        await asyncio.sleep(0.2)  # long enough to have looked at the output again
        source.say(pointers("york-2"), revision=2)
        await reported(source, 2)
    assert [each.told.stamp for each in output.log] == [str(OURS), str(OTHERS)]


def test_waits_grow_to_a_bound_and_begin_again_after_a_success():
    backoff = Backoff(1.0, 8.0)
    waits = [backoff.next() for _ in range(100)]
    assert all(0.5 <= wait <= 8.0 for wait in waits)
    assert all(wait >= 4.0 for wait in waits[3:])
    backoff.reset()
    assert backoff.next() <= 1.0
