"""One start of one process, measured from inside: what ``start`` runs as a child.

Imports are done before the watch starts; what is measured ends when the engine can answer. Memory
is what the process holds more than after its imports, after a full collection. Prints one JSON
object.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.timing import Spent, Watch
from graph.engine import Engine
from graph.index.file import read_snapshot
from graph.store.embedded import EmbeddedStore

PAGE_BYTES = 4096


def main(way: str, snapshot: str, store: str) -> None:
    """Start in one ``way``: from the snapshot file, from facts, or the index alone."""
    before = trimmed_bytes()
    if way == "index":
        started = index_alone(Path(snapshot))
    else:
        started = asyncio.run(opened(Path(store), Path(snapshot) if way == "file" else None))
    spent = started.spent
    added = {"added": started.resident - before, "trimmed": started.trimmed - before}
    print(json.dumps({"cpu": spent.cpu, "wall": spent.wall, **added}))


@dataclass(frozen=True, slots=True)
class Started:
    """What it took, and what the process holds while everything is in use."""

    spent: Spent
    resident: int
    trimmed: int
    """After malloc gave back what it could."""

    @staticmethod
    def after(watch: Watch) -> Started:
        """Stop the watch, then look at the memory."""
        spent = watch.spent()
        gc.collect()
        return Started(spent, resident_bytes(), trimmed_bytes())


def index_alone(snapshot: Path) -> Started:
    """The index from its file, without store or engine."""
    watch = Watch()
    view = read_snapshot(snapshot)
    started = Started.after(watch)
    assert view.everything(), "the fleet is there"
    return started


async def opened(store: Path, snapshot: Path | None) -> Started:
    """An engine that can answer."""
    watch = Watch()
    engine = await Engine.open(await EmbeddedStore.open(store, write=False), snapshot_file=snapshot)
    started = Started.after(watch)
    assert engine.view.everything(), "the fleet is there"
    await engine.close()
    return started


def resident_bytes() -> int:
    """As Linux tells it."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * PAGE_BYTES


def trimmed_bytes() -> int:
    """After malloc gave back what it could; as the start it leaves nothing to be used again."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return resident_bytes()


if __name__ == "__main__":
    main(*sys.argv[1:])
