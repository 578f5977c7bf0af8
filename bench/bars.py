"""The bars: what a measured figure has to reach, and whether it does.

A bar is about ratios, both sides in one run, except where it is about seconds of CPU or megabytes.
It holds for the worst of the rows it covers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bench.result import Row


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit on the rows of one benchmark whose measure and subject match."""

    benchmark: str
    promise: str
    limit: float
    at_least: bool
    """Otherwise at most."""
    measure: str
    """A pattern for the whole of ``Row.measure``."""
    subject: str
    unit: str = ""
    """Set where the value itself is limited, not the ratio."""

    def covers(self, benchmark: str, row: Row) -> bool:
        """Whether it is about this row."""
        return (
            benchmark == self.benchmark
            and row.subject == self.subject
            and re.fullmatch(self.measure, row.measure) is not None
        )

    def figure(self, row: Row) -> float:
        """What of the row is compared with the limit."""
        assert self.unit or row.ratio is not None, f"{row.measure} is compared with nothing"
        return row.value if self.unit or row.ratio is None else row.ratio

    def met(self, row: Row) -> bool:
        """Whether the row keeps it."""
        figure = self.figure(row)
        return figure >= self.limit if self.at_least else figure <= self.limit

    def worst(self, rows: Iterable[Row]) -> Row | None:
        """The covered row nearest to missing it, or furthest past."""
        choose = min if self.at_least else max
        covered = [each for each in rows if self.covers(self.benchmark, each)]
        return choose(covered, key=self.figure) if covered else None

    def __str__(self) -> str:
        sign = "at least" if self.at_least else "at most"
        return f"{sign} {self.limit:g}{f' {self.unit}' if self.unit else 'x'}"


SMALL, LARGE = "60,000 clusters", "1,000,000 clusters"

