"""How much is measured, and what one benchmark hands back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.result import Row
from bench.timing import Spent, Work, interleaved


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of the fleets, and how often each side has its turn."""

    clusters: int = 60_000
    large: int = 1_000_000
    rounds: int = 15
    round_seconds: float = 0.02
    """How long one turn is; at least one call, however long that takes."""
    starts: int = 5
    """Fresh processes for each way to start."""
    commits: int = 200
    """Commits of one caller; many callers make several times as many."""
    subscribers: int = 1_000
    """Most who follow at a time."""
    applications: int = 100
    """Of the fleet that is rendered."""
    paced_clusters: int = 6_000
    paced_applications: int = 20
    """Of the smaller one that mutations are made on."""
    pace_seconds: float = 8.0
    """How long mutations are made at each rate."""
    node: bool = True
    """Whether to compare with servers on Node."""
    neo4j: bool = True
    """Whether to look for a Neo4j server at all."""

    def timed(self, sides: Mapping[str, Work], *, rounds_max: int = 1_000) -> dict[str, Spent]:
        """What one call of each side takes at this scale."""
        rounds = min(self.rounds, rounds_max)
        return interleaved(sides, rounds=rounds, round_seconds=self.round_seconds)


FULL = Scale()
QUICK = Scale(
    clusters=2_000,
    large=5_000,
    rounds=3,
    round_seconds=0.005,
    starts=1,
    commits=80,
    subscribers=100,
    applications=20,
    paced_clusters=600,
    paced_applications=8,
    pace_seconds=1.0,
    neo4j=False,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one benchmark, and what to know about this run of it."""

    rows: Sequence[Row]
    notes: Sequence[str] = ()
