"""Random fleets, random valid changes, random selectors. Everything follows from the generator.

Fleets are small and names are few, so that what is rare in a real fleet is common here: names that
pass from one object to another, several memberships under one ancestor, a group and its ancestor,
parents that change places with their children.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

from graph.model.access import Coverage, Grant, Role
from graph.model.change import Change, Entity, net, ref_of
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import (
    Capacity,
    Cluster,
    ClusterKind,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    LabelValue,
    Mode,
    Reconciler,
    SavedSelector,
)
from graph.model.names import GroupNumber, Revision
from graph.model.ref import Kind, Ref
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
    mentions,
)
from graph.model.workload import Namespace
from twin import Twin
from workload_changes import APPLICATIONS, NAMESPACES, WorkloadMaker

T = TypeVar("T")
E = TypeVar("E", bound=Entity)

SEGMENTS = ("a", "b", "c", "d", "e", "north", "south", "x-1")
CLUSTER_NAMES = tuple(
    f"{prefix}-{place}" for prefix in ("edge", "shop", "z") for place in range(60)
)
HIERARCHIES = ("geo", "devices", "ring", "franchise")
KEYS: dict[str, LabelType] = {
    "size": LabelType.TEXT,
    "lanes": LabelType.NUMBER,
    "sqft": LabelType.NUMBER,
    "open": LabelType.BOOLEAN,
    "zone": LabelType.TEXT,
}
SAVED = ("pilot", "large", "night", "rest")
GRANTS = ("texas", "night-shift", "everybody")
DEPTH_MAX = 7
CAPACITIES = (None, Capacity(4000, 8192), Capacity(8000, 16384, 1_000_000))
HOURS = (
    None,
    OpeningHours({"monday": (Interval("06:00", "22:00"),)}),
    OpeningHours({"sunday": (Interval("00:00", "24:00"),)}, {"2026-12-24": ()}),
)


def random_fleet(rng: Random, *, clusters: int = 24, groups: int = 24) -> list[Entity]:
    """A jagged fleet of about this size, as facts at revision 1."""
    work = Work(rng, Twin(), Revision(1))
    for name in rng.sample(HIERARCHIES, rng.randint(2, 4)):
        work.create_hierarchy(name)
    for _ in range(groups):
        work.create_group()
    for name in rng.sample(list(KEYS), rng.randint(2, 5)):
        work.declare(name)
    for _ in range(clusters):
        work.register()
    work.populate()
    for _ in range(rng.randint(0, 3)):
        work.save()
    for _ in range(rng.randint(0, 2)):
        work.grant()
    return work.twin.entities()


def random_changes(
    rng: Random, twin: Twin, revision: Revision, *, steps_max: int = 6
) -> tuple[Change, ...]:
    """The net of a few random operations on ``twin``, valid together, in random order."""
    work = Work(rng, twin.copy(), revision)
    operations = work.operations()
    for operation in rng.choices(operations, k=rng.randint(1, steps_max)):
        operation()
    changes = list(net(work.changes))
    rng.shuffle(changes)
    return tuple(changes)


def random_selector(
    rng: Random, twin: Twin, *, depth: int = 3, beside: Ref | None = None
) -> Selector:
    """A selector valid for ``twin``; in the saved selector or namespace ``beside`` no cycle."""
    return Selectors.over(rng, twin, beside=beside).tree(depth)


def random_scope(rng: Random, twin: Twin, *, depth: int = 2) -> Selector:
    """A selector valid for ``twin`` as the scope of a grant: nobody else can change its meaning."""
    return replace(Selectors.over(rng, twin), saved=[], namespaces=[]).tree(depth)


def random_coverage(rng: Random) -> Coverage:
    """Some namespaces and applications, whether they are there or not."""
    names = (
        frozenset(each for each in among if rng.random() < 0.4)
        for among in (NAMESPACES, APPLICATIONS)
    )
    return Coverage(*names)


@dataclass(slots=True)
class Work:
    """Operations on a working copy, each valid at its moment; one that cannot be does nothing."""

    rng: Random
    twin: Twin
    revision: Revision
    changes: list[Change] = field(default_factory=list[Change])

    def operations(self) -> list[Callable[[], None]]:
        """One of each, and those that move memberships about once more."""
        of_groups = [
            self.create_group, self.rename_group, self.retitle_group, self.move_group,
            self.delete_group, self.delete_subtree, self.swap_siblings, self.swap_with_parent,
        ]  # fmt: skip
        of_clusters = [
            self.register, self.retire, self.pass_a_name_on, self.relabel, self.redescribe,
            self.join, self.join_nearby, self.leave,
        ]  # fmt: skip
        of_names = [
            self.new_hierarchy, self.update_hierarchy, self.delete_hierarchy, self.new_label_key,
            self.retitle_label_key, self.remove_label_key, self.retype_label_key, self.save,
            self.forget, self.grant, self.revoke, self.order_hierarchies,
        ]  # fmt: skip
        of_workload = [
            self.define_namespace, self.define_application, self.assign, self.prohibit,
            self.set_layer, self.set_policy, self.drop, self.drop,
        ]  # fmt: skip
        again = [self.join_nearby, self.leave, self.move_group, self.swap_with_parent, self.relabel]
        return [*of_groups, *of_clusters, *of_names, *of_workload, *again]

    def write(self, entity: Entity) -> None:
        ref = ref_of(entity)
        entity = replace(entity, changed=self.revision)
        self.changes.append(Change(self.twin.get(ref), entity))
        self.twin.put(ref, entity)

    def erase(self, entity: Entity) -> None:
        self.changes.append(Change(entity, None))
        self.twin.put(ref_of(entity), None)

    def pick(self, among: Sequence[T]) -> T | None:
        return self.rng.choice(among) if among else None

    def unnamed(self, among: Sequence[E]) -> list[E]:
        """Those that may go: nothing would be left pointing at nothing."""
        named = self.twin.named()
        return [each for each in among if ref_of(each) not in named]

    # hierarchies

    def create_hierarchy(self, name: str) -> None:
        mode = self.rng.choice((Mode.SINGLE, Mode.MANY, Mode.MANY))
        taken = [each.precedence for each in self.twin.hierarchies()]
        self.write(Hierarchy(name, mode, precedence=min(taken, default=1) - 1))
        self.write(Group(self.twin.numbers.group, name, None, name))

    def new_hierarchy(self) -> None:
        if free := [name for name in HIERARCHIES if self.twin.hierarchy(name) is None]:
            self.create_hierarchy(self.rng.choice(free))

    def update_hierarchy(self) -> None:
        if hierarchy := self.pick(self.twin.hierarchies()):
            title = self.rng.choice(("", "Title", "Größe"))
            self.write(replace(hierarchy, mode=Mode.MANY, title=title))

    def delete_hierarchy(self) -> None:
        for hierarchy in self.twin.hierarchies():
            root = self.twin.root(hierarchy.name)
            assert root is not None
            if not self.twin.children(root) and self.deletable({root}, with_members=False):
                self.erase_groups({root})
                self.erase(hierarchy)
                return

    def order_hierarchies(self) -> None:
        hierarchies = self.twin.hierarchies()
        self.rng.shuffle(hierarchies)
        for precedence, hierarchy in enumerate(hierarchies):
            if hierarchy.precedence != precedence:
                self.write(replace(hierarchy, precedence=precedence))

    # groups

    def create_group(self) -> None:
        parent = self.pick(self.twin.groups())
        if parent is None or self.depth(parent) >= DEPTH_MAX:
            return
        if name := self.free_segment(parent.number):
            self.write(Group(self.twin.numbers.group, parent.hierarchy, parent.number, name))

    def retitle_group(self) -> None:
        if group := self.pick(self.twin.groups()):
            self.write(replace(group, title=self.rng.choice(("", "One", "Zwei"))))

    def rename_group(self) -> None:
        group = self.pick(self.inner_groups())
        if group is None or group.parent is None:
            return
        if name := self.free_segment(group.parent):
            self.write(replace(group, name=name))

    def move_group(self) -> None:
        if not (group := self.pick(self.inner_groups())):
            return
        below = self.twin.at_or_under(group.number)
        parents = [
            other
            for other in self.twin.groups()
            if other.hierarchy == group.hierarchy
            and other.number not in below
            and group.name not in self.twin.children(other.number)
            and self.depth(other) + self.height(group) <= DEPTH_MAX
        ]
        if parent := self.pick(parents):
            self.write(replace(group, parent=parent.number))

    def delete_group(self) -> None:
        leaves = [
            group
            for group in self.unnamed(self.inner_groups())
            if not self.twin.children(group.number) and not self.twin.in_any({group.number})
        ]
        if group := self.pick(leaves):
            self.erase(group)

    def delete_subtree(self) -> None:
        if self.rng.random() < 0.5 and (group := self.pick(self.inner_groups())):
            below = self.twin.at_or_under(group.number)
            if self.deletable(below, with_members=True):
                self.erase_groups(below)

    def erase_groups(self, numbers: set[GroupNumber]) -> None:
        for cluster in self.twin.clusters():
            kept = tuple(number for number in cluster.memberships if number not in numbers)
            if kept != cluster.memberships:
                self.write(replace(cluster, memberships=kept))
        for group in self.twin.groups():
            if group.number in numbers:
                self.erase(group)

    def swap_siblings(self) -> None:
        if (one := self.pick(self.inner_groups())) and one.parent is not None:
            siblings = self.twin.children(one.parent)
            other = self.twin.group(siblings[self.rng.choice(list(siblings))])
            if other is not None and other != one:
                self.write(replace(one, name=other.name))
                self.write(replace(other, name=one.name))

    def swap_with_parent(self) -> None:
        """A child takes its parent's place and name; the parent goes under it."""
        child = self.pick([group for group in self.inner_groups() if self.has_grandparent(group)])
        parent = None if child is None or child.parent is None else self.twin.group(child.parent)
        if child is None or parent is None or self.height(child) + self.depth(child) >= DEPTH_MAX:
            return
        if child.name in self.twin.children(child.number):
            return
        self.write(replace(child, parent=parent.parent, name=parent.name))
        self.write(replace(parent, parent=child.number, name=child.name))

    def inner_groups(self) -> list[Group]:
        """Groups that may be renamed and moved: all but the roots."""
        return [group for group in self.twin.groups() if group.parent is not None]

    def has_grandparent(self, group: Group) -> bool:
        parent = None if group.parent is None else self.twin.group(group.parent)
        return parent is not None and parent.parent is not None

    def free_segment(self, parent: GroupNumber) -> str | None:
        taken = self.twin.children(parent)
        return self.pick([name for name in SEGMENTS if name not in taken])

    def deletable(self, numbers: set[GroupNumber], *, with_members: bool) -> bool:
        if not self.twin.named().isdisjoint(Ref(Kind.GROUP, number) for number in numbers):
            return False
        return with_members or not self.twin.in_any(numbers)

    def depth(self, group: Group) -> int:
        deep = 1
        while group.parent is not None:
            above = self.twin.group(group.parent)
            assert above is not None
            group = above
            deep += 1
        return deep

    def height(self, group: Group) -> int:
        children = map(self.twin.group, self.twin.children(group.number).values())
        return 1 + max((self.height(child) for child in children if child), default=0)

    # clusters

    def register(self) -> None:
        taken = {cluster.name for cluster in self.twin.clusters()}
        if name := self.pick([name for name in CLUSTER_NAMES if name not in taken]):
            self.write(self.new_cluster(name))

    def new_cluster(self, name: str) -> Cluster:
        cluster = Cluster(
            self.twin.numbers.cluster,
            name,
            title=self.rng.choice(("", "Shop", "Läden 7")),
            labels={
                key.name: random_value(self.rng, key)
                for key in self.twin.label_keys()
                if self.rng.random() < 0.7
            },
            capacity=self.rng.choice(CAPACITIES),
            time_zone=self.rng.choice(("", "America/Chicago")),
            opening_hours=self.rng.choice(HOURS),
        )
        groups = self.twin.groups()
        for group in self.rng.sample(groups, min(len(groups), self.rng.randint(0, 5))):
            cluster = self.joined(cluster, group)
        return cluster

    def retire(self) -> None:
        if cluster := self.pick(self.retirable()):
            self.erase(cluster)

    def pass_a_name_on(self) -> None:
        """A cluster is retired and another gets its name."""
        if cluster := self.pick(self.retirable()):
            self.erase(cluster)
            self.write(self.new_cluster(cluster.name))

    def retirable(self) -> list[Cluster]:
        return self.unnamed(self.twin.clusters())

    def relabel(self) -> None:
        if cluster := self.pick(self.twin.clusters()):
            labels = dict(cluster.labels)
            for key in self.twin.label_keys():
                match self.rng.randrange(3):
                    case 0:
                        labels[key.name] = random_value(self.rng, key)
                    case 1:
                        labels.pop(key.name, None)
                    case _:
                        pass
            self.write(replace(cluster, labels=labels))

    def redescribe(self) -> None:
        if cluster := self.pick(self.twin.clusters()):
            self.write(
                replace(
                    cluster,
                    title=self.rng.choice(("", "New", "新")),
                    kind=self.rng.choice(list(ClusterKind)),
                    reconciler=self.rng.choice(list(Reconciler)),
                    capacity=self.rng.choice(CAPACITIES),
                    time_zone=self.rng.choice(("", "Europe/Berlin")),
                    opening_hours=self.rng.choice(HOURS),
                )
            )

    def join(self) -> None:
        cluster, group = self.pick(self.twin.clusters()), self.pick(self.twin.groups())
        if cluster and group:
            self.write(self.joined(cluster, group))

    def join_nearby(self) -> None:
        """One more membership at, above or below a group the cluster is in."""
        if not (cluster := self.pick(self.twin.clusters())):
            return
        if (at := self.pick(cluster.memberships)) is None:
            return
        group = self.twin.group(at)
        assert group is not None
        above = at if group.parent is None else group.parent
        near = [above, *self.twin.children(above).values(), *self.twin.children(at).values()]
        if other := self.twin.group(self.rng.choice(near)):
            self.write(self.joined(cluster, other))

    def leave(self) -> None:
        members = [cluster for cluster in self.twin.clusters() if cluster.memberships]
        if cluster := self.pick(members):
            left = self.rng.choice(cluster.memberships)
            kept = tuple(number for number in cluster.memberships if number != left)
            self.write(replace(cluster, memberships=kept))

    def joined(self, cluster: Cluster, group: Group) -> Cluster:
        kept = set(cluster.memberships)
        hierarchy = self.twin.hierarchy(group.hierarchy)
        assert hierarchy is not None
        if hierarchy.mode is Mode.SINGLE:
            kept -= {each.number for each in self.twin.groups() if each.hierarchy == hierarchy.name}
        return replace(cluster, memberships=tuple(sorted({*kept, group.number})))

    # label keys

    def declare(self, name: str, type: LabelType | None = None) -> None:
        self.write(LabelKey(name, type or KEYS[name]))

    def new_label_key(self) -> None:
        if free := [name for name in KEYS if self.twin.label_key(name) is None]:
            self.declare(self.rng.choice(free))

    def retitle_label_key(self) -> None:
        if key := self.pick(self.twin.label_keys()):
            self.write(replace(key, title=self.rng.choice(("", "Key")), unit="m"))

    def remove_label_key(self) -> None:
        if self.rng.random() < 0.3 and (key := self.pick(self.unmentioned_keys())):
            self.strip(key)
            self.erase(key)

    def retype_label_key(self) -> None:
        """A key goes and comes back with another type, in one changeset."""
        if self.rng.random() < 0.3 and (key := self.pick(self.unmentioned_keys())):
            self.strip(key)
            self.erase(key)
            other = LabelType.NUMBER if key.type is LabelType.TEXT else LabelType.TEXT
            self.declare(key.name, other)

    def strip(self, key: LabelKey) -> None:
        for cluster in self.twin.clusters():
            if key.name in cluster.labels:
                labels = {name: held for name, held in cluster.labels.items() if name != key.name}
                self.write(replace(cluster, labels=labels))

    def unmentioned_keys(self) -> list[LabelKey]:
        return self.unnamed(self.twin.label_keys())

    # saved selectors

    def save(self) -> None:
        name = self.rng.choice(SAVED)
        beside = Ref(Kind.SAVED_SELECTOR, name)
        tree = random_selector(self.rng, self.twin, depth=2, beside=beside)
        self.write(SavedSelector(name, tree))

    def forget(self) -> None:
        if saved := self.pick(self.unnamed(self.twin.saved_selectors())):
            self.erase(saved)

    # grants

    def grant(self) -> None:
        subject, claim = self.rng.choice((("ana", ""), ("Ünal", ""), ("", "night-crew")))
        role = self.rng.choice(list(Role))
        scope = random_scope(self.rng, self.twin)
        grant = Grant(self.rng.choice(GRANTS), role, scope, subject, claim)
        self.write(replace(grant, **self.coverage()))

    def coverage(self) -> dict[str, tuple[str, ...]]:
        """All of the workload more often than not, or some by name."""
        if self.rng.random() < 0.6:
            return {}
        workload = self.twin.workload
        return {
            "namespaces": tuple(each for each in workload.namespaces if self.rng.random() < 0.4),
            "applications": tuple(
                each for each in workload.applications if self.rng.random() < 0.2
            ),
        }

    def revoke(self) -> None:
        if grant := self.pick(self.twin.grants()):
            self.erase(grant)

    # workload

    def populate(self) -> None:
        """A workload with some of everything."""
        of_each = (
            (self.define_namespace, 4), (self.define_application, 8), (self.assign, 5),
            (self.prohibit, 1), (self.set_layer, 5), (self.set_policy, 1),
        )  # fmt: skip
        for operation, times in of_each:
            for _ in range(self.rng.randint(times // 2, times)):
                operation()

    def made(self) -> WorkloadMaker:
        keys = [key.name for key in self.twin.label_keys()]
        return WorkloadMaker(self.rng, self.twin.workload, keys)

    def selector(self) -> Selector:
        return random_selector(self.rng, self.twin, depth=2)

    def define_namespace(self) -> None:
        self.write(self.made().namespace())

    def define_application(self) -> None:
        if application := self.made().application(self.selector):
            self.write(application)

    def assign(self) -> None:
        def beside(namespace: str) -> Selector:
            ref = Ref(Kind.NAMESPACE, namespace)
            return random_selector(self.rng, self.twin, depth=2, beside=ref)

        if assignment := self.made().assignment(beside):
            self.write(assignment)

    def prohibit(self) -> None:
        if prohibition := self.made().prohibition(self.selector):
            self.write(prohibition)

    def set_layer(self) -> None:
        self.write(self.made().layer(self.where))

    def where(self) -> Selector:
        """Where a layer applies: all, one group, a selector, one cluster, each as often."""
        groups, clusters = self.pick(self.twin.groups()), self.pick(self.twin.clusters())
        match self.rng.randrange(4):
            case 0 if groups:
                return Under(groups.number)
            case 1 if clusters:
                return IsCluster(clusters.number)
            case 2:
                return self.selector()
            case _:
                return Everything()

    def set_policy(self) -> None:
        self.write(self.made().policy(self.selector))

    def drop(self) -> None:
        """Take away something of the workload that nothing names."""
        workload = self.twin.workload
        kept: tuple[Sequence[Entity], ...] = (
            list(workload.applications.values()), list(workload.assignments.values()),
            list(workload.prohibitions.values()), list(workload.layers.values()),
            list(workload.policies.values()), list(workload.namespaces.values()),
        )  # fmt: skip
        if entity := self.pick(self.unnamed(self.rng.choice(kept))):
            self.erase(entity)


def random_value(rng: Random, key: LabelKey) -> LabelValue:
    """A value of the key's type: few, or many for ``sqft``."""
    match key.type:
        case LabelType.TEXT:
            return rng.choice(("small", "medium", "large", "a b", "ä"))
        case LabelType.BOOLEAN:
            return rng.random() < 0.5
        case LabelType.NUMBER:
            if key.name == "sqft":
                return rng.choice((rng.randrange(-50, 400), rng.randrange(0, 800) + 0.5))
            return rng.randrange(0, 5)


@dataclass(slots=True)
class Selectors:
    """Random selectors over what a fleet has."""

    rng: Random
    groups: list[Group]
    keys: list[LabelKey]
    clusters: list[Cluster]
    saved: list[str]
    namespaces: list[str] = field(default_factory=list[str])

    @staticmethod
    def over(rng: Random, twin: Twin, *, beside: Ref | None = None) -> Selectors:
        leads = set[Ref]() if beside is None else _leading_to(beside, twin)
        saved = [each for each in twin.saved_selectors() if ref_of(each) not in leads]
        namespaces = [each for each in _namespaces(twin) if ref_of(each) not in leads]
        return Selectors(
            rng,
            twin.groups(),
            twin.label_keys(),
            twin.clusters(),
            [each.name for each in saved],
            [each.name for each in namespaces],
        )

    def tree(self, depth: int) -> Selector:
        if depth == 0 or self.rng.random() < 0.25:
            return self.clause()
        match self.rng.randrange(7):
            case 0 | 1 | 2:
                return self.several(depth, And)
            case 3 | 4:
                return self.several(depth, Or)
            case 5:
                return Not(self.tree(depth - 1))
            case _:
                return Except(self.tree(depth - 1), self.tree(depth - 1))

    def several(self, depth: int, kind: type[And] | type[Or]) -> Selector:
        """``And`` or ``Or`` of two to four; operands of the same kind are taken in."""
        operands: list[Selector] = []
        for _ in range(self.rng.randint(2, 4)):
            operand = self.tree(depth - 1)
            operands.extend(operand.operands if isinstance(operand, kind) else (operand,))
        return kind(tuple(operands))

    def clause(self) -> Selector:
        groups, keys, clusters = self.groups, self.keys, self.clusters
        match self.rng.randrange(15):
            case 0 | 1 | 2 if groups:
                return Under(self.rng.choice(groups).number)
            case 3 | 4 if groups:
                return Only(self.rng.choice(groups).number)
            case 5 | 6 if groups:
                return self.matching(self.rng.choice(groups).number)
            case 7 | 8 | 9 if keys:
                return self.comparison(self.rng.choice(keys))
            case 10 if keys:
                key = self.rng.choice(keys)
                count = self.rng.randint(1, 3)
                return LabelIn(key.name, tuple(random_value(self.rng, key) for _ in range(count)))
            case 11 if keys:
                return HasLabel(self.rng.choice(keys).name)
            case 12 if clusters:
                return IsCluster(self.rng.choice(clusters).number)
            case 13 if self.saved:
                return Saved(self.rng.choice(self.saved))
            case 14 if self.namespaces:
                return InNamespace(self.rng.choice(self.namespaces))
            case _:
                return Everything()

    def matching(self, base: GroupNumber) -> Matching:
        more = self.rng.choices(("*", *SEGMENTS), k=self.rng.randint(0, 2))
        return Matching(base, ("*", *more), only=self.rng.random() < 0.3)

    def comparison(self, key: LabelKey) -> LabelIs:
        comparisons = list(Comparison) if key.type is LabelType.NUMBER else EQUALITIES
        return LabelIs(key.name, self.rng.choice(comparisons), random_value(self.rng, key))


EQUALITIES = [Comparison.EQ, Comparison.NE]


def _leading_to(ref: Ref, twin: Twin) -> set[Ref]:
    """A saved selector or namespace, and those that choose by it."""
    leads = {ref}
    stands_for = [(ref_of(each), mentions(each.selector)) for each in twin.saved_selectors()]
    for each in twin.workload.assignments.values():
        stands_for.append((Ref(Kind.NAMESPACE, each.choice.namespace), mentions(each.selector)))
    for _ in stands_for:
        leads |= {name for name, named in stands_for if not named.isdisjoint(leads)}
    return leads


def _namespaces(twin: Twin) -> list[Namespace]:
    return list(twin.workload.namespaces.values())
