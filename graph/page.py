"""Pages of clusters, in name or number order, resumed after the last one seen.

A page is a keyset page: it says where it stopped, never how many it skipped, so the next one is
as cheap as the first however deep it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from graph.model.cluster_set import ClusterSet
from graph.model.names import ClusterNumber
from graph.model.view import FleetView


class Order(StrEnum):
    """What a page is ordered by."""

    NAME = "name"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Page:
    """Some clusters of a set, how many there are in all, and whether more follow."""

    clusters: tuple[ClusterNumber, ...]
    total: int
    more: bool


def page_by_number(chosen: ClusterSet, *, after: ClusterNumber | None, first: int) -> Page:
    """The next ``first`` clusters whose number is greater than ``after``."""
    start = 0 if after is None else after + 1
    found = tuple(islice(chosen.at_or_after(start), first + 1))
    return Page(found[:first], len(chosen), len(found) > first)


def page_by_name(view: FleetView, chosen: ClusterSet, *, after: str, first: int) -> Page:
    """The next ``first`` clusters whose name is greater than ``after``, byte for byte."""
    found = tuple(view.first_by_name(chosen, after, first + 1))
    return Page(found[:first], len(chosen), len(found) > first)
