"""The layers of one application, put in order once and composed per set of those that reach.

A configuration is known by the names of the layers that make it. Layers everywhere are in all of
them and are merged beforehand; layers that give late-bound keys only are in none. Fleet layers take
part as far as the application reads what they set, under the key ``fleet``, which it may not set
itself: the two never meet in a leaf, so one order serves both.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from hashlib import sha256
from typing import TypeVar

from graph.composition.judge import Violation
from graph.composition.late import split
from graph.composition.merge import differing, leaves, merge, paths
from graph.composition.numbering import Numbering
from graph.composition.order import Order, Strength, strength_of
from graph.composition.problem import Clash, Path, Problem, Reason
from graph.composition.schema import Checker, compile_schema, told
from graph.model.names import GroupNumber, quoted
from graph.model.value_path import value_path, written_path
from graph.model.values import Value
from graph.model.view import FleetView
from graph.model.workload import FLEET_KEY, Application, Layer

CONFLICTS_MAX = 20
"""How many conflicts of one configuration are told as problems; enough to begin with."""
_NAMES_TOLD_MAX = 8
REMEMBERED_MAX = 4_096
"""Configurations of one application whose digest and problems are remembered."""

OWN = ""
"""In provenance, the application's own values."""

Map = Mapping[str, Value]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Composed:
    """The values of one configuration. To be read, never changed."""

    values: Map
    origins: Mapping[Path, str]
    """The layer that gave each leaf; ``OWN`` for the application itself."""
    conflicts: tuple[Clash, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one layer adds to composed values."""

    name: str
    values: Map


@dataclass(slots=True, eq=False)
class Stack:
    """Everything composition needs of one application, or of the fleet's own settings."""

    application: Application | None
    """None for the fleet's own settings."""
    order: Order
    """Of all its layers that count, those that give late-bound keys included."""
    everywhere: tuple[Layer, ...]
    """Layers on the whole fleet: in every configuration."""
    keyed: tuple[Layer, ...]
    """Layers that tell configurations apart, weakest first."""
    late: Mapping[str, tuple[Layer, ...]]
    """The layers that give each late-bound key, weakest first."""
    _base: tuple[_Part, ...]
    """What is in every configuration, weakest first."""
    _parts: tuple[_Part, ...]
    """What the keyed layers add, in their order."""
    checker: Checker | None
    """Its schema, compiled."""
    _scaffold: Map
    """Maps that a cluster will have, because a late-bound key is in them."""
    numbering: Numbering
    """Of the keyed layers, and maybe of others that were."""
    _at: Mapping[str, int] = field(init=False)
    _merged: Map = field(init=False)
    _clashes: tuple[Clash, ...] = field(init=False)
    _paths: dict[str, Mapping[Path, str]] = field(init=False)
    _digests: dict[frozenset[str], str] = field(init=False)
    _problems: dict[frozenset[str], tuple[Problem, ...]] = field(init=False)
    _mark: object = field(init=False, default_factory=object)
    _since: tuple[object, frozenset[str] | None] | None = field(init=False, default=None)
    """The mark of what it was made from, and which layers differ since."""

    def __post_init__(self) -> None:
        self._at = {part.name: at for at, part in enumerate(self._parts)}
        self._merged = _merge_all({}, self._base)
        layered = [part for part in self._base if part.name != OWN]
        self._clashes = tuple(_clashes(layered, self.order))
        self._paths = {}
        self._digests = {}
        self._problems = {}

    @staticmethod
    def of(
        application: Application,
        layers: Sequence[Layer],
        fleet_layers: Sequence[Layer],
        view: FleetView,
        known: Stack | None = None,
        moved: Collection[GroupNumber] = (),
    ) -> Stack:
        """The stack of ``application``: of all its layers, and of all fleet layers.

        ``known`` is one it had while every group but those ``moved`` was where it is now. What was
        found out about its configurations is known of this one, as far as that holds.
        """
        reads = frozenset(application.reads)
        read = [layer for layer in fleet_layers if not reads.isdisjoint(layer.values.data)]
        late = tuple(each.key for each in application.late_bound)
        order = Order.of((*read, *layers), view, None if known is None else known.order, moved)
        made = _stack(application, order, late, known)
        if known is not None:
            made._learn(known)
        return made

    @staticmethod
    def of_fleet(layers: Sequence[Layer], view: FleetView) -> Stack:
        """The fleet's own settings, composed by themselves."""
        return _stack(None, Order.of(layers, view), ())

    def _learn(self, known: Stack) -> None:
        """Take over what ``known`` has found out about configurations that are still the same."""
        changed = self.rewritten(known)
        self._since = known._mark, changed
        if changed is not None:
            self._digests |= _without(known._digests, changed)
            self._problems |= _without(known._problems, changed)

    def rewritten(self, before: Stack) -> frozenset[str] | None:
        """The layers that differ from those ``before`` or are ordered otherwise.

        None when every configuration may differ.
        """
        if before is self:
            return frozenset()
        if self._since is not None and self._since[0] is before._mark:
            return self._since[1]
        if before.application != self.application or before.everywhere != self.everywhere:
            return None
        was = {each.name: each for each in before.keyed}
        now = {each.name: each for each in self.keyed}
        if was == now:
            return self.order.moved(before.order)
        changed = {name for name in was.keys() | now.keys() if was.get(name) != now.get(name)}
        return frozenset(changed) | self.order.moved(before.order)

    def rewritten_here(self, before: Stack) -> frozenset[str] | None:
        """Those of the rewritten layers that are in any configuration ``before``: none is new."""
        changed = self.rewritten(before)
        return None if changed is None else changed & before._at.keys()

    def composes_alike(self, before: Stack, names: Collection[str]) -> bool:
        """Whether the layers of a configuration say the same in the same order as ``before``."""
        return self._reaching(names) == before._reaching(names)

    def compose(self, names: Collection[str]) -> Composed:
        """The configuration of clusters that exactly these keyed layers reach."""
        parts = self._reaching(names)
        values = _merge_all(self._merged, parts)
        touched: dict[Path, str] = {}
        for part in (*self._base, *parts):
            touched.update(self._paths_of(part))
        origins = {path: touched[path] for path, _ in leaves(values)}
        return Composed(values, origins, self._conflicts(parts))

    def digest(self, names: Collection[str]) -> str:
        """A digest of the configuration's values: equal ones have equal values."""
        key = names if isinstance(names, frozenset) else frozenset(names)
        found = self._digests.get(key)
        if found is None:
            if len(self._digests) >= REMEMBERED_MAX:
                self._digests.clear()
            values = _merge_all(self._merged, self._reaching(names))
            found = self._digests[key] = digest_of(values)
        return found

    def problems(self, names: Collection[str]) -> tuple[Problem, ...]:
        """What blocks clusters that exactly these keyed layers reach."""
        key = names if isinstance(names, frozenset) else frozenset(names)
        known = self._problems.get(key)
        if known is None:
            if len(self._problems) >= REMEMBERED_MAX:
                self._problems.clear()
            known = self._problems[key] = self._judged(names)
        return known

    def _judged(self, names: Collection[str]) -> tuple[Problem, ...]:
        parts = self._reaching(names)
        found = [self._conflict(clash) for clash in self._conflicts(parts)[:CONFLICTS_MAX]]
        if self.checker is not None:
            values = _merge_all(self._merged, parts)
            if self._scaffold:
                values = merge(self._scaffold, values)
            found += (self._violation(each, parts) for each in self.checker.violations(values))
        return tuple(found)

    def _reaching(self, names: Collection[str]) -> list[_Part]:
        parts = self._parts
        return [parts[at] for at in sorted(map(self._at.__getitem__, names))]

    def _conflicts(self, parts: Sequence[_Part]) -> tuple[Clash, ...]:
        return self._clashes + tuple(_clashes(parts, self.order))

    def _paths_of(self, part: _Part) -> Mapping[Path, str]:
        found = self._paths.get(part.name)
        if found is None:
            found = self._paths[part.name] = dict.fromkeys(paths(part.values), part.name)
        return found

    def _conflict(self, clash: Clash) -> Problem:
        return Problem(
            Reason.CONFLICT,
            f"{self._noun}: layers {quoted(clash.one)} and {quoted(clash.other)} give "
            f"{written_path(clash.path)} different values, and nothing says which is stronger",
            clash.path,
            (clash.one, clash.other),
        )

    def _violation(self, violation: Violation, parts: Sequence[_Part]) -> Problem:
        searched = [
            part
            for part in (*self._base, *parts)
            if violation.missing or _sets(part.values, violation.path)
        ]
        names = tuple(part.name for part in searched if part.name != OWN)
        verb = "searched" if violation.missing else "set by"
        return Problem(
            Reason.SCHEMA,
            f"{self._noun}: {told(violation)} ({verb}: {_listed(searched)})",
            violation.path,
            names,
        )

    @property
    def _noun(self) -> str:
        if self.application is None:
            return "the fleet's settings"
        return f"application {quoted(self.application.name)}"


def _without(
    held: Mapping[frozenset[str], _T], changed: frozenset[str]
) -> dict[frozenset[str], _T]:
    """What is held of configurations that none of some layers is in."""
    return {names: each for names, each in held.items() if changed.isdisjoint(names)}


def _stack(
    application: Application | None,
    order: Order,
    late: Sequence[str],
    known: Stack | None = None,
) -> Stack:
    reads = () if application is None else application.reads
    base = [] if application is None else [_Part(OWN, split(application.values, late)[0])]
    everywhere: list[Layer] = []
    keyed: list[tuple[Layer, _Part]] = []
    bound: dict[str, list[Layer]] = {key: [] for key in late}
    for layer in order.weakest_first:
        if application is not None and not layer.application:
            values: Map = {FLEET_KEY: _only(layer.values.data, reads)}
        else:
            values, given = split(layer.values, late)
            for key, value in given.items():
                if value is not None:  # null is no value: whatever is weaker counts
                    bound[key].append(layer)
        if strength_of(layer) is Strength.EVERYWHERE:
            everywhere.append(layer)
            base.append(_Part(layer.name, values))
        elif values:
            keyed.append((layer, _Part(layer.name, values)))
    return Stack(
        application,
        order,
        tuple(everywhere),
        tuple(layer for layer, _ in keyed),
        {key: tuple(layers) for key, layers in bound.items()},
        tuple(base),
        tuple(part for _, part in keyed),
        _checker(application, late, known),
        _scaffold(late),
        _numbering([layer.name for layer, _ in keyed], known),
    )


def _numbering(layers: Sequence[str], known: Stack | None) -> Numbering:
    return Numbering(layers) if known is None else known.numbering.renewed(layers)


def _checker(
    application: Application | None, late: Sequence[str], known: Stack | None
) -> Checker | None:
    """The schema of an application, compiled; not again if it is as it was."""
    if application is None or application.schema is None:
        return None
    was = None if known is None else known.application
    if (
        known is not None
        and was is not None
        and was.schema is application.schema
        and was.late_bound == application.late_bound
    ):
        return known.checker
    return compile_schema(application.schema, late)


def digest_of(values: Map) -> str:
    """A digest of some values: equal ones have an equal one."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _merge_all(base: Map, parts: Iterable[_Part]) -> Map:
    return reduce(merge, (part.values for part in parts), base)


def _clashes(parts: Sequence[_Part], order: Order) -> Iterator[Clash]:
    """Where these parts, in the order of their layers, clash."""
    values = {part.name: part.values for part in parts}
    for one, other in order.undecided(tuple(values)):
        for path in differing(values[one], values[other]):
            yield Clash(path, one, other)


def _only(data: Map, keys: Collection[str]) -> dict[str, Value]:
    return {key: data[key] for key in keys if key in data}


def _scaffold(late: Iterable[str]) -> Map:
    found: Map = {}
    for key in late:
        nested: dict[str, Value] = {}
        for segment in reversed(value_path(key)[:-1]):
            nested = {segment: nested}
        found = merge(found, nested)
    return found


def _sets(values: Map, path: Path) -> bool:
    """Whether ``values`` give what is at ``path``, something below it, or what it is inside of."""
    return any(path[: len(leaf)] == leaf or leaf[: len(path)] == path for leaf, _ in leaves(values))


def _listed(parts: Sequence[_Part]) -> str:
    own = ["the application's own values"] if any(part.name == OWN for part in parts) else []
    names = [part.name for part in parts if part.name != OWN]
    more = [f"{len(names) - _NAMES_TOLD_MAX:,} more"] if names[_NAMES_TOLD_MAX:] else []
    layers = [f"layer {quoted(name)}" for name in names[:_NAMES_TOLD_MAX]]
    return ", ".join((*own, *layers, *more))
