from __future__ import annotations

from typing import Any

import pytest
import yaml

import kustomize
from crds import mistakes
from format_samples import DINING, IMAGES, KEY, UNIT, Store, check_arrived, other
from graph.model.workload import Application
from published import MemoryTree
from renderer.formats.flux import Flux
from renderer.formats.port import Unit
from renderer.objects.namespace import namespace_files, namespace_key
from renderer.settings import FormatSettings

TREE = MemoryTree({})
FLUX = Flux(FormatSettings())


def told(settings: FormatSettings | None = None, unit: Unit = UNIT) -> list[dict[str, Any]]:
    return list(
        yaml.safe_load_all(Flux(settings or FormatSettings()).files(unit, TREE)["sync.yaml"])
    )


def test_a_kustomization_says_what_flux_needs_to_know():
    one = kustomize.found(told(), "Kustomization", "pos")
    assert one["metadata"]["namespace"] == "flux-system"
    assert one["spec"] == {
        "interval": "3600s",
        "retryInterval": "120s",
        "timeout": "300s",
        "path": f"./apps/pos/overlays/{KEY}",
        "sourceRef": {"kind": "GitRepository", "name": "trellis"},
        "targetNamespace": "dining",
        "serviceAccountName": "trellis-dining",
        "prune": True,
        "wait": True,
        "dependsOn": [{"name": "menu"}],
    }


def test_it_says_whose_it_is():
    metadata = kustomize.found(told(), "Kustomization", "pos")["metadata"]
    assert metadata["labels"] == {
        "trellis.dev/application": "pos",
        "trellis.dev/namespace": "dining",
        "trellis.dev/overlay": KEY,
        "trellis.dev/cost-center": "4711",
        "label.trellis.dev/tier": "gold",
    }
    assert metadata["annotations"] == {"trellis.dev/owner": "Point of sale <pos@shops.example>"}


@pytest.mark.parametrize("kind", ["GitRepository", "OCIRepository"])
def test_every_object_keeps_to_the_schemas(kind: str):
    found = told(FormatSettings.model_validate({"flux_source_kind": kind}))
    assert [each for one in found for each in mistakes(one)] == []
    assert {each["kind"] for each in found} == {
        "ClusterRole",
        "ClusterRoleBinding",
        "Kustomization",
    }


def test_the_schemas_would_notice_a_mistake():
    one = kustomize.found(told(), "Kustomization", "pos")
    assert mistakes(one | {"spec": one["spec"] | {"intervall": "1h"}})
    assert mistakes(one | {"spec": one["spec"] | {"interval": "1 hour"}})
    assert mistakes(one | {"spec": one["spec"] | {"sourceRef": {"kind": "GitRepo", "name": "x"}}})


def test_an_application_without_objects_outside_namespaces_is_granted_nothing():
    plain = Unit(Application("pos", "dining"), DINING, KEY)
    assert [each["kind"] for each in told(unit=plain)] == ["Kustomization"]


def test_late_bound_values_arrive_as_what_they_are(tmp_path):
    store = Store(tmp_path)
    pointer = store.point(FLUX, FLUX.files(UNIT, TREE))
    one = kustomize.found(kustomize.build(pointer), "Kustomization", "pos")
    assert mistakes(one) == []
    check_arrived(store.reconciled(one["spec"]["patches"]))


def test_nothing_is_handed_on_where_no_field_is_filled():
    assert FLUX.patches(UNIT.application, {"unused": "x"}) == []


def test_applications_and_namespaces_build_together_in_one_pointer(tmp_path):
    store = Store(tmp_path)
    keys: dict[str, str] = {}
    for name in ("dining", "kitchen"):
        keys[name] = namespace_key(name, "flux", [IMAGES.name])
        files = namespace_files(other(UNIT, "x", name).namespace, "flux", [IMAGES])
        store.write(f"namespaces/{name}/{keys[name]}", files)
    pointer = store.point(FLUX, FLUX.files(UNIT, TREE), **keys)
    second = FLUX.files(other(UNIT, "menu", "kitchen"), TREE)
    store.write(f"apps/menu/sync/flux/{KEY}", second)
    line = f"- ../../../apps/menu/sync/flux/{KEY}\npatches:\n"
    file = pointer / "kustomization.yaml"
    file.write_text(file.read_text("utf-8").replace("patches:\n", line, 1), "utf-8")
    found = kustomize.build(pointer)
    assert [each for one in found if "csi" not in one["apiVersion"] for each in mistakes(one)] == []
    told = [each["metadata"]["name"] for each in found if each["kind"] == "Kustomization"]
    assert sorted(told) == ["menu", "pos"]
    assert len([each for each in found if each["kind"] == "Namespace"]) == 2
