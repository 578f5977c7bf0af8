"""A rendition spelled out, in portions of bounded size.

Portions are made one after the other, when they are asked for: a whole fleet has millions of
lines, and at no time are more than a portion's worth of them there. The same two states give the
same portions in every process: what is told is ordered by names and numbers alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from graph.composition.numbering import Names
from graph.composition.stack import Stack
from graph.effective.key import overlay_key
from graph.effective.late_columns import Late, late_columns
from graph.effective.portion import (
    NAME_BYTES,
    Blocked,
    Bounds,
    Definitions,
    Held,
    Line,
    Overlay,
    Overlays,
    Pointer,
    Pointers,
    Portion,
    Removals,
    RemovedLines,
    Settings,
)
from graph.effective.rendition import (
    FLEET,
    Cause,
    Difference,
    Rendition,
    fleet_runs,
    rendering_policies,
)
from graph.model.cluster_set import ClusterSet
from graph.model.names import ClusterNumber
from graph.model.view import FleetView

T = TypeVar("T")

BLOCK = 256
"""Clusters whose lines are looked up together."""
LINE_BYTES, POINTER_BYTES, OVERLAY_BYTES = 90, 200, 200
"""What a line, a pointer and an overlay take about, without names and values."""


def portions(told: Rendition, bounds: Bounds) -> Iterator[Portion]:
    """Everything that differs.

    What is removed comes first, for a name may pass from one cluster to another; overlays that no
    cluster runs any more come last, when no line leads to them.
    """
    yield from _removed(told, bounds)
    for refs in _batches(told.defined, bounds.items_max):
        yield Definitions(refs)
    for overlays in _packed(_overlays(told, fleet=True), bounds):
        yield Settings(overlays)
    for overlays in _packed(_overlays(told, fleet=False), bounds):
        yield Overlays(overlays)
    for pointers in _packed(_pointers(told), bounds):
        yield Pointers(pointers)
    for held in _packed(_held(told, bounds), bounds):
        yield Blocked(held)
    dropped = (
        (difference.application, overlay_key(difference.application, names))
        for difference in told.differences
        for names in difference.dropped
    )
    for gone in _batches(dropped, bounds.names_max):
        yield Removals(overlays=gone)
    for refs in _batches(told.undefined, bounds.items_max):
        yield Removals(definitions=refs)


# what goes


def _removed(told: Rendition, bounds: Bounds) -> Iterator[Portion]:
    before = told.now.view if told.was is None else told.was.view
    for lines in _packed(_removed_lines(told, before, bounds), bounds):
        yield Removals(lines=lines)
    for pointers in _names(told.retired, before, bounds):
        yield Removals(pointers=pointers)


def _removed_lines(
    told: Rendition, before: FleetView, bounds: Bounds
) -> Iterator[tuple[RemovedLines, int, int]]:
    for difference in told.differences:
        for cause, clusters in difference.removed.items():
            # who is retired is known to the view before alone; all others are there now
            view = before if cause is Cause.RETIRED else told.now.view
            for names in _names(clusters, view, bounds):
                line = RemovedLines(difference.application, cause, names)
                yield line, len(names), len(names) * NAME_BYTES


def _names(clusters: ClusterSet, view: FleetView, bounds: Bounds) -> Iterator[tuple[str, ...]]:
    numbers, size = clusters.numbers(), bounds.names_max
    for start in range(0, len(numbers), size):
        yield tuple(view.columns.name.many(numbers[start : start + size]))


# what is blocked


def _held(told: Rendition, bounds: Bounds) -> Iterator[tuple[Held, int, int]]:
    for difference in told.differences:
        for troubles, clusters in sorted(difference.blocked.items(), key=lambda each: each[0]):
            said = sum(len(each.message) for each in troubles)
            for names in _names(clusters, told.now.view, bounds):
                held = Held(difference.application, troubles, names)
                yield held, len(names), len(names) * NAME_BYTES + said


# overlays


def _overlays(told: Rendition, *, fleet: bool) -> Iterator[tuple[Overlay, int, int]]:
    for difference in told.differences:
        if (difference.application == FLEET) is not fleet or not difference.written:
            continue
        name = difference.application
        stack = told.now.fleet if fleet else told.now.definitions[name].stack
        weigh = _Weight.of(stack)
        for names in difference.written:
            overlay = Overlay(
                name,
                overlay_key(name, names),
                tuple(sorted(names)),
                stack.compose(names).values,
                stack.digest(names),
                len(difference.runs[names]),
            )
            yield overlay, 1, weigh.overlay(names)


@dataclass(frozen=True, slots=True)
class _Weight:
    """How many bytes the overlays of a stack have at most, about."""

    base: int
    layers: Mapping[str, int]

    @staticmethod
    def of(stack: Stack) -> _Weight:
        own = 0 if stack.application is None else len(stack.application.values.text)
        base = sum(len(layer.values.text) for layer in stack.everywhere)
        layers = {layer.name: len(layer.values.text) for layer in stack.keyed}
        return _Weight(OVERLAY_BYTES + own + base, layers)

    def overlay(self, names: Names) -> int:
        """The bytes of one."""
        return self.base + sum(self.layers[name] + len(name) for name in names)


# pointers


def _pointers(told: Rendition) -> Iterator[tuple[Pointer, int, int]]:
    if not told.pointed:
        return
    walk = _Walk(told)
    clusters = iter(told.pointed)
    while block := list(islice(clusters, BLOCK)):
        yield from walk.pointers(ClusterSet.of(block))


class _Walk:
    """Looks the lines of clusters up, a block at a time.

    Clusters of one configuration have the same line but for late-bound values, and share it.
    """

    def __init__(self, told: Rendition) -> None:
        self._now = told.now
        self._view = told.now.view
        self._differences = [
            each for each in told.differences if each.application != FLEET and each.lines
        ]
        self._shared: dict[tuple[str, Names], Line] = {}
        self._line_bytes = LINE_BYTES + max(map(self._names_bytes, self._differences), default=0)
        self._settings = [
            (overlay_key(FLEET, names), part) for names, part in fleet_runs(told.now).items()
        ]
        policies = sorted(rendering_policies(self._view.workload), key=lambda ref: str(ref.key))
        self._policies = [(str(ref.key), told.now.reach.sets[ref]) for ref in policies]

    def pointers(self, block: ClusterSet) -> Iterator[tuple[Pointer, int, int]]:
        """The pointers of some clusters, each with its weight."""
        lines: dict[ClusterNumber, list[Line]] = {number: [] for number in block}
        late_bytes: Counter[ClusterNumber] = Counter()
        for difference in self._differences:
            wanted = difference.lines & block
            if wanted:
                self._add(difference, wanted, lines, late_bytes)
        fleet = {number: key for key, part in self._settings for number in part & block}
        numbers, columns = block.numbers(), self._view.columns
        facts = zip(
            lines.items(),
            columns.name.many(numbers),
            columns.kind.many(numbers),
            columns.reconciler.many(numbers),
            strict=True,
        )
        for (number, found), name, kind, reconciler in facts:
            policies = tuple(each for each, reach in self._policies if number in reach)
            key = fleet.get(number)
            pointer = Pointer(name, kind, reconciler, key, policies, tuple(found))
            size = POINTER_BYTES + len(found) * self._line_bytes + late_bytes[number]
            yield pointer, 1 + len(found), size

    def _add(
        self,
        difference: Difference,
        wanted: ClusterSet,
        lines: Mapping[ClusterNumber, list[Line]],
        late_bytes: Counter[ClusterNumber],
    ) -> None:
        definition = self._now.definitions[difference.application]
        late: Mapping[ClusterNumber, Late] | None = None
        if definition.application.late_bound:
            late = late_columns(definition, self._now, wanted)
        for names, part in difference.runs.items():
            if not part.meets(wanted):
                continue
            line = self._line(difference.application, names)
            here = part & wanted
            if late is None:
                for number in here:
                    lines[number].append(line)
                continue
            for number in here:
                values = late[number]
                lines[number].append(Line(line.application, line.namespace, line.key, values))
                late_bytes[number] += len(str(values))

    def _line(self, application: str, names: Names) -> Line:
        """The line of a configuration, without late-bound values."""
        found = self._shared.get((application, names))
        if found is None:
            namespace = self._now.definitions[application].application.namespace
            found = Line(application, namespace, overlay_key(application, names), {})
            self._shared[application, names] = found
        return found

    def _names_bytes(self, difference: Difference) -> int:
        namespace = self._now.definitions[difference.application].application.namespace
        return len(difference.application) + len(namespace)


# bounds


def _packed(found: Iterable[tuple[T, int, int]], bounds: Bounds) -> Iterator[tuple[T, ...]]:
    """Things, each with how many items and bytes it counts as, in portions."""
    held: list[T] = []
    items = size = 0
    for each, its_items, its_bytes in found:
        full = items + its_items > bounds.items_max or size + its_bytes > bounds.bytes_max
        if held and full:
            yield tuple(held)
            held, items, size = [], 0, 0
        held.append(each)
        items += its_items
        size += its_bytes
    if held:
        yield tuple(held)


def _batches(found: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    waiting = iter(found)
    while batch := tuple(islice(waiting, size)):
        yield batch
