"""The objects of a namespace on a cluster, before and beside whatever runs in it.

Quota, limits and the rule about images are always there, and say nothing where nothing was said: a
reconciler deletes none of a namespace's objects, so a rule that was taken back must be told anew.
The removal of a namespace is somebody's decision and not a reconciler's.

Pods are reached from their own namespace alone. Rules of Kubernetes add up, so an application lets
others in with a NetworkPolicy of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import cast

from graph.model.inventory import Capacity, Reconciler
from graph.model.workload import Namespace, Policy
from renderer.flow import flow
from renderer.objects.admission import image_rules
from renderer.objects.business import DOMAIN, Marks, labels_of_namespace
from renderer.objects.grants import RBAC, account_name
from renderer.objects.manifest import KEPT, Manifest, directory, manifest
from renderer.objects.secret_references import secret_references
from renderer.settings import FormatSettings

SYSTEM_NAMESPACE = "trellis-system"
"""Where objects are that belong to no namespace of the fleet."""
OBJECTS = "namespace.yaml"
_POD_SECURITY = "pod-security.kubernetes.io"


def reserved_namespaces(settings: FormatSettings) -> frozenset[str]:
    """Namespaces in which nobody runs anything: what is there may do whatever a reconciler may."""
    return frozenset((SYSTEM_NAMESPACE, settings.flux_namespace, settings.argocd_namespace))


def namespace_key(namespace: str, reconciler: str, policies: Iterable[str]) -> str:
    """What stands for a namespace's objects on clusters that ``policies`` reach."""
    named = flow([namespace, reconciler, sorted(policies)])
    return sha256(named.encode()).hexdigest()[:16]


def namespace_files(
    namespace: Namespace,
    reconciler: str,
    policies: Sequence[Policy],
    settings: FormatSettings | None = None,
) -> dict[str, bytes]:
    """The directory of a namespace's objects, by name of the file."""
    found = _Objects(namespace, reconciler, settings or FormatSettings())
    return directory(OBJECTS, found.all(sorted(policies, key=lambda each: each.name)))


def reserved_objects(
    namespace: Namespace, settings: FormatSettings
) -> frozenset[tuple[str, str, str]]:
    """Group, kind and name of the objects in a namespace that are the renderer's own."""
    made = (
        each
        for reconciler in (Reconciler.FLUX, Reconciler.KUSTOMIZE)
        for each in _Objects(namespace, reconciler, settings).all(())
    )
    return frozenset(
        (str(each["apiVersion"]).rpartition("/")[0], str(each["kind"]), str(metadata["name"]))
        for each in made
        if (metadata := cast("Mapping[str, object]", each["metadata"])).get("namespace")
        == namespace.name
    )


class _Objects:
    def __init__(self, namespace: Namespace, reconciler: str, settings: FormatSettings) -> None:
        self._namespace = namespace
        self._reconciler = reconciler
        self._settings = settings
        labels, annotations = labels_of_namespace(namespace)
        self._marks: Marks = (labels, annotations | KEPT)

    def all(self, policies: Sequence[Policy]) -> list[Manifest]:
        return [
            self._itself(),
            self._quota(),
            self._limits(),
            *self._isolation(),
            *self._access(),
            self._platform(policies),
            *secret_references(self._namespace, self._settings, self._marks),
            *image_rules(self._namespace.name, policies, self._marks),
        ]

    def _inside(self, api: str, kind: str, name: str, body: Mapping[str, object]) -> Manifest:
        """An object in the namespace, under a name that no application's objects have."""
        at = self._namespace.name
        return manifest(api, kind, f"trellis-{name}", body, namespace=at, marks=self._marks)

    def _itself(self) -> Manifest:
        labels, annotations = self._marks
        levels = {
            f"{_POD_SECURITY}/enforce": self._settings.pod_security,
            f"{_POD_SECURITY}/warn": self._settings.pod_security_warn,
        }
        if self._namespace.title:
            annotations = annotations | {f"{DOMAIN}/title": self._namespace.title}
        return manifest(
            "v1", "Namespace", self._namespace.name, marks=(labels | levels, annotations)
        )

    def _quota(self) -> Manifest:
        hard = _amounts(self._namespace.quota, "requests.storage", "requests.")
        return self._inside("v1", "ResourceQuota", "quota", {"spec": {"hard": hard}})

    def _limits(self) -> Manifest:
        most = _amounts(self._namespace.limits, "ephemeral-storage")
        # Kubernetes keeps no empty list, and Argo CD would find it missing for ever
        limit: dict[str, object] = {"type": "Container", **({"default": most} if most else {})}
        return self._inside("v1", "LimitRange", "limits", {"spec": {"limits": [limit]}})

    def _isolation(self) -> list[Manifest]:
        if not self._settings.isolate_namespaces:
            return []
        pods: dict[str, object] = {"podSelector": {}}
        spec = {**pods, "policyTypes": ["Ingress"], "ingress": [{"from": [pods]}]}
        api, kind = "networking.k8s.io/v1", "NetworkPolicy"
        return [self._inside(api, kind, "same-namespace", {"spec": spec})]

    def _access(self) -> list[Manifest]:
        """Who works here: the reconciler, if it uses an account, and the owners."""
        found: list[Manifest] = []
        home = _home(self._reconciler, self._settings)
        if home:
            account = account_name(self._namespace.name)
            subject = {"kind": "ServiceAccount", "name": account, "namespace": home}
            found = [
                manifest("v1", "ServiceAccount", account, namespace=home, marks=self._marks),
                self._binding("reconciler", self._settings.reconciler_role, [subject]),
            ]
        if self._namespace.owners:
            kind = self._settings.owners_are
            owners = [{"apiGroup": RBAC, "kind": kind, "name": n} for n in self._namespace.owners]
            found.append(self._binding("owners", self._settings.owners_role, owners))
        return found

    def _binding(self, name: str, role: str, subjects: list[dict[str, str]]) -> Manifest:
        reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
        body: dict[str, object] = {"roleRef": reference, "subjects": subjects}
        return self._inside(f"{RBAC}/v1", "RoleBinding", name, body)

    def _platform(self, policies: Sequence[Policy]) -> Manifest:
        """What an application may want to know about where it runs."""
        namespace = self._namespace
        data = {
            "namespace": namespace.name,
            "title": namespace.title,
            "owners": flow(list(namespace.owners)),
            "cost-center": namespace.cost_center,
            "labels": flow(dict(sorted(namespace.labels.items()))),
            "reconciler": self._reconciler,
            "policies": flow([each.name for each in policies]),
        }
        return self._inside("v1", "ConfigMap", "platform", {"data": data})


def _home(reconciler: str, settings: FormatSettings) -> str:
    """Where the account is that a reconciler uses: out of reach of the namespace's own pods.

    Argo CD uses none: its projects say what it may do.
    """
    match reconciler:
        case Reconciler.FLUX:
            return settings.flux_namespace
        case Reconciler.ARGOCD:
            return ""
        case _:
            return SYSTEM_NAMESPACE


def _amounts(size: Capacity | None, storage: str, prefix: str = "") -> Mapping[str, str]:
    if size is None:
        return {}
    found = {f"{prefix}cpu": f"{size.cpu_millicores}m", f"{prefix}memory": f"{size.memory_mib}Mi"}
    return found | ({storage: f"{size.storage_mib}Mi"} if size.storage_mib else {})
