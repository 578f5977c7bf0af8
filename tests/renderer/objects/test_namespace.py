from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

import kustomize
from crds import mistakes
from format_samples import DINING, IMAGES
from graph.model.workload import Namespace, Policy
from renderer.objects.namespace import namespace_files, namespace_key
from renderer.settings import FormatSettings

CSI = "secrets-store.csi.x-k8s.io/v1"
"""Its module is not to be had, so that one object is looked at and not checked by a schema."""


def objects(
    namespace: Namespace = DINING,
    reconciler: str = "flux",
    policies: tuple[Policy, ...] = (IMAGES,),
    **settings: Any,
) -> list[dict[str, Any]]:
    files = namespace_files(
        namespace, reconciler, policies, FormatSettings.model_validate(settings)
    )
    return list(yaml.safe_load_all(files["namespace.yaml"]))


def spec(kind: str, name: str, **given: Any) -> Any:
    return kustomize.found(objects(**given), kind, name)["spec"]


def test_a_namespace_brings_everything_that_is_said_about_it():
    found = [f"{each['kind']}/{each['metadata']['name']}" for each in objects()]
    assert found == [
        "Namespace/dining",
        "ResourceQuota/trellis-quota",
        "LimitRange/trellis-limits",
        "NetworkPolicy/trellis-same-namespace",
        "ServiceAccount/trellis-dining",
        "RoleBinding/trellis-reconciler",
        "RoleBinding/trellis-owners",
        "ConfigMap/trellis-platform",
        "ExternalSecret/database",
        "SecretProviderClass/terminal",
        "ValidatingAdmissionPolicy/trellis-dining-images",
        "ValidatingAdmissionPolicyBinding/trellis-dining-images",
    ]


@pytest.mark.parametrize("reconciler", ["flux", "argocd", "kustomize"])
@pytest.mark.parametrize("namespace", [DINING, Namespace("bare")], ids=lambda each: each.name)
def test_every_object_keeps_to_the_schemas(reconciler: str, namespace: Namespace):
    found = objects(namespace, reconciler, (IMAGES,) if namespace is DINING else ())
    checked = [each for each in found if each["apiVersion"] != CSI]
    assert [each for one in checked for each in mistakes(one)] == []


def test_no_reconciler_deletes_any_of_them_and_each_says_whose_it_is():
    for each in objects():
        metadata = each["metadata"]
        assert metadata["annotations"]["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
        options = metadata["annotations"]["argocd.argoproj.io/sync-options"]
        assert options == "Prune=false,Delete=false"
        assert metadata["labels"]["trellis.dev/namespace"] == "dining"
        assert metadata["labels"]["trellis.dev/cost-center"] == "4711"
        assert metadata["labels"]["label.trellis.dev/brand"] == "diner"
        assert metadata["annotations"]["trellis.dev/owner"] == "team-dining, Night shift"


def test_quota_and_limits_are_what_was_said():
    assert spec("ResourceQuota", "trellis-quota")["hard"] == {
        "requests.cpu": "4000m",
        "requests.memory": "8192Mi",
        "requests.storage": "10240Mi",
    }
    assert spec("LimitRange", "trellis-limits")["limits"] == [
        {"type": "Container", "default": {"cpu": "500m", "memory": "512Mi"}}
    ]


def test_a_rule_that_was_taken_back_is_told_to_say_nothing():
    bare = Namespace("dining")
    assert spec("ResourceQuota", "trellis-quota", namespace=bare) == {"hard": {}}
    assert spec("LimitRange", "trellis-limits", namespace=bare) == {
        "limits": [{"type": "Container"}]
    }
    images = spec("ValidatingAdmissionPolicy", "trellis-dining-images", policies=())
    assert images["validations"] == [{"expression": "true"}]


def test_pods_are_reached_from_their_own_namespace_alone_unless_that_is_switched_off():
    assert spec("NetworkPolicy", "trellis-same-namespace") == {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {}}]}],
    }
    assert "NetworkPolicy" not in {each["kind"] for each in objects(isolate_namespaces=False)}


@pytest.mark.parametrize(
    ("reconciler", "home"),
    [("flux", ["flux-system"]), ("argocd", []), ("kustomize", ["trellis-system"])],
)
def test_a_reconcilers_account_is_out_of_reach_of_the_namespace_and_bound_in_it_alone(
    reconciler: str, home: list[str]
):
    found = objects(reconciler=reconciler)
    accounts = [each["metadata"] for each in found if each["kind"] == "ServiceAccount"]
    assert [each["namespace"] for each in accounts] == home
    bindings = [each for each in found if each["metadata"]["name"] == "trellis-reconciler"]
    assert [each["metadata"]["namespace"] for each in bindings] == ["dining"] * len(home)
    assert "ClusterRoleBinding" not in {each["kind"] for each in found}


def test_owners_see_what_is_theirs():
    binding = kustomize.found(objects(), "RoleBinding", "trellis-owners")
    assert binding["roleRef"]["name"] == "view"
    assert [each["name"] for each in binding["subjects"]] == ["team-dining", "Night shift"]


def test_the_pod_security_standard_is_a_label_of_the_namespace():
    found = kustomize.found(objects(pod_security="restricted"), "Namespace", "dining")
    assert found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_the_platform_tells_applications_where_they_run():
    data = kustomize.found(objects(), "ConfigMap", "trellis-platform")["data"]
    assert data["namespace"] == "dining"
    assert data["title"] == 'Dining "rooms": {a}'
    assert yaml.safe_load(data["owners"]) == ["team-dining", "Night shift"]
    assert yaml.safe_load(data["policies"]) == ["images"]


def test_two_namespaces_build_together_with_the_real_kustomize(tmp_path):
    for name in ("dining", "dining-images"):
        directory = tmp_path / name
        directory.mkdir()
        files = namespace_files(replace(DINING, name=name), "flux", (IMAGES,))
        for file, content in files.items():
            (directory / file).write_bytes(content)
    (tmp_path / "kustomization.yaml").write_text("resources: [dining, dining-images]\n")
    found = kustomize.build(tmp_path)
    assert len(found) == 2 * len(objects())


def test_a_key_stands_for_the_namespace_the_reconciler_and_the_policies_in_any_order():
    key = namespace_key("dining", "flux", ["b", "a"])
    assert key == namespace_key("dining", "flux", ("a", "b"))
    others = {
        namespace_key("dining", "argocd", ["a", "b"]),
        namespace_key("dining", "flux", ["a"]),
        namespace_key("other", "flux", ["a", "b"]),
    }
    assert len(others | {key}) == 4
    assert len(key) == 16
