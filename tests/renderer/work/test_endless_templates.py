"""Templates without end keep nobody waiting: others are published first, and work is bounded.

What is counted is work and commits, never time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from changing_fleet import template
from engines import give
from graph.engine import Engine
from graph.model.workload import Choice, Template
from graph.model.workload_command import Assign, DefineApplication, DefineNamespace, SetLayer
from memory_publisher import MemoryPublisher
from renderer.failure import Failure
from renderer.limits import Limits
from renderer.message import Complete
from renderer.plan.wave import WaveBounds
from renderer.sandbox.answers import Objects
from renderer.sandbox.parent import Job, Sandbox
from renderer.settings import FormatSettings
from renderer.source.engine import EngineSource
from renderer.work.errands import Errands
from renderer.work.measures import Measures
from renderer.work.planner import planner, stamp
from renderer.work.publishing import Publishing
from small import SMALL
from sources import empty_engine

ENDLESS = tuple(f"endless-{number:02}" for number in range(20))
LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}x"
LIMITS = Limits(seconds_max=0.1, first_seconds_max=0.02)


class Counted(Sandbox):
    """A sandbox that counts what it is given, by whether others wait."""

    def __init__(self) -> None:
        super().__init__(LIMITS)
        self.jobs: Counter[bool] = Counter()

    def run(self, jobs: Iterable[Job], *, first: bool = False) -> Iterator[Objects | Failure]:
        found = list(jobs)
        self.jobs[first] += len(found)
        return super().run(found, first=first)


Stage = tuple[Engine, Counted, Publishing, MemoryPublisher]


@asynccontextmanager
async def fleet(
    directory: Path,
) -> AsyncIterator[tuple[Engine, Counted, Publishing, MemoryPublisher]]:
    settings = FormatSettings()
    async with empty_engine(directory) as engine:
        await give(engine, *SMALL, DefineNamespace("shop"))
        await give(
            engine,
            DefineApplication("innocent", "shop", source=template("innocent")),
            Assign("all", Choice("shop"), "all"),
        )
        with Counted() as sandbox:
            output = MemoryPublisher()
            publishing = Publishing(
                EngineSource(engine),
                output,
                planner(settings, sandbox, WaveBounds()),
                stamp(settings),
                name="main",
                measures=Measures(),
            )
            with closing(publishing):
                yield engine, sandbox, publishing, output


async def test_an_innocent_change_is_published_without_trying_what_was_stopped(
    tmp_path: Path,
) -> None:
    async with fleet(tmp_path) as (engine, sandbox, publishing, output):
        errands = Errands(publishing, lambda _: None)
        await errands.once()
        endless = Template({"a.yaml": LOOP})
        await give(engine, *(DefineApplication(each, "shop", source=endless) for each in ENDLESS))
        sandbox.jobs.clear()
        await errands.once()
        keys = sandbox.jobs[True]
        assert keys == len(ENDLESS), "each was tried once while others waited"
        assert sandbox.jobs[False] <= 2 * len(ENDLESS), "and once or twice after them"
        commits = len(output.log)
        for number in range(5):
            sandbox.jobs.clear()
            await give(engine, SetLayer("news", "all", {"tag": number}, "innocent"))
            published = await errands.once()
            assert published.commit
            assert any("/innocent/" in path for path in published.changes)
            assert sandbox.jobs[True] == 1, "nobody else was tried while it waited"
            assert sandbox.jobs[False] <= 1, "and one of the others after it"
        assert len(output.log) == commits + 5, "one commit for each change"


async def test_whoever_starts_anew_tries_one_in_a_round(tmp_path: Path) -> None:
    async with fleet(tmp_path) as (engine, sandbox, publishing, _):
        endless = Template({"a.yaml": LOOP})
        await give(engine, *(DefineApplication(each, "shop", source=endless) for each in ENDLESS))
        await Errands(publishing, lambda _: None).once()
        sandbox.jobs.clear()
        standing = await publishing.look()
        for _ in range(3):
            batch = await publishing.begin(standing.head, fresh=False)
            await batch.retry(Complete(standing.after or "", 1, 0))
            await batch.end()
        assert sandbox.jobs.total() <= 3
