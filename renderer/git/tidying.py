"""Joining loose objects and packs where they have become many, when the worker has time for it."""

from __future__ import annotations

import time
from pathlib import Path

from renderer.git import landing, pack
from renderer.git.process import Git

_LITTER_SECONDS = 24 * 60 * 60.0
"""Half-written files older than this belong to nobody who lives."""


def tidy(git: Git) -> bool:
    """Repack if there is need; whether there was. Each time costs what has gathered since."""
    objects = git.directory / "objects"
    _remove_litter(objects)
    loose = sum(1 for _ in objects.glob("[0-9a-f][0-9a-f]/*"))
    packs = sum(1 for _ in objects.glob("pack/*.pack"))
    if loose <= git.limits.loose_max and packs <= git.limits.packs_max:
        return False
    done = git.run(
        "repack",
        "--quiet",
        "--geometric=2",
        "-d",
        "-l",
        timeout_seconds=git.limits.transfer_timeout_seconds,
    )
    if done.code:
        raise git.failed("repack", done)
    return True


def _remove_litter(objects: Path) -> None:
    before = time.time() - _LITTER_SECONDS
    for pattern in (f"??/{landing.TEMPORARY}*", f"pack/{pack.TEMPORARY}*"):
        for path in objects.glob(pattern):
            if path.stat().st_mtime < before:
                path.unlink(missing_ok=True)
