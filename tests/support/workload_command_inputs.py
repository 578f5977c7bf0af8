"""Commands on the workload written as the API takes them, and random ones of every kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from random import Random
from typing import Any

from changes import CAPACITIES, SEGMENTS
from graph.model import workload_command as core
from graph.model.inventory import Reconciler
from graph.model.selector import Selector
from graph.model.workload import (
    Base,
    Binding,
    BindingKind,
    Choice,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    SecretProvider,
    SecretReference,
    Source,
    Template,
)
from graph.model.workload_command import WorkloadCommand

Tree = Callable[[], str | Selector]
"""Makes a selector, as text or as a tree."""

LABELS = ("tier", "team", "x-1")
VALUES: tuple[Any, ...] = (
    {}, {"a": 1}, {"a": True}, {"a": 1.0}, {"a": None}, {"a": "x", "b": {"c": [1, "é", None]}},
    {"b": {"c": -7, "d": {"e": []}}, "hosts": [{"name": "one", "port": 80}, {"name": "two"}]},
    {"a": "", "b": [[], [2.5, 2**53, False]], "quoted": 'a "b" \\c'},
)  # fmt: skip
SCHEMAS: tuple[Any, ...] = (
    None, {}, {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)  # fmt: skip


def shape_of(name: str, value: Any) -> Any:
    """A part of a workload command as the API takes it; ``...`` for what is no such part."""
    match value:
        case Base():
            return {"base": _record(value)}
        case Template():
            files = [{"name": name, "text": text} for name, text in value.files.items()]
            return {"template": {"files": files}}
        case LateBound():
            return _record(value)
        case SecretReference():
            keys = [{"key": key, "place": place} for key, place in value.keys.items()]
            return {each.name: getattr(value, each.name) for each in fields(value)} | {"keys": keys}
        case Mapping() if name in ("values", "schema"):
            return value
        case _:
            return ...


def _record(value: Any) -> Any:
    """A frozen value, field by field; enums are left as they are."""
    if isinstance(value, tuple):
        return [_record(each) for each in value]
    if isinstance(value, Base | Binding | Component | LateBound | FieldTarget):
        return {each.name: _record(getattr(value, each.name)) for each in fields(value)}
    return value


def random_workload_command(rng: Random, tree: Tree) -> WorkloadCommand:
    """A command on the workload; its names need not be there."""
    return rng.choice(_MAKERS)(rng, tree)


def _name(rng: Random) -> str:
    return rng.choice(SEGMENTS)


def _some(rng: Random, among: tuple[Any, ...], most: int = 3) -> tuple[Any, ...]:
    return tuple(rng.sample(among, rng.randint(0, min(most, len(among)))))


def _title(rng: Random) -> str:
    return rng.choice(("", "Größe", 'a "quoted" one'))


def _labels(rng: Random) -> dict[str, str]:
    return {key: rng.choice(("", "gold", "été")) for key in _some(rng, LABELS)}


def _namespace(rng: Random, _: Tree) -> WorkloadCommand:
    return core.DefineNamespace(
        name=_name(rng),
        title=_title(rng),
        owners=_some(rng, ("ana", "Ünal", "")),
        cost_center=rng.choice(("", "4711")),
        labels=_labels(rng),
        quota=rng.choice(CAPACITIES),
        limits=rng.choice(CAPACITIES),
        secrets=_secrets(rng),
    )


def _application(rng: Random, tree: Tree) -> WorkloadCommand:
    return core.DefineApplication(
        name=_name(rng),
        namespace=_name(rng),
        title=_title(rng),
        owner=rng.choice(("", "ana")),
        labels=_labels(rng),
        requires=rng.choice((None, tree())),
        reconcilers=_some(rng, tuple(Reconciler)),
        depends_on=_some(rng, SEGMENTS),
        requests=rng.choice(CAPACITIES),
        source=rng.choice((None, _source(rng))),
        values=rng.choice(VALUES),
        schema=rng.choice(SCHEMAS),
        late_bound=tuple(_late(rng) for _ in range(rng.randint(0, 2))),
        reads=_some(rng, ("telemetry", "proxy")),
        cluster_scoped=_some(rng, ("ClusterRole/pos", "PriorityClass/x.y", "no object")),
    )


def _secrets(rng: Random) -> tuple[SecretReference, ...]:
    keys = {key: rng.choice(("", "pos/db#ü")) for key in _some(rng, ("a", "tls.crt", "no key"))}
    kinds = _some(rng, tuple(SecretProvider))
    return tuple(
        SecretReference(_name(rng), each, rng.choice(("vault", "")), keys) for each in kinds
    )


def _source(rng: Random) -> Source:
    if rng.random() < 0.5:
        return Template({name: f"kind: {name}\n{{{{ a }}}}" for name in _some(rng, SEGMENTS)})
    bindings = tuple(
        Binding("image.tag", kind, "Deployment/pos", rng.choice(("", "/spec/replicas")))
        for kind in _some(rng, tuple(BindingKind))
    )
    return Base("base/v12", bindings, _some(rng, (Component("b.c", "components/night"),)))


def _late(rng: Random) -> LateBound:
    targets = (FieldTarget("Ingress/pos", "/spec/rules/0/host"), FieldTarget("ConfigMap/x", "/d"))
    source = rng.choice(("", "{cluster}", "pos-{size}.example.com"))
    return LateBound(rng.choice(("host", "b.c")), source, _some(rng, targets))


def _choice(rng: Random, *namespaces: str) -> Choice:
    namespace = rng.choice((_name(rng), *namespaces))
    return Choice(namespace, _some(rng, SEGMENTS), _labels(rng))


def _assign(rng: Random, tree: Tree) -> WorkloadCommand:
    return core.Assign(_name(rng), _choice(rng), tree(), _title(rng))


def _prohibit(rng: Random, tree: Tree) -> WorkloadCommand:
    return core.Prohibit(_name(rng), _choice(rng, ""), tree(), _title(rng))


def _layer(rng: Random, tree: Tree) -> WorkloadCommand:
    return core.SetLayer(
        name=_name(rng),
        selector=tree(),
        values=rng.choice(VALUES),
        application=rng.choice(("", _name(rng))),
        rank=rng.choice((0, 1, -1_000, 2_147_483_647)),
        title=_title(rng),
    )


def _policy(rng: Random, tree: Tree) -> WorkloadCommand:
    return core.SetPolicy(
        name=_name(rng),
        namespaces=_some(rng, SEGMENTS),
        selector=rng.choice((None, tree())),
        quota_max=rng.choice(CAPACITIES),
        required_labels=_some(rng, LABELS),
        registries=_some(rng, ("registry.example.com", "ghcr.example.com/pos")),
        oversubscription=rng.choice((None, *Enforcement)),
        title=_title(rng),
    )


_MAKERS: tuple[Callable[[Random, Tree], WorkloadCommand], ...] = (
    _namespace, _application, _assign, _prohibit, _layer, _policy,
    lambda rng, _: core.OrderHierarchies(_some(rng, SEGMENTS)),
    lambda rng, _: core.DeleteNamespace(_name(rng)),
    lambda rng, _: core.DeleteApplication(_name(rng)),
    lambda rng, _: core.Unassign(_name(rng)),
    lambda rng, _: core.LiftProhibition(_name(rng)),
    lambda rng, _: core.RemoveLayer(_name(rng)),
    lambda rng, _: core.RemovePolicy(_name(rng)),
)  # fmt: skip
