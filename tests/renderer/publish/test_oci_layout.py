"""Image layouts: whole at every moment, read by a real client, collected after a grace time."""

from __future__ import annotations

import json

import pytest

from crane import crane, registry
from graph.model.errors import Invalid, Unavailable
from published import ARGO_CD, FLUX, GRILL, HOST, PLAIN, POS, kustomization, sample
from renderer import paths
from renderer.artifact.edition import Edition
from renderer.artifact.packer import Packer
from renderer.artifact.pinned import Origin
from renderer.publish.oci import Delivery, Place
from renderer.publish.oci_layout import Layouts

ORIGIN = Origin("oci://registry.example")
BASE = "apps/pos/base/v12/parts/cm.yaml"
GRACE = 100.0


@pytest.fixture
def layouts(tmp_path):
    return Layouts(tmp_path)


def delivery(layouts):
    return Delivery(Packer(ORIGIN), layouts, grace_seconds=GRACE)


def bumped(tree, word):
    return tree.after({BASE: tree.files[BASE].replace(b"unset", word)})


def whole(directory):
    """Every tag of every layout leads to a manifest whose blobs are there; digests by place."""
    found = {}
    for index in directory.rglob("index.json"):
        here = index.parent
        for each in json.loads(index.read_bytes())["manifests"]:
            blob = here / "blobs/sha256" / each["digest"].removeprefix("sha256:")
            manifest = json.loads(blob.read_bytes())
            for part in (manifest["config"], *manifest["layers"]):
                at = here / "blobs/sha256" / part["digest"].removeprefix("sha256:")
                assert at.stat().st_size == part["size"]
            tag = each["annotations"].get("org.opencontainers.image.ref.name")
            if tag:
                found[here.relative_to(directory).as_posix(), tag] = each["digest"]
    return found


def test_every_pointer_and_every_overlay_has_a_tag(layouts, tmp_path):
    done = delivery(layouts).deliver(Edition(sample()), 0.0)
    found = whole(tmp_path)
    clusters = {(f"clusters/{each}", "current") for each in (FLUX, ARGO_CD, PLAIN, HOST)}
    assert clusters <= found.keys()
    assert {("apps/pos", POS), ("apps/pos", f"{POS}-oci"), ("apps/grill", GRILL)} <= found.keys()
    assert done.moved == len(found)
    assert done.refused == ()


def test_the_same_commit_again_moves_nothing(layouts, tmp_path):
    delivery(layouts).deliver(Edition(sample()), 0.0)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = delivery(Layouts(tmp_path))
    done = again.deliver(Edition(sample()), 1.0)
    assert (done.moved, done.dropped) == (0, 0)
    assert again.deliver(Edition(sample()), 2.0).moved == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_change_moves_what_it_touches_and_as_much_as_from_scratch(layouts, tmp_path):
    out = delivery(layouts)
    tree = sample()
    out.deliver(Edition(tree), 0.0)
    before = whole(tmp_path)
    after_tree = bumped(tree, b"later")
    done = out.deliver(Edition(after_tree), 1.0)
    after = whole(tmp_path)
    moved = {place for place in after if before.get(place) != after[place]}
    assert {name for name, _ in moved} == {
        "apps/pos",
        *(f"clusters/{each}" for each in (FLUX, ARGO_CD, PLAIN)),
    }
    assert done.moved == len(moved)
    fresh = Layouts(tmp_path / "fresh")
    delivery(fresh).deliver(Edition(after_tree), 1.0)
    assert whole(tmp_path / "fresh") == after


@pytest.mark.parametrize(
    "changes",
    [
        {"README.md": b"x\n"},
        {f"{paths.pointer(FLUX)}/kustomization.yaml": None},
        {"ansible/site.yaml": b"- hosts: none\n"},
        {"apps/till/base/v2/tasks/main.yaml": b"- fail:\n"},
        {f"apps/grill/overlays/{GRILL}/grill.yaml": b"kind: List\napiVersion: v1\n"},
        {"fleet/aa00000000000001/settings.yaml": b"kind: List\napiVersion: v1\n"},
        {paths.inventory(HOST): None},
    ],
)
def test_step_by_step_comes_to_the_same_as_from_scratch(layouts, tmp_path, changes):
    tree = sample()
    out = delivery(layouts)
    out.deliver(Edition(tree), 0.0)
    out.deliver(Edition(tree.after(changes)), 1.0)
    delivery(Layouts(tmp_path / "fresh")).deliver(Edition(tree.after(changes)), 1.0)
    expected = whole(tmp_path / "fresh")
    found = {place: digest for place, digest in whole(tmp_path).items() if "fresh" not in place[0]}
    assert found == expected


def test_what_was_dropped_is_kept_for_its_grace_time_and_then_collected(layouts, tmp_path):
    out = delivery(layouts)
    tree = sample()
    out.deliver(Edition(tree), 0.0)
    place = Place("apps/pos", POS)
    old = layouts.digest(place)
    blob = tmp_path / "apps/pos/blobs/sha256" / old.removeprefix("sha256:")
    out.deliver(Edition(bumped(tree, b"later")), 10.0)
    assert blob.is_file()
    out.deliver(Edition(bumped(tree, b"later")), 10.0 + GRACE)
    assert blob.is_file()
    out.deliver(Edition(bumped(tree, b"later")), 12.0 + GRACE)
    assert not blob.exists()
    whole(tmp_path)


