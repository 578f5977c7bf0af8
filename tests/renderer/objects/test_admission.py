from __future__ import annotations

from graph.model.workload import Policy
from renderer.objects.admission import image_rules

A = Policy("a", registries=("registry.example", "docker.io/library"))
B = Policy("b", registries=("registry.example/team",))


def spec(*policies: Policy) -> dict:
    return image_rules("dining", policies, ({}, {}))[0]["spec"]


def test_every_policy_that_names_registries_has_to_hold():
    found = spec(A, Policy("c", required_labels=("tier",)), B)["validations"]
    assert [each["message"] for each in found] == [
        "policy a: images come from registry.example, docker.io/library",
        "policy b: images come from registry.example/team",
    ]


def test_a_registry_is_never_taken_for_another_that_begins_alike():
    assert '["registry.example/","docker.io/library/"]' in spec(A)["validations"][0]["expression"]


def test_all_containers_of_pods_of_that_namespace_are_asked_about():
    found = spec(A)
    assert found["matchConstraints"]["namespaceSelector"] == {
        "matchLabels": {"kubernetes.io/metadata.name": "dining"}
    }
    (rule,) = found["matchConstraints"]["resourceRules"]
    assert rule["resources"] == ["pods", "pods/ephemeralcontainers"]
    for each in ("containers", "initContainers", "ephemeralContainers"):
        assert f"object.spec.{each}.map(" in found["variables"][0]["expression"]
    assert found["failurePolicy"] == "Fail"


def test_a_rule_is_in_force():
    _, binding = image_rules("dining", (A,), ({}, {}))
    assert binding["spec"] == {
        "policyName": "trellis-dining-images",
        "validationActions": ["Deny"],
    }
