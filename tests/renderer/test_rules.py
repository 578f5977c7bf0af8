from __future__ import annotations

import pytest

from graph.model.errors import Invalid
from renderer.rules import Rules, objects

RULES = Rules("shop", ("ClusterRole/pos-reader", "Tower/high", "HelmRelease/granted"))
FLUX = "helm.toolkit.fluxcd.io/v2"


def made(**fields: object) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "pos"}, **fields}


def test_an_object_is_put_into_its_namespace() -> None:
    (one,) = objects(made(), RULES)
    assert one["metadata"] == {"name": "pos", "namespace": "shop"}
    (same,) = objects(one, RULES)
    assert same == one


def test_an_empty_document_is_nothing_and_a_list_is_its_items() -> None:
    assert list(objects(None, RULES)) == []
    listed = {"apiVersion": "v1", "kind": "List", "items": [made(), None, made()]}
    assert len(list(objects(listed, RULES))) == 2


def test_a_cluster_scoped_object_of_its_own_has_no_namespace() -> None:
    role = made(
        apiVersion="rbac.authorization.k8s.io/v1",
        kind="ClusterRole",
        metadata={"name": "pos-reader"},
    )
    (one,) = objects(role, RULES)
    assert one["metadata"] == {"name": "pos-reader"}
    tower = made(apiVersion="example.com/v1", kind="Tower", metadata={"name": "high"})
    (other,) = objects(tower, RULES)
    assert other["metadata"] == {"name": "high"}, "also of a kind nobody knows"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("text", "no object"),
        ([made()], "no object"),
        ({"kind": "ConfigMap"}, "a ConfigMap has no apiVersion"),
        (made(kind=None), "has no kind"),
        (made(kind="config map"), 'has the kind "config map"'),
        (made(apiVersion=1), "has the apiVersion"),
        (made(**{"a: b": 1}), 'has the field "a: b"'),
        (made(metadata=None), "a ConfigMap has no metadata"),
        (made(metadata={}), "has no name"),
        (made(metadata={"name": "../x"}), 'has the name "../x"'),
        (made(metadata={"name": 42}), 'has the name "42"'),
        (made(metadata={"name": "a" * 254}), "has the name"),
        (made(metadata={"name": "pos", "namespace": "kube-system"}), "and not in shop"),
        (made(kind="Namespace"), "Namespace/pos is outside any namespace"),
        (made(kind="ClusterRole"), "ClusterRole/pos is outside any namespace"),
        (made(kind="ClusterRole", metadata={"name": "pos-reader", "namespace": "x"}), "names one"),
        (made(kind="Secret", data={"a": "Yg=="}), "Secret/pos holds what it should keep"),
        (made(kind="Secret", stringData={"a": "b"}), "Secret/pos holds what it should keep"),
        ({"kind": "List", "items": [{"kind": "List", "items": [made(kind="Node")]}]}, "Node/pos"),
    ],
)
def test_what_may_not_be_rendered_is_refused_with_a_hint(document: object, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        list(objects(document, RULES))
    assert said in refused.value.message
    assert refused.value.hint


def test_a_secret_may_be_made_that_holds_nothing() -> None:
    token = made(kind="Secret", type="kubernetes.io/service-account-token")
    assert len(list(objects(token, RULES))) == 1


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        ("source.toolkit.fluxcd.io/v1", "GitRepository"),
        (FLUX, "HelmRelease"),
        ("image.toolkit.fluxcd.io/v1", "ImagePolicy"),
        ("fluxcd.controlplane.io/v1", "ResourceSet"),
        ("argoproj.io/v1alpha1", "Application"),
        ("argoproj.io/v1alpha1", "ApplicationSet"),
        ("argoproj.io/v1alpha1", "AppProject"),
    ],
)
def test_what_tells_a_reconciler_what_to_do_is_an_admin_s_to_grant(api: str, kind: str) -> None:
    with pytest.raises(Invalid, match=f"{kind}/pos of .* tells a reconciler") as refused:
        list(objects(made(apiVersion=api, kind=kind), RULES))
    assert f"{kind}/pos" in refused.value.hint
    granted = Rules("shop", (f"{kind}/pos",))
    (one,) = objects(made(apiVersion=api, kind=kind), granted)
    assert one["metadata"] == {"name": "pos", "namespace": "shop"}, "it stays inside"


def test_what_was_granted_is_granted_by_name_and_in_its_own_namespace() -> None:
    release = made(apiVersion=FLUX, kind="HelmRelease", metadata={"name": "granted"})
    assert len(list(objects(release, RULES))) == 1
    elsewhere = {"name": "granted", "namespace": "flux-system"}
    with pytest.raises(Invalid, match="and not in shop"):
        list(objects({**release, "metadata": elsewhere}, RULES))


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        ("argoproj.io/v1alpha1", "Rollout"),
        ("argoproj.io/v1alpha1", "Workflow"),
        ("app.k8s.io/v1beta1", "Application"),
        ("example.com/v1", "Kustomization"),
        ("toolkit.fluxcd.io.example.com/v1", "Kustomization"),
    ],
)
def test_kinds_that_no_reconciler_obeys_are_anybody_s(api: str, kind: str) -> None:
    assert len(list(objects(made(apiVersion=api, kind=kind), RULES))) == 1
