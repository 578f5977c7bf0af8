"""From the receipt of a mutation to the commit that has it, at several rates.

Mutations go to a real API at their rate, whether or not the one before is out; a real worker
follows and publishes to a bare repository. The clock stops when the branch points at a commit whose
trailer names the revision or a later one. Each mutation gives one store another size, so each is a
difference. A smaller fleet than elsewhere, so that the worker that renders everything has a chance.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from statistics import quantiles
from typing import Any

from bench.graphql_process import Server, running
from bench.render_changes import movable, relabelled
from bench.render_fleet import RenderedFleet, rendered_fleet
from bench.render_process import (
    Api,
    Repository,
    Worker,
    following,
    python,
    rendered_once,
    serving,
    wait_for,
)
from bench.result import Row, row
from bench.scale import Scale
from graph.model.names import ClusterNumber

RATES = (1, 10, 50)
"""Mutations a second."""
TRELLIS, AT_ONCE, ANEW = "Trellis", "Trellis, no wait for more", "everything anew each time"
NO_WAIT = {"TRELLIS_RENDER_BATCH_MILLISECONDS": "0"}
LOOK_SECONDS = 0.002


@dataclass(slots=True)
class Watcher:
    """Notes when the branch of a repository moves."""

    repository: Repository
    moved: dict[str, float] = field(default_factory=dict[str, float])
    """Commits, by when they were first seen."""
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Until it is over."""
        while not self._over.wait(LOOK_SECONDS):
            if tip := self.repository.tip():
                self.moved.setdefault(tip, time.perf_counter())

    def end(self) -> None:
        """Look no more."""
        self._over.set()


class Mutations:
    """Another store each time, given another size or its own again."""

    def __init__(self, fleet: RenderedFleet) -> None:
        self._view, self._stores = fleet.view, movable(fleet.view)
        self._random = Random(1)
        self._away: set[ClusterNumber] = set()

    def next(self) -> list[Mapping[str, Any]]:
        """What is sent next."""
        cluster = self._random.choice(self._stores)
        back = cluster in self._away
        self._away ^= {cluster}
        return [relabelled(self._view, cluster, back=back)]


def paced(scale: Scale) -> list[Row]:
    """All rates, for the worker as it is set up, one that does not wait, and one without memory."""
    fleet = rendered_fleet(scale.paced_clusters, scale.paced_applications)
    sides = {
        subject: _side(fleet, subject, scale.pace_seconds) for subject in (TRELLIS, AT_ONCE, ANEW)
    }
    return [
        each
        for rate in RATES
        for percent in (50, 99)
        for each in _rows(
            f"receipt to commit, {rate} mutations a second, {fleet.size}, p{percent}",
            {subject: _quantile(seen[rate], percent) * 1e3 for subject, seen in sides.items()},
        )
    ]


def _rows(measure: str, milliseconds: Mapping[str, float]) -> Iterator[Row]:
    ours = milliseconds[TRELLIS]
    yield row(measure, TRELLIS, ours, "ms")
    for subject in (AT_ONCE, ANEW):
        yield row(measure, subject, milliseconds[subject], "ms", over=ours, ratio_to=TRELLIS)


def _quantile(seen: list[float], percent: int) -> float:
    return quantiles(seen, n=100, method="inclusive")[percent - 1]


def _side(fleet: RenderedFleet, subject: str, seconds: float) -> dict[int, list[float]]:
    """One worker at all rates, one after the other."""
    repository, mutations = Repository.made(fleet.owners), Mutations(fleet)
    with serving(fleet) as api:
        rendered_once(api, repository)
        with _worker(api, repository, subject):
            wait_for(api, api.apply(mutations.next(), "it follows"))
            return {rate: _latencies(api, repository, mutations, rate, seconds) for rate in RATES}


def _worker(
    api: Api, repository: Repository, subject: str
) -> AbstractContextManager[Worker | Server]:
    if subject == ANEW:
        return running(python("bench.render_anew", api.socket, str(repository.path)), {})
    return following(api, repository, NO_WAIT if subject == AT_ONCE else {})


def _latencies(
    api: Api, repository: Repository, mutations: Mutations, rate: int, seconds: float
) -> list[float]:
    watcher = Watcher(repository)
    thread = threading.Thread(target=watcher.run, daemon=True)
    thread.start()
    try:
        received = dict(_received(api, mutations, rate, seconds))
        wait_for(api, max(received))
        time.sleep(2 * LOOK_SECONDS)
    finally:
        watcher.end()
        thread.join()
    return list(_waits(repository, received, watcher.moved))


def _received(
    api: Api, mutations: Mutations, rate: int, seconds: float
) -> Iterator[tuple[int, float]]:
    """Revisions, and when each was received."""
    started = time.perf_counter()
    for number in range(max(3, round(rate * seconds))):
        time.sleep(max(0.0, started + number / rate - time.perf_counter()))
        revision = api.apply(mutations.next(), f"mutation {number:,}")
        yield revision, time.perf_counter()


def _waits(
    repository: Repository, received: Mapping[int, float], moved: Mapping[str, float]
) -> Iterator[float]:
    """For each revision, until the first commit that has it was seen."""
    log = "--format=%H %(trailers:key=Trellis-Revision,valueonly,separator=%x20)"
    told = [line.split() for line in repository.git("log", log, "main").decode().splitlines()]
    commits = sorted(
        (int(words[1].partition(".")[0]), moved[words[0]])
        for words in told
        if len(words) > 1 and words[0] in moved
    )
    for revision, at in received.items():
        yield min(seen for contained, seen in commits if contained >= revision) - at
