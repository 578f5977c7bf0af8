"""The five reference selectors: Trellis beside SQL, Cypher and a label loop, at 60,000 and 1M.

Nothing is remembered: each call evaluates a selector that was read before, as SQLite and Neo4j run
statements they have prepared before. A count is a number; a set ends as its cluster numbers in this
process. Every answer is compared with Trellis's before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median

import apsw

from bench.cypher import Cypher
from bench.fleet import snapshot
from bench.label_loop import LabelLoop, requirements
from bench.result import Row, row
from bench.scale import Measured, Scale
from bench.sql import Sql, forms
from bench.stores import neo4j
from bench.timing import Spent, Work
from cli.sample import reference_selectors
from graph.index.snapshot import Snapshot
from graph.model.selector import Selector
from graph.targeting.cypher import compile_cypher
from graph.targeting.evaluate import count, evaluate
from graph.targeting.parser import parse

TRELLIS, LOOP, NEO4J = "Trellis", "Kubernetes-style label loop", "Neo4j, Cypher"
SQLITE = "SQLite, recursive SQL"
SLOW_ROUNDS = 5
SQL_TRIALS = 3


@dataclass(frozen=True, slots=True)
class Question:
    """A selector as each side takes it: Trellis's answers, and how to ask for them again."""

    name: str
    selector: Selector
    view: Snapshot

    def count(self) -> int:
        """How many."""
        return count(self.selector, self.view)

    def numbers(self) -> object:
        """Which; unboxed, as the product hands them on."""
        return evaluate(self.selector, self.view).numbers()

    def measure(self, what: str) -> str:
        """What a row about this is called."""
        return f"{self.name} {what}, {len(self.view.everything()):,} clusters"


def run(scale: Scale) -> Measured:
    """Every side, every selector."""
    view = snapshot(scale.clusters)
    asked = questions(scale.clusters)
    sql, loop = Sql(view), LabelLoop(view)
    rows: list[Row] = []
    notes = [
        f"{each.name} chooses {each.count():,} of {len(view.everything()):,}" for each in asked
    ]
    for question in asked:
        rows += _in_process(question, sql, loop, scale, notes)
    rows += _beside_neo4j(asked, scale, notes)
    rows += _large(asked, questions(scale.large), scale)
    return Measured(rows, notes)


def questions(clusters: int) -> list[Question]:
    """The reference selectors, read against the fleet of that size."""
    view = snapshot(clusters)
    texts = reference_selectors(clusters)
    return [Question(name, parse(text, view), view) for name, text in texts.items()]


def _in_process(
    question: Question, sql: Sql, loop: LabelLoop, scale: Scale, notes: list[str]
) -> Iterator[Row]:
    wanted = requirements(question.selector)
    _agree(question, LOOP, partial(loop.numbers, wanted), partial(loop.count, wanted))
    for what in ("count", "set"):
        form, sql_work = _fastest_sql(question, sql, what, scale)
        notes.append(f"{question.name} {what}: the fastest SQL has the form: {form}")
        looped = loop.count if what == "count" else loop.numbers
        works: dict[str, Work] = {
            TRELLIS: _own(question, what),
            SQLITE: sql_work,
            LOOP: partial(looped, wanted),
        }
        spent = scale.timed(works)
        yield from _rows(question.measure(what), spent, _cpu)


def _fastest_sql(question: Question, sql: Sql, what: str, scale: Scale) -> tuple[str, Work]:
    works: dict[str, Work] = {}
    for form, query in forms(question.selector).items():
        _agree(
            question, f"{SQLITE}, {form}", partial(sql.numbers, query), partial(sql.count, query)
        )
        works[form] = partial(sql.count if what == "count" else sql.numbers, query)
    spent = scale.timed(works, rounds_max=SQL_TRIALS)
    best = min(spent, key=lambda form: spent[form].cpu)
    return best, works[best]


def _beside_neo4j(asked: list[Question], scale: Scale, notes: list[str]) -> Iterator[Row]:
    found = neo4j(scale.clusters) if scale.neo4j else "not asked for"
    if isinstance(found, str):
        notes.append(f"NEO4J WAS NOT MEASURED: {found}")
        return
    cypher = Cypher(found.server)
    try:
        notes.append(f"the server is {cypher.version()}; SQLite is {apsw.sqlite_lib_version()}")
        for question in asked:
            yield from _neo4j_rows(question, cypher, scale)
    finally:
        cypher.close()


def _neo4j_rows(question: Question, cypher: Cypher, scale: Scale) -> Iterator[Row]:
    """By the wall clock on both sides: the work is done in another process."""
    statement = compile_cypher(question.selector, question.view)
    _agree(question, NEO4J, partial(cypher.numbers, statement), partial(cypher.count, statement))
    for what in ("count", "set"):
        asked = cypher.count if what == "count" else cypher.numbers
        works: dict[str, Work] = {
            TRELLIS: _own(question, what),
            NEO4J: partial(asked, statement),
        }
        cypher.server_seconds.clear()
        spent = scale.timed(works, rounds_max=SLOW_ROUNDS)
        measure = f"{question.measure(what)}, wall clock"
        yield from _rows(measure, spent, _wall)
        own = median(cypher.server_seconds[-SLOW_ROUNDS:]) * 1e6
        over = spent[TRELLIS].wall * 1e6
        yield row(measure, f"{NEO4J}, server's own clock", own, "us", over=over, ratio_to=TRELLIS)


def _large(small: list[Question], large: list[Question], scale: Scale) -> Iterator[Row]:
    for one, other in zip(small, large, strict=True):
        for what in ("count", "set"):
            works = {"small": _own(one, what), "large": _own(other, what)}
            spent = scale.timed(works)
            yield row(
                other.measure(what),
                TRELLIS,
                spent["large"].cpu * 1e6,
                "us",
                over=spent["small"].cpu * 1e6,
                ratio_to=f"{TRELLIS} at {len(one.view.everything()):,}",
            )


def _own(question: Question, what: str) -> Work:
    return question.count if what == "count" else question.numbers


def _rows(
    measure: str, spent: dict[str, Spent], seconds: Callable[[Spent], float]
) -> Iterator[Row]:
    base = seconds(spent[TRELLIS]) * 1e6
    yield row(measure, TRELLIS, base, "us")
    for subject, found in spent.items():
        if subject != TRELLIS:
            yield row(measure, subject, seconds(found) * 1e6, "us", over=base, ratio_to=TRELLIS)


def _agree(
    question: Question, subject: str, numbers: Callable[[], list[int]], counted: Callable[[], int]
) -> None:
    """No ratio is worth anything between different answers."""
    expected = list(evaluate(question.selector, question.view))
    assert sorted(numbers()) == expected, f"{subject} answers {question.name} differently"
    assert counted() == len(expected) == question.count(), f"{subject} counts differently"


def _cpu(spent: Spent) -> float:
    return spent.cpu


def _wall(spent: Spent) -> float:
    return spent.wall