def test_a_restart_still_collects_what_was_dropped_before(layouts, tmp_path):
    tree = sample()
    out = delivery(layouts)
    out.deliver(Edition(tree), 0.0)
    old = layouts.digest(Place("apps/pos", POS)).removeprefix("sha256:")
    out.deliver(Edition(bumped(tree, b"later")), 10.0)
    delivery(Layouts(tmp_path)).deliver(Edition(bumped(tree, b"later")), 20.0 + GRACE)
    assert not (tmp_path / "apps/pos/blobs/sha256" / old).exists()
    whole(tmp_path)


def without(tree, *starts):
    gone = {path: None for path in tree.files if path.startswith(starts)}
    return tree.after(gone)


def test_what_was_retired_while_nobody_delivered_goes_after_its_grace_time(layouts, tmp_path):
    tree = sample()
    delivery(layouts).deliver(Edition(tree), 0.0)
    less = without(tree, paths.pointer(FLUX), "apps/grill/")
    later = delivery(Layouts(tmp_path))
    assert later.deliver(Edition(less), 10.0).dropped == 3
    found = whole(tmp_path)
    assert not {name for name, _ in found} & {f"clusters/{FLUX}", "apps/grill"}
    assert list((tmp_path / "apps/grill/blobs/sha256").iterdir()), "stores may be on their way"
    assert delivery(Layouts(tmp_path)).deliver(Edition(less), 20.0).dropped == 0
    delivery(Layouts(tmp_path)).deliver(Edition(less), 12.0 + GRACE)
    assert not (tmp_path / f"clusters/{FLUX}").exists()
    assert not (tmp_path / "apps/grill").exists()
    assert whole(tmp_path) == found
    delivery(Layouts(tmp_path)).deliver(Edition(tree), 500.0)
    assert (f"clusters/{FLUX}", "current") in whole(tmp_path)


def test_what_was_retired_while_deliveries_failed_goes_with_the_next_one(layouts, tmp_path):
    class Away(Layouts):
        def drop(self, places, now):
            if now == 5.0:
                raise Unavailable("the disk is away")
            super().drop(places, now)

    tree = sample()
    out = delivery(Away(tmp_path))
    out.deliver(Edition(tree), 0.0)
    less = without(tree, paths.pointer(FLUX))
    with pytest.raises(Unavailable):
        out.deliver(Edition(less), 5.0)
    assert out.deliver(Edition(less), 6.0).dropped == 1
    assert (f"clusters/{FLUX}", "current") not in whole(tmp_path)


def test_a_value_that_comes_back_is_no_longer_dropped(layouts, tmp_path):
    tree = sample()
    out = delivery(layouts)
    for moment, each in enumerate((tree, bumped(tree, b"later"), tree)):
        out.deliver(Edition(each), float(moment))
    out.deliver(Edition(tree), 1_000.0)
    fresh = Layouts(tmp_path / "fresh")
    delivery(fresh).deliver(Edition(tree), 0.0)
    found = {place: digest for place, digest in whole(tmp_path).items() if "fresh" not in place[0]}
    assert found == whole(tmp_path / "fresh")


def test_an_application_that_cannot_be_packed_keeps_its_tags_and_is_told(layouts):
    tree = sample()
    out = delivery(layouts)
    out.deliver(Edition(tree), 0.0)
    before = layouts.digest(Place("apps/pos", POS))
    broken = tree.after(
        {"apps/pos/base/v12/kustomization.yaml": kustomization(resources=["../../../x"])}
    )
    done = out.deliver(Edition(broken), 1.0)
    assert layouts.digest(Place("apps/pos", POS)) == before
    assert any(each.startswith(f"pos {POS}: ") for each in done.refused)


class _Cut(Exception):
    """The power goes."""


def test_whoever_stops_anywhere_leaves_old_tags_with_whole_content(tmp_path, monkeypatch):
    from renderer.publish import oci_layout

    tree = sample()
    after = bumped(tree, b"later")
    real = oci_layout._replace
    for writes in range(200):
        here = tmp_path / str(writes)
        delivery(Layouts(here)).deliver(Edition(tree), 0.0)
        before = whole(here)
        left = writes

        def cut(path, content):
            nonlocal left
            if left == 0:
                path.with_name(f".{path.name}.new").write_bytes(content[: len(content) // 2])
                raise _Cut
            left -= 1
            real(path, content)

        monkeypatch.setattr(oci_layout, "_replace", cut)
        try:
            delivery(Layouts(here)).deliver(Edition(after), 1.0)
            finished = True
        except _Cut:
            finished = False
        monkeypatch.setattr(oci_layout, "_replace", real)
        found = whole(here)
        assert found.keys() == before.keys()
        delivery(Layouts(here)).deliver(Edition(after), 2.0)
        ended = whole(here)
        assert all(found[place] in (before[place], ended[place]) for place in found)
        if finished:
            assert found == ended
            break
    assert finished
    assert writes > 10


def test_an_index_that_is_none_is_named(layouts, tmp_path):
    (tmp_path / "apps/pos").mkdir(parents=True)
    (tmp_path / "apps/pos/index.json").write_text("{}")
    with pytest.raises(Invalid, match=r"index\.json"):
        layouts.digest(Place("apps/pos", POS))


def test_a_real_client_pushes_a_layout_to_a_real_registry(layouts, tmp_path):
    delivery(layouts).deliver(Edition(sample()), 0.0)
    with registry() as address:
        crane("push", "--index", str(tmp_path / f"clusters/{FLUX}"), f"{address}/x:current")
        (entry,) = json.loads(crane("manifest", f"{address}/x:current"))["manifests"]
        crane("validate", "--remote", f"{address}/x@{entry['digest']}")
    assert entry["digest"] == layouts.digest(Place(f"clusters/{FLUX}", "current"))
