"""Where a process begins: from the snapshot file, or from every fact of the store."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from graph.index.builder import build
from graph.index.file import read_snapshot
from graph.index.snapshot import Snapshot
from graph.model.errors import Invalid, Unavailable
from graph.store.port import Store

Progress = Callable[[str], None]
"""Told, in a few words, what long work has come to."""

_log = logging.getLogger(__name__)


@contextmanager
def frozen() -> Generator[None]:
    """What is made in here stays: no collection walks it, neither now nor later.

    An index is a million objects that refer to each other and none of which is garbage.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()


async def from_facts(store: Store, progress: Progress) -> Snapshot:
    """The store's head, indexed anew."""
    progress("reading every fact")
    facts = await store.load()
    progress(f"indexing {len(facts.entities):,} objects")
    return await asyncio.to_thread(
        build, facts.entities, cursor=facts.head.cursor, numbers=facts.head.numbers
    )


def from_file(path: Path | None, progress: Progress) -> Snapshot | None:
    """What an earlier process left, if it can be used; the file is a copy and never the record."""
    if path is None or not path.exists():
        return None
    try:
        return read_snapshot(path)
    except (Invalid, Unavailable) as error:
        _log.warning("%s", error.message)
        progress(f"{error.message}; reading the store instead")
        return None
