"""W1, W2 and W3: all or nothing, nothing for nothing, and nobody is overwritten."""

from __future__ import annotations

import pytest

from graph.model.errors import Conflict, Invalid
from repositories import Site, publish, told

A, B, C = "fleet/a", "clusters/0f/store-1/kustomization.yaml", "apps/pos/overlays/k/x"


def test_before_the_first_commit_there_is_nothing(publisher):
    head = publisher.head()
    assert (head.commit, head.cursor, head.stamp, head.restored) == ("", None, "", ())
    assert head.tree.read(A) is None
    assert head.tree.names("") == ()
    assert head.tree.identity("") is None


def test_a_commit_moves_files_and_cursor_together(site: Site, publisher):
    draft = publisher.begin(publisher.head())
    draft.write(A, b"one")
    draft.write(B, b"two")
    assert site.seen() == {}, "nothing is seen before the commit"
    head = draft.commit(told("c7", stamp="9"))
    again = publisher.head()
    assert (head.commit, head.cursor, head.stamp) == (again.commit, again.cursor, again.stamp)
    assert (head.cursor, head.stamp) == ("c7", "9")
    assert head.commit
    assert site.seen() == {A: b"one", B: b"two"}
    assert head.tree.read_many([A, B, C]) == {A: b"one", B: b"two"}


def test_another_process_goes_on_from_what_was_published(site: Site, publisher):
    made = publish(publisher, {A: "one"}, "c1")
    site.close()
    again = site.open()
    head = again.head()
    assert (head.commit, head.cursor, head.stamp) == (made.commit, "c1", "1")
    assert head.restored == ()
    assert head.tree.read(A) == b"one"
    publish(again, {B: "two"}, "c2")
    assert site.seen() == {A: b"one", B: b"two"}


def test_a_commit_that_changes_no_file_is_none(site: Site, publisher):
    made = publish(publisher, {A: "one", B: "two"}, "c1")
    assert publish(publisher, {A: "one", C: None}, "c2") is None
    assert publisher.head().commit == made.commit
    assert publisher.head().cursor == "c1"
    draft = publisher.begin(publisher.head())
    draft.remove(A)
    draft.write(A, b"one")
    draft.write(C, b"x")
    draft.remove("apps/pos/overlays")
    assert draft.changes() == {}
    assert draft.commit(told("c3")) is None
    assert publisher.head().cursor == "c1"


def test_the_very_first_commit_of_nothing_is_none(publisher):
    assert publisher.begin(publisher.head()).commit(told("c1")) is None
    assert publisher.head().commit == ""


def test_what_is_left_of_a_draft_that_is_abandoned_is_nothing(site: Site, publisher):
    publish(publisher, {A: "one"}, "c1")
    draft = publisher.begin(publisher.head())
    draft.write(A, b"two")
    draft.write(B, b"two")
    draft.abandon()
    assert site.seen() == {A: b"one"}
    assert publisher.begin(publisher.head()).changes() == {}


def test_whoever_was_overtaken_is_told_and_changes_nothing(site: Site, publisher):
    publish(publisher, {A: "one"}, "c1")
    head = publisher.head()
    slow = publisher.begin(head)
    slow.write(A, b"slow")
    publish(publisher, {B: "fast"}, "c2")
    with pytest.raises(Conflict):
        slow.commit(told("c3"))
    assert site.seen() == {A: b"one", B: b"fast"}
    assert publisher.head().cursor == "c2"


def test_the_first_commit_of_all_is_guarded_as_well(site: Site, publisher):
    slow = publisher.begin(publisher.head())
    slow.write(A, b"slow")
    publish(publisher, {A: "fast"}, "c2")
    with pytest.raises(Conflict):
        slow.commit(told("c1"))
    assert site.seen() == {A: b"fast"}


def test_after_a_conflict_planning_again_goes_through(site: Site, publisher):
    slow = publisher.begin(publisher.head())
    slow.write(A, b"slow")
    publish(publisher, {B: "fast"}, "c1")
    with pytest.raises(Conflict):
        slow.commit(told("c2"))
    publish(publisher, {A: "slow"}, "c2")
    assert site.seen() == {A: b"slow", B: b"fast"}


