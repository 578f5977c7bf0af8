"""Objects as nobody should write them: whole ones of many kinds, with one place made odd.

for number, each in enumerate(odd_objects(Random(1), 500)):
    ...
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

_POD = {
    "serviceAccountName": "it",
    "imagePullSecrets": [{"name": "it"}],
    "nodeSelector": {"a": "b"},
    "containers": [
        {
            "name": "it",
            "image": "it:1",
            "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "it", "key": "a"}}}],
            "envFrom": [{"secretRef": {"name": "it"}}],
        }
    ],
    "volumes": [
        {"name": "a", "configMap": {"name": "it"}},
        {"name": "b", "secret": {"secretName": "it"}},
        {"name": "c", "persistentVolumeClaim": {"claimName": "it"}},
        {"name": "d", "projected": {"sources": [{"configMap": {"name": "it"}}]}},
    ],
}
_TEMPLATE = {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}, "spec": _POD}
_SELECTOR = {"matchLabels": {"a": "b"}}
_WORKLOAD = {"replicas": 1, "selector": _SELECTOR, "template": _TEMPLATE}
_RBAC = "rbac.authorization.k8s.io/v1"
_BACKEND = {"service": {"name": "it", "port": {"number": 80}}}
_CLAIM = {"spec": {"storageClassName": "it", "volumeName": "it"}}

WHOLE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("v1", "ConfigMap", {"data": {"a": "b"}, "binaryData": {"c": "ZA=="}}),
    ("v1", "Service", {"spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}),
    ("v1", "ServiceAccount", {"imagePullSecrets": [{"name": "it"}], "secrets": [{"name": "it"}]}),
    ("v1", "Pod", {"spec": _POD}),
    ("v1", "PodTemplate", {"template": _TEMPLATE}),
    ("v1", "PersistentVolumeClaim", _CLAIM),
    ("v1", "ReplicationController", {"spec": {"selector": {"a": "b"}, "template": _TEMPLATE}}),
    ("v1", "Secret", {"type": "Opaque"}),
    *(
        ("apps/v1", kind, {"spec": _WORKLOAD})
        for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
    ),
    (
        "apps/v1",
        "StatefulSet",
        {
            "spec": {
                **_WORKLOAD,
                "serviceName": "it",
                "volumeClaimTemplates": [{"metadata": {"labels": {"a": "b"}}, **_CLAIM}],
            }
        },
    ),
    ("batch/v1", "Job", {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}}),
    (
        "batch/v1",
        "CronJob",
        {"spec": {"jobTemplate": {"metadata": {"labels": {}}, "spec": {"template": _TEMPLATE}}}},
    ),
    (
        _RBAC,
        "RoleBinding",
        {
            "roleRef": {"kind": "Role", "name": "it"},
            "subjects": [{"kind": "ServiceAccount", "name": "it", "namespace": "shop"}],
        },
    ),
    (_RBAC, "Role", {"rules": [{"resources": ["configmaps"], "resourceNames": ["it"]}]}),
    (
        "networking.k8s.io/v1",
        "Ingress",
        {
            "spec": {
                "defaultBackend": _BACKEND,
                "rules": [{"http": {"paths": [{"path": "/", "backend": _BACKEND}]}}],
                "tls": [{"secretName": "it"}],
            }
        },
    ),
    (
        "networking.k8s.io/v1",
        "NetworkPolicy",
        {"spec": {"podSelector": _SELECTOR, "ingress": [{"from": [{"podSelector": _SELECTOR}]}]}},
    ),
    ("policy/v1", "PodDisruptionBudget", {"spec": {"selector": _SELECTOR}}),
    (
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "it"}}},
    ),
    ("example.com/v1", "Oven", {"spec": {"template": _TEMPLATE}, "items": [{"a": "b"}]}),
    ("example.com/v1", "OvenList", {"items": [{"a": "b"}]}),
)
"""Kinds that kustomize looks into, each as it should be; the last two are nobody's."""

ODD: tuple[Any, ...] = (
    *(None, True, 0, 7, 1.5, "", "text", "a: b", "{}", "no", "1", "x" * 300, [], ["a"], [None]),
    *([["a"]], [{}], [{"name": ["a"]}], {}, {"a": 1}, {"a": None}, {"a": ["b"]}, {"a": {"b": 1}}),
    *({"": "a"}, {"1": "a"}, {"true": "a"}, {"<<": "a"}, {"a b": "c"}, {"k" * 2_000: "a"}),
    *({"name": {"a": "b"}}, {"matchLabels": ["a"]}, {"metadata": "a"}, {"\x7f": "a"}, "\x90"),
    *("\ufffe", {"internal.config.kubernetes.io/previousNames": "a,b"}, {"$patch": "delete"}),
)
_MORE_KEYS = ("labels", "annotations", "spec", "template", "metadata", "subjects", "namespace", "a")


def odd_objects(random: Random, count: int) -> Iterator[dict[str, Any]]:
    """So many of them, each called otherwise; now and then one is whole."""
    for number in range(count):
        api, kind, body = WHOLE[number % len(WHOLE)]
        about = {"name": f"it-{number}", "labels": {"a": "b"}, "annotations": {"c": "d e"}}
        made: dict[str, Any] = deepcopy(
            {"apiVersion": api, "kind": kind, "metadata": about, **body}
        )
        for _ in range(random.choice((0, 1, 1, 1, 2))):
            _make_odd(made, random)
        yield made


def _make_odd(made: dict[str, Any], random: Random) -> None:
    """Put something odd into one place, new or instead of what is there."""
    place: Any = made
    while True:
        keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
        if isinstance(place, dict) and (not keys or random.random() < 0.15):
            place[random.choice(_MORE_KEYS)] = deepcopy(random.choice(ODD))
            return
        if not keys:
            place.append(deepcopy(random.choice(ODD)))
            return
        key = random.choice(keys)
        if not isinstance(place[key], dict | list) or random.random() < 0.25:
            place[key] = deepcopy(random.choice(ODD))
            return
        place = place[key]
