"""Random fleets with workloads and random changes of both. Everything follows from the generator.

What is rare in a real fleet is common here: layers that contradict each other, values off their
schema, missing labels, vetoes that come through a dependency, clusters that are too small, names
that pass from one object to another in a single changeset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeVar

from changes import Selectors, Work, random_scope
from graph.model.change import Change, Entity, net
from graph.model.inventory import (
    Capacity,
    Cluster,
    Hierarchy,
    LabelKey,
    Reconciler,
    SavedSelector,
)
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.referring import labels_in
from graph.model.selector import (
    And,
    Everything,
    Except,
    HasLabel,
    InNamespace,
    IsCluster,
    Or,
    Saved,
    Selector,
    Under,
    mentions,
)
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    Enforcement,
    FieldTarget,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from twin import Twin, twin_select

T = TypeVar("T")

NAMESPACES = ("front", "back", "shared")
APPLICATIONS = ("pos", "grill", "menu", "kds", "ads", "camera")
LAYERS = tuple(f"layer-{letter}" for letter in "abcdefghijklmnop")
FLEET_LAYERS = tuple(f"fleet-{letter}" for letter in "abcd")
ASSIGNMENTS = tuple(f"assign-{letter}" for letter in "abcdefg")
PROHIBITIONS = ("law", "noise", "recall")
POLICIES = ("lean", "strict", "pilot")
SAVED = ("pilot", "large", "night")
TIERS = ("1", "2")
SETTINGS = ("telemetry", "proxy")
CAPACITIES = (
    None,
    Capacity(1000, 2048),
    Capacity(2000, 4096),
    Capacity(4000, 4096, 1000),
    Capacity(9000, 16384, 5000),
)
REQUESTS = (
    None,
    None,
    Capacity(500, 512, 100),
    Capacity(1500, 512, 0),
    Capacity(1000, 2048, 900),
    Capacity(100, 3000),
)
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "maximum": 3},
        "b": {
            "type": "object",
            "properties": {"c": {"type": ["string", "boolean"]}},
            "additionalProperties": False,
        },
        "host": {"type": "string"},
    },
    "required": ["a"],
}
SCHEMAS = (SCHEMA, {**SCHEMA, "required": ["host"]}, {**SCHEMA, "required": ["a", "site"]})
LATE = (
    LateBound("host", "{zone}.example.com"),
    LateBound("host", "{cluster}-{lanes}"),
    LateBound("host", "{cluster}"),
    LateBound("site.id", "{open}/{sqft}"),
    LateBound("site.id"),
)


def random_workloads(rng: Random, *, clusters: int = 14, groups: int = 12) -> list[Entity]:
    """A small jagged fleet with a workload, as facts at revision 1."""
    work = Work(rng, Twin(), Revision(1))
    for name in ("geo", "devices", "ring")[: rng.randint(2, 3)]:
        work.create_hierarchy(name)
    for _ in range(groups):
        work.create_group()
    for name in ("size", "zone", "lanes", "open", "sqft")[: rng.randint(3, 5)]:
        work.declare(name)
    for _ in range(clusters):
        work.register()
    workloads = Workloads(work)
    workloads.fill()
    if rng.random() < 0.3:
        for hierarchy in work.twin.hierarchies():
            work.write(replace(hierarchy, precedence=0))  # as a fleet that never ordered them
    return work.twin.entities()


def random_workload_changes(
    rng: Random, twin: Twin, revision: Revision, *, operations_max: int = 3
) -> tuple[Change, ...]:
    """The net of a few operations on inventory and workload, valid together, in random order."""
    workloads = Workloads(Work(rng, twin.copy(), revision))
    for operation in rng.choices(workloads.operations(), k=rng.randint(1, operations_max)):
        operation()
    changes = list(net(workloads.work.changes))
    rng.shuffle(changes)
    return tuple(changes)


@dataclass(slots=True)
class Workloads:
    """Operations on the workload of a working copy; one that cannot be done does nothing."""

    work: Work

    @property
    def rng(self) -> Random:
        return self.work.rng

    @property
    def twin(self) -> Twin:
        return self.work.twin

    def fill(self) -> None:
        """A workload for a fleet that has none."""
        for name in NAMESPACES[: self.rng.randint(2, 3)]:
            self.work.write(Namespace(name))
        for cluster in self.twin.clusters():
            self.work.write(replace(cluster, capacity=self.rng.choice(CAPACITIES)))
        self.times(self.rng.randint(0, 2), self.save)
        self.times(self.rng.randint(3, 6), self.new_application)
        self.times(self.rng.randint(3, 6), self.assign)
        self.times(self.rng.randint(0, 2), self.prohibit)
        self.times(self.rng.randint(6, 16), self.set_layer)
        self.times(4, self.contradict)
        self.times(self.rng.randint(1, 3), self.set_fleet_layer)
        self.times(self.rng.randint(0, 3), self.set_policy)

    def times(self, count: int, operation: Callable[[], None]) -> None:
        for _ in range(count):
            operation()

    def operations(self) -> list[Callable[[], None]]:
        """Everything that can happen to a fleet, what moves workloads about more than once."""
        work = self.work
        of_inventory = [
            work.create_group, work.rename_group, work.rename_group, work.move_group,
            work.delete_subtree,
            work.swap_siblings, work.swap_with_parent, work.register, work.retire,
            work.pass_a_name_on, work.relabel, work.relabel, work.join, work.join_nearby,
            work.leave, work.update_hierarchy, work.remove_label_key, work.retype_label_key,
            work.new_label_key, work.new_hierarchy, work.delete_hierarchy,
            self.resize, self.reconcile_otherwise, self.reorder, self.nest, self.save, self.save,
        ]  # fmt: skip
        of_workload = [
            self.define_namespace, self.delete_namespace, self.new_application, self.redefine,
            self.redefine, self.depend_otherwise, self.fill_otherwise, self.drop_application,
            self.rehouse, self.assign,
            self.assign, self.unassign, self.prohibit, self.prohibit, self.lift, self.set_layer,
            self.set_layer, self.contradict, self.contradict, self.revalue, self.rerank,
            self.remove_layer,
            self.set_fleet_layer, self.set_policy, self.remove_policy, self.retire_with_referrers,
            self.delete_group_with_referrers, self.forget_with_referrers,
            self.remove_label_with_referrers, self.swap_layer_names, self.pass_a_layer_on,
        ]  # fmt: skip
        return [*of_inventory, *of_workload]

    def often(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, among: Sequence[T]) -> T | None:
        return self.work.pick(among)

    # inventory, where effective state cares more than targeting does

    def resize(self) -> None:
        if cluster := self.pick(self.twin.clusters()):
            self.work.write(replace(cluster, capacity=self.rng.choice(CAPACITIES)))

    def reconcile_otherwise(self) -> None:
        if cluster := self.pick(self.twin.clusters()):
            self.work.write(replace(cluster, reconciler=self.rng.choice(list(Reconciler))))

    def reorder(self) -> None:
        hierarchies: list[Hierarchy] = self.twin.hierarchies()
        self.rng.shuffle(hierarchies)
        for place, hierarchy in enumerate(hierarchies):
            self.work.write(replace(hierarchy, precedence=place))

    def nest(self) -> None:
        """A group with a layer comes under another one, which then is the weaker of the two."""
        layered = {
            each.selector.group for each in self.layers() if isinstance(each.selector, Under)
        }
        group = self.pick([each for each in self.work.inner_groups() if each.number in layered])
        if group is None:
            return
        below = self.twin.at_or_under(group.number)
        parents = [
            other
            for other in self.twin.groups()
            if other.hierarchy == group.hierarchy
            and other.number in layered - below
            and group.name not in self.twin.children(other.number)
        ]
        if parent := self.pick(parents):
            self.work.write(replace(group, parent=parent.number))

    def save(self) -> None:
        name = self.rng.choice(SAVED)
        holder = Ref(Kind.SAVED_SELECTOR, name)
        self.work.write(SavedSelector(name, self.selector(holder)))

    # selectors

    def selector(self, holder: Ref | None = None) -> Selector:
        """Any selector; one that ``holder`` stands for leads back to it nowhere."""
        depth = self.rng.choice((0, 1, 1, 2))
        found = Selectors.over(self.rng, self.twin).tree(depth)
        namespace = self.pick(list(self.twin.workload.namespaces))
        saved = self.pick(self.twin.saved_selectors())
        if namespace and self.often(0.2):
            found = (
                Except(found, InNamespace(namespace))
                if self.often(0.5)
                else _or(found, InNamespace(namespace))
            )
        elif saved and self.often(0.25):
            found = _and(found, Saved(saved.name)) if self.often(0.5) else Saved(saved.name)
        if holder is not None and holder in leads_to(self.twin, found):
            return random_scope(self.rng, self.twin, depth=1)
        return found

    def wide(self, holder: Ref | None = None) -> Selector:
        """A selector that likely chooses many clusters."""
        if self.often(0.3):
            return Everything()
        if self.often(0.4):
            roots = [group for group in self.twin.groups() if group.parent is None]
            return Under(self.rng.choice(roots).number)
        return self.selector(holder)

    def place(self) -> Selector:
        """Where a layer applies: all strengths are common."""
        match self.rng.randrange(8):
            case 0:
                return Everything()
            case 1 | 2 | 3:
                return Under(self.group_of(self.pick(self.twin.clusters())))
            case 4 if clusters := self.twin.clusters():
                return IsCluster(self.rng.choice(clusters).number)
            case 5:
                return self.wide()
            case _:
                return self.selector()

    def group_of(self, cluster: Cluster | None) -> GroupNumber:
        """A group the cluster is in, or one above it; any group if it is in none."""
        if cluster is None or not cluster.memberships:
            return self.rng.choice(self.twin.groups()).number
        group = self.twin.group(self.rng.choice(cluster.memberships))
        while group is not None and group.parent is not None and self.often(0.5):
            group = self.twin.group(group.parent)
        assert group is not None
        return group.number

    # namespaces and applications

    def define_namespace(self) -> None:
        self.work.write(Namespace(self.rng.choice(NAMESPACES), cost_center=self.rng.choice("xy")))

    def delete_namespace(self) -> None:
        for namespace in self.twin.workload.namespaces.values():
            if not self.twin.referrers(Ref(Kind.NAMESPACE, namespace.name)):
                self.work.erase(namespace)
                return

    def new_application(self) -> None:
        free = [name for name in APPLICATIONS if name not in self.twin.workload.applications]
        namespace = self.pick(list(self.twin.workload.namespaces))
        if free and namespace:
            self.work.write(self.application(self.rng.choice(free), namespace))

    def redefine(self) -> None:
        if known := self.pick(list(self.twin.workload.applications.values())):
            self.work.write(self.application(known.name, known.namespace))

    def depend_otherwise(self) -> None:
        if known := self.pick(list(self.twin.workload.applications.values())):
            self.work.write(replace(known, depends_on=self.dependencies(known.name)))

    def fill_otherwise(self) -> None:
        """Late-bound keys fill other fields, or it has another object outside its namespace."""
        if known := self.pick(list(self.twin.workload.applications.values())):
            fields = (FieldTarget("Ingress/till", self.rng.choice(("/spec/host", "/spec/rules"))),)
            late_bound = tuple(replace(late, fields=fields) for late in known.late_bound)
            claimed = (f"ClusterRole/{known.name}",) if self.often(0.3) else ()
            self.work.write(replace(known, late_bound=late_bound, cluster_scoped=claimed))

    def application(self, name: str, namespace: str) -> Application:
        return Application(
            name,
            namespace,
            labels={"tier": self.rng.choice(TIERS)} if self.often(0.7) else {},
            requires=self.requirement() if self.often(0.35) else None,
            reconcilers=(Reconciler.FLUX, Reconciler.ARGOCD) if self.often(0.3) else (),
            depends_on=self.dependencies(name),
            requests=self.rng.choice(REQUESTS),
            values=Values.of({"a": 1, **self.values()} if self.often(0.8) else {}),
            schema=Values.of(self.rng.choice(SCHEMAS)) if self.often(0.4) else None,
            late_bound=self.late_bound(),
            reads=tuple(each for each in SETTINGS if self.often(0.4)),
        )

    def requirement(self) -> Selector:
        if (key := self.pick(self.twin.label_keys())) and self.often(0.5):
            return HasLabel(key.name)
        return self.wide()

    def dependencies(self, name: str) -> tuple[str, ...]:
        """A few applications that do not need this one themselves."""
        known = self.twin.workload.applications
        needing = {name}
        for _ in known:
            needing |= {one for one, each in known.items() if needing & set(each.depends_on)}
        free = [one for one in known if one not in needing]
        return tuple(one for one in free if self.often(0.25))

    def late_bound(self) -> tuple[LateBound, ...]:
        keys = {key.name for key in self.twin.label_keys()}
        usable = [late for late in LATE if keys.issuperset(labels_in(late))]
        chosen = {late.key: late for late in usable if self.often(0.25)}
        return tuple(chosen.values())

    def drop_application(self) -> None:
        """An application goes, with everything that names it."""
        if known := self.pick(list(self.twin.workload.applications.values())):
            self.release(Ref(Kind.APPLICATION, known.name))
            self.work.erase(known)

    def rehouse(self) -> None:
        """An application goes and comes back in another namespace, in one changeset."""
        known = self.pick(list(self.twin.workload.applications.values()))
        namespace = self.pick(list(self.twin.workload.namespaces))
        if known and namespace and self.often(0.5):
            self.release(Ref(Kind.APPLICATION, known.name))
            self.work.erase(known)
            self.work.write(self.application(known.name, namespace))

    # values

    def values(self) -> dict[str, Any]:
        """Few keys and few values, so that layers meet."""
        found: dict[str, Any] = {}
        if self.often(0.65):
            found["a"] = self.rng.choice((1, 2, 2, 2, 2, 3, 3, 5, True, 1.0, None))
        if self.often(0.4):
            found["b"] = self.inner()
        if self.often(0.15):
            found["items"] = [
                {"name": name, "v": self.rng.choice((1, 2))} for name in "xyz" if self.often(0.5)
            ] or ["plain"]
        if self.often(0.1):
            found["list"] = self.rng.choice(([1], [1, 2], ["x"]))
        return found

    def inner(self) -> Any:
        if self.often(0.15):
            return self.rng.choice((None, "flat", {}))
        inner: dict[str, Any] = {"c": self.rng.choice(("x", "x", "y", True, None))}
        if self.often(0.15):
            inner["d"] = {"deep": self.rng.choice((1, 2))}
        return inner

    def own_values(self) -> Values:
        """Of a layer: it may also set what is late-bound."""
        found = self.values() if self.often(0.85) else {}
        if self.often(0.2):
            found["host"] = self.rng.choice(("h1", "h1", "h2", None))
        if self.often(0.2):
            found["site"] = {"id": self.rng.choice(("s1", "s2"))}
            if self.often(0.3):
                found["site"]["size"] = 1
        return Values.of(found)

    def settings(self) -> Values:
        found: dict[str, Any] = {}
        if self.often(0.6):
            found["telemetry"] = {
                "traces": self.rng.choice((True, True, False, None)),
                "every": self.rng.choice((10, 10, 60)),
            }
        if self.often(0.5):
            found["proxy"] = self.rng.choice(("p1", "p2"))
        return Values.of(found)

    # layers

    def set_layer(self) -> None:
        # the first of them have most of the layers, so that layers meet
        application = self.pick(sorted(self.twin.workload.applications)[: self.rng.choice((2, 9))])
        if application is None:
            return
        known = self.twin.workload.layers.get(name := self.rng.choice(LAYERS))
        owner = application if known is None else known.application
        self.work.write(Layer(name, self.place(), self.own_values(), owner, self.rank()))

    def contradict(self) -> None:
        """A layer as strong as another one, with a cluster in common with it."""
        free = [name for name in LAYERS if name not in self.twin.workload.layers]
        layer = self.pick(self.layers())
        here = self.pick(sorted(twin_select(layer.selector, self.twin))) if layer else None
        if layer is None or here is None or not free:
            return
        number = ClusterNumber(here)
        place: Selector = Under(self.group_of(self.twin.cluster(number)))
        match layer.selector:
            case Everything() | IsCluster():
                place = layer.selector
            case Under():
                pass
            case _:
                place = Or((IsCluster(number), place))
        values = self.own_values() if layer.application else self.settings()
        self.work.write(replace(layer, name=free[0], selector=place, values=values))

    def set_fleet_layer(self) -> None:
        name = self.rng.choice(FLEET_LAYERS)
        self.work.write(Layer(name, self.place(), self.settings(), rank=self.rank()))

    def rank(self) -> int:
        return self.rng.choice((0, 0, 0, 0, 1, -1))

    def revalue(self) -> None:
        if layer := self.pick(self.layers()):
            values = self.own_values() if layer.application else self.settings()
            self.work.write(replace(layer, values=values))

    def rerank(self) -> None:
        if layer := self.pick(self.layers()):
            self.work.write(replace(layer, rank=self.rank()))

    def remove_layer(self) -> None:
        if layer := self.pick(self.layers()):
            self.work.erase(layer)

    def swap_layer_names(self) -> None:
        """Two layers of one application change places, so that each name means the other."""
        one, other = self.pick(self.layers()), self.pick(self.layers())
        if one and other and one.application == other.application:
            self.work.write(replace(one, selector=other.selector, values=other.values))
            self.work.write(replace(other, selector=one.selector, values=one.values))

    def pass_a_layer_on(self) -> None:
        """A layer goes and comes back for another application, in one changeset."""
        layer = self.pick([layer for layer in self.layers() if layer.application])
        application = self.pick(list(self.twin.workload.applications))
        if layer and application:
            self.work.erase(layer)
            self.work.write(replace(layer, application=application))

    def layers(self) -> list[Layer]:
        return list(self.twin.workload.layers.values())

    # assignments, prohibitions, policies

    def choice(self, namespace: str) -> Choice:
        inside = [
            each.name
            for each in self.twin.workload.applications.values()
            if each.namespace == namespace or not namespace
        ]
        if inside and self.often(0.4 if namespace else 0.7):
            count = min(len(inside), self.rng.randint(1, 2))
            return Choice(namespace, tuple(self.rng.sample(inside, count)))
        if self.often(0.3) or not namespace:
            return Choice(namespace, labels={"tier": self.rng.choice(TIERS)})
        return Choice(namespace)

    def assign(self) -> None:
        if namespace := self.pick(list(self.twin.workload.namespaces)):
            name = self.rng.choice(ASSIGNMENTS)
            selector = self.wide(Ref(Kind.NAMESPACE, namespace))
            self.work.write(Assignment(name, self.choice(namespace), selector))

    def unassign(self) -> None:
        if assignment := self.pick(list(self.twin.workload.assignments.values())):
            self.work.erase(assignment)

    def prohibit(self) -> None:
        namespace = self.pick(list(self.twin.workload.namespaces))
        if namespace is None or self.often(0.5):
            namespace = ""
        name = self.rng.choice(PROHIBITIONS)
        self.work.write(Prohibition(name, self.choice(namespace), self.selector()))

    def lift(self) -> None:
        if prohibition := self.pick(list(self.twin.workload.prohibitions.values())):
            self.work.erase(prohibition)

    def set_policy(self) -> None:
        namespace = self.pick(list(self.twin.workload.namespaces))
        of_namespace = namespace is not None and self.often(0.4)
        self.work.write(
            Policy(
                self.rng.choice(POLICIES),
                namespaces=(namespace,) if namespace and of_namespace else (),
                selector=None if of_namespace else self.wide(),
                oversubscription=self.rng.choice((*Enforcement, Enforcement.REPORT, None)),
            )
        )

    def remove_policy(self) -> None:
        if policy := self.pick(list(self.twin.workload.policies.values())):
            self.work.erase(policy)

    # what is named goes together with those who name it

    def release(self, ref: Ref) -> None:
        """Have nobody name ``ref`` any more."""
        for holder in sorted(self.twin.referrers(ref), key=str):
            match self.twin.get(holder):
                case SavedSelector() as saved:
                    self.work.write(replace(saved, selector=Everything()))
                case Application() as application:
                    self.work.write(_without(application, ref))
                case None:
                    pass
                case entity:
                    self.work.erase(entity)

    def retire_with_referrers(self) -> None:
        if cluster := self.pick(self.twin.clusters()):
            self.release(Ref(Kind.CLUSTER, cluster.number))
            self.work.erase(cluster)

    def delete_group_with_referrers(self) -> None:
        group = self.pick(self.work.inner_groups())
        if group and self.often(0.3):
            below = self.twin.at_or_under(group.number)
            for number in sorted(below):
                self.release(Ref(Kind.GROUP, number))
            self.work.erase_groups(below)

    def forget_with_referrers(self) -> None:
        if saved := self.pick(self.twin.saved_selectors()):
            self.release(Ref(Kind.SAVED_SELECTOR, saved.name))
            self.work.erase(saved)

    def remove_label_with_referrers(self) -> None:
        key: LabelKey | None = self.pick(self.twin.label_keys())
        if key and self.often(0.3):
            self.release(Ref(Kind.LABEL_KEY, key.name))
            self.work.strip(key)
            self.work.erase(key)


def _without(application: Application, ref: Ref) -> Application:
    named = application.requires is not None and ref in mentions(application.requires)
    return replace(
        application,
        requires=None if named else application.requires,
        depends_on=tuple(name for name in application.depends_on if name != ref.key),
        late_bound=tuple(
            late
            for late in application.late_bound
            if ref.kind is not Kind.LABEL_KEY or ref.key not in labels_in(late)
        ),
    )


def leads_to(twin: Twin, selector: Selector) -> set[Ref]:
    """Saved selectors and namespaces that ``selector`` needs to be answered."""
    found: set[Ref] = set()
    waiting = [selector]
    while waiting:
        for ref in mentions(waiting.pop()) - found:
            found.add(ref)
            match ref:
                case Ref(Kind.SAVED_SELECTOR, str(name)):
                    saved = twin.saved_selector(name)
                    waiting.extend([saved.selector] if saved else [])
                case Ref(Kind.NAMESPACE, str(name)):
                    assignments = twin.workload.assignments.values()
                    waiting.extend(
                        each.selector for each in assignments if each.choice.namespace == name
                    )
                case _:
                    pass
    return found


def _or(*operands: Selector) -> Selector:
    return Or(_flat(operands, Or))


def _and(*operands: Selector) -> Selector:
    return And(_flat(operands, And))


def _flat(operands: Sequence[Selector], kind: type[And] | type[Or]) -> tuple[Selector, ...]:
    found: list[Selector] = []
    for operand in operands:
        found.extend(operand.operands if isinstance(operand, kind) else (operand,))
    return tuple(found)


def renamed(entities: Sequence[Entity], names: dict[str, str]) -> list[Entity]:
    """The same facts with other names for the layers."""
    return [
        replace(entity, name=names[entity.name]) if isinstance(entity, Layer) else entity
        for entity in entities
    ]
