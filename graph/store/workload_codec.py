"""The workload as JSON: what ``graph.store.codec`` writes for each object.

A field that has its default is left out. Values are JSON inside the JSON, and come back with the
very text they had: 1, 1.0 and true differ in it.
"""

from __future__ import annotations

from typing import cast

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
)
from graph.store.inventory_codec import capacity_json, read_capacity
from graph.store.selector_codec import Json, read_selector, selector_json

WorkloadObject = Namespace | Application | Assignment | Prohibition | Layer | Policy


def workload_json(entity: WorkloadObject) -> dict[str, Json]:
    """``entity`` as what a JSON writer takes."""
    data: dict[str, Json]
    match entity:
        case Namespace():
            data = _namespace_json(entity)
        case Application():
            data = _application_json(entity)
        case Assignment() | Prohibition():
            selector = selector_json(entity.selector)
            data = {"choice": _choice_json(entity.choice), "selector": selector}
        case Layer():
            data = _stated(application=entity.application, rank=entity.rank)
            data["selector"] = selector_json(entity.selector)
            data["values"] = entity.values.data
        case Policy():
            data = _policy_json(entity)
    return data | {"name": entity.name, "changed": entity.changed} | _stated(title=entity.title)


def _stated(**fields: Json) -> dict[str, Json]:
    """``fields`` without those that say nothing: no text, nothing in it, zero."""
    return {key: value for key, value in fields.items() if value}


# parts


def _size(size: Capacity | None) -> Json:
    return None if size is None else capacity_json(size)


def _tree(selector: Selector | None) -> Json:
    return None if selector is None else selector_json(selector)


def _read_tree(data: Json) -> Selector | None:
    return None if data is None else read_selector(data)


def _read_values(data: Json) -> Values:
    if not isinstance(data, dict):
        raise TypeError("values are a map")
    return Values.of(cast("dict[str, object]", data))


def _choice_json(choice: Choice) -> dict[str, Json]:
    return _stated(
        namespace=choice.namespace,
        applications=choice.applications,
        labels=dict(choice.labels),
    )


def _read_choice(data: Json) -> Choice:
    return Choice(
        namespace=data.get("namespace", ""),
        applications=tuple(data.get("applications", ())),
        labels=data.get("labels") or {},
    )


def source_json(source: Source) -> dict[str, Json]:
    """Where manifests come from: a map led by ``base`` or ``template``."""
    match source:
        case Base():
            bindings = [
                {"key": each.key, "kind": each.kind.value, "name": each.name}
                | _stated(field=each.field)
                for each in source.bindings
            ]
            components = [{"key": each.key, "path": each.path} for each in source.components]
            return {"base": source.path} | _stated(bindings=bindings, components=components)
        case Template():
            return {"template": dict(source.files)}


def read_source(data: Json) -> Source:
    """The inverse of ``source_json``."""
    if "template" in data:
        return Template(data["template"])
    return Base(
        path=data["base"],
        bindings=tuple(
            Binding(each["key"], BindingKind(each["kind"]), each["name"], each.get("field", ""))
            for each in data.get("bindings", ())
        ),
        components=tuple(
            Component(each["key"], each["path"]) for each in data.get("components", ())
        ),
    )


def late_bound_json(late: LateBound) -> dict[str, Json]:
    """A late-bound key."""
    fields = [{"object": each.object, "pointer": each.pointer} for each in late.fields]
    return {"key": late.key} | _stated(source=late.source, fields=fields)


def read_late_bound(data: Json) -> LateBound:
    """The inverse of ``late_bound_json``."""
    fields = (FieldTarget(each["object"], each["pointer"]) for each in data.get("fields", ()))
    return LateBound(data["key"], data.get("source", ""), tuple(fields))


def secret_json(secret: SecretReference) -> dict[str, Json]:
    """A reference to a secret."""
    named = {"name": secret.name, "provider": secret.provider.value, "store": secret.store}
    return named | _stated(keys=dict(secret.keys))


def read_secret(data: Json) -> SecretReference:
    """The inverse of ``secret_json``."""
    provider = SecretProvider(data["provider"])
    return SecretReference(data["name"], provider, data["store"], data.get("keys") or {})


