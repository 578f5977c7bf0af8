"""A progress bar on a terminal that takes escape codes, and nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from cli.settings import escapes_wanted

Advance = Callable[[int], None]
"""Told how much has been done since it was last told."""


@contextmanager
def progress(what: str, total: int | None = None) -> Generator[Advance]:
    """A bar of ``total`` steps, if that is known, on standard error, if people look at it."""
    if not (sys.stderr.isatty() and escapes_wanted()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)
