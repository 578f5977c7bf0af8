"""Whether too much would go at once.

Losses are counted for each application: more than a number of clusters and more than a share of all
it is on is a wave, and so is the loss of its last cluster, unless somebody agreed to as much with
the change. It waits until somebody looked. A prohibition is never counted, neither as a loss nor
against what was agreed to: nothing holds it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaveBounds:
    """How much may go unasked, of one application and in one step."""

    clusters_max: int = 25
    percent_max: float = 5.0


def large(
    going: Mapping[str, int], totals: Mapping[str, int], bounds: WaveBounds
) -> dict[str, int]:
    """Applications that lose too much to go unasked: ``going`` lines of ``totals`` each."""
    return {
        name: lines
        for name, lines in going.items()
        if lines == totals[name]
        or (lines > bounds.clusters_max and lines * 100 > totals[name] * bounds.percent_max)
    }


def waves(losses: Mapping[str, int], agreed: int) -> frozenset[str]:
    """Applications whose large loss is to be held: none where somebody agreed to all of them."""
    return frozenset(losses) if sum(losses.values()) > agreed else frozenset()
