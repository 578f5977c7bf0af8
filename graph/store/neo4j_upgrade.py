"""Opening a database: a record is begun in an empty one, and an older one is brought up to date.

Steps can be repeated, because Neo4j wants every change of the schema in a transaction of its own:
the number that records them is written last, and whoever is stopped before that starts again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import LiteralString, Protocol, TypeVar

from graph.model.errors import Conflict, Invalid, NotFound
from graph.store.neo4j_clock import Ask, Row, begin_record, lock_clock, read_schema
from graph.store.neo4j_facts import in_pages
from graph.store.neo4j_migrations import (
    AWAIT_INDEXES,
    BEFORE_WORKLOAD,
    FOREIGN,
    FOREIGN_PUBLICATION,
    FOREIGN_WORKLOAD,
    MIGRATIONS,
    SCHEMA_VERSION,
)
from graph.store.neo4j_named import named_steps
from graph.store.neo4j_rows import load_selectors

T = TypeVar("T")


class Run(Protocol):
    """Does some work in one transaction, which the server ends after so many seconds."""

    async def __call__(
        self, work: Callable[[Ask], Awaitable[T]], *, seconds: float | None = None
    ) -> T:
        """What the work returns."""
        ...


async def bring_up_to_date(run: Run, *, create: bool, seconds: float) -> None:
    """Make the database one that this version reads and writes, or refuse and leave it alone."""

    async def statement(text: LiteralString) -> list[Row]:
        return await run(lambda ask: ask(text), seconds=seconds)

    schema = await run(read_schema)
    if schema > SCHEMA_VERSION:
        raise Conflict(
            f"the record in Neo4j has schema version {schema:,}; "
            f"this trellis knows up to {SCHEMA_VERSION:,}",
            hint="upgrade trellis; the record was left as it is",
        )
    if schema == SCHEMA_VERSION:
        return
    # Another process may have come first and have written already: then it is a record by now.
    if await statement(_foreign(schema)) and await run(read_schema) == schema:
        raise Invalid(
            "the Neo4j database holds data of the same labels that is no record of trellis",
            hint="use a database of its own; this one was left as it is",
        )
    if schema == 0 and not create:
        raise NotFound(
            "the Neo4j database holds no record", hint="check the URL, or load a fleet first"
        )
    for migration in MIGRATIONS[schema:]:
        for text in migration:
            await statement(text)
    await statement(AWAIT_INDEXES)
    if 0 < schema <= BEFORE_WORKLOAD:
        await run(_link_selectors, seconds=seconds)
    await run(begin_record)


def _foreign(schema: int) -> LiteralString:
    if schema == 0:
        return FOREIGN
    return FOREIGN_WORKLOAD if schema <= BEFORE_WORKLOAD else FOREIGN_PUBLICATION


async def _link_selectors(ask: Ask) -> None:
    """Let selectors point at everything they name, as those written from now on do."""
    await lock_clock(ask)
    for write in in_pages(named_steps(await load_selectors(ask))):
        await ask(write.text, rows=write.rows)
