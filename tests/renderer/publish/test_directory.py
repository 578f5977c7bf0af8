"""What publishing to a directory has beyond the contract: links, locks, what is on the disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.model.errors import Conflict, Invalid, Rejected, Unavailable
from repositories import DirectorySite, publish, told

A, B = "fleet/a", "clusters/0f/store-1/kustomization.yaml"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[DirectorySite]:
    made = DirectorySite(tmp_path)
    yield made
    made.close()


def test_the_cursor_can_be_read_by_anybody(site):
    head = publish(site.open(), {A: "one"}, "c1")
    told_of = json.loads((site.directory / ".trellis" / "cursor.json").read_text())
    assert told_of == {"commit": head.commit, "cursor": "c1", "stamp": "1"}


def test_two_workers_are_kept_apart(site):
    first = site.open()
    with pytest.raises(Conflict, match="is used by process"):
        site.open()
    publish(first, {A: "one"}, "c1")
    site.close()
    assert site.open().head().cursor == "c1"


def test_a_link_planted_instead_of_a_file_is_replaced_and_not_followed(site, tmp_path):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (site.directory / A).unlink()
    (site.directory / A).symlink_to(outside)
    assert publisher.head().restored == (A,)
    publish(publisher, {A: "two"}, "c2")
    assert outside.read_text() == "precious"
    assert not (site.directory / A).is_symlink()
    assert site.seen() == {A: b"two"}


def test_a_link_planted_instead_of_an_owned_directory_is_replaced(site, tmp_path):
    publisher = site.open()
    publish(publisher, {A: "one", B: "two"}, "c1")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("precious")
    (site.directory / A).unlink()
    (site.directory / "fleet").rmdir()
    (site.directory / "fleet").symlink_to(outside)
    head = publisher.head()
    assert A in head.restored
    publish(publisher, {"fleet/b": "three"}, "c2")
    assert (outside / "a").read_text() == "precious"
    assert list(outside.iterdir()) == [outside / "a"]
    assert site.seen() == {A: b"one", "fleet/b": b"three", B: b"two"}


def test_a_link_that_belongs_to_others_is_refused_on_the_way_and_nothing_changes(site, tmp_path):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    outside = tmp_path / "outside"
    outside.mkdir()
    (site.directory / "apps").symlink_to(outside)
    with pytest.raises(Unavailable, match="apps is a link"):
        publish(publisher, {"apps/pos/overlays/k/x": "2"}, "c2")
    assert list(outside.iterdir()) == []
    assert publisher.head().cursor == "c1"


def test_links_of_others_are_not_read(site, tmp_path):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    (tmp_path / "secret").write_text("s")
    (site.directory / "docs").mkdir()
    (site.directory / "docs" / "link").symlink_to(tmp_path / "secret")
    (site.directory / "elsewhere").symlink_to(tmp_path)
    tree = publisher.head().tree
    assert tree.read("docs/link") is None
    assert tree.read("elsewhere/secret") is None
    assert tree.names("") == ("docs", "fleet")
    assert tree.names("docs") == ()


def test_a_directory_where_a_file_belongs_is_put_right(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    site.meddle({"fleet/a/deep/x": "extra"}, (A,))
    assert publisher.head().restored == (A, "fleet/a/deep/x")
    publish(publisher, {}, "c2")
    assert site.seen() == {A: b"one"}


def test_a_file_that_was_touched_or_copied_without_a_change_is_no_change(site, tmp_path):
    publisher = site.open()
    publish(publisher, {A: "one", B: "two"}, "c1")
    (site.directory / A).write_text("one")
    assert publisher.head().restored == ()
    assert publisher.begin(publisher.head()).commit(told("c2")) is None
    site.close()
    shutil.copytree(site.directory, tmp_path / "copy" / "out")
    copy = DirectorySite(tmp_path / "copy")
    head = copy.open().head()
    assert (head.cursor, head.restored) == ("c1", ())
    copy.close()


def test_files_of_others_at_owned_paths_are_not_taken_over(site):
    site.meddle({A: "precious", "README": "x"})
    publisher = site.open()
    with pytest.raises(Rejected, match="no record"):
        publisher.head()
    assert site.seen() == {A: b"precious", "README": b"x"}


def test_the_record_is_nobody_s_business(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    tree = publisher.head().tree
    assert tree.names("") == ("fleet",)
    assert tree.read(".trellis-state/record.db") is None
    assert tree.names(".trellis-state") == ()


def test_an_unchanged_file_is_not_written_again(site):
    publisher = site.open()
    publish(publisher, {A: "one", B: "two"}, "c1")
    before = (site.directory / A).stat()
    publish(publisher, {A: "one", B: "three"}, "c2")
    assert (site.directory / A).stat().st_mtime_ns == before.st_mtime_ns
    assert (site.directory / A).stat().st_ino == before.st_ino


def test_a_place_that_cannot_be_written_leaves_the_old_head(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    (site.directory / "apps").write_text("a file of somebody's")
    draft = publisher.begin(publisher.head())
    draft.write(B, b"two")
    draft.write("apps/pos/sync/flux/k/x", b"three")
    with pytest.raises(Unavailable):
        draft.commit(told("c2"))
    assert publisher.head().cursor == "c1"
    assert site.seen() == {A: b"one", "apps": b"a file of somebody's"}


@pytest.mark.parametrize("path", ["../secret", "docs/../../secret", "/etc/passwd", "docs//a"])
def test_nothing_outside_is_read(site, tmp_path, path):
    publisher = site.open()
    site.meddle({"docs/a": "x"})
    (tmp_path / "secret").write_text("s")
    tree = publisher.head().tree
    with pytest.raises(Invalid, match="leads out"):
        tree.read(path)
    with pytest.raises(Invalid, match="leads out"):
        tree.names(path)
