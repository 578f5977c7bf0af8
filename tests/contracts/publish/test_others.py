"""W4 and W5: other people's files are theirs, ours are ours, and equal files are told as equal."""

from __future__ import annotations

from pathlib import Path

from repositories import SITES, Site, publish, told

A, B = "fleet/a", "clusters/0f/store-1/kustomization.yaml"
BASE = "apps/pos/base/1.0/deployment.yaml"


def test_paths_of_others_pass_through(site: Site, publisher):
    publish(publisher, {A: "one"}, "c1")
    site.meddle({"README.md": "hello", BASE: "kind: Deployment"})
    head = publisher.head()
    assert head.restored == ()
    assert head.cursor == "c1"
    assert head.tree.read("README.md") == b"hello"
    assert head.tree.read(BASE) == b"kind: Deployment"
    assert set(head.tree.names("")) == {"README.md", "apps", "fleet"}
    assert head.tree.names("apps/pos/base") == ("1.0",)
    publish(publisher, {B: "two", "apps/pos/overlays/k/x": "3"}, "c2")
    assert site.seen() == {
        A: b"one",
        B: b"two",
        "README.md": b"hello",
        BASE: b"kind: Deployment",
        "apps/pos/overlays/k/x": b"3",
    }
    assert publisher.head().tree.names("apps/pos") == ("base", "overlays")


def test_others_alone_are_no_reason_for_a_commit(site: Site, publisher):
    publish(publisher, {A: "one"}, "c1")
    site.meddle({"README.md": "hello"})
    head = publisher.head()
    assert publisher.begin(head).commit(told("c2")) is None


def test_an_owned_path_that_somebody_changed_is_put_back(site: Site, publisher):
    publish(publisher, {A: "one", B: "two", "fleet/z": "three"}, "c1")
    site.meddle({A: "meddled", "fleet/new": "extra"}, ("fleet/z",))
    head = publisher.head()
    assert head.restored == (A, "fleet/new", "fleet/z")
    assert head.cursor == "c1"
    assert head.tree.read_many([A, "fleet/z", "fleet/new"]) == {A: b"one", "fleet/z": b"three"}
    assert head.tree.names("fleet") == ("a", "z")
    draft = publisher.begin(head)
    assert draft.changes() == {}
    made = draft.commit(told("c2"))
    assert made is not None, "what was put back is a commit"
    assert site.seen() == {A: b"one", B: b"two", "fleet/z": b"three"}
    assert publisher.head().restored == ()
    assert publisher.head().cursor == "c2"


def test_what_somebody_changed_and_the_worker_writes_is_what_the_worker_writes(site, publisher):
    publish(publisher, {A: "one", B: "two"}, "c1")
    site.meddle({A: "meddled", "apps/pos/base/x": "theirs"})
    publish(publisher, {A: "three"}, "c2")
    assert site.seen() == {A: b"three", B: b"two", "apps/pos/base/x": b"theirs"}


def test_somebody_who_did_beforehand_what_the_worker_does_loses_nothing(site: Site, publisher):
    publish(publisher, {A: "one"}, "c1")
    site.meddle({A: "two"})
    made = publish(publisher, {A: "two"}, "c2")
    assert made is not None, "the cursor has to move, or the next step would begin at the old file"
    head = publisher.head()
    assert (head.cursor, head.tree.read(A), head.restored) == ("c2", b"two", ())


def test_a_whole_tree_that_somebody_deleted_comes_back(site: Site, publisher):
    files = {f"clusters/{n:02x}/store/kustomization.yaml": str(n) for n in range(150)}
    publish(publisher, files, "c1")
    site.meddle({"README.md": "gone"}, ("clusters",))
    head = publisher.head()
    assert head.restored == tuple(sorted(files))[:100], "the first hundred are named"
    assert publisher.begin(head).commit(told("c2")) is not None
    expected = {path: text.encode() for path, text in files.items()}
    assert site.seen() == {**expected, "README.md": b"gone"}


def test_what_belongs_to_others_may_go_while_ours_stays(site: Site, publisher):
    publish(publisher, {"apps/pos/overlays/k/x": "1"}, "c1")
    site.meddle({BASE: "b", "docs/a": "d"})
    publish(publisher, {"apps/pos/overlays/k/y": "2"}, "c2")
    site.meddle({}, ("docs", "apps/pos/base"))
    head = publisher.head()
    assert head.restored == ()
    assert head.tree.read(BASE) is None
    publish(publisher, {A: "3"}, "c3")
    assert site.seen() == {
        "apps/pos/overlays/k/x": b"1",
        "apps/pos/overlays/k/y": b"2",
        A: b"3",
    }


def test_what_was_there_before_any_worker_is_not_taken_for_a_worker_s(site: Site):
    if hasattr(site, "repository") and not site.repository.exists():
        site.open()
    site.close()
    site.meddle({"README.md": "hello"})
    publisher = site.open()
    head = publisher.head()
    assert (head.cursor, head.stamp, head.restored) == (None, "", ())
    assert head.tree.read("README.md") == b"hello"
    publish(publisher, {A: "one"}, "c1")
    assert site.seen() == {"README.md": b"hello", A: b"one"}


def test_a_directory_is_no_file_and_a_file_no_directory(publisher):
    head = publish(publisher, {A: "one"}, "c1")
    assert head.tree.read("fleet") is None
    assert head.tree.read("fleet/a/b") is None
    assert head.tree.names(A) == ()
    assert head.tree.names("fleet/nowhere") == ()


def test_same_files_have_the_same_identity_whatever_way_they_came(tmp_path: Path):
    found = set()
    for name, made in SITES.items():
        for way in ("at-once", "step-by-step"):
            site = made(tmp_path / f"{name}-{way}")
            publisher = site.open()
            if way == "at-once":
                publish(publisher, {A: "1", B: "2", "fleet/b": "3"}, "c1")
            else:
                publish(publisher, {"fleet/b": "old", B: "2", "ansible/x": "z"}, "c5")
                publish(publisher, {"fleet/b": "3", "ansible": None}, "c6")
                publish(publisher, {A: "1"}, "c7")
            tree = publisher.head().tree
            found.add(tuple(tree.identity(path) for path in ("", "fleet", A, "clusters", "none")))
            site.close()
    ((root, fleet, file, clusters, none),) = found
    assert none is None
    assert len({root, fleet, file, clusters}) == 4


def test_other_files_have_another_identity(publisher):
    before = publish(publisher, {A: "1", B: "2"}, "c1").tree
    was = {path: before.identity(path) for path in ("", "fleet", "clusters")}
    after = publish(publisher, {A: "2"}, "c2").tree
    assert after.identity("") != was[""]
    assert after.identity("fleet") != was["fleet"]
    assert after.identity("clusters") == was["clusters"]
