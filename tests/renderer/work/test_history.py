"""Which history an output belongs to: H1 to H4 of ``renderer.work.history``."""

from __future__ import annotations

import orjson
import pytest

from graph.model.change import Relation
from graph.model.errors import Unavailable
from listing_plan import ListingPlan
from memory_publisher import MemoryPublisher
from renderer import paths
from renderer.work.errands import Errands
from renderer.work.history import DISCARDED_MAX, OtherHistory, check_history, take_over
from renderer.work.measures import Measures
from renderer.work.publishing import Publishing
from renderer.work.stamp import Stamp
from scripted import ScriptedSource, cursor, pointers


@pytest.fixture
def output():
    return MemoryPublisher()


@pytest.fixture
def errands_of(output):
    """What a worker on a source does once, all on one output."""
    opened = []

    def made(source):
        publishing = Publishing(
            source, output, ListingPlan, Stamp(1, "a" * 12), name="main", measures=Measures()
        )
        opened.append(publishing)
        return Errands(publishing, lambda _: None)

    yield made
    for each in opened:
        each.close()
        each.measures.close()


def fleet(*names, revision, **relations):
    """A source at a revision; ``relations`` of cursors that are no places in its history."""
    source = ScriptedSource()
    source.say(pointers(*names), revision=revision)
    source.relations = {cursor(int(at[1:])): what for at, what in relations.items()}
    return source


def discarded(output):
    kept = output.files.get(paths.DISCARDED)
    return None if kept is None else orjson.loads(kept)["discarded"]


async def test_a_source_that_is_behind_is_waited_for_and_nothing_is_written(errands_of, output):
    await errands_of(fleet("york-1", revision=20)).once()
    behind = errands_of(fleet("york-2", revision=12, r20=Relation.AHEAD))
    with pytest.raises(Unavailable, match=r"published up to revision 20.*fleet is at revision 12"):
        await behind.once()
    assert len(output.log) == 1


@pytest.mark.parametrize("relation", [Relation.OTHER, Relation.FORGOTTEN])
async def test_another_history_stops_and_writes_nothing(errands_of, output, relation):
    await errands_of(fleet("york-1", revision=20)).once()
    other = errands_of(fleet("york-2", revision=25, r20=relation))
    for errand in (other.once, other.rehearse, other.verify):
        with pytest.raises(OtherHistory):
            await errand()
    assert len(output.log) == 1


async def test_a_record_that_is_replaced_while_everything_is_rendered_writes_nothing(
    errands_of, output
):
    await errands_of(fleet("york-1", revision=20)).once()
    source = fleet("york-2", revision=25)
    source.unknown.add(cursor(20))  # so that it is rendered from a snapshot
    say = source.follow

    async def replaced(after):
        async for message in say(after):
            source.relations[cursor(20)] = Relation.OTHER
            yield message

    source.follow = replaced
    with pytest.raises(OtherHistory):
        await errands_of(source).once()
    assert len(output.log) == 1


async def test_who_takes_over_fences_off_the_other(errands_of, output):
    first = fleet("york-1", revision=20)
    await errands_of(first).once()
    restored = fleet("york-2", revision=12, r20=Relation.AHEAD)
    assert (await errands_of(restored).once(anew=True)).commit
    assert discarded(output) == [cursor(20)]
    with pytest.raises(OtherHistory, match="discarded revision 20"):  # its 12 is the other's 12 too
        await errands_of(first).once()
    restored.say(pointers("york-3"), revision=13)
    assert (await errands_of(restored).once()).commit
    assert len(output.log) == 3
    assert discarded(output) == [cursor(20)]


async def test_an_output_is_taken_over_though_no_file_differs(errands_of, output):
    await errands_of(fleet("york-1", revision=20)).once()
    other = fleet("york-1", revision=21, r20=Relation.OTHER)
    assert (await errands_of(other).once(anew=True)).commit
    assert not (await errands_of(other).once()).commit


async def test_who_takes_it_back_lifts_the_fence(errands_of, output):
    first = fleet("york-1", revision=20)
    await errands_of(first).once()
    other = fleet("york-2", revision=21, r20=Relation.OTHER)
    await errands_of(other).once(anew=True)
    first.relations[cursor(21)] = Relation.OTHER
    assert (await errands_of(first).once(anew=True)).commit
    assert discarded(output) == [cursor(21)]
    assert not (await errands_of(first).once()).commit
    with pytest.raises(OtherHistory):
        await errands_of(other).once()


async def test_rendering_ones_own_history_anew_discards_nothing(errands_of, output):
    source = fleet("york-1", revision=20)
    await errands_of(source).once()
    assert not (await errands_of(source).once(anew=True)).commit
    assert discarded(output) is None


async def test_few_discarded_cursors_are_remembered(output):
    kept = [cursor(each) for each in range(DISCARDED_MAX)]
    output.edit({paths.DISCARDED: orjson.dumps({"discarded": kept})})
    source = ScriptedSource(relations=dict.fromkeys((*kept, cursor(99)), Relation.OTHER))
    head = output.head().__class__("1", cursor(99), "", output.head().tree)
    content = await take_over(source, head)
    assert content is not None
    assert orjson.loads(content)["discarded"] == [*kept[1:], cursor(99)]
    assert source.located[0][0] == cursor(99), "the commit vouches for the first cursor alone"


async def test_nothing_published_belongs_to_nobody(output):
    source = ScriptedSource()
    await check_history(source, output.head(), "main")
    assert await take_over(source, output.head()) is None
    assert not source.located
