"""GraphQL's price: server CPU per request beside a bare route, stock Strawberry and Node peers.

Every side runs in a process of its own and has given the same answer before it is timed. They take
turns, round after round; a figure is the CPU time a server's process used in a turn over the
requests it answered, and the median of the rounds.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from bench import graphql_peers
from bench.graphql_client import CONNECTIONS, Client
from bench.graphql_questions import COUNT, FEW_ROWS, MANY_ROWS, TREE, Question
from bench.graphql_sides import HELLO, PLAIN, Asked, everybody
from bench.graphql_trellis import COMPUTED, REPEATED, WARM
from bench.result import Row, row
from bench.scale import Measured, Scale

ROUNDS_MAX = 5
TURN = 15
WARM_UP = 100
"""How much longer than a round of the other benchmarks a turn and a warm-up are."""
REQUESTS_MAX = 2_000
OVER_COUNT = f"{TREE.name}, over the count"
PYTHON = ("strawberry-graphql", "graphql-core", "starlette", "uvicorn", "uvloop", "httptools")
AIMS = {COUNT: 1.6, FEW_ROWS: 1.3, MANY_ROWS: 0.6}
"""Beyond the bars, for computed answers."""


@dataclass(slots=True)
class Turns:
    """One side asked one question, turn after turn."""

    asked: Asked
    requests: int = CONNECTIONS
    seen: list[float] = field(default_factory=list[float])
    """Microseconds a request, one figure a turn."""

    def warm_up(self, seconds: float, turn_seconds: float) -> None:
        """Until compilers and memories have settled; then as many as fit into a turn."""
        client = Client(self.asked.url)
        deadline = time.perf_counter() + seconds
        while True:
            started = time.perf_counter()
            client.load(self.asked.following, CONNECTIONS)
            each = (time.perf_counter() - started) / CONNECTIONS
            if time.perf_counter() > deadline:
                break
        client.close()
        self.requests = max(CONNECTIONS, min(REQUESTS_MAX, int(turn_seconds / each)))

    def take(self) -> None:
        """One turn; its connections are opened and used before the clock is read."""
        client = Client(self.asked.url)
        client.load(self.asked.following, CONNECTIONS)
        before = self.asked.server.cpu_seconds()
        client.load(self.asked.following, self.requests)
        spent = self.asked.server.cpu_seconds() - before
        client.close()
        self.seen.append(spent / self.requests * 1e6)

    @property
    def microseconds(self) -> float:
        """The figure."""
        return median(self.seen)


def run(scale: Scale) -> Measured:
    """Every question, every side."""
    with everybody(scale) as asked:
        check(asked)
        turns = [Turns(each) for each in asked]
        for each in turns:
            each.warm_up(scale.round_seconds * WARM_UP, scale.round_seconds * TURN)
        for _ in range(min(scale.rounds, ROUNDS_MAX)):
            for each in turns:
                each.take()
    spent = {(each.asked.measure, each.asked.subject): each.microseconds for each in turns}
    return Measured(list(_rows(spent, scale)), list(_notes(spent, scale)))


def check(asked: Sequence[Asked]) -> None:
    """Everybody says the same before anybody is timed."""
    answers: dict[str, object] = {}
    for each in asked:
        client = Client(each.url)
        said = client.ask(each.following())
        client.close()
        if each.question is not None:
            answer = each.question.answer(said)
            expected = answers.setdefault(each.measure, answer)
            assert answer == expected, f"{each.subject} answers {each.measure} differently"


Figures = dict[tuple[str, str], float]


def _rows(spent: Figures, scale: Scale) -> Iterator[Row]:
    size = f"{scale.clusters:,} clusters"
    for (measure, subject), microseconds in spent.items():
        to = HELLO if measure == COUNT.name else PLAIN
        over = None if subject == to else spent[measure, to]
        yield row(
            f"{measure}, {size}",
            subject,
            microseconds,
            "us",
            over=over,
            ratio_to=None if over is None else to,
        )
    yield row(
        f"{OVER_COUNT}, {size}",
        COMPUTED,
        spent[TREE.name, COMPUTED],
        "us",
        over=spent[COUNT.name, COMPUTED],
        ratio_to=f"its {COUNT.name}",
    )


def _notes(spent: Figures, scale: Scale) -> Iterator[str]:
    yield ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PYTHON)
    lacking = graphql_peers.missing() if scale.node else "not at this scale"
    yield f"NODE PEERS WERE NOT MEASURED: {lacking}" if lacking else graphql_peers.versions()
    for question in (COUNT, FEW_ROWS, MANY_ROWS, TREE):
        yield f"{question.name}: {_ahead(question, spent)}"
    for question, aim in AIMS.items():
        reached = spent[question.name, COMPUTED] / _denominator(question, spent)
        verdict = "reached" if reached <= aim else "not reached"
        yield f"aim beyond the bar, {question.name} computed: {aim:g}x; {reached:.3g}x, {verdict}"


def _ahead(question: Question, spent: Figures) -> str:
    """Who still wins: everybody who serves GraphQL for less than Trellis does."""
    said: list[str] = []
    for ours in (COMPUTED, WARM, REPEATED):
        figure = spent.get((question.name, ours))
        if figure is None:
            continue
        cheaper = sorted(
            (value / figure, subject)
            for (measure, subject), value in spent.items()
            if measure == question.name
            and value < figure
            and not subject.startswith(("Trellis", "bare"))
        )
        names = ", ".join(f"{subject} ({ratio:.2g}x)" for ratio, subject in cheaper)
        said.append(f"cheaper than {ours}: {names or 'no peer'}")
    return "; ".join(said)


def _denominator(question: Question, spent: Figures) -> float:
    return spent[question.name, HELLO if question is COUNT else PLAIN]
