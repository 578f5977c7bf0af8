"""What publishing to git has beyond the contract: history, dates, bounds and cost."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph.model.errors import Rejected, Unavailable
from renderer.git.access import Identity
from renderer.publish.git import GitPublisher
from renderer.tree import Head, Told
from repositories import (
    IMPATIENT,
    BareSite,
    files_of,
    foreign_commit,
    git,
    is_sound,
    publish,
    shows,
    told,
)

A = "fleet/a"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[BareSite]:
    made = BareSite(tmp_path)
    yield made
    made.close()


def test_a_commit_says_who_when_why_and_how_far(site):
    publisher = GitPublisher.open(
        str(site.repository), now=lambda: 1_234_567_890, identity=Identity("Robot", "r@example.com")
    )
    draft = publisher.begin(publisher.head())
    draft.write(A, b"1")
    draft.commit(Told("Move store-1", "5 by ann: café", "17.abc", "3 def"))
    publisher.close()
    shown = git(site.repository, "log", "-1", "--format=%an|%ae|%cn|%at|%ct|%s%n%B", "main")
    assert shown == (
        "Robot|r@example.com|Robot|1234567890|1234567890|Move store-1\n"
        "Move store-1\n\n5 by ann: café\n\nTrellis-Revision: 17.abc\nTrellis-Renderer: 3 def\n"
        f"Trellis-Owned: {owned(site.repository)}"
    )


def test_history_is_a_line_and_the_repository_sound(site):
    publisher = site.open()
    for number in range(6):
        publish(publisher, {f"clusters/{number:02x}/k": str(number), A: str(number)}, str(number))
        if number % 2:
            foreign_commit(site.repository, {"README": str(number), A: "meddled"})
    publish(publisher, {f"clusters/{n:02x}/x": str(n) for n in range(200)}, "many")
    assert git(site.repository, "rev-list", "--min-parents=2", "main") == ""
    assert git(site.repository, "rev-list", "--max-parents=0", "--count", "main") == "1"
    assert git(site.repository, "rev-list", "--count", "main") == "10"
    assert is_sound(site.repository)


def test_the_newest_worker_s_commit_counts_however_many_came_after(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    for number in range(7):
        foreign_commit(site.repository, {"README": str(number)})
    assert publisher.head().cursor == "c1"


def test_a_history_too_long_to_search_is_told(site):
    publisher = GitPublisher.open(
        str(site.repository), now=lambda: 1, limits=replace(IMPATIENT, commits_max=3)
    )
    publish(publisher, {A: "one"}, "c1")
    for number in range(3):
        foreign_commit(site.repository, {"README": str(number)})
    with pytest.raises(Rejected) as refused:
        publisher.head()
    assert "newest 3 commits" in refused.value.message
    assert "commits_max" in refused.value.hint
    publisher.close()


def test_a_side_branch_s_cursor_is_not_taken_for_ours(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    tree = git(site.repository, "rev-parse", "main^{tree}")
    message = "Side\n\nTrellis-Revision: evil\nTrellis-Renderer: 9\n"
    message += f"Trellis-Owned: {owned(site.repository)}\n"
    side = git(site.repository, "commit-tree", tree, "-p", "main", said=message.encode())
    merge = git(site.repository, "commit-tree", tree, "-p", "main", "-p", side, said=b"Merge")
    git(site.repository, "update-ref", "refs/heads/main", merge)
    assert publisher.head().cursor == "c1"


def owned(repository: Path) -> str:
    """What the newest commit says its owned paths are."""
    return git(
        repository, "log", "-1", "--format=%(trailers:key=Trellis-Owned,valueonly)", "main"
    ).strip()


def amended(repository: Path, write: dict[str, str]) -> None:
    """Somebody takes the newest commit's message, and its place, for other files."""
    text = git(repository, "log", "-1", "--format=%B", "main").encode()
    parent = git(repository, "rev-parse", "main~1")
    tree = git(repository, "rev-parse", f"{foreign_commit(repository, write)}^{{tree}}")
    made = git(repository, "commit-tree", tree, "-p", parent, said=text)
    git(repository, "update-ref", "refs/heads/main", made)


OVERLAY, SYNC = "apps/pos/overlays/k/x", "apps/pos/sync/flux/k/x"
OWNED = [A, "clusters/00/a/k", "namespaces/n/k/x", "ansible/site", ".trellis/x", OVERLAY, SYNC]


@pytest.mark.parametrize("path", [*OWNED, "apps/new/overlays/k/x"])
def test_a_commit_that_was_amended_is_no_worker_s_any_more(site, path):
    publisher = site.open()
    files = dict.fromkeys(OWNED, "one")
    publish(publisher, files, "c1")
    publish(publisher, {A: "two"}, "c2")
    amended(site.repository, {path: "meddled"})
    head = publisher.head()
    assert head.cursor == "c1", "as far as is sure"
    assert head.restored == tuple(sorted({A, path}))
    assert head.tree.read(path) == (b"one" if path in files else None)
    publish(publisher, {A: "two"}, "c2")
    assert site.seen() == {path: b"two" if path == A else b"one" for path in files}


