"""The workload: what runs where, with which values, and what may not.

Frozen values like the inventory. An application's definition is made of such values and nothing
else, so that effective state is a function of definitions and inventory, and an earlier or a
planned definition can be handed to it as well as today's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from graph.model.inventory import Capacity, Reconciler
from graph.model.names import Revision
from graph.model.selector import Selector
from graph.model.values import Values

CLUSTER_SOURCE = "cluster"
"""In the source of a late-bound key, the cluster's name; every other word there is a label key."""
PLACEHOLDER = re.compile(
    r"\{((?:[a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\}", re.ASCII
)
"""Such a word in the source of a late-bound key."""
FLEET_KEY = "fleet"
"""The key under which an application finds the fleet settings it reads."""


class BindingKind(StrEnum):
    """What of an owner's manifests a value fills."""

    IMAGE = "image"
    """The image called ``name``: a text is its tag, a map may give newName, newTag, digest."""
    REPLICAS = "replicas"
    """The replicas of the object called ``name``."""
    CONFIG_MAP = "config_map"
    """The entry ``field`` of the ConfigMap called ``name``."""
    FIELD = "field"
    """The field at ``field`` (a JSON pointer) of the object ``name`` (Kind/name)."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A value of a base application and what it fills."""

    key: str
    """Path of the value, as ``image.tag``; see ``graph.model.value_path``."""
    kind: BindingKind
    name: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Component:
    """An owner's kustomize component, switched on where the value at ``key`` is true."""

    key: str
    path: str


@dataclass(frozen=True, slots=True)
class Base:
    """Owners' manifests in a directory of the GitOps repository, used as they are."""

    path: str
    """Below the application's own directory, as ``base/v12``."""
    bindings: tuple[Binding, ...] = ()
    components: tuple[Component, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """Manifests rendered from values; the text is part of the definition."""

    files: Mapping[str, str]
    """Template text by file name."""


Source = Base | Template


@dataclass(frozen=True, slots=True)
class FieldTarget:
    """A field of a manifest: the object as Kind/name, and a JSON pointer into it."""

    object: str
    pointer: str


@dataclass(frozen=True, slots=True)
class LateBound:
    """A key whose value differs per cluster and lives in the cluster's pointer.

    The strongest layer that sets it wins; else ``source`` is filled in.
    """

    key: str
    source: str = ""
    """A text with ``{cluster}`` or ``{label}`` in it, as ``pos-{store}.example.com``; empty when
    only layers give the value."""
    fields: tuple[FieldTarget, ...] = ()


@dataclass(frozen=True, slots=True)
class Application:
    """What runs: in exactly one namespace."""

    name: str
    namespace: str
    title: str = ""
    owner: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    requires: Selector | None = None
    """What a cluster must satisfy."""
    reconcilers: tuple[Reconciler, ...] = ()
    """The reconcilers it can run under; any when empty, but on a host only what lists ansible can
    be rendered."""
    depends_on: tuple[str, ...] = ()
    requests: Capacity | None = None
    """What it takes from a cluster's capacity."""
    source: Source | None = None
    values: Values = field(default_factory=Values)
    """The defaults: the weakest of all values."""
    schema: Values | None = None
    """What the composed values must satisfy: a subset of JSON Schema."""
    late_bound: tuple[LateBound, ...] = ()
    reads: tuple[str, ...] = ()
    """Fleet settings it reads: top-level keys of fleet layers."""
    cluster_scoped: tuple[str, ...] = ()
    """Objects outside any namespace that are its own, as ``ClusterRole/pos-reader``. No two
    applications have the same, and only an admin gives one."""
    changed: Revision = Revision(0)


class SecretProvider(StrEnum):
    """What fetches a secret on the cluster."""

    EXTERNAL_SECRETS = "external_secrets"
    """The External Secrets operator: an ExternalSecret."""
    SECRETS_STORE = "secrets_store"
    """The Secrets Store CSI driver: a SecretProviderClass."""


@dataclass(frozen=True, slots=True)
class SecretReference:
    """A secret its owners may use: where it is kept, never what it is."""

    name: str
    """Of the object on the cluster."""
    provider: SecretProvider
    store: str
    """The SecretStore, or the provider of the SecretProviderClass."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it is called in the store, by what it is called on the cluster."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """Applications that travel together, with quota and owners."""

    name: str
    title: str = ""
    owners: tuple[str, ...] = ()
    cost_center: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    quota: Capacity | None = None
    """What all its applications together may take from one cluster."""
    limits: Capacity | None = None
    """What one container may take unless it says otherwise."""
    secrets: tuple[SecretReference, ...] = ()
    """Secrets its applications may use."""
    changed: Revision = Revision(0)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which applications: all of a namespace, some by name, or those with all these labels."""

    namespace: str = ""
    """Empty only where applications of any namespace may be meant: in a prohibition."""
    applications: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    def takes(self, application: Application) -> bool:
        """Whether ``application`` is one of them."""
        if self.namespace and application.namespace != self.namespace:
            return False
        if self.applications and application.name not in self.applications:
            return False
        has = application.labels.get
        return all(has(key) == value for key, value in self.labels.items())


@dataclass(frozen=True, slots=True)
class Assignment:
    """Applications of a namespace, and the clusters they are for. Assignments add up."""

    name: str
    choice: Choice
    selector: Selector
    title: str = ""
    changed: Revision = Revision(0)


@dataclass(frozen=True, slots=True)
class Prohibition:
    """A veto: these applications may not run on these clusters, whatever is assigned."""

    name: str
    choice: Choice
    selector: Selector
    title: str = ""
    changed: Revision = Revision(0)


@dataclass(frozen=True, slots=True)
class Layer:
    """Values of one application, or of the fleet, and where they apply.

    Where it applies says how strong it is: ``all``, one group, a selector, one cluster.
    """

    name: str
    selector: Selector
    values: Values
    application: str = ""
    """Empty for a fleet layer, which applications read by key."""
    rank: int = 0
    """Decides inside a class or one hierarchy; higher is stronger."""
    title: str = ""
    changed: Revision = Revision(0)


class Enforcement(StrEnum):
    """What happens when more is requested than a cluster has."""

    REFUSE = "refuse"
    """Commands that would newly do so are refused; applications there are blocked."""
    REPORT = "report"
    """It is reported and nothing else."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules for namespaces, or for whatever runs on the clusters of a selector."""

    name: str
    namespaces: tuple[str, ...] = ()
    selector: Selector | None = None
    """One of ``namespaces`` and ``selector`` says what it is attached to."""
    quota_max: Capacity | None = None
    """The largest quota a namespace may have."""
    required_labels: tuple[str, ...] = ()
    """Labels that namespaces and applications must carry."""
    registries: tuple[str, ...] = ()
    """Registries images may come from; kept for rendering."""
    oversubscription: Enforcement | None = None
    """None says nothing about it; where nothing says anything, it is refused."""
    title: str = ""
    changed: Revision = Revision(0)


OfWorkload = Namespace | Application | Assignment | Prohibition | Layer | Policy
"""Any object of the workload."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Everything of the workload at one revision, each by name."""

    namespaces: Mapping[str, Namespace] = field(default_factory=dict[str, Namespace])
    applications: Mapping[str, Application] = field(default_factory=dict[str, Application])
    assignments: Mapping[str, Assignment] = field(default_factory=dict[str, Assignment])
    prohibitions: Mapping[str, Prohibition] = field(default_factory=dict[str, Prohibition])
    layers: Mapping[str, Layer] = field(default_factory=dict[str, Layer])
    policies: Mapping[str, Policy] = field(default_factory=dict[str, Policy])
