from __future__ import annotations

import orjson
import pytest

import kustomize
from format_samples import Store
from graph.model.errors import Invalid
from graph.model.values import Values
from graph.model.workload import Application, FieldTarget, LateBound
from renderer.formats.late import handed_on, object_patches
from renderer.formats.terse import terse
from renderer.objects.manifest import documents, manifest


def app(*late: LateBound, cluster_scoped: tuple[str, ...] = ()) -> Application:
    return Application("pos", "dining", late_bound=late, cluster_scoped=cluster_scoped)


HOST = LateBound("host", fields=(FieldTarget("Ingress/pos", "/spec/rules/0/host"),))
STORE = LateBound(
    "store",
    fields=(FieldTarget("ConfigMap/pos", "/data/store"), FieldTarget("Ingress/pos", "/metadata/x")),
)


def test_an_object_gets_one_patch_with_all_its_fields_in_the_order_of_the_definition():
    found = object_patches(app(HOST, STORE), {"store": "00042", "host": "a.example"})
    assert [each["target"] for each in found] == [
        {"kind": "Ingress", "name": "pos"},
        {"kind": "ConfigMap", "name": "pos"},
    ]
    assert orjson.loads(str(found[0]["patch"])) == [
        {"op": "add", "path": "/spec/rules/0/host", "value": "a.example"},
        {"op": "add", "path": "/metadata/x", "value": "00042"},
    ]


def test_an_item_of_a_list_is_replaced_and_everything_else_is_added():
    fields = ("/a/0", "/a/-", "/a/b", "/a/0/b")
    late = LateBound("x", fields=tuple(FieldTarget("A/a", each) for each in fields))
    (patch,) = object_patches(app(late), {"x": None})
    operations = [each["op"] for each in orjson.loads(str(patch["patch"]))]
    assert operations == ["replace", "add", "add", "add"]


def test_a_key_without_a_value_and_a_key_without_fields_are_left_out():
    assert object_patches(app(HOST, LateBound("bare")), {"bare": 1}) == []


def test_a_dot_in_the_name_of_an_object_is_no_pattern():
    late = LateBound("x", fields=(FieldTarget("ConfigMap/pos.v1", "/data/x"),))
    (patch,) = object_patches(app(late), {"x": "1"})
    assert patch["target"] == {"kind": "ConfigMap", "name": "pos\\.v1"}


def test_a_namespace_narrows_the_target_but_not_of_objects_outside_any():
    late = LateBound(
        "x", fields=(FieldTarget("ConfigMap/pos", "/a"), FieldTarget("ClusterRole/pos", "/a"))
    )
    defined = app(late, cluster_scoped=("ClusterRole/pos",))
    inside, outside = object_patches(defined, {"x": "1"}, namespace="dining")
    assert inside["target"] == {"kind": "ConfigMap", "name": "pos", "namespace": "dining"}
    assert outside["target"] == {"kind": "ClusterRole", "name": "pos"}


NAMES = ("no", "on", "y", "1e5", "0x1f", "00042", "null", "1-2", "true")
"""Names an application may have, and somebody may take for something else."""


@pytest.mark.parametrize("handing", [False, True])
def test_a_name_that_looks_like_no_text_is_found_by_kustomize(tmp_path, handing: bool):
    objects, patches = [], []
    for name in NAMES:
        objects.append(manifest("a.example/v1", "Widget", name, {"spec": {}}, namespace=name))
        late = LateBound("x", fields=(FieldTarget(f"Widget/{name}", "/spec/x"),))
        named = Application(name, name, late_bound=(late,))
        filled = object_patches(named, {"x": f"of '{name}'"}, namespace=name)
        patches += [handed_on("Widget", name, "/spec/x", filled)] if handing else filled
    (tmp_path / "all.yaml").write_bytes(documents(objects))
    told = terse({"resources": ["all.yaml"], "patches": patches})
    (tmp_path / "kustomization.yaml").write_text(told)
    for one in kustomize.build(tmp_path):
        x, name = one["spec"]["x"], one["metadata"]["name"]
        if handing:
            (handed,) = x
            assert handed["target"] == {"kind": "Widget", "name": name, "namespace": name}
            x = orjson.loads(handed["patch"])[0]["value"]
        assert x == f"of '{name}'"


def settings(tmp_path, value: str) -> str:
    late = LateBound("x", fields=(FieldTarget("ConfigMap/pos.settings", "/data/x"),))
    objects = Store(tmp_path).reconciled(object_patches(app(late), {"x": value}))
    return kustomize.found(objects, "ConfigMap", "pos.settings")["data"]["x"]


@pytest.mark.parametrize("character", ["\x7f", "\x80", "\x85", "\x9f", "\uffff"])
def test_what_kustomize_cannot_carry_is_no_value(tmp_path, character: str):
    with pytest.raises(Invalid, match=f"U.{ord(character):04X}"):
        Values.of({"y": "fine", "x": ["a", character]})
    with pytest.raises((kustomize.NotBuilt, AssertionError)):
        assert settings(tmp_path, f"a{character}b") == f"a{character}b"


def test_every_other_character_is_carried(tmp_path):
    ranges = (range(0x7F), range(0xA0, 0x300), range(0x2000, 0x2070), range(0xFFF0, 0xFFFE))
    text = "".join(chr(each) for some in ranges for each in some) + "\ufeff\U0001f9c0\U0010ffff"
    assert Values.of({"x": text}).data["x"] == text
    assert settings(tmp_path, text) == text
