"""What the sample fleet runs: fourteen applications in six namespaces, told in chapters.

A chapter is a file of commands whose first line says why; each is one batch, and together they can
be applied to ``sample`` of any size from a hundred clusters up. Nothing of it is blocked anywhere.
Bases are owners' files (``cli.sample_bases``), in the repository before anything is rendered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cli.documents import read_commands
from graph.model.command import Command

_CHAPTERS = Path(__file__).parent / "sample_chapters"


@dataclass(frozen=True, slots=True)
class Chapter:
    """One batch, and why."""

    reason: str
    commands: tuple[Command, ...]


def chapters() -> Iterator[Chapter]:
    """The story of the workload, from nothing."""
    for file in sorted(_CHAPTERS.glob("*.yaml")):
        with file.open(encoding="utf-8") as text:
            reason = text.readline().removeprefix("#").strip()
        yield Chapter(reason, tuple(placed.command for placed in read_commands(str(file))))


def sample_workload() -> Iterator[Command]:
    """The commands of all chapters."""
    for chapter in chapters():
        yield from chapter.commands
