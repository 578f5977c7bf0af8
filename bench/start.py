"""Ready after a start, and what the index weighs: each figure from fresh processes.

Ready means: store opened, index there, log tail read, collector settled; the median of several
processes. Memory is resident memory added since the imports; what malloc could give back but has
not is counted as well, and the figure after ``malloc_trim`` is shown beside it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.fleet import snapshot
from bench.result import ROOT, Row, row
from bench.scale import Measured, Scale
from bench.stores import directory, embedded
from graph.index.file import write_snapshot

TIMEOUT_SECONDS = 300
MEGABYTE = 1_000_000


def run(scale: Scale) -> Measured:
    """Every way to start at one size, and the index alone at the large one."""
    fleet = embedded(scale.clusters)
    size = f"{scale.clusters:,} clusters"
    file = _started("file", fleet.snapshot, fleet.path, scale.starts)
    facts = _started("facts", fleet.snapshot, fleet.path, max(1, scale.starts // 2))
    index = _started("index", fleet.snapshot, fleet.path, scale.starts)
    ready = f"ready, CPU, {size}"
    from_file = "from the snapshot file"
    rows = [
        row(ready, from_file, file["cpu"], "s"),
        row(
            ready, "from the store's facts", facts["cpu"], "s", over=file["cpu"], ratio_to=from_file
        ),
        *_index_rows(index, fleet.snapshot, size),
        row(f"memory of a ready engine, {size}", from_file, file["added"] / MEGABYTE, "MB"),
        row(
            f"memory of a ready engine, {size}",
            "from the store's facts",
            facts["added"] / MEGABYTE,
            "MB",
            over=file["added"] / MEGABYTE,
            ratio_to=from_file,
        ),
    ]
    return Measured([*rows, *_large(scale)])


def _index_rows(index: dict[str, float], path: Path, size: str) -> Iterator[Row]:
    yield row(f"index read, CPU, {size}", "from the snapshot file", index["cpu"], "s")
    memory = f"memory of the index, {size}"
    yield row(memory, "resident", index["added"] / MEGABYTE, "MB")
    yield row(memory, "after malloc_trim", index["trimmed"] / MEGABYTE, "MB")
    yield row(f"snapshot file, {size}", "on disk", path.stat().st_size / MEGABYTE, "MB")


def _large(scale: Scale) -> Iterator[Row]:
    path = directory() / "large.snapshot"
    write_snapshot(snapshot(scale.large), path)
    index = _started("index", path, path, max(1, scale.starts // 2))
    yield from _index_rows(index, path, f"{scale.large:,} clusters")


def _started(way: str, snapshot_file: Path, store: Path, starts: int) -> dict[str, float]:
    """The median of each figure over fresh processes."""
    command = [sys.executable, "-m", "bench.ready", way, str(snapshot_file), str(store)]
    seen: list[dict[str, float]] = []
    for _ in range(starts):
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
        )
        if done.returncode:
            raise RuntimeError(f"the child could not start from {way}: {done.stderr[-2000:]}")
        seen.append(json.loads(done.stdout))
    return {key: median(each[key] for each in seen) for key in seen[0]}