BARS = (
    Bar(
        "selectors",
        "each reference selector against recursive SQL",
        100,
        True,
        rf"Q\d (count|set), {SMALL}",
        "SQLite, recursive SQL",
    ),
    Bar(
        "selectors",
        "each reference selector against Cypher on Neo4j",
        100,
        True,
        rf"Q\d (count|set), {SMALL}, wall clock",
        "Neo4j, Cypher",
    ),
    Bar(
        "selectors",
        "the seed sentence at 1,000,000 over 60,000 clusters",
        8,
        False,
        rf"Q1 count, {LARGE}",
        "Trellis",
    ),
    Bar(
        "updates",
        "one membership change visible, over the seed sentence's count",
        10,
        False,
        rf"one (membership joined|membership left|place in geo changed), {SMALL}",
        "Trellis",
    ),
    Bar(
        "updates",
        "100 changes in one batch, each, over the seed sentence's count",
        2,
        False,
        rf"100 memberships joined in one batch, each, {SMALL}",
        "Trellis",
    ),
    Bar(
        "facets",
        "a whole tree to depth 3, over the seed sentence's count: seed sentence",
        5,
        False,
        rf"geo tree to depth 3: seed sentence, {SMALL}",
        "Trellis",
    ),
    Bar(
        "facets",
        "a whole tree to depth 3, over the seed sentence's count: broad set",
        5,
        False,
        rf"geo tree to depth 3: broad set, {SMALL}",
        "Trellis",
    ),
    Bar(
        "start",
        "ready from the snapshot file, CPU after imports",
        0.3,
        False,
        rf"ready, CPU, {SMALL}",
        "from the snapshot file",
        "s",
    ),
    Bar(
        "start",
        "memory of the index",
        60,
        False,
        rf"memory of the index, {SMALL}",
        "resident",
        "MB",
    ),
    Bar(
        "past",
        "any earlier revision, first read, over reading the snapshot file",
        2,
        False,
        rf"an earlier revision, worst of \d+, {SMALL}",
        "Trellis, first",
    ),
    Bar(
        "past",
        "any earlier revision, second read, over reading the snapshot file",
        0.01,
        False,
        rf"an earlier revision, worst of \d+, {SMALL}",
        "Trellis, second",
    ),
    Bar(
        "past",
        "difference since the first revision, first read, over reading the snapshot file",
        2,
        False,
        rf"difference since revision 1, {SMALL}",
        "Trellis, first",
    ),
    Bar(
        "past",
        "a page of the log with a whole load, over reading the snapshot file",
        0.1,
        False,
        rf"page of the log with all \d+ revisions, {SMALL}",
        "Trellis, first",
    ),
    Bar(
        "graphql",
        "a count through GraphQL over a bare Starlette hello, computed",
        3,
        False,
        rf"count of the seed sentence, {SMALL}",
        "Trellis, computed",
    ),
    Bar(
        "graphql",
        "a count through GraphQL over a bare Starlette hello, repeated",
        1.5,
        False,
        rf"count of the seed sentence, {SMALL}",
        "Trellis, repeated",
    ),
    Bar(
        "graphql",
        "50 rows of 6 fields over a bare Starlette route, computed",
        2,
        False,
        rf"50 rows of 6 fields, {SMALL}",
        "Trellis, computed",
    ),
    Bar(
        "graphql",
        "1,000 rows of 6 fields over a bare Starlette route, computed",
        1.2,
        False,
        rf"1,000 rows of 6 fields, {SMALL}",
        "Trellis, computed",
    ),
    Bar(
        "graphql",
        "1,000 rows of 6 fields over a bare Starlette route, warm rows",
        0.6,
        False,
        rf"1,000 rows of 6 fields, {SMALL}",
        "Trellis, warm rows",
    ),
    Bar(
        "graphql",
        "a whole tree to depth 3 through GraphQL over the count through GraphQL",
        5,
        False,
        rf"geo tree to depth 3 of the seed sentence, over the count, {SMALL}",
        "Trellis, computed",
    ),
    Bar(
        "fanout",
        "a change for each of many subscribers, the stock handler over ours",
        5,
        True,
        rf"each of [0-9,]+ subscribers, {SMALL}",
        "Strawberry's handler",
    ),
    Bar(
        "workloads",
        "full effective state, 100 applications, CPU",
        2,
        False,
        rf"full effective state, 100 applications, {SMALL}",
        "Trellis",
        "s",
    ),
    *(
        Bar(
            "workloads",
            f"everything anew over the preview of a change to {touches}",
            limit,
            True,
            rf"preview, {touches}: .*, 100 applications, {SMALL}",
            "everything anew",
        )
        for touches, limit in (("1 cluster", 1_000), ("100 clusters", 100), ("5,000 clusters", 20))
    ),
    Bar(
        "workloads",
        "why an application is on a cluster, or is not, CPU",
        1_000,
        False,
        rf"why an application is on a cluster, or is not, 100 applications, {SMALL}",
        "Trellis",
        "us",
    ),
    *(
        Bar(
            "render",
            f"everything rendered over a change to {touches}",
            limit,
            True,
            rf"{touches}: .*, 100 applications, {SMALL}",
            "everything anew",
        )
        for touches, limit in (("1 cluster", 1_000), ("100 clusters", 100), ("5,000 clusters", 5))
    ),
    Bar(
        "render",
        "pointers written for another version of an application",
        0,
        False,
        rf"pointers written, all clusters: .*, 100 applications, {SMALL}",
        "Trellis",
        "files",
    ),
    *(
        Bar(
            "render",
            f"{what} of one materialised file per assignment, over ours",
            limit,
            True,
            rf"{what}, 100 applications, {SMALL}",
            "one file per assignment",
        )
        for what, limit in (("files", 30), ("bytes", 15))
    ),
    *(
        Bar(
            "render",
            f"fetched by a store that is {whose}",
            limit,
            False,
            rf"fetched by a store, .*, 100 applications, {SMALL}",
            f"artifacts, {whose}",
            "kB",
        )
        for whose, limit in (("affected", 50), ("not affected", 0))
    ),
)


def bar_of(benchmark: str, row: Row) -> Bar | None:
    """The bar a row is held to."""
    return next((each for each in BARS if each.covers(benchmark, row)), None)
