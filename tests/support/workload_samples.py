"""A small workload over the small business of ``history``: every kind of object, every field.

``FULL_WORKLOAD`` names groups and label keys of ``BUSINESS``, the saved selectors of ``SELECTORS``
and the cluster ``FULL_CLUSTER``; put those first.
"""

from __future__ import annotations

from graph.model.access import Grant, Role
from graph.model.change import Entity
from graph.model.inventory import Capacity, Reconciler
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import And, Everything, HasLabel, InNamespace, IsCluster, Saved, Under
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
    Template,
)

TEXAS, GRILL = Under(GroupNumber(2)), Under(GroupNumber(4))

AWKWARD_VALUES = Values.of(
    {
        "one": 1,
        "one and a bit": 1.0,
        "true": True,
        "text": "1",
        "nothing": None,
        "minus": -0.0,
        "large": 2**63 - 1,
        "wide": 1e16,
        "tiny": 5e-324,
        "empty": [{}, [], ""],
        "named": [{"name": "b", "value": 1}, {"name": "a", "value": True}],
        "Größe 🏪": "\u2028 \\ \" '",
    }
)
"""Values that a store with opinions would change or confuse."""

POS = Namespace(
    "pos",
    "Point of sale",
    owners=("retail", "Ünal"),
    cost_center="4711",
    labels={"tier": "gold", "odd": "a=b"},
    quota=Capacity(4_000, 8_192, 1_024),
    limits=Capacity(500, 512),
    secrets=(
        SecretReference(
            "till-db", SecretProvider.EXTERNAL_SECRETS, "vault", {"password": "pos/ünal#key"}
        ),
        SecretReference("till-tls", SecretProvider.SECRETS_STORE, "azure", {"tls.crt": "a"}),
    ),
)
KITCHEN = Namespace("kitchen")

TILL = Application(
    "till",
    "pos",
    "Till",
    owner="retail",
    labels={"tier": "gold"},
    requires=And((HasLabel("lanes"), Saved("pilot"))),
    reconcilers=(Reconciler.FLUX, Reconciler.ARGOCD),
    depends_on=("menu", "drawer"),
    requests=Capacity(100, 256, 0),
    source=Base(
        "base/v12",
        bindings=(
            Binding("image.tag", BindingKind.IMAGE, "till"),
            Binding("greeting", BindingKind.CONFIG_MAP, "till-config", "greeting.txt"),
        ),
        components=(Component("tracing", "components/tracing"),),
    ),
    values=AWKWARD_VALUES,
    schema=Values.of({"type": "object", "properties": {"one": {"maximum": 1.0}}}),
    late_bound=(
        LateBound("host", "pos-{cluster}-{size}", (FieldTarget("Ingress/till", "/spec/host"),)),
        LateBound("lane"),
    ),
    reads=("telemetry", "channel"),
    cluster_scoped=("ClusterRole/till-reader", "PriorityClass/till"),
)
MENU = Application(
    "menu",
    "kitchen",
    source=Template({"deployment.yaml": "kind: {{ kind }}\n", "größe.yaml": ""}),
    schema=Values(),
)
DRAWER = Application("drawer", "pos")

ASSIGNMENTS = (
    Assignment("tills", Choice("pos", ("till", "drawer")), TEXAS, "Tills in Texas"),
    Assignment("gold", Choice("kitchen", labels={"tier": "gold"}), InNamespace("pos")),
)
PROHIBITIONS = (
    Prohibition("no-menu", Choice(applications=("menu",)), GRILL, "By law"),
    Prohibition("no-gold", Choice(labels={"tier": "gold"}), Everything()),
)
LAYERS = (
    Layer("till-texas", TEXAS, AWKWARD_VALUES, "till", rank=-3, title="Texas"),
    Layer("till-here", IsCluster(ClusterNumber(7)), Values.of({"one": True}), "till", rank=2),
    Layer("fleet", Everything(), Values()),
)
POLICIES = (
    Policy(
        "house-rules",
        namespaces=("pos", "kitchen"),
        quota_max=Capacity(8_000, 16_384, 2_048),
        required_labels=("tier",),
        registries=("registry.example.com", "mirror.example.com"),
        oversubscription=Enforcement.REPORT,
        title="House rules",
    ),
    Policy("small-sites", selector=Saved("every-clause"), oversubscription=Enforcement.REFUSE),
)
COVERED = (
    Grant("grill-maker", Role.EDITOR, GRILL, claim="Grills", applications=("till", "menu")),
    Grant("franchise", Role.OPERATOR, Everything(), subject="ana", namespaces=("pos", "kitchen")),
)
"""Grants over a part of the workload."""

FULL_WORKLOAD: tuple[Entity, ...] = (
    *(POS, KITCHEN, TILL, MENU, DRAWER),
    *(*ASSIGNMENTS, *PROHIBITIONS, *LAYERS, *POLICIES, *COVERED),
)
