"""The index's deliberately simple twin: dictionaries and plain sets behind the same ``FleetView``.

It keeps the facts and works every answer out by walking them, each time anew, so that it is easy to
believe. ``twin_select`` evaluates a selector the same way, knowing nothing of ``graph.targeting``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import TypeVar

from graph.model.access import Grant
from graph.model.change import Change, Cursor, Entity, Numbers, ref_of
from graph.model.cluster_set import ClusterSet
from graph.model.inventory import (
    Cluster,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    LabelValue,
    SavedSelector,
)
from graph.model.label import type_of
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.referring import named_in
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Only,
    Or,
    Saved,
    Selector,
    Under,
)
from graph.model.view import FleetView
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    Workload,
)

T = TypeVar("T")

START = Cursor(Revision(0), "0" * 16)

COMPARE: dict[Comparison, Callable[[float, float], bool]] = {
    Comparison.LT: lambda one, other: one < other,
    Comparison.LE: lambda one, other: one <= other,
    Comparison.GT: lambda one, other: one > other,
    Comparison.GE: lambda one, other: one >= other,
}


@dataclass(slots=True)
class Twin:
    """Every fact of a fleet, and every answer about it the slow way."""

    by_kind: dict[Kind, dict[str | int, Entity]] = field(
        default_factory=lambda: {kind: {} for kind in Kind}
    )
    numbers: Numbers = field(default_factory=Numbers)
    cursor: Cursor = START

    @staticmethod
    def of(entities: Iterable[Entity]) -> Twin:
        twin = Twin()
        twin.apply(Change(None, entity) for entity in entities)
        return twin

    def copy(self) -> Twin:
        held = {kind: dict(entities) for kind, entities in self.by_kind.items()}
        return Twin(held, self.numbers, self.cursor)

    def apply(self, changes: Iterable[Change]) -> None:
        changes = list(changes)
        for change in changes:
            assert self.get(change.ref) == change.before, f"{change.ref} is not as before"
        for change in changes:
            self.put(change.ref, change.after)

    def get(self, ref: Ref) -> Entity | None:
        return self.by_kind[ref.kind].get(ref.key)

    def put(self, ref: Ref, entity: Entity | None) -> None:
        if entity is None:
            self.by_kind[ref.kind].pop(ref.key, None)
        else:
            assert ref_of(entity) == ref
            self.by_kind[ref.kind][ref.key] = entity
            self.numbers = self.numbers.after([Change(None, entity)])

    def entities(self) -> list[Entity]:
        return [entity for held in self.by_kind.values() for entity in held.values()]

    # hierarchies and groups

    def hierarchy(self, name: str) -> Hierarchy | None:
        found = self.by_kind[Kind.HIERARCHY].get(name)
        return found if isinstance(found, Hierarchy) else None

    def hierarchies(self) -> list[Hierarchy]:
        found = [
            each for each in self.by_kind[Kind.HIERARCHY].values() if isinstance(each, Hierarchy)
        ]
        return sorted(found, key=lambda hierarchy: hierarchy.name)

    def groups(self) -> list[Group]:
        return [each for each in self.by_kind[Kind.GROUP].values() if isinstance(each, Group)]

    def root(self, hierarchy: str) -> GroupNumber | None:
        for group in self.groups():
            if group.hierarchy == hierarchy and group.parent is None:
                return group.number
        return None

    def group(self, number: GroupNumber) -> Group | None:
        found = self.by_kind[Kind.GROUP].get(number)
        return found if isinstance(found, Group) else None

    def children(self, number: GroupNumber) -> dict[str, GroupNumber]:
        return {group.name: group.number for group in self.groups() if group.parent == number}

    def at_or_under(self, number: GroupNumber) -> set[GroupNumber]:
        found = {number}
        waiting = [number]
        while waiting:
            below = self.children(waiting.pop()).values()
            found.update(below)
            waiting.extend(below)
        return found

    def members(self, number: GroupNumber) -> ClusterSet:
        return ClusterSet.of(self.in_any(self.at_or_under(number)))

    def members_of_any(self, numbers: Iterable[GroupNumber]) -> ClusterSet:
        return ClusterSet.of(self.in_any(_at_or_under_any(self, numbers)))

    def direct_members(self, number: GroupNumber) -> ClusterSet:
        return ClusterSet.of(self.in_any({number}))

    def in_any(self, groups: set[GroupNumber]) -> set[int]:
        return {each.number for each in self.clusters() if not groups.isdisjoint(each.memberships)}

    # labels

    def label_key(self, name: str) -> LabelKey | None:
        found = self.by_kind[Kind.LABEL_KEY].get(name)
        return found if isinstance(found, LabelKey) else None

    def label_keys(self) -> list[LabelKey]:
        found = [
            each for each in self.by_kind[Kind.LABEL_KEY].values() if isinstance(each, LabelKey)
        ]
        return sorted(found, key=lambda key: key.name)

    def where(self, key: str, holds: Callable[[LabelValue], bool]) -> set[int]:
        """Clusters that have the label with a value that holds."""
        return {
            each.number
            for each in self.clusters()
            if key in each.labels and holds(each.labels[key])
        }

    def labelled(self, key: str) -> ClusterSet:
        return ClusterSet.of(self.where(key, lambda _: True))

    def label_equal(self, key: str, value: LabelValue) -> ClusterSet:
        return ClusterSet.of(self.where(key, lambda held: same_value(held, value)))

    def label_range(self, key: str, comparison: Comparison, value: float) -> ClusterSet:
        return ClusterSet.of(self.where(key, lambda held: ordered(comparison, held, value)))

    def label_values(self, key: str) -> list[tuple[LabelValue, ClusterSet]]:
        values = {each.labels[key] for each in self.clusters() if key in each.labels}
        return [(value, self.label_equal(key, value)) for value in values]

    def label(self, cluster: ClusterNumber, key: str) -> LabelValue | None:
        found = self.cluster(cluster)
        return None if found is None else found.labels.get(key)

    # clusters

    def clusters(self) -> list[Cluster]:
        return [each for each in self.by_kind[Kind.CLUSTER].values() if isinstance(each, Cluster)]

    def in_fleet(self) -> set[int]:
        return {each.number for each in self.clusters()}

    def everything(self) -> ClusterSet:
        return ClusterSet.of(self.in_fleet())

    def cluster(self, number: ClusterNumber) -> Cluster | None:
        found = self.by_kind[Kind.CLUSTER].get(number)
        return found if isinstance(found, Cluster) else None

    def cluster_name(self, number: ClusterNumber) -> str:
        found = self.cluster(number)
        assert found is not None
        return found.name

    def cluster_number(self, name: str) -> ClusterNumber | None:
        return next((each.number for each in self.clusters() if each.name == name), None)

    def names_after(self, name: str) -> Iterator[tuple[str, ClusterNumber]]:
        names = sorted((each.name.encode(), each.number) for each in self.clusters())
        return ((raw.decode(), number) for raw, number in names if raw > name.encode())

    def first_by_name(self, chosen: ClusterSet, after: str, count: int) -> list[ClusterNumber]:
        return list(self.in_name_order(chosen, after))[:count]

    def in_name_order(self, chosen: ClusterSet, after: str) -> Iterator[ClusterNumber]:
        return (number for _, number in self.names_after(after) if number in chosen)

    def memberships(self, number: ClusterNumber) -> tuple[GroupNumber, ...]:
        found = self.cluster(number)
        assert found is not None
        return found.memberships

    # saved selectors

    def saved_selector(self, name: str) -> SavedSelector | None:
        found = self.by_kind[Kind.SAVED_SELECTOR].get(name)
        return found if isinstance(found, SavedSelector) else None

    def saved_selectors(self) -> list[SavedSelector]:
        found = [
            each
            for each in self.by_kind[Kind.SAVED_SELECTOR].values()
            if isinstance(each, SavedSelector)
        ]
        return sorted(found, key=lambda saved: saved.name)

    # grants

    def grant(self, name: str) -> Grant | None:
        found = self.by_kind[Kind.GRANT].get(name)
        return found if isinstance(found, Grant) else None

    def grants(self) -> list[Grant]:
        found = [each for each in self.by_kind[Kind.GRANT].values() if isinstance(each, Grant)]
        return sorted(found, key=lambda grant: grant.name)

    # workload

    @property
    def workload(self) -> Workload:
        return Workload(
            namespaces=self.called(Namespace, Kind.NAMESPACE),
            applications=self.called(Application, Kind.APPLICATION),
            assignments=self.called(Assignment, Kind.ASSIGNMENT),
            prohibitions=self.called(Prohibition, Kind.PROHIBITION),
            layers=self.called(Layer, Kind.LAYER),
            policies=self.called(Policy, Kind.POLICY),
        )

    def called(self, type: type[T], kind: Kind) -> dict[str, T]:
        """All of one kind, by name."""
        held = self.by_kind[kind]
        return {str(name): each for name, each in held.items() if isinstance(each, type)}

    # references

    def referrers(self, ref: Ref) -> frozenset[Ref]:
        return frozenset(ref_of(each) for each in self.namers() if ref in named_in(each))

    def named(self) -> frozenset[Ref]:
        """Everything that something else names."""
        return frozenset[Ref]().union(*map(named_in, self.namers()))

    def namers(self) -> list[Entity]:
        """Everything that may name something else."""
        kinds = (kind for kind in Kind if kind not in (Kind.CLUSTER, Kind.GROUP))
        return [entity for kind in kinds for entity in self.by_kind[kind].values()]


def same_value(held: LabelValue, value: LabelValue) -> bool:
    """Equal, and of one type: true is not 1."""
    return held == value and type_of(held) is type_of(value)


def ordered(comparison: Comparison, held: LabelValue, value: LabelValue) -> bool:
    """Whether ``held`` is a number that compares so with ``value``."""
    if isinstance(held, str | bool) or isinstance(value, str | bool):
        return False
    return COMPARE[comparison](held, value)


def twin_select(selector: Selector, twin: Twin) -> set[int]:  # noqa: C901 - one case per clause
    """The clusters of ``selector``, straight from what each clause means."""
    match selector:
        case Everything():
            return twin.in_fleet()
        case Under(group):
            return twin.in_any(twin.at_or_under(group))
        case Only(group):
            return twin.in_any({group})
        case Matching(base, rest, only):
            found = _matching(twin, base, rest)
            return twin.in_any(found if only else _at_or_under_any(twin, found))
        case LabelIs(key, Comparison.EQ, value):
            return twin.where(key, lambda held: same_value(held, value))
        case LabelIs(key, Comparison.NE, value):
            return twin.where(key, lambda held: not same_value(held, value))
        case LabelIs(key, comparison, value):
            return twin.where(key, lambda held: ordered(comparison, held, value))
        case LabelIn(key, values):
            return twin.where(key, lambda held: any(same_value(held, each) for each in values))
        case HasLabel(key):
            return twin.where(key, lambda _: True)
        case IsCluster(cluster):
            return {cluster}
        case Saved(name):
            saved = twin.saved_selector(name)
            assert saved is not None
            return twin_select(saved.selector, twin)
        case InNamespace(name):
            assigned = twin.workload.assignments.values()
            chosen = (each.selector for each in assigned if each.choice.namespace == name)
            return set[int]().union(*(twin_select(each, twin) for each in chosen))
        case And(operands):
            return twin.in_fleet().intersection(*(twin_select(each, twin) for each in operands))
        case Or(operands):
            return set[int]().union(*(twin_select(each, twin) for each in operands))
        case Not(operand):
            return twin.in_fleet() - twin_select(operand, twin)
        case Except(left, right):
            return twin_select(left, twin) - twin_select(right, twin)


def _matching(twin: Twin, base: GroupNumber, rest: tuple[str, ...]) -> set[GroupNumber]:
    found = {base}
    for segment in rest:
        below = [pair for number in found for pair in twin.children(number).items()]
        found = {number for name, number in below if segment in ("*", name)}
    return found


def _at_or_under_any(twin: Twin, numbers: Iterable[GroupNumber]) -> set[GroupNumber]:
    return set[GroupNumber]().union(*(twin.at_or_under(number) for number in numbers))


# comparing two views

PROBES_MAX = 6
"""Values of one label key at which ranges are compared."""


def same_fleet(a: FleetView, b: FleetView, *, ignoring: Collection[str] = ()) -> str | None:
    """The first difference between two views over every read there is; None if there is none.

    ``ignoring`` may name ``cursor`` and ``numbers``, which are not the fleet but its place in time.
    """
    for name, one, other in _answers(a, b):
        if one != other and name not in ignoring:
            return f"{name}: {one!r} against {other!r}"
    return None


def _answers(a: FleetView, b: FleetView) -> Iterator[tuple[str, object, object]]:
    yield "cursor", a.cursor, b.cursor
    yield "numbers", a.numbers, b.numbers
    yield "hierarchies", list(a.hierarchies()), list(b.hierarchies())
    for name in [*(each.name for each in a.hierarchies()), "nowhere"]:
        yield f"hierarchy({name})", a.hierarchy(name), b.hierarchy(name)
        yield f"root({name})", a.root(name), b.root(name)
    yield from _groups(a, b)
    yield "label_keys", list(a.label_keys()), list(b.label_keys())
    for name in [*(each.name for each in a.label_keys()), "nothing"]:
        yield f"label_key({name})", a.label_key(name), b.label_key(name)
        yield from _labels(a, b, name)
    yield from _clusters(a, b)
    yield from _saved(a, b)
    yield from _grants(a, b)
    yield from _workload(a, b)
    yield from _referrers(a, b)


def _groups(a: FleetView, b: FleetView) -> Iterator[tuple[str, object, object]]:
    for place in range(max(a.numbers.group, b.numbers.group) + 1):
        number = GroupNumber(place)
        yield f"group({number})", a.group(number), b.group(number)
        yield f"children({number})", dict(a.children(number)), dict(b.children(number))
        yield f"members({number})", a.members(number), b.members(number)
        yield f"direct_members({number})", a.direct_members(number), b.direct_members(number)


def _labels(a: FleetView, b: FleetView, key: str) -> Iterator[tuple[str, object, object]]:
    yield f"labelled({key})", a.labelled(key), b.labelled(key)
    values = _values(a, key)
    yield f"label_values({key})", values, _values(b, key)
    for value in [*(value for _, value, _ in values), "nothing", -1, True]:
        yield f"label_equal({key}, {value!r})", a.label_equal(key, value), b.label_equal(key, value)
    declared = a.label_key(key)
    if declared is not None and declared.type is LabelType.NUMBER:
        numbers = sorted({value for _, value, _ in values if isinstance(value, int | float)})
        for number in numbers[:: max(1, len(numbers) // PROBES_MAX)]:
            for comparison in COMPARE:
                for value in (number, number - 0.25):
                    yield (
                        f"label_range({key}, {comparison}, {value})",
                        a.label_range(key, comparison, value),
                        b.label_range(key, comparison, value),
                    )


def _values(view: FleetView, key: str) -> list[tuple[str, LabelValue, ClusterSet]]:
    """Every value with its clusters, in an order made of type and spelling."""
    return sorted(
        ((repr(value), value, found) for value, found in view.label_values(key)),
        key=lambda entry: entry[0],
    )


def _clusters(a: FleetView, b: FleetView) -> Iterator[tuple[str, object, object]]:
    yield "everything", a.everything(), b.everything()
    keys = [each.name for each in a.label_keys()]
    for place in range(max(a.numbers.cluster, b.numbers.cluster) + 1):
        number = ClusterNumber(place)
        cluster = a.cluster(number)
        yield f"cluster({number})", cluster, b.cluster(number)
        for key in keys:
            yield f"label({number}, {key})", a.label(number, key), b.label(number, key)
        if cluster is not None:
            yield f"cluster_name({number})", a.cluster_name(number), b.cluster_name(number)
            yield f"memberships({number})", a.memberships(number), b.memberships(number)
    names = list(a.names_after(""))
    for step in (2, 3):
        chosen = ClusterSet.of([number for _, number in names[::step]])
        for name, _ in names[:: max(1, len(names) // 3)]:
            one, other = a.in_name_order(chosen, name), b.in_name_order(chosen, name)
            yield f"in_name_order({name}, every {step})", list(one), list(other)
            one, other = (each.first_by_name(chosen, name, step) for each in (a, b))
            yield f"first_by_name({name}, {step} of every {step})", list(one), list(other)
    yield "names_after", names, list(b.names_after(""))
    for name, _ in [*names, ("nobody", 0)]:
        yield f"cluster_number({name})", a.cluster_number(name), b.cluster_number(name)
    for name, _ in [*names[:: max(1, len(names) // PROBES_MAX)], ("m", 0), ("zzzz", 0)]:
        yield f"names_after({name})", list(a.names_after(name)), list(b.names_after(name))


def _saved(a: FleetView, b: FleetView) -> Iterator[tuple[str, object, object]]:
    saved = list(a.saved_selectors())
    yield "saved_selectors", saved, list(b.saved_selectors())
    for name in [*(each.name for each in saved), "nothing"]:
        yield f"saved_selector({name})", a.saved_selector(name), b.saved_selector(name)


def _grants(a: FleetView, b: FleetView) -> Iterator[tuple[str, object, object]]:
    grants = list(a.grants())
    yield "grants", grants, list(b.grants())
    for name in [*(each.name for each in grants), "nothing"]:
        yield f"grant({name})", a.grant(name), b.grant(name)


def _workload(a: FleetView, b: FleetView) -> Iterator[tuple[str, object, object]]:
    for table in fields(Workload):
        one, other = (getattr(view.workload, table.name) for view in (a, b))
        yield f"workload.{table.name}", dict(one), dict(other)
        yield f"names of workload.{table.name}", sorted(one), sorted(other)
        yield f"number of workload.{table.name}", len(one), len(other)
        for name in [*other, "nothing"]:
            yield f"workload.{table.name}[{name}]", one.get(name), other.get(name)


def _referrers(a: FleetView, b: FleetView) -> Iterator[tuple[str, object, object]]:
    known: dict[Ref, set[Ref]] = {}
    for each in [*b.saved_selectors(), *b.grants(), *_in_workload(b)]:
        for ref in named_in(each):
            known.setdefault(ref, set()).add(ref_of(each))
    groups = (Ref(Kind.GROUP, number) for number in range(b.numbers.group + 1))
    clusters = (Ref(Kind.CLUSTER, number) for number in range(b.numbers.cluster + 1))
    called = (ref_of(each) for each in [*b.label_keys(), *b.saved_selectors(), *_in_workload(b)])
    for ref in {*groups, *clusters, *called, *known, Ref(Kind.LABEL_KEY, "nothing")}:
        yield f"referrers({ref})", a.referrers(ref), frozenset(known.get(ref, ()))


def _in_workload(view: FleetView) -> Iterator[Entity]:
    for table in fields(Workload):
        yield from getattr(view.workload, table.name).values()
