from __future__ import annotations

import pytest

from crds import mistakes
from graph.model.workload import Application
from renderer.objects.grants import grants


def rules(*cluster_scoped: str):
    application = Application("pos", "dining", cluster_scoped=cluster_scoped)
    role, binding = grants(application, "flux-system", ({}, {}))
    assert mistakes(role) == mistakes(binding) == []
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "trellis-dining", "namespace": "flux-system"}
    ]
    return role["rules"]


def test_an_account_may_write_the_objects_it_was_granted_and_no_other():
    assert rules("PriorityClass/high", "PriorityClass/low") == [
        {
            "apiGroups": ["scheduling.k8s.io"],
            "resources": ["priorityclasses"],
            "resourceNames": ["high", "low"],
            "verbs": ["get", "create", "update", "patch", "delete"],
        }
    ]


def test_whoever_owns_a_cluster_role_says_what_is_in_it():
    (rule,) = rules("ClusterRole/pos-reader")
    assert rule["resourceNames"] == ["pos-reader"]
    assert rule["verbs"][-2:] == ["bind", "escalate"]


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Widget", "widgets"),
        ("ClusterPolicy", "clusterpolicies"),
        ("GatewayClass", "gatewayclasses"),
    ],
)
def test_a_kind_that_is_not_kubernetes_own_is_found_by_its_plural(kind: str, plural: str):
    (rule,) = rules(f"{kind}/one")
    assert (rule["apiGroups"], rule["resources"]) == (["*"], [plural])


def test_nothing_granted_is_no_role():
    assert grants(Application("pos", "dining"), "flux-system", ({}, {})) == []
