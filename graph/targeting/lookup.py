"""Names in a selector, looked up in the fleet.

A name that is not there is an error, never an empty set: it points at the segment and offers the
nearest names. A wildcard is different: it asks which groups there are, and "none" is an answer.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from graph.model.errors import Invalid, SelectorInvalid, Span
from graph.model.inventory import LabelKey
from graph.model.names import GROUP_DEPTH_MAX, check_name, join_path, shortened
from graph.model.selector import InNamespace, IsCluster, Matching, Only, Saved, Under
from graph.model.view import FleetView
from graph.targeting.missing import (
    WILDCARD,
    Segment,
    listing,
    no_cluster,
    no_group,
    no_hierarchy,
    no_name,
)


@dataclass(frozen=True, slots=True)
class Lookup:
    """One text being read against one view. Positions count from 0 within ``text``."""

    view: FleetView
    text: str

    def group(self, segments: Sequence[Segment], *, only: bool) -> Under | Only | Matching:
        """The group at a path, or the groups a path with wildcards matches."""
        self._check_depth(segments)
        number = self.view.root(segments[0].name)
        if number is None:
            raise no_hierarchy(self.view, self.text, segments)
        for place, segment in enumerate(segments[1:], start=1):
            if segment.name == WILDCARD:
                return Matching(number, self._pattern(segments[place:]), only)
            child = self.view.children(number).get(segment.name)
            if child is None:
                raise no_group(self.view, self.text, segments, place, number)
            number = child
        return Only(number) if only else Under(number)

    def cluster(self, name: str, start: int) -> IsCluster:
        """The cluster called ``name``."""
        number = self.view.cluster_number(name)
        if number is None:
            raise no_cluster(self.view, self.text, name, _span(start, len(name)))
        return IsCluster(number)

    def saved(self, name: str, start: int) -> Saved:
        """The saved selector called ``name``."""
        if self.view.saved_selector(name) is None:
            known = [each.name for each in self.view.saved_selectors()]
            span = _span(start, len(name))
            raise no_name("saved selector", "saved selectors", known, self.text, name, span)
        return Saved(name)

    def label_key(self, name: str, start: int, length: int) -> LabelKey:
        """The label key called ``name``, which takes ``length`` characters of the text."""
        key = self.view.label_key(name)
        if key is None:
            known = [each.name for each in self.view.label_keys()]
            raise no_name("label key", "label keys", known, self.text, name, _span(start, length))
        return key

    def namespace(self, name: str, start: int) -> InNamespace:
        """The clusters of the namespace called ``name``."""
        known = self.view.workload.namespaces
        if name not in known:
            span = _span(start, len(name))
            raise no_name("namespace", "namespaces", known, self.text, name, span)
        return InNamespace(name)

    def segments(self, raw: str, start: int) -> list[Segment]:
        """The segments of a path; an empty one is refused where it is."""
        found: list[Segment] = []
        at = start + 1
        for name in raw[1:].split("/"):
            if not name:
                raise self._empty_segment(raw, at - 1, last=at == start + len(raw))
            found.append(Segment(name, at))
            at += len(name) + 1
        return found

    def invalid(self, message: str, start: int, length: int, *, hint: str) -> SelectorInvalid:
        """A refusal that points into the text."""
        return SelectorInvalid(message, text=self.text, span=_span(start, length), hint=hint)

    @contextmanager
    def located(self, start: int, length: int) -> Generator[None]:
        """Let a refusal from the model point into the text."""
        try:
            yield
        except SelectorInvalid:
            raise
        except Invalid as error:
            raise self.invalid(error.message, start, length, hint=error.hint) from None

    def _empty_segment(self, raw: str, slash: int, *, last: bool) -> SelectorInvalid:
        names = [name for name in raw.split("/") if name]
        whole = shortened(join_path(names))
        if not names:
            message, hint = "a path names a hierarchy first", "write /geo, /geo/us, or all"
        elif last:
            message, hint = "a path does not end with a slash", f"write {whole}"
        else:
            message, hint = "a path has no empty segment", f"write {whole}"
        return self.invalid(message, slash, 1, hint=hint)

    def _check_depth(self, segments: Sequence[Segment]) -> None:
        """Known segments and pattern are bounded apart: a pattern outlives a move of its group."""
        names = [segment.name for segment in segments]
        if names[0] == WILDCARD:
            known = [each.name for each in self.view.hierarchies()]
            raise self.invalid(
                "a path starts with a hierarchy, and * stands for a group",
                segments[0].start,
                1,
                hint=f"name the hierarchy, as /geo/*;  {listing('hierarchies', known)}",
            )
        fixed = names.index(WILDCARD) if WILDCARD in names else len(names)
        if fixed > GROUP_DEPTH_MAX or len(names) - fixed >= GROUP_DEPTH_MAX:
            start = segments[0].start - 1
            raise self.invalid(
                f"a path of {len(names):,} levels is too deep",
                start,
                segments[-1].start + len(names[-1]) - start,
                hint=f"groups are at most {GROUP_DEPTH_MAX} levels deep",
            )

    def _pattern(self, segments: Sequence[Segment]) -> tuple[str, ...]:
        for segment in segments:
            if segment.name != WILDCARD:
                with self.located(segment.start, len(segment.name)):
                    check_name(segment.name, "group")
        return tuple(segment.name for segment in segments)


def _span(start: int, length: int) -> Span:
    return Span(start + 1, max(length, 1))
