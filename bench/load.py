"""Loading the sample fleet into both stores through the engine, and commits a second.

Loading is in batches of 10,000 commands, as ``trellis load`` does it. Commits are joins and leaves,
one command each, durable when counted: by one caller after the other, and by 40 at once, who share
transactions. These are wall clock figures: disks, the server and other load are in them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from bench.result import Row, row
from bench.scale import Measured, Scale
from bench.stores import ACTOR, EmbeddedFleet, Neo4jFleet, embedded, neo4j
from bench.timing import Watch
from bench.updates import UNUSED
from graph.engine import Engine
from graph.model.command import Batch, Join, Leave
from graph.model.names import ClusterNumber

CALLERS = 40
EMBEDDED, NEO4J = "embedded store", "Neo4j"


def run(scale: Scale) -> Measured:
    """Both stores, or one and why not the other."""
    mine = embedded(scale.clusters)
    theirs = neo4j(scale.clusters) if scale.neo4j else "not asked for"
    rows = [*_loaded(scale, EMBEDDED, mine)]
    notes: list[str] = []
    if isinstance(theirs, str):
        notes.append(f"NEO4J WAS NOT MEASURED: {theirs}")
    else:
        rows += _loaded(scale, NEO4J, theirs, beside=mine)
    rows += asyncio.run(_commits(scale, EMBEDDED, mine, 10 * scale.commits))
    if not isinstance(theirs, str):
        rows += asyncio.run(_commits(scale, NEO4J, theirs, 4 * scale.commits))
    return Measured(rows, notes)


def _loaded(
    scale: Scale,
    subject: str,
    fleet: EmbeddedFleet | Neo4jFleet,
    *,
    beside: EmbeddedFleet | None = None,
) -> Iterator[Row]:
    commands, spent = fleet.loaded.commands, fleet.loaded.spent
    measure = f"{scale.clusters:,} clusters loaded, {commands:,} commands"
    walls = beside and beside.loaded.spent
    yield row(
        f"{measure}, wall clock",
        subject,
        spent.wall,
        "s",
        over=walls.wall if walls else None,
        ratio_to=EMBEDDED if walls else None,
    )
    yield row(f"{measure}, CPU of our process", subject, spent.cpu, "s")


async def _commits(
    scale: Scale, subject: str, fleet: EmbeddedFleet | Neo4jFleet, together: int
) -> list[Row]:
    async with fleet.engine() as engine:
        alone = await _rate(engine, callers=1, commits=scale.commits)
        shared = await _rate(engine, callers=CALLERS, commits=together)
    one = "one caller"
    measure = f"commits, {subject}, {scale.clusters:,} clusters"
    return [
        row(measure, one, alone, "commits/s"),
        row(measure, f"{CALLERS} callers", shared, "commits/s", over=alone, ratio_to=one),
    ]


async def _rate(engine: Engine, *, callers: int, commits: int) -> float:
    """Each caller lets its own cluster join and leave again, so the fleet ends as it was."""
    pairs = max(1, commits // callers // 2)

    async def caller(number: int) -> None:
        name = engine.view.cluster_name(ClusterNumber(number))
        for _ in range(pairs):
            await engine.execute(Batch((Join(name, UNUSED),), ACTOR, "measured"))
            await engine.execute(Batch((Leave(name, UNUSED),), ACTOR, "as it was"))

    watch = Watch()
    await asyncio.gather(*map(caller, range(callers)))
    return callers * pairs * 2 / watch.spent().wall
