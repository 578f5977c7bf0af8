"""The workload's objects as nodes in Neo4j: which properties each has, and back.

What an object names is in its relationships (see ``neo4j_links``), everything else in properties:
absent when empty, lists where Neo4j has lists, labels as ``key=value``, and as JSON text what has
an inner structure (values, schema, source, late-bound keys, secrets, selectors).

Pure: this module knows no driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph.model.inventory import Capacity, Reconciler
from graph.model.selector import Selector
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    Enforcement,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from graph.store.codec import (
    decode_late_bound,
    decode_secrets,
    decode_selector,
    decode_source,
    encode_late_bound,
    encode_secrets,
    encode_selector,
    encode_source,
)
from graph.store.inventory_codec import capacity_json
from graph.store.workload_codec import WorkloadObject

Properties = Mapping[str, Any]
"""A node's properties, by names written in this module."""
Placed = Sequence[tuple[int, str]]
"""Names at the other ends of relationships, each with its place."""


def workload_row(entity: WorkloadObject) -> dict[str, Any]:
    """The properties of ``entity``; None for those it lacks."""
    row: dict[str, Any]
    match entity:
        case Namespace():
            row = _namespace_row(entity)
        case Application():
            row = _application_row(entity)
        case Assignment() | Prohibition():
            labels, selector = _labels(entity.choice.labels), _tree(entity.selector)
            row = {"labels": labels, "selector": selector}
        case Layer():
            selector, values = _tree(entity.selector), entity.values.text
            row = {"selector": selector, "values": values, "rank": entity.rank}
        case Policy():
            row = _policy_row(entity)
    row |= {"name": entity.name, "title": entity.title or None, "changed": entity.changed}
    return row


def in_place(found: Placed) -> tuple[str, ...]:
    """Names in the order they were given in."""
    return tuple(name for _, name in sorted(found))


# namespaces


def _namespace_row(namespace: Namespace) -> dict[str, Any]:
    return {
        "owners": list(namespace.owners) or None,
        "costCenter": namespace.cost_center or None,
        "labels": _labels(namespace.labels),
        **_size("quota", namespace.quota),
        **_size("limits", namespace.limits),
        "secrets": encode_secrets(namespace.secrets).decode() if namespace.secrets else None,
    }


def read_namespace(node: Properties) -> Namespace:
    """A namespace from its node."""
    secrets = node.get("secrets")
    return Namespace(
        name=node["name"],
        title=node.get("title", ""),
        owners=tuple(node.get("owners", ())),
        cost_center=node.get("costCenter", ""),
        labels=_read_labels(node),
        quota=_read_size(node, "quota"),
        limits=_read_size(node, "limits"),
        secrets=() if secrets is None else decode_secrets(secrets.encode()),
        changed=node["changed"],
    )


# applications


def _application_row(application: Application) -> dict[str, Any]:
    source, schema, late = application.source, application.schema, application.late_bound
    return {
        "owner": application.owner or None,
        "labels": _labels(application.labels),
        "requires": _tree(application.requires),
        "reconcilers": [each.value for each in application.reconcilers] or None,
        **_size("requests", application.requests),
        "source": encode_source(source).decode() if source is not None else None,
        "values": application.values.text if application.values else None,
        "schema": schema.text if schema is not None else None,
        "lateBound": encode_late_bound(late).decode() if late else None,
        "reads": list(application.reads) or None,
        "clusterScoped": list(application.cluster_scoped) or None,
    }


def read_application(
    node: Properties, namespaces: Sequence[str], depends_on: Placed
) -> Application:
    """An application from its node, the one namespace it is in, and what it depends on."""
    (namespace,) = namespaces
    source, schema, late = node.get("source"), node.get("schema"), node.get("lateBound")
    return Application(
        name=node["name"],
        namespace=namespace,
        title=node.get("title", ""),
        owner=node.get("owner", ""),
        labels=_read_labels(node),
        requires=_read_tree(node.get("requires")),
        reconcilers=tuple(map(Reconciler, node.get("reconcilers", ()))),
        depends_on=in_place(depends_on),
        requests=_read_size(node, "requests"),
        source=None if source is None else decode_source(source.encode()),
        values=Values.read(node.get("values", "{}")),
        schema=None if schema is None else Values.read(schema),
        late_bound=() if late is None else decode_late_bound(late.encode()),
        reads=tuple(node.get("reads", ())),
        cluster_scoped=tuple(node.get("clusterScoped", ())),
        changed=node["changed"],
    )


