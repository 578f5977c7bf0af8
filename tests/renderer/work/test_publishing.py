"""One commit after the other, and who is told."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from graph.model.errors import Unavailable
from listing_plan import ListingPlan
from memory_publisher import MemoryPublisher
from renderer.message import Complete
from renderer.work.measures import Measures
from renderer.work.publishing import Publishing
from renderer.work.stamp import Stamp
from scripted import ScriptedSource, cursor, pointers


@pytest.fixture
def source():
    return ScriptedSource()


@pytest.fixture
def output():
    return MemoryPublisher()


@pytest.fixture
def spans():
    return []


@pytest.fixture
def publishing(source, output, spans):
    @contextmanager
    def trace(what, /, **facts):
        spans.append((what, facts))
        yield
        spans.append(f"end of {what}")

    measures = Measures()
    stamp = Stamp(1, "a" * 12)
    found = Publishing(
        source, output, ListingPlan, stamp, name="edge", measures=measures, trace=trace
    )
    yield found
    found.close()
    output.close()
    measures.close()


async def published(publishing, *messages, revision):
    standing = await publishing.look()
    batch = await publishing.begin(standing.head, fresh=standing.fresh)
    try:
        for message in messages:
            await batch.take(message)
        await publishing.finish(batch, Complete(cursor(revision), revision, 0))
        return await publishing.publish(batch)
    finally:
        await batch.end()


async def test_what_is_done_is_traced_in_its_parts(publishing, spans):
    await published(publishing, pointers("york-1"), pointers("york-2"), revision=1)
    assert spans == [
        ("follow", {}),
        "end of follow",
        ("plan", {"revision": 1}),
        "end of plan",
        ("publish", {"revision": 1}),
        "end of publish",
    ]


async def test_nothing_is_reported_where_nothing_was_ever_published(publishing, source, output):
    assert not (await published(publishing, revision=1)).commit
    assert source.reports == []
    assert output.log == []


async def test_what_was_published_is_reported_under_its_name(publishing, source):
    await published(publishing, pointers("york-1", "broken"), revision=1)
    (report,) = source.reports
    assert (report.name, str(report.cursor), report.commit) == ("edge", cursor(1), "1")
    assert [each.application for each in report.held] == ["broken"]


async def test_reasons_that_cannot_be_known_hold_nothing_up(publishing, source, output):
    await published(publishing, pointers("york-1"), revision=1)
    source.refusing = Unavailable("away")
    await published(publishing, pointers("york-2"), revision=2)
    assert output.log[-1].told.subject == "Render revision 2"


async def test_where_nothing_differs_the_next_begins_behind_it(publishing):
    await published(publishing, pointers("york-1"), revision=1)
    await published(publishing, pointers("york-1"), revision=7)
    standing = await publishing.look()
    assert standing.head.cursor == cursor(1)
    assert standing.after == cursor(7)


async def test_a_batch_that_is_not_published_leaves_nothing(publishing, output):
    standing = await publishing.look()
    batch = await publishing.begin(standing.head, fresh=True)
    await batch.take(pointers("york-1"))
    assert batch.wait_seconds(1, 1) is None
    await batch.finish(Complete(cursor(1), 1, 0))
    assert 0 < batch.wait_seconds(100, 50) <= 50
    assert batch.wait_seconds(0, 50) == 0
    await batch.end()
    await batch.end()
    assert output.log == []
    assert output.open_drafts == 0
