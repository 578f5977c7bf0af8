"""What a worker does once."""

from __future__ import annotations

import pytest

from graph.effective.portion import Removals
from graph.model.errors import Conflict, NotFound, Unavailable
from listing_plan import ListingPlan
from memory_publisher import MemoryPublisher
from renderer.work import errands as module
from renderer.work.errands import Errands
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
def errands(source, output):
    measures = Measures()
    stamp = Stamp(1, "a" * 12)
    publishing = Publishing(source, output, ListingPlan, stamp, name="main", measures=measures)
    seen = []
    found = Errands(publishing, seen.append)
    yield found
    publishing.close()
    output.close()
    measures.close()


async def test_once_publishes_up_to_now(errands, source, output):
    source.say(pointers("york-1"), revision=1)
    published = await errands.once()
    assert published.commit
    assert published.changes == {"clusters/york-1": True}
    assert published.complete.revision == 1
    assert not (await errands.once()).commit
    assert len(output.log) == 1
    assert [str(each.cursor) for each in source.reports] == [cursor(1)] * 2


async def test_once_begins_again_where_another_was_first(errands, source, output):
    source.say(pointers("york-1"), revision=1)
    output.failures = [Conflict("late")] * 4
    assert (await errands.once()).commit
    source.say(pointers("york-2"), revision=2)
    output.failures = [Conflict("late")] * 5
    with pytest.raises(Conflict):
        await errands.once()


async def test_once_renders_everything_where_the_cursor_is_too_old(errands, source, output):
    source.say(pointers("york-1"), revision=1)
    await errands.once()
    source.unknown.add(cursor(1))
    source.say(pointers("york-2"), revision=2)
    await errands.once()
    assert output.log[-1].told.subject == "Render everything at revision 2"


async def test_once_says_what_is_away_instead_of_waiting_for_it(errands, source, output):
    source.away = Unavailable("away")
    with pytest.raises(Unavailable):
        await errands.once()
    assert output.log == []


async def test_a_rehearsal_tells_what_and_why_and_publishes_nothing(errands, source, output):
    source.say(pointers("york-1"), revision=1)
    await errands.once()
    source.say(pointers("york-2"), Removals(pointers=("york-1",)), revision=2)
    rehearsed = await errands.rehearse()
    assert rehearsed.changes == {"clusters/york-1": False, "clusters/york-2": True}
    assert rehearsed.why == {"clusters/york-1": "it is gone", "clusters/york-2": "it was told"}
    assert rehearsed.complete.revision == 2
    assert len(output.log) == 1
    assert len(source.reports) == 1


async def test_a_verification_finds_what_should_not_be_and_what_is_missing(errands, source, output):
    source.say(pointers("york-1", "york-2"), revision=1)
    await errands.once()
    assert (await errands.verify()).whole
    source.steps.clear()
    source.say(pointers("york-2", "york-3"), revision=1)
    verified = await errands.verify()
    assert verified.differences == {"clusters/york-1": False, "clusters/york-3": True}
    assert not verified.whole
    assert len(output.log) == 1


async def test_a_verification_finds_what_others_changed(errands, source, output):
    source.say(pointers("york-1"), revision=1)
    await errands.once()
    output.edit({"clusters/york-1": b"mine", "owners/x": b"mine"})
    verified = await errands.verify()
    assert verified.restored == ("clusters/york-1",)
    assert not verified.whole


async def test_what_is_behind_is_not_called_wrong(errands, source, monkeypatch):
    monkeypatch.setattr(module, "CATCH_UP_SECONDS", 0)
    source.say(pointers("york-1"), revision=1)
    await errands.once()
    source.say(pointers("york-2"), revision=1_200)
    with pytest.raises(Unavailable, match="1,199 revisions behind"):
        await errands.verify()


async def test_a_wave_goes_when_it_is_confirmed(errands, source, output):
    source.say(pointers("york-1"), revision=1)
    await errands.once()
    await errands.once(confirm="till")
    assert output.files[".trellis/confirmed"] == b"till"
    assert output.log[-1].told.subject == "Let go of what till was to lose, as confirmed"
    with pytest.raises(NotFound):
        await errands.once(confirm="menu")
