"""Random fleets whose definitions and values are hard to carry without a change.

Amounts at their bounds, numbers of every kind, text that looks like a number or a date, empty maps
and lists, nulls, and maps in another order than that of their keys: whatever a format on the way
could turn into something that compares equal, or is written in another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from graph.decide.fields import CPU_MAX, SIZE_MAX
from graph.model.change import Entity
from graph.model.inventory import Capacity
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Base,
    Binding,
    BindingKind,
    Component,
    FieldTarget,
    LateBound,
    Layer,
    Namespace,
    Policy,
    SecretProvider,
    SecretReference,
    Source,
    Template,
)
from workload_fleets import random_workloads

T = TypeVar("T")

AMOUNTS = (0, 1, 512, 1_024, 2**31 - 1, 2**31, 2**33, SIZE_MAX)
NUMBERS = (
    *(0, 1, -1, 10**15, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)),
    *(0.0, -0.0, 1.0, -1.5, 0.1, 1e15, 1e16, 1e21, 1e22, 123456789.0, 5e-324, 1e300, 1e-7),
)
TEXTS = (
    *("", "1", "1.0", "00042", "1e3", "0x1F", "1_000", "-", "~", "null", "true", "no", "NaN"),
    *("2026-12-24", "12:30", " x ", "é", "e\u0301", "Größe 🏪", "\u2028", "a\nb\n", "\\ \" '", "#"),
)
LABELS = ("zone", "tier", "a", "b")
FILE = """apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}}}
data: {{all: {{{{ values | json | quote }}}}}}
"""


def awkward_fleet(rng: Random) -> list[Entity]:
    """A random fleet and workload, as facts at revision 1."""
    return [_dressed(rng, entity) for entity in random_workloads(rng)]


def _dressed(rng: Random, entity: Entity) -> Entity:
    match entity:
        case Namespace():
            return _namespace(rng, entity)
        case Application():
            return _application(rng, entity)
        case Layer() if rng.random() < 0.6:
            values = {**entity.values.data, **_values(rng)}
            return replace(entity, values=Values.of(values), title=rng.choice(TEXTS))
        case Policy():
            return replace(
                entity,
                title=rng.choice(TEXTS),
                quota_max=_size(rng),
                required_labels=_some(rng, LABELS),
                registries=_some(rng, ("z.example.com", "a.example.com/1e3")),
            )
        case _:
            return entity


def _namespace(rng: Random, namespace: Namespace) -> Namespace:
    keys = {name: f"place/{rng.choice(TEXTS)}" for name in _some(rng, ("z", "1", "a"))}
    secrets = [
        SecretReference(name, rng.choice([*SecretProvider]), "vault", keys)
        for name in _some(rng, ("tls", "db", "1e3"))
    ]
    return replace(
        namespace,
        title=rng.choice(TEXTS),
        owners=_some(rng, ("no", "1e3", "Ünal")),
        cost_center=rng.choice(("", "0042", "4711.0", "1e3")),
        labels=_labels(rng),
        quota=_size(rng),
        limits=_size(rng),
        secrets=tuple(secrets),
    )


def _application(rng: Random, application: Application) -> Application:
    late = (*application.late_bound, LateBound("port", "8080", _fields(rng)))
    return replace(
        application,
        title=rng.choice(TEXTS),
        owner=rng.choice(("", "no", "1e3")),
        labels=dict(application.labels) | _labels(rng),
        source=_source(rng),
        values=Values.of({**application.values.data, **_values(rng)}),
        late_bound=tuple({each.key: each for each in late}.values()),
        cluster_scoped=_some(rng, (f"ClusterRole/{application.name}", "PriorityClass/1e3")),
    )


def _source(rng: Random) -> Source | None:
    names = _some(rng, ("z", "b", "a"))
    if rng.random() < 0.6 and names:
        return Template({f"{name}.yaml": FILE.format(name=name) for name in names})
    if rng.random() < 0.2:
        return None
    bindings = (
        Binding("odd.n", BindingKind.CONFIG_MAP, "settings", "n"),
        Binding("odd.t", BindingKind.IMAGE, "till"),
        Binding("odd.m", BindingKind.FIELD, "ConfigMap/settings", "/data/m"),
        Binding("a", BindingKind.REPLICAS, "till"),
    )
    return Base("base/v1", _some(rng, bindings), _some(rng, (Component("odd.on", "switch"),)))


def _fields(rng: Random) -> tuple[FieldTarget, ...]:
    return _some(rng, (FieldTarget("ConfigMap/z", "/data/x"), FieldTarget("Ingress/1e3", "/spec")))


def _values(rng: Random) -> dict[str, Any]:
    found: dict[str, Any] = {"odd": _value(rng, 3), "more": _value(rng, 2)}
    if rng.random() < 0.3:
        found["port"] = rng.choice((*NUMBERS, *TEXTS, True, [], {}))
    return found


def _value(rng: Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice((*NUMBERS, *TEXTS, True, False, None, [], {}))
    if rng.random() < 0.3:
        return [_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {key: _value(rng, depth - 1) for key in _some(rng, ("z", "n", "t", "m", "on", "1", "é"))}


def _labels(rng: Random) -> dict[str, str]:
    return {key: rng.choice(("1.0", "true", "00042", "gold")) for key in _some(rng, LABELS)}


def _size(rng: Random) -> Capacity | None:
    if rng.random() < 0.2:
        return None
    cpu, memory, storage = (rng.choice(AMOUNTS) for _ in range(3))
    return Capacity(min(cpu, CPU_MAX), memory, storage)


def _some(rng: Random, among: Sequence[T]) -> tuple[T, ...]:
    """Some of them, in any order."""
    return tuple(rng.sample(among, rng.randint(0, len(among))))