def test_a_commit_that_was_amended_with_what_is_others_is_still_the_worker_s(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    publish(publisher, {OVERLAY: "two"}, "c2")
    amended(site.repository, {"apps/pos/base/b": "theirs", "apps/new/base/b": "x", "README": "x"})
    head = publisher.head()
    assert (head.cursor, head.restored) == ("c2", ())
    assert head.tree.read("apps/pos/base/b") == b"theirs"


def test_a_message_taken_from_a_worker_s_commit_makes_no_worker_s_of_another(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    publish(publisher, {A: "two"}, "c2")
    old = git(site.repository, "log", "-1", "--format=%B", "main~1")
    foreign_commit(site.repository, {"fleet/b": "new"}, message=old)
    head = publisher.head()
    assert (head.cursor, head.restored) == ("c2", ("fleet/b",))


def test_what_stands_for_owned_paths_holds_after_everything_of_them_went(site):
    publisher = site.open()
    publish(publisher, {A: "one", OVERLAY: "two"}, "c1")
    publish(publisher, {"fleet": None, "apps/pos/overlays": None}, "c2")
    assert publisher.head().cursor == "c2"
    foreign_commit(site.repository, {"apps": "a file now"})
    assert publisher.head().cursor == "c2"
    publish(publisher, {A: "one"}, "c3")
    assert publisher.head().cursor == "c3"


def test_a_shallow_repository_whose_cursor_is_cut_off_is_told(site, tmp_path):
    publish(site.open(), {A: "one"}, "c1")
    foreign_commit(site.repository, {"README": "1"})
    uri = site.repository.as_uri()
    git(tmp_path, "clone", "--quiet", "--bare", "--depth=1", uri, "cut.git")
    cut = GitPublisher.open(str(tmp_path / "cut.git"), now=lambda: 1)
    with pytest.raises(Unavailable, match="history"):
        cut.head()
    cut.close()


def test_what_others_keep_there_survives_every_commit(site):
    site.open()
    foreign_commit(
        site.repository,
        {"apps/pos/base/b": "b", "z-file": "z"},
        links={"apps/pos/link": "base", "top": "/etc"},
        modules=("vendor/module",),
    )
    before = git(site.repository, "ls-tree", "-r", "main")
    publisher = site.open()
    publish(publisher, {"apps/pos/overlays/k/x": "1", A: "2"}, "c1")
    publish(publisher, {"apps/pos/overlays": None, A: None}, "c2")
    assert git(site.repository, "ls-tree", "-r", "main") == before
    assert is_sound(site.repository)


def test_a_link_at_an_owned_path_is_replaced_by_a_file(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    foreign_commit(site.repository, links={"fleet/b": "/etc/passwd"}, remove=(A,))
    publish(publisher, {"fleet/b": "mine"}, "c2")
    assert files_of(site.repository) == {A: b"one", "fleet/b": b"mine"}
    assert "120000" not in git(site.repository, "ls-tree", "-r", "main")


def test_a_branch_of_another_name_is_left_alone(site):
    main = site.open()
    publish(main, {A: "main"}, "c1")
    live = GitPublisher.open(str(site.repository), now=lambda: 1_700_000_000, branch="fleet/live")
    assert live.head().commit == ""
    publish(live, {A: "live"}, "c9")
    live.close()
    assert shows(site.repository, A, "fleet/live") == "live"
    assert shows(site.repository, A) == "main"
    assert main.head().cursor == "c1"


def test_a_head_keeps_showing_its_own_moment(site):
    publisher = site.open()
    first = publish(publisher, {A: "one"}, "c1")
    publish(publisher, {A: "two"}, "c2")
    assert first.tree.read(A) == b"one"


def test_a_head_of_another_kind_is_a_mistake(site):
    class Other:
        pass

    publisher = site.open()
    with pytest.raises(TypeError):
        publisher.begin(Head("", None, "", Other()))  # type: ignore[arg-type]


def test_files_leave_memory_as_they_are_written(site):
    publisher = site.open()
    draft = publisher.begin(publisher.head())
    tracemalloc.start()
    for number in range(2_000):
        content = f"{number:05}".encode() * 4_000
        draft.write(f"clusters/{number % 256:02x}/store-{number}/kustomization.yaml", content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16_000_000, "40 MB were written"
    draft.commit(told("c1"))
    assert git(site.repository, "ls-tree", "-r", "--name-only", "main").count("\n") == 1_999


def test_one_changed_file_makes_few_objects(site):
    publisher = site.open()
    files = {f"clusters/{n % 256:02x}/store-{n}/kustomization.yaml": str(n) for n in range(3_000)}
    publish(publisher, files, "c1")
    before = _objects(site.repository)
    publish(publisher, {"clusters/07/store-7/kustomization.yaml": "new"}, "c2")
    assert _objects(site.repository) - before == 6, "a file, four directories and a commit"


def _objects(repository: Path) -> int:
    told_of = git(repository, "count-objects", "-v")
    counts = dict(line.split(": ") for line in told_of.splitlines())
    return int(counts["count"]) + int(counts["in-pack"])


def test_the_same_files_are_the_same_commit_in_any_process(tmp_path):
    script = """
import sys
from renderer.publish.git import GitPublisher
from renderer.tree import Told
publisher = GitPublisher.open(sys.argv[1], now=lambda: 1_700_000_000)
draft = publisher.begin(publisher.head())
for name in {f"store-{n}" for n in range(250)}:
    draft.write(f"clusters/{len(name):02x}/{name}/kustomization.yaml", name.encode())
print(draft.commit(Told("s", "b", "c1", "1")).commit)
publisher.close()
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / f"{seed}.git")],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
