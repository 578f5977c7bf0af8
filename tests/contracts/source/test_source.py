"""What a source promises, whether the fleet is in this process or behind an API."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from graph.effective.portion import Overlays, Pointers, Removals
from graph.effective.rendition import Cause
from graph.model.change import Cursor
from graph.model.command import RegisterCluster, UpdateCluster
from graph.model.errors import ResyncRequired
from graph.model.publication import HeldBack, Report
from graph.model.workload import Choice
from graph.model.workload_command import Prohibit, SetLayer, Unassign
from renderer.message import Complete, Defined, Reason
from small import SMALL
from sources import (
    OPENERS,
    end_of,
    first_step,
    in_process,
    served,
    step,
    without_cursor,
)
from wire_renderers import WORKLOAD


@pytest.fixture(params=OPENERS)
async def fleet(request, tmp_path):
    async with OPENERS[request.param](tmp_path) as opened:
        await opened.apply(*SMALL)
        await opened.apply(*WORKLOAD)
        yield opened


async def test_without_a_cursor_the_first_step_is_everything(fleet):
    told = await first_step(fleet.source)
    assert end_of(told).revision == 2
    pointers = [each for told_ in told if isinstance(told_, Pointers) for each in told_.pointers]
    assert [each.cluster for each in pointers] == ["austin-1", "austin-2", "york-1"]
    (defined,) = [each for each in told if isinstance(each, Defined)]
    assert [each.name for each in defined.applications] == ["board", "grill", "player"]
    assert [each.name for each in defined.namespaces] == ["kitchen", "signs"]
    assert [each.name for each in defined.policies] == ["images"]


async def test_steps_come_in_order_and_each_ends(fleet):
    async with aclosing(fleet.source.follow(None)) as messages:
        revisions = [end_of(await step(messages)).revision]
        for number in range(3):
            values = {"lanes": number + 1}
            await fleet.apply(SetLayer("grill-tx", "/geo/us/tx", values, "grill"))
            told = await step(messages)
            revisions.append(end_of(told).revision)
            (overlays,) = [each for each in told if isinstance(each, Overlays)]
            assert overlays.overlays[0].values["lanes"] == number + 1
    assert revisions == [2, 3, 4, 5]


async def test_behind_a_cursor_there_is_one_step_of_what_differs(fleet):
    cursor = end_of(await first_step(fleet.source)).cursor
    await fleet.apply(RegisterCluster("new-1", groups=("/geo/us/ny",)))
    await fleet.apply(RegisterCluster("new-2", groups=("/geo/us/ny",)))
    told = await first_step(fleet.source, cursor)
    pointers = [each for told_ in told if isinstance(told_, Pointers) for each in told_.pointers]
    assert [each.cluster for each in pointers] == ["new-1", "new-2"]
    assert end_of(told).revision == 4
    assert await first_step(fleet.source, end_of(told).cursor) == [
        Complete(end_of(told).cursor, 4, 0)
    ]


async def test_what_was_accepted_to_be_lost_is_told_with_the_step(fleet):
    cursor = end_of(await first_step(fleet.source)).cursor
    await fleet.apply(Unassign("signs-all"), loss=100)
    await fleet.apply(Prohibit("law", Choice("", ("board",)), "/geo/us"), loss=100)
    told = await first_step(fleet.source, cursor)
    removed = [line for each in told if isinstance(each, Removals) for line in each.lines]
    assert {line.cause for line in removed} == {Cause.PROHIBITED, Cause.UNASSIGNED}
    assert end_of(told).accepted_loss == sum(len(line.clusters) for line in removed)


async def test_a_cursor_of_another_history_is_refused(fleet):
    with pytest.raises(ResyncRequired):
        await first_step(fleet.source, "1.0123456789abcdef")


async def test_the_reasons_behind_a_cursor_are_told_oldest_first(fleet):
    cursor = end_of(await first_step(fleet.source)).cursor
    actors = {each.actor for each in await fleet.source.reasons(None, 2)}
    (actor,) = actors
    for number in range(4):
        size = ("small", "large")[number % 2]
        await fleet.apply(UpdateCluster("york-1", labels={"size": size}), reason=f"why {number}")
    assert await fleet.source.reasons(cursor, 5) == [
        Reason(3, actor, "why 0"),
        Reason(4, actor, "why 1"),
        Reason(5, actor, "why 2"),
    ]


async def test_of_too_many_reasons_the_newest_are_told(fleet):
    for number in range(12):
        size = ("small", "large")[number % 2]
        await fleet.apply(UpdateCluster("york-1", labels={"size": size}), reason=f"why {number}")
    told = await fleet.source.reasons(None, 14)
    assert [each.reason for each in told] == [f"why {number}" for number in range(2, 12)]
    told = await fleet.source.reasons(None, 3)
    assert [each.revision for each in told] == [1, 2, 3]


async def test_both_say_the_same(tmp_path):
    history = [SMALL, WORKLOAD]
    history += [
        (UpdateCluster("york-1", labels={"size": None}),),
        (SetLayer("grill-9", "cluster york-1", {"lanes": 3, "host": "x"}, "grill"),),
        (SetLayer("fleet-9", "/devices/grill", {"telemetry": {"traces": 1, "é": 1.0}}),),
        (Unassign("kitchen-us"),),
    ]
    said = []
    for opener in (in_process, served):
        async with opener(tmp_path) as fleet:
            told = []
            async with aclosing(fleet.source.follow(None)) as messages:
                for commands in history:
                    await fleet.apply(*commands, loss=100)
                    told.append(without_cursor(await step(messages)))
            told.append(without_cursor(await first_step(fleet.source)))
            said.append(told)
    assert said[0] == said[1]
    assert repr(said[0]) == repr(said[1]), "1 is not 1.0, and every map is in the same order"


async def test_what_was_published_is_told(fleet):
    cursor = end_of(await first_step(fleet.source)).cursor
    held = [HeldBack(f"app-{each}", "failed", "a\nb " * 500, each, 2) for each in range(1_500)]
    await fleet.source.report(Report("main", Cursor.parse(cursor), "c0ffee", tuple(held)))
    (kept,) = await fleet.engine.publications()
    assert (kept.name, kept.cursor, kept.commit) == ("main", Cursor.parse(cursor), "c0ffee")
    told = len(kept.held)
    assert 200 < told <= 1_000
    assert [each.clusters for each in kept.held] == list(range(1_499, 1_499 - told, -1))
    assert len(kept.held[0].message) <= 500