# assignments and prohibitions


def read_assignment(
    node: Properties, namespaces: Sequence[str], applications: Placed
) -> Assignment:
    """An assignment from its node and what it chooses."""
    return Assignment(
        name=node["name"],
        choice=_choice(node, namespaces, applications),
        selector=decode_selector(node["selector"].encode()),
        title=node.get("title", ""),
        changed=node["changed"],
    )


def read_prohibition(
    node: Properties, namespaces: Sequence[str], applications: Placed
) -> Prohibition:
    """A prohibition from its node and what it chooses."""
    return Prohibition(
        name=node["name"],
        choice=_choice(node, namespaces, applications),
        selector=decode_selector(node["selector"].encode()),
        title=node.get("title", ""),
        changed=node["changed"],
    )


def _choice(node: Properties, namespaces: Sequence[str], applications: Placed) -> Choice:
    return Choice(_at_most_one(namespaces), in_place(applications), _read_labels(node))


# layers and policies


def read_layer(node: Properties, applications: Sequence[str]) -> Layer:
    """A layer from its node and the application it configures, none for a fleet layer."""
    return Layer(
        name=node["name"],
        selector=decode_selector(node["selector"].encode()),
        values=Values.read(node["values"]),
        application=_at_most_one(applications),
        rank=node["rank"],
        title=node.get("title", ""),
        changed=node["changed"],
    )


def _policy_row(policy: Policy) -> dict[str, Any]:
    return {
        "selector": _tree(policy.selector),
        **_size("quotaMax", policy.quota_max),
        "requiredLabels": list(policy.required_labels) or None,
        "registries": list(policy.registries) or None,
        "oversubscription": policy.oversubscription and policy.oversubscription.value,
    }


def read_policy(node: Properties, namespaces: Placed) -> Policy:
    """A policy from its node and the namespaces it governs."""
    oversubscription = node.get("oversubscription")
    return Policy(
        name=node["name"],
        namespaces=in_place(namespaces),
        selector=_read_tree(node.get("selector")),
        quota_max=_read_size(node, "quotaMax"),
        required_labels=tuple(node.get("requiredLabels", ())),
        registries=tuple(node.get("registries", ())),
        oversubscription=None if oversubscription is None else Enforcement(oversubscription),
        title=node.get("title", ""),
        changed=node["changed"],
    )


# parts


def _at_most_one(names: Sequence[str]) -> str:
    if len(names) > 1:
        raise ValueError("one relationship at most")
    return names[0] if names else ""


def _labels(labels: Mapping[str, str]) -> list[str] | None:
    """One text a label. A key has no ``=`` in it."""
    return [f"{key}={value}" for key, value in sorted(labels.items())] or None


def _read_labels(node: Properties) -> dict[str, str]:
    found = (label.partition("=") for label in node.get("labels", ()))
    return {key: value for key, _, value in found}


def _tree(selector: Selector | None) -> str | None:
    return None if selector is None else encode_selector(selector).decode()


def _read_tree(text: str | None) -> Selector | None:
    return None if text is None else decode_selector(text.encode())


_SIZES = {
    what: (f"{what}CpuMillicores", f"{what}MemoryMib", f"{what}StorageMib")
    for what in ("quota", "limits", "requests", "quotaMax")
}


def _size(what: str, size: Capacity | None) -> dict[str, int | None]:
    if size is None:
        return dict.fromkeys(_SIZES[what])
    return dict(zip(_SIZES[what], capacity_json(size), strict=True))


def _read_size(node: Properties, what: str) -> Capacity | None:
    found = [node[name] for name in _SIZES[what] if name in node]
    return Capacity(*found) if found else None
