"""Artifacts of a published tree: what they hold, that they build, and that they stay the same."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import yaml

from graph.model.errors import Invalid, NotFound
from published import (
    ARGO_CD,
    AWKWARD,
    FLEET,
    FLUX,
    GRILL,
    HOST,
    PLAIN,
    POS,
    POS_LARGE,
    TILL,
    MemoryTree,
    built,
    kustomization,
    sample,
    unpack,
    written,
)
from renderer import paths
from renderer.artifact.artifact import NOWHERE, Flavour, digest_of
from renderer.artifact.edition import Edition, Recipe
from renderer.artifact.packer import Packer
from renderer.artifact.pinned import Origin

ORIGIN = Origin("oci://registry.example/fleet", secret="trellis-registry")
OVERLAYS = [("pos", POS), ("pos", POS_LARGE), ("grill", GRILL)]


@pytest.fixture
def packer():
    return Packer(ORIGIN)


def documents(text):
    return [each for each in yaml.safe_load_all(text) if each]


def of_kind(found, kind):
    return {each["metadata"]["name"]: each for each in found if each["kind"] == kind}


@pytest.mark.parametrize(("application", "key"), OVERLAYS)
def test_an_overlay_builds_from_its_artifact_as_it_does_in_the_tree(
    packer, tmp_path, application, key
):
    tree = sample()
    artifact = packer.overlay(Edition(tree), Recipe(application, key, Flavour.FLUX))
    at = paths.overlay(application, key)
    whole = written(tree, tmp_path / "tree")
    alone = unpack(artifact.layer.content, tmp_path / "alone")
    assert built(alone / at) == built(whole / at)


def test_an_overlay_brings_the_base_it_builds_from_and_no_other(packer, tmp_path):
    artifact = packer.overlay(Edition(sample()), Recipe("pos", POS, Flavour.FLUX))
    at = unpack(artifact.layer.content, tmp_path)
    found = sorted(each.relative_to(at).as_posix() for each in at.rglob("*") if each.is_file())
    assert found == [
        "apps/pos/base/v12/deployment.yaml",
        "apps/pos/base/v12/kustomization.yaml",
        "apps/pos/base/v12/parts/cm.yaml",
        "apps/pos/base/v12/parts/kustomization.yaml",
        f"apps/pos/overlays/{POS}/kustomization.yaml",
    ]


def test_a_manifest_is_what_flux_and_what_argo_cd_expect(packer):
    edition = Edition(sample())
    kinds = {}
    for flavour in Flavour:
        artifact = packer.overlay(edition, Recipe("pos", POS, flavour))
        manifest = json.loads(artifact.manifest.content)
        assert artifact.digest == digest_of(artifact.manifest.content)
        assert [each["digest"] for each in manifest["layers"]] == [artifact.layer.digest]
        assert manifest["layers"][0]["size"] == len(artifact.layer.content)
        assert manifest["config"]["digest"] == digest_of(artifact.config.content)
        assert manifest["annotations"]["org.opencontainers.image.revision"] == artifact.content
        kinds[flavour] = manifest["config"]["mediaType"], manifest["layers"][0]["mediaType"]
    assert kinds[Flavour.FLUX] == (
        "application/vnd.cncf.flux.config.v1+json",
        "application/vnd.cncf.flux.content.v1.tar+gzip",
    )
    assert kinds[Flavour.GENERIC] == (
        "application/vnd.oci.image.config.v1+json",
        "application/vnd.oci.image.layer.v1.tar+gzip",
    )


def test_a_pointer_with_lines_left_from_flux_is_for_everybody(packer):
    """Its cluster has another reconciler, which has not been told of one of them yet."""
    files = dict(sample().files)
    path = f"{paths.pointer(ARGO_CD)}/{paths.KUSTOMIZATION}"
    files[path] = files[path].replace(b"grill/sync/argocd", b"grill/sync/flux")
    packed = packer.cluster(Edition(MemoryTree(files)), ARGO_CD)
    config = json.loads(packed.artifact.manifest.content)["config"]
    assert config["mediaType"] == "application/vnd.oci.image.config.v1+json"


def test_a_flux_pointer_pins_every_application_by_digest(packer, tmp_path):
    edition = Edition(sample())
    packed = packer.cluster(edition, FLUX)
    at = unpack(packed.artifact.layer.content, tmp_path)
    found = documents(built(at))
    assert built(at) == built(at / paths.pointer(FLUX))
    repositories, applied = of_kind(found, "OCIRepository"), of_kind(found, "Kustomization")
    for name, key in (("pos", POS), ("grill", GRILL)):
        pinned = packer.overlay(edition, Recipe(name, key, Flavour.FLUX))
        spec = repositories[name]["spec"]
        assert spec["url"] == f"oci://registry.example/fleet/apps/{name}"
        assert spec["ref"] == {"digest": pinned.digest}
        assert spec["secretRef"] == {"name": "trellis-registry"}
        assert "insecure" not in spec
        assert repositories[name]["metadata"]["namespace"] == "flux-system"
        assert applied[name]["spec"]["sourceRef"] == {"kind": "OCIRepository", "name": name}
        assert applied[name]["spec"]["path"] == f"./{paths.overlay(name, key)}"
    assert "dining" in of_kind(found, "Namespace")
    assert "fleet" in of_kind(found, "ConfigMap")


def test_late_bound_values_travel_in_a_pointer_as_they_are(packer, tmp_path):
    packed = packer.cluster(Edition(sample()), FLUX)
    found = documents(built(unpack(packed.artifact.layer.content, tmp_path)))
    patch = of_kind(found, "Kustomization")["pos"]["spec"]["patches"][0]
    assert json.loads(patch["patch"]) == [{"op": "add", "path": "/data/host", "value": AWKWARD}]


def test_an_argo_cd_pointer_pins_every_application_by_digest(packer, tmp_path):
    edition = Edition(sample())
    packed = packer.cluster(edition, ARGO_CD)
    found = documents(built(unpack(packed.artifact.layer.content, tmp_path)))
    source = of_kind(found, "Application")["pos"]["spec"]["source"]
    pinned = packer.overlay(edition, Recipe("pos", POS_LARGE, Flavour.GENERIC))
    assert source["repoURL"] == "oci://registry.example/fleet/apps/pos"
    assert source["targetRevision"] == pinned.digest
    assert len(source["kustomize"]["patches"]) == 1
    projects = of_kind(found, "AppProject")
    assert projects["dining"]["spec"]["sourceRepos"] == ["oci://registry.example/fleet/apps/*"]
    layer = json.loads(packed.artifact.manifest.content)["layers"][0]
    assert layer["mediaType"] == "application/vnd.oci.image.layer.v1.tar+gzip"


def test_a_plain_pointer_holds_all_it_builds_from(packer, tmp_path):
    tree = sample()
    packed = packer.cluster(Edition(tree), PLAIN)
    at = unpack(packed.artifact.layer.content, tmp_path / "alone")
    whole = written(tree, tmp_path / "tree")
    assert built(at) == built(whole / paths.pointer(PLAIN))
    assert of_kind(documents(built(at)), "ConfigMap")["pos"]["data"]["host"] == AWKWARD
    assert packed.pins == ()


def test_a_host_gets_its_own_entry_and_nobody_elses(packer, tmp_path):
    packed = packer.cluster(Edition(sample()), HOST)
    at = unpack(packed.artifact.layer.content, tmp_path)
    hosts = json.loads((at / paths.inventory(HOST)).read_bytes())["all"]["hosts"]
    assert list(hosts) == [HOST]
    assert list(hosts[HOST]["trellis_applications"]) == ["till"]
    found = sorted(each.relative_to(at).as_posix() for each in at.rglob("*") if each.is_file())
    assert found == [
        paths.inventory(HOST),
        "ansible/site.yaml",
        "apps/till/base/v2/tasks/main.yaml",
        f"{paths.overlay('till', TILL)}/vars.json",
        f"fleet/{FLEET}/kustomization.yaml",
        f"fleet/{FLEET}/settings.json",
        f"fleet/{FLEET}/settings.yaml",
    ]


def test_a_role_outside_of_its_application_is_refused(packer):
    path = f"{paths.overlay('till', TILL)}/vars.json"
    led = sample().after({path: b'{"role":"apps/till/../pos/base"}'})
    with pytest.raises(Invalid, match="not below apps/till"):
        packer.cluster(Edition(led), HOST)


def test_files_in_an_archive_are_in_order_and_have_no_owner_and_no_time(packer):
    import io
    import tarfile

    for cluster in (FLUX, ARGO_CD, PLAIN, HOST):
        packed = packer.cluster(Edition(sample()), cluster)
        with tarfile.open(fileobj=io.BytesIO(packed.artifact.layer.content)) as tar:
            members = tar.getmembers()
        names = [each.name for each in members]
        assert names == sorted(names)
        assert {(m.mtime, m.uid, m.gid, m.uname, m.gname, m.mode) for m in members} == {
            (0, 0, 0, "", "", 0o644)
        }
        assert all(each.isreg() for each in members)


def test_the_same_tree_gives_the_same_bytes_in_any_process(packer):
    edition = Edition(sample())
    here = [packer.cluster(edition, each).artifact.digest for each in (FLUX, ARGO_CD, PLAIN, HOST)]
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from published import *\n"
        "from renderer.artifact.edition import Edition\n"
        "from renderer.artifact.packer import Packer\n"
        "from renderer.artifact.pinned import Origin\n"
        "tree = sample(); tree = MemoryTree(dict(reversed(tree.files.items())))\n"
        "packer = Packer(Origin('oci://registry.example/fleet', secret='trellis-registry'))\n"
        "for each in (HOST, PLAIN, ARGO_CD, FLUX):\n"
        "    print(packer.cluster(Edition(tree), each).artifact.digest)\n"
    )
    for seed in ("1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", script, *filter(None, sys.path)],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stdout.split() == here[::-1]


def test_a_commit_that_touches_nothing_of_a_cluster_leaves_its_artifact_alone(packer):
    tree = sample()
    before = packer.cluster(Edition(tree), FLUX)
    elsewhere = tree.after({"README.md": b"new\n", "apps/pos/base/v11/old.yaml": b"a: b\n"})
    assert packer.cluster(Edition(elsewhere), FLUX) is before
    assert Packer(ORIGIN).cluster(Edition(elsewhere), FLUX).artifact == before.artifact


def test_a_new_base_moves_the_overlays_on_it_and_the_pointers_that_pin_them(packer):
    tree = sample()
    before = packer.cluster(Edition(tree), FLUX)
    path = "apps/pos/base/v12/parts/cm.yaml"
    changed = tree.after({path: tree.files[path].replace(b"unset", b"later")})
    after = packer.cluster(Edition(changed), FLUX)
    assert after.artifact.digest != before.artifact.digest
    assert (
        dict(after.pins)[Recipe("grill", GRILL, Flavour.FLUX)]
        == dict(before.pins)[Recipe("grill", GRILL, Flavour.FLUX)]
    )
    assert Packer(ORIGIN).cluster(Edition(changed), FLUX).artifact == after.artifact
    assert packer.cluster(Edition(tree), FLUX).artifact == before.artifact


def test_an_application_that_cannot_be_packed_is_pinned_to_nothing_and_the_others_go_on(packer):
    tree = sample()
    broken = tree.after(
        {"apps/pos/base/v12/kustomization.yaml": kustomization(resources=["../../../../etc"])}
    )
    edition = Edition(broken)
    before = packer.cluster(Edition(tree), FLUX)
    after = packer.cluster(edition, FLUX)
    assert dict(after.pins)[Recipe("pos", POS, Flavour.FLUX)] == NOWHERE
    grill = Recipe("grill", GRILL, Flavour.FLUX)
    assert dict(after.pins)[grill] == dict(before.pins)[grill]
    with pytest.raises(NotFound, match="not below apps/pos"):
        packer.overlay(edition, Recipe("pos", POS, Flavour.FLUX))


def test_a_cluster_that_is_not_published_is_not_found(packer):
    with pytest.raises(NotFound, match="store-99999"):
        packer.cluster(Edition(sample()), "store-99999")


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "A", "a\n", "x" * 300, "é"])
def test_a_name_that_is_none_is_refused(packer, name):
    with pytest.raises(Invalid):
        packer.cluster(Edition(sample()), name)


def test_little_is_remembered_where_little_may_be():
    packer = Packer(ORIGIN, kept_bytes_max=1)
    edition = Edition(sample())
    assert packer.cluster(edition, FLUX).artifact == Packer(ORIGIN).cluster(edition, FLUX).artifact


def test_a_pointer_that_leads_out_of_its_application_is_refused(packer):
    tree = sample()
    path = f"{paths.pointer(FLUX)}/kustomization.yaml"
    led = tree.files[path].replace(b"apps/pos/sync", b"apps/pos/../grill/sync")
    with pytest.raises(Invalid, match="not below apps/pos"):
        packer.cluster(Edition(MemoryTree({**tree.files, path: led})), FLUX)
