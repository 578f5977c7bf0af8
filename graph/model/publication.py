"""What a worker has brought out: how far it goes, where it is, and what is held back.

Kept beside the log and not in it: it says something about a copy of the fleet, not about the fleet.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from graph.model.change import Cursor
from graph.model.errors import Invalid, TrellisError
from graph.model.names import Revision, check_name, check_text

HELD_MAX = 1_000
"""Entries of the held list of one publication."""
COMMIT_LENGTH_MAX = 200
MESSAGE_LENGTH_MAX = 500
CLUSTERS_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class HeldBack:
    """An application of which something is not published as it should be."""

    application: str
    """Empty: the fleet's own settings."""
    reason: str
    """A word for programs, as ``failed``, ``blocked`` or ``wave``."""
    message: str
    clusters: int
    """How many it concerns."""
    since: Revision
    """The revision at which it began."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker says it has brought out."""

    name: str
    """Which output: several workers may publish several branches."""
    cursor: Cursor
    """The newest place in history whose changes are in it."""
    commit: str
    """Where it is: a commit, or the digest of what was pushed."""
    held: tuple[HeldBack, ...] = ()


@dataclass(frozen=True, slots=True)
class Publication(Report):
    """A report that is kept: the last of its name."""

    actor: str = field(kw_only=True)
    """Who reported it."""
    at: datetime = field(kw_only=True)
    """When; UTC, to the millisecond."""

    def behind(self, revision: Revision) -> int:
        """How many revisions up to ``revision`` are not in it."""
        return max(0, revision - self.cursor.revision)


def check_report(report: Report) -> Report:
    """Return ``report`` if it can be kept and read: bounded, and about what there can be."""
    with _inside("name"):
        check_name(report.name, "publication")
    with _inside("commit"):
        _check_commit(report.commit)
    with _inside("held"):
        _check_all_held(report.held, report.cursor)
    return report


def _check_commit(commit: str) -> None:
    if not commit:
        raise Invalid("the commit is empty", hint="say where it was published")
    check_text(commit, "the commit", length_max=COMMIT_LENGTH_MAX)


def _check_all_held(held: Sequence[HeldBack], cursor: Cursor) -> None:
    if len(held) > HELD_MAX:
        raise Invalid(
            f"{len(held):,} applications held back",
            hint=f"report at most {HELD_MAX:,}, those of most clusters first",
        )
    for place, each in enumerate(held):
        with _inside(place):
            _check_held(each, cursor)


def _check_held(held: HeldBack, cursor: Cursor) -> None:
    with _inside("application"):
        check_name(held.application or "fleet", "application")
    with _inside("reason"):
        check_name(held.reason, "reason")
    with _inside("message"):
        check_text(held.message, "the message", length_max=MESSAGE_LENGTH_MAX)
    with _inside("clusters"):
        if not 0 <= held.clusters <= CLUSTERS_MAX:
            raise Invalid(f"{held.clusters:,} clusters", hint=f"from 0 to {CLUSTERS_MAX:,}")
    with _inside("since"):
        if not 0 <= held.since <= cursor.revision:
            raise Invalid(
                f"held back since revision {held.since:,}, and {cursor.revision:,} is published",
                hint="say at which revision it began",
            )


@contextmanager
def _inside(*steps: str | int) -> Generator[None]:
    """Whatever is refused here is refused at this place of the report."""
    try:
        yield
    except TrellisError as refusal:
        raise refusal.at(*steps) from None
