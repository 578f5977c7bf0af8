"""The shape an object must have so that any reconciler can build it together with others.

Kustomize, alone or inside Flux and Argo CD, looks into every object it builds: it adds labels and
annotations and follows references from one object to another. An object with text where a map is
expected makes the whole build fail, with every other application of the same cluster. So the fields
that are looked into are checked here, before anything is published. Nothing else is: whether an
object does what its owner wants is for Kubernetes to say.

What the API server refuses anyway (a label that is a number) is refused in what a template gives.
Of an owner's base only that is refused which certainly does not build.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from graph.model.errors import Invalid
from graph.model.names import quoted, shortened

KEY_BYTES_MAX = 900
"""YAML takes keys of up to 1,024 bytes, quotes and escapes included."""

_SHOWN_LENGTH_MAX = 60
_LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_QUALIFIED = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?",
    re.ASCII,
)
_NO_TEXT = re.compile(
    r"[-+]?(?:0[xob])?[0-9][0-9a-f_.:e+-]*|\.(?:inf|nan)|~|null|true|false", re.IGNORECASE
)
"""Keys that kustomize writes without quotes and reads back as something else than text."""
_UNWRITABLE = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
"""Characters that kustomize reads and then cannot write."""
_UNWRITABLE_IN_KEYS = re.compile("[\x7f-\x9f\ufffe\uffff]")
_INTERNAL = "internal.config.kubernetes.io/"
"""Annotations in which kustomize keeps notes of its own."""

Shape = str | Mapping[str, "Shape"] | list["Shape"]
"""``TEXT``, one of the maps below, the fields of a map, or a list of one shape."""
TEXT, TEXTS, LABELS, ANNOTATIONS = "text", "texts", "labels", "annotations"
MAP: Shape = {}

_METADATA: Shape = {"labels": LABELS, "annotations": ANNOTATIONS}
_NAMED: Shape = {"name": TEXT}
_SELECTOR: Shape = {"matchLabels": TEXTS, "matchExpressions": [MAP]}
_SERVICE: Shape = {"service": {"name": TEXT, "namespace": TEXT}}
_CONTAINERS: Shape = [
    {
        "name": TEXT,
        "image": TEXT,
        "env": [{"valueFrom": {"configMapKeyRef": _NAMED, "secretKeyRef": _NAMED}}],
        "envFrom": [{"configMapRef": _NAMED, "secretRef": _NAMED}],
        "ports": [MAP],
        "volumeMounts": [MAP],
    }
]
_SECRET_REFERENCE: Shape = {"secretRef": _NAMED, "secretName": TEXT}
_VOLUME: Shape = {
    "configMap": _NAMED,
    "secret": _SECRET_REFERENCE,
    "persistentVolumeClaim": {"claimName": TEXT},
    "projected": {"sources": [{"configMap": _NAMED, "secret": _NAMED}]},
    "csi": {"nodePublishSecretRef": _NAMED},
    **dict.fromkeys(
        ("azureFile", "cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"),
        _SECRET_REFERENCE,
    ),
}
_POD: Shape = {
    "containers": _CONTAINERS,
    "initContainers": _CONTAINERS,
    "ephemeralContainers": _CONTAINERS,
    "volumes": [_VOLUME],
    "imagePullSecrets": [_NAMED],
    "serviceAccountName": TEXT,
    "priorityClassName": TEXT,
    "runtimeClassName": TEXT,
    "nodeSelector": MAP,
    "affinity": MAP,
    "topologySpreadConstraints": [{"labelSelector": _SELECTOR}],
}
_TEMPLATE: Shape = {"metadata": _METADATA, "spec": _POD}
_JOB: Shape = {"selector": _SELECTOR, "template": _TEMPLATE}
_CLAIM: Shape = {
    "metadata": _METADATA,
    "spec": {"storageClassName": TEXT, "volumeName": TEXT, "selector": _SELECTOR},
}
_WORKLOAD: Shape = {"spec": _JOB}
_BACKEND: Shape = {"service": _NAMED, "serviceName": TEXT, "resource": _NAMED}
_PEERS: Shape = [{"podSelector": _SELECTOR, "namespaceSelector": _SELECTOR}]
_BINDING: Shape = {
    "roleRef": {"kind": TEXT, "name": TEXT},
    "subjects": [{"kind": TEXT, "name": TEXT, "namespace": TEXT}],
}
_ROLE: Shape = {"rules": [{"resourceNames": [TEXT], "resources": [TEXT], "apiGroups": [TEXT]}]}
_WEBHOOKS: Shape = {"webhooks": [{"clientConfig": _SERVICE}]}

_KNOWN: Mapping[str, Shape] = {
    "APIService": {"spec": _SERVICE},
    "ClusterRole": _ROLE,
    "ClusterRoleBinding": _BINDING,
    "ConfigMap": {"data": TEXTS, "binaryData": TEXTS},
    "CronJob": {"spec": {"jobTemplate": {"metadata": _METADATA, "spec": _JOB}}},
    "CustomResourceDefinition": {
        "spec": {"names": MAP, "conversion": {"webhook": {"clientConfig": _SERVICE}}}
    },
    "DaemonSet": _WORKLOAD,
    "Deployment": _WORKLOAD,
    "HorizontalPodAutoscaler": {"spec": {"scaleTargetRef": {"kind": TEXT, "name": TEXT}}},
    "Ingress": {
        "spec": {
            "rules": [{"http": {"paths": [{"backend": _BACKEND}]}}],
            "tls": [{"secretName": TEXT}],
            "defaultBackend": _BACKEND,
            "backend": _BACKEND,
            "ingressClassName": TEXT,
        }
    },
    "Job": _WORKLOAD,
    "MutatingWebhookConfiguration": _WEBHOOKS,
    "NetworkPolicy": {
        "spec": {
            "podSelector": _SELECTOR,
            "ingress": [{"from": _PEERS}],
            "egress": [{"to": _PEERS}],
        }
    },
    "PersistentVolume": {
        "spec": {"claimRef": _NAMED, "storageClassName": TEXT, **cast("dict[str, Shape]", _VOLUME)}
    },
    "PersistentVolumeClaim": _CLAIM,
    "Pod": {"spec": _POD},
    "PodDisruptionBudget": {"spec": {"selector": _SELECTOR}},
    "PodTemplate": {"template": _TEMPLATE},
    "ReplicaSet": _WORKLOAD,
    "ReplicationController": {"spec": {"selector": TEXTS, "template": _TEMPLATE}},
    "Role": _ROLE,
    "RoleBinding": _BINDING,
    "Secret": {"data": TEXTS, "stringData": TEXTS, "type": TEXT},
    "Service": {"spec": {"selector": TEXTS, "ports": [MAP]}},
    "ServiceAccount": {"imagePullSecrets": [_NAMED], "secrets": [_NAMED]},
    "StatefulSet": {
        "spec": {
            "selector": _SELECTOR,
            "template": _TEMPLATE,
            "volumeClaimTemplates": [_CLAIM],
            "serviceName": TEXT,
        }
    },
    "StorageClass": {"provisioner": TEXT},
    "ValidatingWebhookConfiguration": _WEBHOOKS,
}
"""Fields that kustomize looks into, by kind."""
_ANY: Shape = {
    "metadata": {
        "name": TEXT,
        "namespace": TEXT,
        "labels": LABELS,
        "annotations": ANNOTATIONS,
    }
}
_WITH_IMAGES: Shape = {
    "spec": {
        "containers": [MAP],
        "initContainers": [MAP],
        "template": {"spec": {"containers": [MAP], "initContainers": [MAP]}},
    }
}
"""Where kustomize looks for images, whatever the kind is."""


def check_shape(found: Mapping[str, object], *, strict: bool = True, images: bool = False) -> None:
    """Refuse an object that does not build; ``strict``: or that no API server takes.

    ``images``: kustomize is told to set images, and looks for them in every kind.
    """
    kind, metadata = found.get("kind"), found.get("metadata")
    name = cast("Mapping[str, object]", metadata).get("name") if _is_map(metadata) else None
    looking = _Looking(f"{kind}/{name}", strict)
    looking.text(found, "")
    looking.shape(found, _ANY, "")
    looking.shape(found, _KNOWN.get(str(kind), MAP), "")
    if images:
        looking.shape(found, _WITH_IMAGES, "")
    if kind in ("RoleBinding", "ClusterRoleBinding"):
        looking.subjects(found.get("subjects"))


class _Looking:
    """One object being looked at."""

    def __init__(self, called: str, strict: bool) -> None:
        self._called = called
        self._strict = strict

    def text(self, value: object, path: str) -> None:
        """Every key and every text can be written as YAML, and read back as it was."""
        if isinstance(value, dict):
            for key, inside in cast("dict[object, object]", value).items():
                self._key(key, path)
                self.text(inside, _below(path, str(key)))
        elif isinstance(value, list):
            for number, inside in enumerate(cast("list[object]", value)):
                self.text(inside, f"{path}[{number}]")
        elif isinstance(value, str) and (odd := _UNWRITABLE.search(value)):
            raise self._refused(
                path, f"has the character U+{ord(odd[0]):04X}", "which kustomize cannot write"
            )

    def shape(self, value: object, shape: Shape, path: str) -> None:
        """``value`` is nothing, or of that shape as far as it is described."""
        if value is None:
            return
        if isinstance(shape, str):
            self._leaf(value, shape, path)
        elif isinstance(shape, list):
            if not isinstance(value, list):
                raise self._refused(path, _shown(value), "where a list belongs")
            for number, inside in enumerate(cast("list[object]", value)):
                if inside is None:
                    raise self._refused(f"{path}[{number}]", "is empty", "and an item is needed")
                self.shape(inside, shape[0], f"{path}[{number}]")
        else:
            if not isinstance(value, dict):
                raise self._refused(path, _shown(value), "where a map belongs")
            fields = cast("dict[str, object]", value)
            for name, inside in shape.items():
                if name in fields:
                    self.shape(fields[name], inside, _below(path, name))

    def subjects(self, value: object) -> None:
        """Kustomize reads the name and the namespace of every subject."""
        for number, each in enumerate(cast("list[object]", value) if value else []):
            subject = cast("dict[str, object]", each)
            path = f"subjects[{number}]"
            for field in ("kind", "name"):
                if not isinstance(subject.get(field), str):
                    raise self._refused(
                        f"{path}.{field}", _shown(subject.get(field)), _TEXT_BELONGS
                    )
            namespace = subject.get("namespace", "")
            if "namespace" in subject and not (isinstance(namespace, str) and namespace):
                raise self._refused(f"{path}.namespace", _shown(namespace), _TEXT_BELONGS)

    def _key(self, key: object, path: str) -> None:
        if not isinstance(key, str):
            shown = quoted(str(key))
            raise self._refused(path, f"has the key {shown}", "which is no text: quote it")
        if len(key.encode("utf-8", "surrogatepass")) > KEY_BYTES_MAX:
            shown = quoted(shortened(key, _SHOWN_LENGTH_MAX))
            raise self._refused(
                path, f"has the key {shown}", f"which is longer than {KEY_BYTES_MAX:,} bytes"
            )
        if odd := _UNWRITABLE_IN_KEYS.search(key):
            raise self._refused(
                path, f"has a key with the character U+{ord(odd[0]):04X}", "use printable text"
            )

    def _leaf(self, value: object, shape: str, path: str) -> None:
        if shape == TEXT:
            if not isinstance(value, str if self._strict else str | int | float):
                raise self._refused(path, _shown(value), _TEXT_BELONGS)
            return
        if not isinstance(value, dict):
            raise self._refused(path, _shown(value), "where a map belongs")
        for key, inside in cast("dict[str, object]", value).items():
            at = _below(path, key)
            if shape == ANNOTATIONS:
                self._annotation_key(key, path)
            if not self._strict:
                continue
            if not isinstance(inside, str):
                raise self._refused(at, _shown(inside), f"{_TEXT_BELONGS}: quote it")
            if shape == LABELS and not _LABEL_VALUE.fullmatch(inside):
                raise self._refused(
                    at,
                    _shown(inside),
                    "and a label has up to 63 letters, digits, dashes, dots and underscores",
                )
            if shape in (LABELS, ANNOTATIONS) and not _QUALIFIED.fullmatch(key):
                raise self._refused(path, f"has the key {quoted(key)}", "write it as example.com/x")

    def _annotation_key(self, key: str, path: str) -> None:
        if not key or _NO_TEXT.fullmatch(key):
            raise self._refused(
                path, f"has the key {quoted(key)}", "which kustomize takes for something else"
            )
        if key.startswith(_INTERNAL):
            raise self._refused(path, f"has the key {quoted(key)}", "which is kustomize's own")

    def _refused(self, path: str, what: str, why: str) -> Invalid:
        return Invalid(
            f"{self._called}: {path or 'the object'} {what}, {why}",
            hint="correct it; nothing of the application is published before",
        )


_TEXT_BELONGS = "where text belongs"


def _is_map(value: object) -> bool:
    return isinstance(value, dict)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: object) -> str:
    match value:
        case None:
            return "is empty"
        case dict():
            return "is a map"
        case list():
            return "is a list"
        case str():
            return f"is {quoted(shortened(value, _SHOWN_LENGTH_MAX))}"
        case _:
            return f"is {str(value).lower() if isinstance(value, bool) else value}"
