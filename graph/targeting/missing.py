"""Refusals of names that are not there, with the nearest that are.

The nearest names come from the siblings of the missing one: the children of the group that was
found, the other hierarchies, the other keys. Comparing is bounded, so that a refusal never costs
more than an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from graph.model.errors import SelectorNotFound, Span
from graph.model.names import GroupNumber, did_you_mean, join_path, nearest, quoted
from graph.model.view import FleetView

LISTED_MAX = 8
"""Names an error lists."""

COMPARED_MAX = 2_000
"""Names an error compares with; among more, only those that begin alike."""

NAME_COMPARED_MAX = 128
"""Characters of a missing name that are compared; a label key may have a prefix."""

WILDCARD = "*"


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment of a path, and where it starts in the text (counted from 0)."""

    name: str
    start: int

    @property
    def span(self) -> Span:
        """Where an error about this segment points."""
        return Span(self.start + 1, len(self.name))


def no_hierarchy(view: FleetView, text: str, segments: Sequence[Segment]) -> SelectorNotFound:
    """The first segment is no hierarchy."""
    known = [each.name for each in view.hierarchies()]
    name = segments[0].name
    near = _nearest(name, known)
    ways = [_corrected(view, segments, 0, other) for other in near]
    return SelectorNotFound(
        f"no hierarchy called {quoted(name)}",
        text=text,
        span=segments[0].span,
        hint=_hint(ways, "hierarchies", known),
        nearest=near,
    )


def no_group(
    view: FleetView, text: str, segments: Sequence[Segment], place: int, parent: GroupNumber
) -> SelectorNotFound:
    """The segment at ``place`` is no group right below ``parent``."""
    known = view.children(parent)
    name = segments[place].name
    above = join_path(segment.name for segment in segments[:place])
    near = _nearest(name, known)
    ways = [_corrected(view, segments, place, other) for other in near]
    return SelectorNotFound(
        f"no group called {quoted(name)} in {above}",
        text=text,
        span=segments[place].span,
        hint=_hint(ways, f"groups in {above}", known),
        nearest=near,
    )


def no_cluster(view: FleetView, text: str, name: str, span: Span) -> SelectorNotFound:
    """There is no such cluster."""
    near = nearest_clusters(view, name)
    hint = _hint(near) or "cluster names are exact; select by group or label to find it"
    message = f"no cluster called {quoted(name)}"
    return SelectorNotFound(message, text=text, span=span, hint=hint, nearest=near)


def nearest_clusters(view: FleetView, name: str) -> tuple[str, ...]:
    """Clusters that may have been meant; a fleet is too large to compare with all of it."""
    alike: dict[str, None] = {}
    for length in (len(name) - 1, len(name) - 3, len(name) // 2, 1):
        if length > 0:
            after = islice(view.names_after(name[:length]), 64)
            alike.update(dict.fromkeys(each for each, _ in after))
    return _nearest(name, alike)


def no_name(
    noun: str, nouns: str, known: Collection[str], text: str, name: str, span: Span
) -> SelectorNotFound:
    """There is no such label key, saved selector or namespace."""
    near = _nearest(name, known)
    return SelectorNotFound(
        f"no {noun} called {quoted(name)}",
        text=text,
        span=span,
        hint=_hint(near, nouns, known),
        nearest=near,
    )


def listing(nouns: str, known: Collection[str]) -> str:
    """The first few of ``known``, and how many more there are."""
    if not known:
        return f"{nouns}: none yet"
    shown = sorted(known)[:LISTED_MAX]
    more = len(known) - len(shown)
    return f"{nouns}: {', '.join(shown)}" + (f", and {more:,} more" if more else "")


def _corrected(view: FleetView, segments: Sequence[Segment], place: int, name: str) -> str:
    """The path with ``name`` at ``place``, as far down as it then leads."""
    names = [segment.name for segment in segments[:place]] + [name]
    number = view.root(names[0])
    wanted = names[1:] + [segment.name for segment in segments[place + 1 :]]
    found = names[:1]
    for position, each in enumerate(wanted):
        if each == WILDCARD:
            return join_path(found + wanted[position:])
        number = None if number is None else view.children(number).get(each)
        if number is None:
            break
        found.append(each)
    return join_path(found)


def _nearest(name: str, known: Collection[str]) -> tuple[str, ...]:
    wanted = name[:NAME_COMPARED_MAX].lower()
    if len(known) > COMPARED_MAX:
        known = [each for each in known if each[:1].lower() == wanted[:1]][:COMPARED_MAX]
    return nearest(wanted, known)


def _hint(near: Sequence[str], nouns: str = "", known: Collection[str] = ()) -> str:
    said = (did_you_mean(near), listing(nouns, known) if nouns else "")
    return "  ".join(filter(None, said))
