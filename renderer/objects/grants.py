"""What a reconciler's account may do outside of namespaces: write the objects that were granted.

A definition lists such objects by kind and name, and only an admin gives one. The account may write
those and no other of their kind; server-side apply, which Flux uses, is held to the name even where
the object is new. Whoever owns a ClusterRole says what is in it, so the account may escalate that
one and bind it.
"""

from __future__ import annotations

from itertools import groupby

from graph.model.workload import Application
from renderer.objects.business import Marks
from renderer.objects.manifest import KEPT, manifest

RBAC = "rbac.authorization.k8s.io"
_VERBS = ("get", "create", "update", "patch", "delete")
_MORE_VERBS = {"ClusterRole": ("bind", "escalate")}
_ADMISSION = "admissionregistration.k8s.io"
_RESOURCES = {
    "APIService": ("apiregistration.k8s.io", "apiservices"),
    "CSIDriver": ("storage.k8s.io", "csidrivers"),
    "ClusterRole": (RBAC, "clusterroles"),
    "ClusterRoleBinding": (RBAC, "clusterrolebindings"),
    "CustomResourceDefinition": ("apiextensions.k8s.io", "customresourcedefinitions"),
    "IngressClass": ("networking.k8s.io", "ingressclasses"),
    "MutatingWebhookConfiguration": (_ADMISSION, "mutatingwebhookconfigurations"),
    "PersistentVolume": ("", "persistentvolumes"),
    "PriorityClass": ("scheduling.k8s.io", "priorityclasses"),
    "RuntimeClass": ("node.k8s.io", "runtimeclasses"),
    "StorageClass": ("storage.k8s.io", "storageclasses"),
    "ValidatingAdmissionPolicy": (_ADMISSION, "validatingadmissionpolicies"),
    "ValidatingAdmissionPolicyBinding": (_ADMISSION, "validatingadmissionpolicybindings"),
    "ValidatingWebhookConfiguration": (_ADMISSION, "validatingwebhookconfigurations"),
}
"""Group and plural of Kubernetes' own kinds."""


def account_name(namespace: str) -> str:
    """The account under which a reconciler works in a namespace."""
    return f"trellis-{namespace}"


def grants(
    application: Application, account_namespace: str, marks: Marks
) -> list[dict[str, object]]:
    """A role and its binding; none where nothing was granted.

    They stay when the application goes, so that what is in its place can still be deleted.
    """
    if not application.cluster_scoped:
        return []
    name = f"trellis-{application.name}"
    subject = {
        "kind": "ServiceAccount",
        "name": account_name(application.namespace),
        "namespace": account_namespace,
    }
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
    binding: dict[str, object] = {"roleRef": role, "subjects": [subject]}
    return [
        manifest(
            f"{RBAC}/v1",
            "ClusterRole",
            name,
            {"rules": _rules(application)},
            marks=marks,
            annotations=KEPT,
        ),
        manifest(
            f"{RBAC}/v1",
            "ClusterRoleBinding",
            name,
            binding,
            marks=marks,
            annotations=KEPT,
        ),
    ]


def _rules(application: Application) -> list[dict[str, object]]:
    return [
        _rule(kind, [each.partition("/")[2] for each in written])
        for kind, written in groupby(sorted(application.cluster_scoped), _kind)
    ]


def _kind(written: str) -> str:
    return written.partition("/")[0]


def _rule(kind: str, names: list[str]) -> dict[str, object]:
    group, plural = _RESOURCES.get(kind, ("*", _plural(kind.lower())))
    return {
        "apiGroups": [group],
        "resources": [plural],
        "resourceNames": names,
        "verbs": [*_VERBS, *_MORE_VERBS.get(kind, ())],
    }


def _plural(word: str) -> str:
    """As generators of custom resources make it of a kind, unless its author says otherwise."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
