"""Candidates for the next word of a selector, and which of many are worth showing.

A candidate that begins as the word typed so far goes before one that merely holds it, and one that
means more clusters before one that means fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import nsmallest
from itertools import islice

RANKED_MAX = 1_000
"""Names that are ranked by how many clusters they mean; among more, by name."""


class CompletionKind(StrEnum):
    """What a candidate is."""

    HIERARCHY = "hierarchy"
    GROUP = "group"
    LABEL_KEY = "label key"
    COMPARISON = "comparison"
    VALUE = "value"
    SAVED_SELECTOR = "saved selector"
    NAMESPACE = "namespace"
    CLUSTER = "cluster"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True)
class Completion:
    """One candidate: ``insert`` takes the place of the characters from ``from_`` up to ``to``."""

    insert: str
    from_: int
    to: int
    kind: CompletionKind
    clusters: int | None = None
    """How many clusters it would mean; None where that is no question, or not known cheaply."""
    title: str = ""


def ranked(
    names: Iterable[str], said: str, size: Callable[[str], int] | None, count_max: int
) -> Iterator[str]:
    """The best ``names`` that begin as ``said``, then the best that only hold it."""
    said = said.lower()
    begin: list[str] = []
    hold: list[str] = []
    for name in names:
        lowered = name.lower()
        if said in lowered:
            (begin if lowered.startswith(said) else hold).append(name)
    yield from _first(begin, size, count_max)
    yield from _first(hold, size, count_max)


def best(kinds: Sequence[Sequence[Completion]], said: str, count_max: int) -> list[Completion]:
    """At most ``count_max`` candidates, of each kind as many as of any other if there are."""
    turns = (
        place for turn in range(count_max) for place, kind in enumerate(kinds) if turn < len(kind)
    )
    shares = Counter(islice(turns, count_max))
    found = [each for place, kind in enumerate(kinds) for each in kind[: shares[place]]]
    said = said.lower()
    return sorted(found, key=lambda each: not _name(each).startswith(said))


def _first(names: list[str], size: Callable[[str], int] | None, count_max: int) -> list[str]:
    if size is None or len(names) > RANKED_MAX:
        return nsmallest(count_max, names)
    return nsmallest(count_max, names, key=lambda name: (-size(name), name))


def _name(candidate: Completion) -> str:
    """A candidate without the signs around its name."""
    return candidate.insert.strip('/@"').lower()
