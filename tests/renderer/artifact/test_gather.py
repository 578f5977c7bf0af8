"""What a directory builds from, and what is never followed."""

from __future__ import annotations

import pytest

from graph.model.errors import Invalid
from published import MemoryTree, config_map, kustomization
from renderer.artifact.gather import Bounds, gather

AT = "apps/pos/overlays/1f3a9c02d4b5e6f7"


def gathered(resources, more=(), links=(), bounds=None):
    files = {f"{AT}/kustomization.yaml": kustomization(resources=resources), **dict(more)}
    return gather(MemoryTree(files, links), AT, within="apps/pos", bounds=bounds or Bounds())


@pytest.mark.parametrize(
    "name",
    [
        "../../../other/base",
        "/etc",
        "../../../../../etc",
        "../..",
        "../../..",
        "../../base/../../other",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name):
    others = {"apps/other/base/kustomization.yaml": kustomization(resources=[])}
    with pytest.raises(Invalid, match="not below apps/pos"):
        gathered([name], others)


@pytest.mark.parametrize("name", ["https://host.example/x.yaml", "gone.yaml", "../../gone"])
def test_what_is_not_there_is_refused(name):
    with pytest.raises(Invalid, match="no such file"):
        gathered([name])


@pytest.mark.parametrize("link", [f"{AT}/secret.yaml", "apps/pos/base/secret.yaml"])
def test_a_link_is_not_followed(link):
    base = {"apps/pos/base/kustomization.yaml": kustomization(resources=[])}
    with pytest.raises(Invalid, match="is a link"):
        gathered(["../../base"], base, links=[link])


def test_a_directory_that_is_no_kustomization_is_refused():
    with pytest.raises(Invalid, match=r"has no kustomization\.yaml"):
        gathered(["../../base"], {"apps/pos/base/x.yaml": config_map("x")})


def test_directories_that_name_each_other_come_to_an_end():
    more = {
        "apps/pos/a/kustomization.yaml": kustomization(resources=["../b"]),
        "apps/pos/b/kustomization.yaml": kustomization(resources=["../a"]),
    }
    assert len(gathered(["../../a"], more).files) == 3


@pytest.mark.parametrize("bounds", [Bounds(files_max=10), Bounds(bytes_max=500)])
def test_too_much_is_refused(bounds):
    base = {f"apps/pos/base/{n}.yaml": config_map(f"c{n}") for n in range(20)}
    base["apps/pos/base/kustomization.yaml"] = kustomization(resources=[])
    with pytest.raises(Invalid, match="files"):
        gathered(["../../base"], base, bounds=bounds)


def test_an_unreadable_kustomization_is_named():
    base = {"apps/pos/base/kustomization.yaml": b"a: [\n"}
    with pytest.raises(Invalid, match=r"apps/pos/base/kustomization\.yaml"):
        gathered(["../../base"], base)
