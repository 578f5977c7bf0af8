"""Images read out of manifests and kustomizations, compared with what kustomize builds."""

from __future__ import annotations

import pytest
import yaml

from published import MemoryTree, built, deployment, kustomization, written
from renderer.artifact.gather import Bounds, gather
from renderer.artifact.images import images_of

AT = "apps/pos/overlays/1f3a9c02d4b5e6f7"
IMAGE = "registry.example:5000/team/pos:1@sha256:" + "a" * 64
STATEMENTS = [
    {"name": "registry.example:5000/team/pos", "newTag": "2"},
    {"name": "registry.example:5000/team/pos", "newName": "mirror/pos"},
    {"name": "registry.example:5000/team/pos", "digest": "sha256:" + "b" * 64},
    {"name": "registry.example:5000/team/pos", "newName": "m/p", "newTag": "3"},
    {"name": "registry.example:5000/team/pos", "newTag": "3", "digest": "sha256:" + "c" * 64},
    {"name": "pos", "newTag": "9"},
]


def tree_of(image, statements, patches=()):
    return MemoryTree(
        {
            "apps/pos/base/kustomization.yaml": kustomization(resources=["d.yaml"]),
            "apps/pos/base/d.yaml": deployment("pos", image),
            f"{AT}/kustomization.yaml": kustomization(
                resources=["../../base"], images=statements, patches=list(patches)
            ),
        }
    )


def found_in(tree):
    return images_of(gather(tree, AT, within="apps/pos", bounds=Bounds()), AT)


def built_in(tree, directory):
    (value,) = yaml.safe_load_all(built(written(tree, directory) / AT))
    return {value["spec"]["template"]["spec"]["containers"][0]["image"]}


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize(
    "image", [IMAGE, "registry.example:5000/team/pos", "registry.example:5000/team/pos:1", "pos"]
)
def test_an_image_statement_does_what_kustomize_does(tmp_path, image, statement):
    tree = tree_of(image, [statement])
    assert found_in(tree) == built_in(tree, tmp_path)


def test_statements_follow_one_another(tmp_path):
    tree = tree_of("a:1", [{"name": "a", "newName": "b"}, {"name": "b", "newTag": "2"}])
    assert found_in(tree) == built_in(tree, tmp_path)


def test_what_a_patch_puts_in_place_is_listed_too(tmp_path):
    at = "/spec/template/spec/containers/0/image"
    patch = f'[{{"op":"replace","path":"{at}","value":"other:7"}}]'
    tree = tree_of("a:1", [], [{"target": {"kind": "Deployment"}, "patch": patch}])
    assert built_in(tree, tmp_path) <= found_in(tree)
    assert found_in(tree) == {"a:1", "other:7"}