# objects


def _namespace_json(namespace: Namespace) -> dict[str, Json]:
    return _stated(
        owners=namespace.owners,
        cost_center=namespace.cost_center,
        labels=dict(namespace.labels),
        quota=_size(namespace.quota),
        limits=_size(namespace.limits),
        secrets=[secret_json(each) for each in namespace.secrets],
    )


def read_namespace(data: Json) -> Namespace:
    """A namespace."""
    return Namespace(
        name=data["name"],
        title=data.get("title", ""),
        owners=tuple(data.get("owners", ())),
        cost_center=data.get("cost_center", ""),
        labels=data.get("labels") or {},
        quota=read_capacity(data.get("quota")),
        limits=read_capacity(data.get("limits")),
        secrets=tuple(map(read_secret, data.get("secrets", ()))),
        changed=data["changed"],
    )


def _application_json(application: Application) -> dict[str, Json]:
    data = _stated(
        owner=application.owner,
        labels=dict(application.labels),
        requires=_tree(application.requires),
        reconcilers=[each.value for each in application.reconcilers],
        depends_on=application.depends_on,
        requests=_size(application.requests),
        source=None if application.source is None else source_json(application.source),
        values=application.values.data,
        late_bound=[late_bound_json(each) for each in application.late_bound],
        reads=application.reads,
        cluster_scoped=application.cluster_scoped,
    )
    data["namespace"] = application.namespace
    if application.schema is not None:
        data["schema"] = application.schema.data  # an empty one is not the same as none
    return data


def read_application(data: Json) -> Application:
    """An application."""
    get = data.get
    source, schema = get("source"), get("schema")
    return Application(
        name=data["name"],
        namespace=data["namespace"],
        title=get("title", ""),
        owner=get("owner", ""),
        labels=get("labels") or {},
        requires=_read_tree(get("requires")),
        reconcilers=tuple(map(Reconciler, get("reconcilers", ()))),
        depends_on=tuple(get("depends_on", ())),
        requests=read_capacity(get("requests")),
        source=None if source is None else read_source(source),
        values=_read_values(get("values", {})),
        schema=None if schema is None else _read_values(schema),
        late_bound=tuple(map(read_late_bound, get("late_bound", ()))),
        reads=tuple(get("reads", ())),
        cluster_scoped=tuple(get("cluster_scoped", ())),
        changed=data["changed"],
    )


def read_assignment(data: Json) -> Assignment:
    """An assignment."""
    return Assignment(
        name=data["name"],
        choice=_read_choice(data["choice"]),
        selector=read_selector(data["selector"]),
        title=data.get("title", ""),
        changed=data["changed"],
    )


def read_prohibition(data: Json) -> Prohibition:
    """A prohibition."""
    return Prohibition(
        name=data["name"],
        choice=_read_choice(data["choice"]),
        selector=read_selector(data["selector"]),
        title=data.get("title", ""),
        changed=data["changed"],
    )


def read_layer(data: Json) -> Layer:
    """A layer."""
    return Layer(
        name=data["name"],
        selector=read_selector(data["selector"]),
        values=_read_values(data["values"]),
        application=data.get("application", ""),
        rank=data.get("rank", 0),
        title=data.get("title", ""),
        changed=data["changed"],
    )


def _policy_json(policy: Policy) -> dict[str, Json]:
    return _stated(
        namespaces=policy.namespaces,
        selector=_tree(policy.selector),
        quota_max=_size(policy.quota_max),
        required_labels=policy.required_labels,
        registries=policy.registries,
        oversubscription=policy.oversubscription and policy.oversubscription.value,
    )


def read_policy(data: Json) -> Policy:
    """A policy."""
    oversubscription = data.get("oversubscription")
    return Policy(
        name=data["name"],
        namespaces=tuple(data.get("namespaces", ())),
        selector=_read_tree(data.get("selector")),
        quota_max=read_capacity(data.get("quota_max")),
        required_labels=tuple(data.get("required_labels", ())),
        registries=tuple(data.get("registries", ())),
        oversubscription=None if oversubscription is None else Enforcement(oversubscription),
        title=data.get("title", ""),
        changed=data["changed"],
    )
