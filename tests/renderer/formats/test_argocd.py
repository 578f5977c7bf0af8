from __future__ import annotations

from typing import Any

import yaml

import kustomize
from crds import mistakes
from format_samples import DINING, KEY, UNIT, Store, check_arrived
from graph.model.workload import Application, Template
from published import MemoryTree
from renderer.formats.argocd import ArgoCD
from renderer.formats.port import Unit
from renderer.settings import FormatSettings

TREE = MemoryTree({})
ARGO_CD = ArgoCD(FormatSettings())


def told(unit: Unit = UNIT) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(ARGO_CD.files(unit, TREE)["sync.yaml"]))


def test_an_application_keeps_itself_in_order():
    spec = kustomize.found(told(), "Application", "pos")["spec"]
    assert spec["source"] == {
        "repoURL": "https://git.example/gitops.git",
        "targetRevision": "main",
        "path": f"apps/pos/overlays/{KEY}",
    }
    assert spec["destination"] == {
        "server": "https://kubernetes.default.svc",
        "namespace": "dining",
    }
    assert spec["syncPolicy"]["automated"] == {"prune": True, "selfHeal": True}
    assert spec["syncPolicy"]["retry"]["limit"] == 3
    assert "CreateNamespace=false" in spec["syncPolicy"]["syncOptions"]


def test_it_waits_for_what_it_needs_and_is_built_again_where_its_files_change():
    annotations = kustomize.found(told(), "Application", "pos")["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/sync-wave"] == "1"
    assert annotations["argocd.argoproj.io/manifest-generate-paths"].split(";") == [
        f"/apps/pos/overlays/{KEY}",
        "/apps/pos/base/v12",
        "/apps/pos/components/drive",
    ]


def test_a_template_application_is_built_from_its_overlay_alone():
    application = Application("pos", "dining", source=Template({"a.yaml": "kind: A"}))
    (one,) = [
        each for each in told(Unit(application, DINING, KEY)) if each["kind"] == "Application"
    ]
    paths = one["metadata"]["annotations"]["argocd.argoproj.io/manifest-generate-paths"]
    assert paths == f"/apps/pos/overlays/{KEY}"


def test_a_project_has_one_destination_and_only_the_objects_that_were_granted():
    project = kustomize.found(told(), "AppProject", "pos")
    assert project["spec"]["destinations"] == [
        {"server": "https://kubernetes.default.svc", "namespace": "dining"}
    ]
    assert project["spec"]["sourceRepos"] == ["https://git.example/gitops.git"]
    assert project["spec"]["clusterResourceWhitelist"] == [
        {"group": "*", "kind": "ClusterRole", "name": "pos-reader"},
        {"group": "*", "kind": "CustomResourceDefinition", "name": "widgets.pos.example"},
    ]
    nothing = told(Unit(Application("pos", "dining"), DINING, KEY))
    spec = kustomize.found(nothing, "AppProject", "pos")["spec"]
    assert spec["clusterResourceWhitelist"] == []


def test_what_it_brought_goes_with_it_and_its_project_goes_last():
    finalizer = ["resources-finalizer.argocd.argoproj.io"]
    for kind in ("Application", "AppProject"):
        assert kustomize.found(told(), kind, "pos")["metadata"]["finalizers"] == finalizer


def test_every_object_keeps_to_the_schemas():
    assert [each for one in told() for each in mistakes(one)] == []


def test_the_schemas_would_notice_a_mistake():
    one = kustomize.found(told(), "Application", "pos")
    assert mistakes(one | {"spec": one["spec"] | {"syncPolicies": {}}})


def test_nothing_empty_is_told_that_argo_cd_would_take_out_again():
    assert "kustomize" not in kustomize.found(told(), "Application", "pos")["spec"]["source"]
    assert ARGO_CD.patches(UNIT.application, {}) == []


def test_late_bound_values_arrive_as_what_they_are(tmp_path):
    store = Store(tmp_path)
    pointer = store.point(ARGO_CD, ARGO_CD.files(UNIT, TREE))
    one = kustomize.found(kustomize.build(pointer), "Application", "pos")
    assert mistakes(one) == []
    check_arrived(store.reconciled(one["spec"]["source"]["kustomize"]["patches"]))
