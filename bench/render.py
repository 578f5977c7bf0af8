"""The renderer at work: everything at once, a little at a time, and what stores fetch of it.

A real API process serves the fleet, a real worker follows it over its socket and publishes to a
bare repository. What a worker costs is the CPU time of its process and of all it starts. A change
counts from the mutation until the worker has told that it is published.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

from bench.render_changes import Change, bumped, changes, layer_on, movable, relabelled
from bench.render_fetch import fetched
from bench.render_fleet import RenderedFleet, rendered_fleet
from bench.render_pace import paced
from bench.render_polls import polled
from bench.render_process import (
    Api,
    Repository,
    Used,
    Worker,
    following,
    memory_bytes,
    rendered_once,
    serving,
    wait_for,
)
from bench.render_size import sizes
from bench.result import Row, row
from bench.scale import Measured, Scale
from bench.start import MEGABYTE

TRELLIS, ANEW = "Trellis", "everything anew"
PROMPT = {"TRELLIS_RENDER_BATCH_MILLISECONDS": "0"}
ROUNDS = {"1 cluster": 5, "100 clusters": 2, "5,000 clusters": 1, "all clusters": 2}
"""There and back, by what a change touches."""
BUMPED = "app-000", "app-011"
"""The application with most configurations, and one like most."""
BUILT, ASKED = 8, 400
"""Clusters that kustomize builds, and clusters that poll."""


def run(scale: Scale) -> Measured:
    """Everything, on one fleet; then the pace, on a smaller one."""
    fleet = rendered_fleet(scale.clusters, scale.applications)
    measured = measured_on(fleet, scale, fleet.size)
    return Measured([*measured.rows, *paced(scale)], measured.notes)


def measured_on(fleet: RenderedFleet, scale: Scale, size: str) -> Measured:
    """Full, incremental, sizes, fetches and polls, called by a ``size``."""
    repository = Repository.made(fleet.owners)
    names = [name for name, _ in fleet.view.names_after("")]
    some = names[:: max(1, len(names) // ASKED)][:ASKED]
    with serving(fleet) as api:
        used = rendered_once(api, repository)
        rows = [*_full(used, size)]
        built, notes = sizes(repository, some[::50], len(names), size, used.cpu_seconds)
        rows += built
        with following(api, repository, PROMPT) as worker:
            _settle(fleet, api)
            for change in (*changes(fleet.view), *_bumps(fleet)):
                measured = _changed(change, api, worker, repository, used, size)
                rows += measured.rows
                notes += measured.notes
            rows += _fetched(fleet, api, worker, repository, size)
            rows += polled(worker, some, scale, size)
            rows += _memory(api, worker, size)
    return Measured(rows, notes)


def _full(used: Used, size: str) -> Iterator[Row]:
    measure = f"full render and commit, {size}"
    yield row(f"{measure}, CPU", TRELLIS, used.cpu_seconds, "s")
    yield row(f"{measure}, wall clock", TRELLIS, used.wall_seconds, "s")
    peak = used.resident_bytes_max / MEGABYTE
    yield row(f"{measure}, most memory", "worker, resident", peak, "MB")


def _bumps(fleet: RenderedFleet) -> Iterator[Change]:
    there = fleet.view.workload.applications
    return (bumped(fleet.view, name) for name in BUMPED if name in there)


def _settle(fleet: RenderedFleet, api: Api) -> None:
    """Something is published by the worker that follows, so that it is there and warm."""
    cluster = movable(fleet.view)[0]
    for back in (False, True):
        wait_for(api, api.apply([relabelled(fleet.view, cluster, back=back)], "warm up"))


def _changed(
    change: Change, api: Api, worker: Worker, repository: Repository, full: Used, size: str
) -> Measured:
    spent: list[float] = []
    for _ in range(ROUNDS[change.touches]):
        for commands in (change.there, change.back):
            before = worker.cpu_seconds()
            wait_for(api, api.apply(commands, change.name))
            time.sleep(0.02)  # what it does after it has told of it
            spent.append(worker.cpu_seconds() - before)
    measure = f"{change.touches}: {change.name}, {size}"
    ours, anew = median(spent) * 1e6, full.cpu_seconds * 1e6
    rows = [row(measure, TRELLIS, ours, "us")]
    rows += [row(measure, ANEW, anew, "us", over=ours, ratio_to=TRELLIS)]
    written = _written(repository)
    if change.touches == "all clusters":
        rows += [row(f"pointers written, {measure}", TRELLIS, written.get("clusters", 0), "files")]
    told = ", ".join(f"{count:,} in {root}" for root, count in written.items() if count)
    return Measured(rows, [f"{measure}: files of the last commit: {told}"])


def _written(repository: Repository) -> dict[str, int]:
    """Files of the newest commit, by the directory at the top."""
    found: dict[str, int] = {}
    said = repository.git("diff", "--name-only", "main~1", "main").decode()
    for path in said.splitlines():
        root = path.split("/", 1)[0]
        found[root] = found.get(root, 0) + 1
    return found


def _fetched(
    fleet: RenderedFleet, api: Api, worker: Worker, repository: Repository, size: str
) -> list[Row]:
    """A store relabelled, and one that is given a configuration of its own."""
    view, stores = fleet.view, movable(fleet.view)
    clusters = view.cluster_name(stores[-1]), view.cluster_name(stores[0])
    told = {
        "it was relabelled": [relabelled(view, stores[-1])],
        "it was given a layer": layer_on(clusters[0], min(view.workload.applications)),
    }
    return fetched(api, worker, repository, clusters, told, size)


def _memory(api: Api, worker: Worker, size: str) -> Iterator[Row]:
    measure = f"memory after all that, {size}"
    yield row(measure, "worker that serves", worker.memory_bytes("VmRSS") / MEGABYTE, "MB")
    server = memory_bytes(api.server.pid, "VmRSS") / MEGABYTE
    yield row(measure, "API", server, "MB")
