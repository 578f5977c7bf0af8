"""One archive with all a cluster runs."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml

from graph.model.errors import Invalid, NotFound
from published import ARGO_CD, FLUX, GRILL, HOST, PLAIN, POS, POS_LARGE, built, sample, unpack
from renderer import paths
from renderer.artifact.bundle import bundle

OVERLAYS = {
    FLUX: [("pos", POS), ("grill", GRILL)],
    ARGO_CD: [("pos", POS_LARGE), ("grill", GRILL)],
    PLAIN: [("pos", POS_LARGE), ("grill", GRILL)],
}


def images_in(text):
    found = set()
    for each in yaml.safe_load_all(text):
        pod = each.get("spec", {}).get("template", {}).get("spec", {}) if each else {}
        found |= {container["image"] for container in pod.get("containers", ())}
    return found


@pytest.mark.parametrize("cluster", OVERLAYS)
def test_a_bundle_builds_offline_and_lists_the_images_that_are_built(tmp_path, cluster):
    made = bundle(sample(), cluster)
    at = unpack(made.content, tmp_path)
    assert built(at) == built(at / paths.pointer(cluster))
    wanted = set()
    for application, key in OVERLAYS[cluster]:
        wanted |= images_in(built(at / paths.overlay(application, key)))
    assert (at / "images.txt").read_text().splitlines() == sorted(wanted)
    assert made.images == tuple(sorted(wanted))


def test_a_bundle_is_the_same_bytes_in_any_process():
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from hashlib import sha256\n"
        "from published import *\n"
        "from renderer.artifact.bundle import bundle\n"
        "print(sha256(bundle(sample(), FLUX).content).hexdigest())\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script, *filter(None, sys.path)],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in ("0", "7", "random")
    }
    assert len(found) == 1


def test_a_host_is_bundled_with_its_playbook(tmp_path):
    at = unpack(bundle(sample(), HOST).content, tmp_path)
    assert (at / paths.inventory(HOST)).is_file()
    assert (at / "ansible/site.yaml").is_file()


def test_a_cluster_that_is_not_published_is_not_found():
    with pytest.raises(NotFound):
        bundle(sample(), "store-99999")


def test_an_application_that_cannot_be_packed_is_said_and_not_left_out():
    broken = sample().after({"apps/grill/overlays/" + GRILL + "/grill.yaml": None})
    with pytest.raises(Invalid, match="no such file"):
        bundle(broken, FLUX)
