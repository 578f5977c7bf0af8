"""States followed by a renderer: whatever is at hand, a step leads to what is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from effective_checks import between
from engines import give, ticking
from graph.effective.state import begin
from graph.engine import Engine
from graph.model.change import Changeset, Cursor
from graph.model.command import LOSS_MAX, RegisterCluster, UpdateCluster
from graph.model.errors import ResyncRequired, Unavailable
from graph.model.names import Revision
from graph.model.workload import Choice
from graph.model.workload_command import Assign, SetLayer
from graph.rendering import accepted_loss
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from small import SMALL
from wire_renderers import WORKLOAD

LITTLE = GraphSettings(states_kept_max=1, changesets_kept_max=3, resume_changesets_max=20)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, settings=LITTLE, now=ticking())
    await give(engine, *SMALL, *WORKLOAD)
    yield engine
    await engine.close()


async def lanes(engine: Engine, number: int) -> None:
    await give(engine, SetLayer("grill-tx", "/geo/us/tx", {"lanes": number}, "grill"))


async def signs(engine: Engine, number: int) -> None:
    """The signs on one cluster alone: of three they lose two, and then one each time."""
    place = ("austin-1", "austin-2", "york-1")[number % 3]
    await give(engine, Assign("signs-all", Choice("signs"), f"cluster {place}"), loss=10)


async def test_a_renderer_begins_with_nothing_or_where_it_left(engine: Engine) -> None:
    first = await engine.rendering.begin(None)
    assert (first.was, first.accepted_loss) == (None, 0)
    assert first.now.view.cursor == engine.view.cursor
    place = engine.view.cursor
    for number in range(5):
        await signs(engine, number)
    step = await engine.rendering.begin(place)
    assert step.was is not None
    assert (step.was.view.cursor, step.now.view.cursor) == (place, engine.view.cursor)
    assert between(step.was, first.now) is None
    assert between(step.now, begin(engine.view)) is None
    assert step.accepted_loss == 2 + 1 + 1 + 1 + 1
    nothing = await engine.rendering.begin(engine.view.cursor)
    assert nothing.accepted_loss == 0


async def test_a_renderer_goes_on_whether_or_not_the_newest_state_is_at_hand(
    engine: Engine,
) -> None:
    first = await engine.rendering.begin(None)
    for number in range(3):
        await signs(engine, number)
    changeset = await engine.changeset(Revision(2))
    engine.rendering.states.restart()  # now nothing is at hand
    step = engine.rendering.go_on(first, changeset)
    assert step.was is first.now
    assert (step.now.view.cursor, step.accepted_loss) == (engine.view.cursor, 4)
    assert between(step.now, begin(engine.view)) is None
    assert (await engine.rendering.between(first, step)).accepted_loss == 4


def test_what_was_accepted_on_a_long_way_is_no_larger_than_a_number_gets() -> None:
    many = [
        Changeset(Revision(each), datetime(2026, 1, 1, tzinfo=UTC), "ana", "because", (), LOSS_MAX)
        for each in (1, 2)
    ]
    assert accepted_loss(many) == accepted_loss(many[:1]) == LOSS_MAX


async def test_of_a_long_way_no_more_loss_is_told_than_is_known(engine: Engine) -> None:
    first = await engine.rendering.begin(None)
    for number in range(6):
        await signs(engine, number)
    newest = await engine.changeset(engine.view.cursor.revision)
    step = engine.rendering.go_on(first, newest)
    assert step.accepted_loss == 1
    assert between(step.now, begin(engine.view)) is None


async def test_a_renderer_is_sent_away_sooner_than_everybody_waits_for_it(engine: Engine) -> None:
    first = await engine.rendering.begin(None)
    for number in range(LITTLE.changesets_kept_max + 1):
        await lanes(engine, number)
    newest = await engine.changeset(engine.view.cursor.revision)
    engine.rendering.states.restart()
    with pytest.raises(Unavailable, match="not worked out yet"):
        engine.rendering.go_on(first, newest)
    step = await engine.rendering.begin(first.now.view.cursor)
    assert step.now.view.cursor == engine.view.cursor


async def test_a_place_that_cannot_be_known_has_to_be_started_again(engine: Engine) -> None:
    place = engine.view.cursor
    with pytest.raises(ResyncRequired, match="not a place"):
        await engine.rendering.begin(Cursor(place.revision, "0" * 16))
    with pytest.raises(ResyncRequired):
        await engine.rendering.begin(Cursor(Revision(place.revision + 5), "0" * 16))
    for number in range(LITTLE.resume_changesets_max + 1):
        await give(engine, UpdateCluster("austin-1", title=str(number)))
    with pytest.raises(ResyncRequired, match="21 changesets behind"):
        await engine.rendering.begin(place)


async def test_a_record_that_was_replaced_has_to_be_started_again(engine: Engine) -> None:
    first = await engine.rendering.begin(None)
    await give(engine, RegisterCluster("york-2", groups=("/geo/ca",)))
    changeset = await engine.changeset(engine.view.cursor.revision)
    await engine.reload()
    with pytest.raises(ResyncRequired, match="replaced"):
        engine.rendering.go_on(first, changeset)
