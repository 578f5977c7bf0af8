"""Definitions as the API says them, as those the worker keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.model.inventory import Capacity, Reconciler
from graph.model.workload import (
    Application,
    Base,
    Binding,
    BindingKind,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    Namespace,
    Policy,
    SecretProvider,
    SecretReference,
    Source,
    Template,
)
from renderer.definition import trimmed_application, trimmed_namespace, trimmed_policy

Json = Any
"""What a JSON parser returns."""


def application_of(data: Mapping[str, Json]) -> Application:
    """An application."""
    return trimmed_application(
        Application(
            name=data["name"],
            namespace=data["namespace"]["name"],
            title=data["title"],
            owner=data["owner"],
            labels=_pairs(data["labels"]),
            reconcilers=tuple(Reconciler(each.lower()) for each in data["reconcilers"]),
            depends_on=_names(data["dependsOn"]),
            source=_source(data["source"]),
            late_bound=tuple(map(_late_bound, data["lateBound"])),
            cluster_scoped=tuple(data["clusterScoped"]),
        )
    )


def namespace_of(data: Mapping[str, Json]) -> Namespace:
    """A namespace."""
    return trimmed_namespace(
        Namespace(
            name=data["name"],
            title=data["title"],
            owners=tuple(data["owners"]),
            cost_center=data["costCenter"],
            labels=_pairs(data["labels"]),
            quota=_capacity(data["quota"]),
            limits=_capacity(data["limits"]),
            secrets=tuple(map(_secret, data["secrets"])),
        )
    )


def policy_of(data: Mapping[str, Json]) -> Policy:
    """A policy."""
    enforcement = data["oversubscription"]
    return trimmed_policy(
        Policy(
            name=data["name"],
            namespaces=_names(data["namespaces"]),
            quota_max=_capacity(data["quotaMax"]),
            required_labels=tuple(data["requiredLabels"]),
            registries=tuple(data["registries"]),
            oversubscription=None if enforcement is None else Enforcement(enforcement.lower()),
            title=data["title"],
        )
    )


def _names(data: Json) -> tuple[str, ...]:
    return tuple(each["name"] for each in data)


def _pairs(data: Json) -> dict[str, str]:
    return {each["key"]: each["value"] for each in data}


def _capacity(data: Json) -> Capacity | None:
    if data is None:
        return None
    return Capacity(data["cpuMillicores"], data["memoryMib"], data["storageMib"])


def _secret(data: Json) -> SecretReference:
    provider = SecretProvider(data["provider"].lower())
    keys = {each["key"]: each["place"] for each in data["keys"]}
    return SecretReference(data["name"], provider, data["store"], keys)


def _source(data: Json) -> Source | None:
    if data is None:
        return None
    if data["__typename"] == "TemplateSource":
        return Template({each["name"]: each["text"] for each in data["files"]})
    return Base(
        data["path"],
        bindings=tuple(
            Binding(each["key"], BindingKind(each["kind"].lower()), each["name"], each["field"])
            for each in data["bindings"]
        ),
        components=tuple(Component(each["key"], each["path"]) for each in data["components"]),
    )


def _late_bound(data: Json) -> LateBound:
    fields = tuple(FieldTarget(each["object"], each["pointer"]) for each in data["fields"])
    return LateBound(data["key"], data["source"], fields)
