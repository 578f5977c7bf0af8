"""Random workload objects, one at a time. Everything follows from the generator.

Names are few and values collide on purpose: ``1``, ``true`` and ``1.0`` are told apart by little, a
list of named items meets a list of numbers, and null takes away what another layer gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from graph.model.inventory import Capacity, Reconciler
from graph.model.selector import Selector
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Assignment,
    Base,
    Binding,
    BindingKind,
    Choice,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    SecretProvider,
    SecretReference,
    Source,
    Template,
    Workload,
)

NAMESPACES = ("pos", "kitchen", "signage")
APPLICATIONS = ("agent", "till", "menu", "grill", "camera")
"""An application depends only on some before it, so that there is never a cycle."""
ASSIGNMENTS = ("everywhere", "south", "pilot-run", "late")
PROHIBITIONS = ("by-law", "recall")
LAYERS = ("base", "texas", "store", "night", "wan")
POLICIES = ("quota", "loose")

LABELS: tuple[dict[str, str], ...] = ({}, {"tier": "edge"}, {"tier": "edge", "team": "a b"})
REQUESTS = (None, Capacity(100, 128), Capacity(4000, 4096), Capacity(500, 256, 1_000))
OWN_VALUES: tuple[dict[str, object], ...] = (
    {},
    {"a": 1},
    {"a": True},
    {"a": 1.0},
    {"a": "x"},
    {"b": {"c": 1}},
    {"b": {"c": "x", "d": [1, 2]}, "a": None},
    {"b": None},
    {"b": {"c": None}},
    {"list": [{"name": "one", "v": 1}, {"name": "two"}]},
    {"list": [{"name": "one", "v": True}, {"name": "three", "v": None}]},
    {"list": [1, "x", 1.5]},
    {"host": "h-1"},
    {"store": {"id": "7"}, "ä": "ü\u2028"},
)
FLEET_VALUES: tuple[dict[str, object], ...] = (
    {"telemetry": {"traces": False}},
    {"telemetry": {"traces": True, "batch": "22:00"}, "proxy": "x"},
    {"proxy": None},
)
SCHEMAS = (
    None,
    Values.of({"type": "object", "properties": {"a": {"type": ["integer", "string"]}}}),
    Values.of({"required": ["a"], "properties": {"b": {"additionalProperties": False}}}),
)
SOURCES: tuple[Source | None, ...] = (
    None,
    Base("base/v1"),
    Base(
        "base/v2",
        (
            Binding("image.tag", BindingKind.IMAGE, "till"),
            Binding("b.c", BindingKind.FIELD, "Deployment/till", "/spec/replicas"),
        ),
        (Component("a", "components/night"),),
    ),
    Template({"till.yaml": "kind: {{ a }}\n", "ünal.yaml": ""}),
)

SECRETS: tuple[tuple[SecretReference, ...], ...] = (
    (),
    (SecretReference("db", SecretProvider.EXTERNAL_SECRETS, "vault", {"password": "pos/db"}),),
    (
        SecretReference("db", SecretProvider.SECRETS_STORE, "azure", {"a": "b", "tls.crt": "ü"}),
        SecretReference("tls", SecretProvider.EXTERNAL_SECRETS, "vault", {"key": "x#y"}),
    ),
)


@dataclass(slots=True)
class WorkloadMaker:
    """Random objects that fit into one workload and hold selectors that ``select`` gives."""

    rng: Random
    workload: Workload
    keys: Sequence[str]
    """Label keys of clusters."""

    def namespace(self) -> Namespace:
        rng = self.rng
        return Namespace(
            rng.choice(NAMESPACES),
            title=rng.choice(("", "Pos", "Küche")),
            owners=rng.choice(((), ("ana",), ("ana", "Ünal"))),
            cost_center=rng.choice(("", "4711")),
            labels=rng.choice(LABELS),
            quota=rng.choice((None, Capacity(64_000, 65_536), Capacity(64_000, 65_536, 9_000))),
            limits=rng.choice((None, Capacity(1_000, 512))),
            secrets=rng.choice(SECRETS),
        )

    def application(self, select: Callable[[], Selector]) -> Application | None:
        """An application, in the namespace it is in already if there is one."""
        rng = self.rng
        name = rng.choice(APPLICATIONS)
        was = self.workload.applications.get(name)
        if was is None and not self.workload.namespaces:
            return None
        before = APPLICATIONS[: APPLICATIONS.index(name)]
        known = [each for each in before if each in self.workload.applications]
        return Application(
            name,
            was.namespace if was is not None else rng.choice(list(self.workload.namespaces)),
            title=rng.choice(("", "Till")),
            owner=rng.choice(("", "team-a")),
            labels=rng.choice(LABELS),
            requires=select() if rng.random() < 0.3 else None,
            reconcilers=rng.choice(((), (Reconciler.FLUX,), tuple(Reconciler))),
            depends_on=tuple(self.some(known)) if rng.random() < 0.4 else (),
            requests=rng.choice(REQUESTS),
            source=rng.choice(SOURCES),
            values=self.values(OWN_VALUES),
            schema=rng.choice(SCHEMAS),
            late_bound=self.late_bound(),
            reads=rng.choice(((), ("telemetry",), ("proxy", "telemetry"))),
            cluster_scoped=rng.choice(((), (f"ClusterRole/{name}",))),
        )

    def late_bound(self) -> tuple[LateBound, ...]:
        found: list[LateBound] = []
        if self.rng.random() < 0.4:
            fields = (FieldTarget("Ingress/till", "/spec/rules/0/host"),)
            found.append(LateBound("host", self.rng.choice(("", "pos-{cluster}.example")), fields))
        if self.keys and self.rng.random() < 0.4:
            found.append(LateBound("store.id", f"{{cluster}}-{{{self.rng.choice(self.keys)}}}"))
        return tuple(found)

    def assignment(self, select: Callable[[str], Selector]) -> Assignment | None:
        """An assignment; ``select`` is told of which namespace, to close no cycle."""
        if not self.workload.namespaces:
            return None
        name, namespace = (self.rng.choice(each) for each in (ASSIGNMENTS, self.namespaces()))
        choice = self.choice(namespace)
        return Assignment(name, choice, select(namespace), self.rng.choice(("", "Title")))

    def prohibition(self, select: Callable[[], Selector]) -> Prohibition | None:
        if not self.workload.namespaces:
            return None
        choice = self.choice(self.rng.choice(("", *self.namespaces())))
        if choice == Choice():
            choice = Choice(labels={"tier": "edge"})
        return Prohibition(self.rng.choice(PROHIBITIONS), choice, select())

    def choice(self, namespace: str) -> Choice:
        """Applications of a namespace, or of all if there is none: all, by name or by label."""
        applications = [
            each.name
            for each in self.workload.applications.values()
            if namespace in ("", each.namespace)
        ]
        match self.rng.randrange(3):
            case 0 if applications:
                return Choice(namespace, tuple(self.some(applications)))
            case 1:
                return Choice(namespace, labels=self.rng.choice(LABELS))
            case _:
                return Choice(namespace)

    def layer(self, select: Callable[[], Selector]) -> Layer:
        """A layer of the application it is of already, or of any, or of the fleet."""
        rng = self.rng
        name = rng.choice(LAYERS)
        was = self.workload.layers.get(name)
        among = ("", *self.workload.applications)
        application = was.application if was is not None else rng.choice(among)
        values = self.values(OWN_VALUES if application else FLEET_VALUES)
        return Layer(name, select(), values, application, rank=rng.choice((0, 0, 0, 1, -7)))

    def policy(self, select: Callable[[], Selector]) -> Policy:
        rng = self.rng
        about = self.namespaces()
        policy = Policy(
            rng.choice(POLICIES),
            namespaces=tuple(self.some(about)) if about and rng.random() < 0.5 else (),
            quota_max=rng.choice((None, Capacity(64_000, 65_536, 9_000))),
            required_labels=rng.choice(((), ("tier",))),
            registries=rng.choice(((), ("registry.example/a", "b"))),
            oversubscription=rng.choice((*Enforcement, *Enforcement)),
        )
        if policy.namespaces:
            return policy
        return Policy(policy.name, (), select(), oversubscription=policy.oversubscription)

    def values(self, among: Sequence[dict[str, object]]) -> Values:
        return Values.of({**self.rng.choice(among), **self.rng.choice(among)})

    def namespaces(self) -> list[str]:
        return sorted(self.workload.namespaces)

    def some(self, among: Sequence[str]) -> list[str]:
        """At least one of them, if there is one, in any order."""
        return self.rng.sample(among, self.rng.randint(min(1, len(among)), len(among)))
