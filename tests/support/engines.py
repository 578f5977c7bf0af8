"""Engines for tests: a clock that ticks by itself, and short ways to give commands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

from graph.engine import Engine
from graph.model.change import Receipt
from graph.model.command import Batch, Command
from graph.model.names import Revision

NOON = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def ticking(start: datetime = NOON) -> Callable[[], datetime]:
    """A clock that is one second later at every look."""
    seconds = count()
    return lambda: start + timedelta(seconds=next(seconds))


async def give(
    engine: Engine,
    *commands: Command,
    key: str | None = None,
    expected: int | None = None,
    actor: str = "ana",
    reason: str = "because",
    loss: int | None = None,
) -> Receipt:
    """Execute one batch."""
    revision = None if expected is None else Revision(expected)
    return await engine.execute(Batch(commands, actor, reason, revision, key, loss))


def names(engine: Engine, selector: str) -> set[str]:
    """The names of the clusters a selector chooses."""
    view = engine.view
    return {view.cluster_name(number) for number in engine.resolve(selector, view)}
