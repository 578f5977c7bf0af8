"""What a client would notice: ``python -m api.schema.report`` compares with the last release.

A breaking change makes a query that worked fail; a dangerous one may change its answer, as a new
member of a union does. The last release is the nearest tag ``v...`` of the repository; ``before``
and ``after`` are schemas as text, so whatever else is worth comparing can be.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from graphql import build_schema, find_breaking_changes, find_dangerous_changes

FILE = "schema.graphql"
GIT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Report:
    """The changes between two schemas that a client would notice."""

    breaking: tuple[str, ...]
    dangerous: tuple[str, ...]

    def lines(self) -> list[str]:
        """The report as a person reads it, the worst first."""
        head = f"{_counted(self.breaking, 'breaking')}, {_counted(self.dangerous, 'dangerous')}"
        return [
            head,
            *(f"  breaking   {each}" for each in self.breaking),
            *(f"  dangerous  {each}" for each in self.dangerous),
        ]


@dataclass(frozen=True, slots=True)
class Release:
    """A released schema."""

    tag: str
    schema: str


def compare(before: str, after: str) -> Report:
    """What changed for clients of ``before``, if they are served ``after``."""
    old, new = build_schema(before), build_schema(after)
    return Report(
        breaking=tuple(sorted(each.description for each in find_breaking_changes(old, new))),
        dangerous=tuple(sorted(each.description for each in find_dangerous_changes(old, new))),
    )


def last_release(directory: Path) -> Release | None:
    """The schema of the nearest release tag; None where there is no tag, or no schema in it."""
    tag = _git(directory, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    if tag is None:
        return None
    schema = _git(directory, "show", f"{tag.strip()}:{FILE}")
    return None if schema is None else Release(tag.strip(), schema)


def report(directory: Path) -> list[str]:
    """The lines of the report on the schema file in ``directory``."""
    release = last_release(directory)
    if release is None:
        return ["no release tag holds a schema: there is nothing to compare with"]
    head, *changes = compare(release.schema, (directory / FILE).read_text("utf-8")).lines()
    return [f"{FILE} against {release.tag}: {head}", *changes]


def _counted(changes: tuple[str, ...], kind: str) -> str:
    return f"{len(changes):,} {kind} change{'' if len(changes) == 1 else 's'}"


def _git(directory: Path, *arguments: str) -> str | None:
    """What git says; None where it refuses or is not there."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, and a tag that git itself named
            ["git", *arguments],  # noqa: S607 - the git of whoever runs the report
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report(Path.cwd()))