def test_a_directory_goes_with_all_that_is_in_it(site: Site, publisher):
    publish(publisher, {"fleet/k/a": "1", "fleet/k/b/c": "2", "fleet/other": "3"}, "c1")
    draft = publisher.begin(publisher.head())
    draft.remove("fleet/k")
    assert draft.changes() == {"fleet/k/a": False, "fleet/k/b/c": False}
    head = draft.commit(told("c2"))
    assert site.seen() == {"fleet/other": b"3"}
    assert head.tree.names("fleet") == ("other",)
    assert head.tree.identity("fleet/k") is None


def test_a_directory_that_is_left_empty_vanishes(site: Site, publisher):
    publish(publisher, {B: "1", A: "2"}, "c1")
    head = publish(publisher, {B: None}, "c2")
    assert head.tree.names("") == ("fleet",)
    assert head.tree.names("clusters") == ()
    assert site.seen() == {A: b"2"}


def test_everything_may_go(site: Site, publisher):
    publish(publisher, {A: "1", B: "2"}, "c1")
    head = publish(publisher, {A: None, "clusters": None}, "c2")
    assert site.seen() == {}
    assert head.tree.names("") == ()
    assert publisher.head().cursor == "c2"
    publish(publisher, {A: "3"}, "c3")
    assert site.seen() == {A: b"3"}


def test_a_file_becomes_a_directory_and_the_other_way_round(site: Site, publisher):
    publish(publisher, {"fleet/a": "file", "fleet/b/c": "deep", "fleet/b/d": "deep"}, "c1")
    draft = publisher.begin(publisher.head())
    draft.write("fleet/a/x", b"now deep")
    draft.write("fleet/b", b"now a file")
    assert draft.changes() == {
        "fleet/a": False,
        "fleet/a/x": True,
        "fleet/b": True,
        "fleet/b/c": False,
        "fleet/b/d": False,
    }
    draft.commit(told("c2"))
    assert site.seen() == {"fleet/a/x": b"now deep", "fleet/b": b"now a file"}


def test_changes_tells_what_would_differ(publisher):
    publish(publisher, {"fleet/a": "1", "fleet/b": "1", "fleet/c": "1"}, "c1")
    draft = publisher.begin(publisher.head())
    draft.write("fleet/a", b"1")
    draft.write("fleet/b", b"2")
    draft.remove("fleet/c")
    draft.remove("fleet/never")
    draft.write("fleet/d", b"3")
    draft.write("fleet/e", b"4")
    draft.remove("fleet/e")
    assert draft.changes() == {"fleet/b": True, "fleet/c": False, "fleet/d": True}
    draft.abandon()


def test_many_files_in_one_commit_are_all_there(site: Site, publisher):
    files = {f"clusters/{n % 16:02x}/store-{n}/kustomization.yaml": f"# {n}\n" for n in range(300)}
    head = publish(publisher, files, "c1")
    assert head.tree.read_many(files) == {path: text.encode() for path, text in files.items()}
    assert len(site.seen()) == 300


REFUSED = (
    "../fleet/a",
    "fleet/../../a",
    "/fleet/a",
    "fleet//a",
    "fleet/./a",
    "fleet/.git/config",
    "fleet/.GIT",
    "fleet/a\nb",
    "fleet/a\0",
    "fleet/a.",
    "fleet/ä",
    f"fleet/{'x' * 200}",
    "",
    "fleet/",
    "README.md",
    "apps/pos/base/x",
    "apps/pos",
    ".git/config",
    ".trellis-state/record.db",
)


def test_a_path_that_leads_out_or_is_not_owned_is_refused(publisher):
    draft = publisher.begin(publisher.head())
    for path in REFUSED:
        with pytest.raises(Invalid):
            draft.write(path, b"x")
        with pytest.raises(Invalid):
            draft.remove(path)
    assert draft.changes() == {}
    draft.abandon()
