"""A remote: real repositories behind file URLs, with hooks, locks and silence of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.model.errors import Conflict, Invalid, Unavailable
from renderer.git.access import Access, Limits
from renderer.publish.git import GitPublisher
from repositories import (
    IMPATIENT,
    RemoteSite,
    bare,
    files_of,
    foreign_commit,
    git,
    is_sound,
    publish,
    told,
)

A, B = "fleet/a", "fleet/b"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RemoteSite]:
    made = RemoteSite(tmp_path)
    yield made
    made.close()


def hook(site: RemoteSite, name: str, script: str) -> Path:
    path = site.repository / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_remote_that_refuses_is_told_with_its_reason_and_nothing_is_lost(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    refusing = hook(site, "pre-receive", "echo 'no deployments on Fridays' >&2; exit 1")
    with pytest.raises(Unavailable) as refused:
        publish(publisher, {A: "two"}, "c2")
    assert "pre-receive hook declined" in refused.value.message
    assert "no deployments on Fridays" in refused.value.message
    assert files_of(site.repository) == {A: b"one"}
    refusing.unlink()
    publish(publisher, {A: "two"}, "c2")
    assert files_of(site.repository) == {A: b"two"}
    assert git(site.repository, "rev-list", "--count", "main") == "2"


def test_a_big_commit_that_is_refused_again_and_again_leaves_one_pack(site, tmp_path):
    publisher = site.open(mirror=tmp_path / "m.git")
    hook(site, "pre-receive", "exit 1")
    files = {f"clusters/{n:02x}/k": str(n) for n in range(150)}
    for _ in range(3):
        with pytest.raises(Unavailable):
            publish(publisher, files, "c1")
    assert len(list((tmp_path / "m.git" / "objects" / "pack").glob("*.pack"))) == 1


def test_a_remote_that_is_away_is_tried_with_pauses_that_grow(site, tmp_path):
    pauses: list[float] = []
    publisher = GitPublisher.open(
        site.repository.as_uri(),
        now=lambda: 1_700_000_000,
        mirror=tmp_path / "m.git",
        limits=Limits(attempts_max=4, backoff_seconds=0.5),
        pause=pauses.append,
    )
    publish(publisher, {A: "one"}, "c1")
    hook(site, "pre-receive", "kill -9 $PPID")
    with pytest.raises(Unavailable, match="does not answer after 4 attempts of git push"):
        publish(publisher, {A: "two"}, "c2")
    assert pauses == [0.5, 1.0, 2.0]
    publisher.close()


def test_a_remote_that_is_not_there_is_not_tried_again(site):
    publisher = site.open()
    site.repository.rename(site.repository.with_name("gone"))
    with pytest.raises(Unavailable, match="refuses"):
        publisher.head()


def test_an_answer_that_got_lost_is_no_reason_to_publish_twice(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    hook(site, "post-receive", "kill -9 $PPID")
    made = publish(publisher, {A: "two"}, "c2")
    assert git(site.repository, "rev-parse", "main") == made.commit
    assert publisher.head().cursor == "c2"


def test_a_remote_that_comes_back_in_time_is_published_to(site, tmp_path):
    publisher = site.open(limits=Limits(attempts_max=3, backoff_seconds=0.01))
    publish(publisher, {A: "one"}, "c1")
    flag = tmp_path / "once"
    hook(site, "pre-receive", f"[ -e {flag} ] || {{ touch {flag}; kill -9 $PPID; }}")
    made = publish(publisher, {A: "two"}, "c2")
    assert flag.exists()
    assert git(site.repository, "rev-parse", "main") == made.commit


def test_a_lock_held_at_the_remote_is_named(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    lock = site.repository / "refs" / "heads" / "main.lock"
    lock.touch()
    with pytest.raises(Unavailable, match=r"main\.lock"):
        publish(publisher, {A: "two"}, "c2")
    lock.unlink()
    publish(publisher, {A: "two"}, "c2")
    assert files_of(site.repository) == {A: b"two"}


def test_a_worker_that_is_overtaken_by_another_mirror_plans_again(site):
    one, two = site.open(), site.open()
    publish(one, {A: "one"}, "c1")
    slow = two.begin(two.head())
    slow.write(B, b"slow")
    publish(one, {A: "two"}, "c2")
    with pytest.raises(Conflict):
        slow.commit(told("c3"))
    publish(two, {B: "slow"}, "c3")
    assert files_of(site.repository) == {A: b"two", B: b"slow"}
    assert git(site.repository, "rev-list", "--min-parents=2", "main") == ""


def test_a_branch_that_was_deleted_begins_anew(site):
    publisher = site.open()
    publish(publisher, {A: "one"}, "c1")
    git(site.repository, "update-ref", "-d", "refs/heads/main")
    head = publisher.head()
    assert (head.commit, head.cursor) == ("", None)
    publish(publisher, {B: "two"}, "c2")
    assert files_of(site.repository) == {B: b"two"}
    assert git(site.repository, "rev-list", "--count", "main") == "1"


def test_a_branch_that_was_taken_back_is_gone_on_from_there(site):
    publisher = site.open()
    first = publish(publisher, {A: "one"}, "c1")
    stale = publish(publisher, {A: "two"}, "c2")
    git(site.repository, "update-ref", "refs/heads/main", first.commit)
    draft = publisher.begin(stale)
    draft.write(A, b"three")
    with pytest.raises(Conflict):
        draft.commit(told("c3"))
    head = publisher.head()
    assert (head.commit, head.cursor, head.tree.read(A)) == (first.commit, "c1", b"one")


def test_a_new_mirror_fetches_no_history_it_does_not_need(site, tmp_path):
    publisher = site.open()
    for number in range(5):
        publish(publisher, {A: str(number)}, f"c{number}")
    fresh = site.open(mirror=tmp_path / "fresh.git")
    assert fresh.head().cursor == "c4"
    assert git(tmp_path / "fresh.git", "rev-list", "--count", "main") == "1"
    publish(fresh, {A: "new"}, "c5")
    assert git(site.repository, "rev-list", "--count", "main") == "6"
    assert publisher.head().cursor == "c5"
    assert is_sound(site.repository)


def test_a_new_mirror_fetches_as_much_history_as_it_needs(site, tmp_path):
    publish(site.open(), {A: "one"}, "c1")
    for number in range(4):
        foreign_commit(site.repository, {"README": str(number), A: "meddled"})
    fresh = site.open(mirror=tmp_path / "fresh.git")
    head = fresh.head()
    assert (head.cursor, head.restored) == ("c1", (A,))
    publish(fresh, {}, "c2")
    assert files_of(site.repository) == {A: b"one", "README": b"3"}


def test_two_workers_cannot_have_the_same_mirror(site, tmp_path):
    first = site.open(mirror=tmp_path / "m.git")
    with pytest.raises(Conflict, match="is used by process"):
        site.open(mirror=tmp_path / "m.git")
    site.opened.clear()
    first.close()
    site.open(mirror=tmp_path / "m.git")


def test_locks_that_a_killed_worker_left_in_its_mirror_are_removed(site, tmp_path):
    first = site.open(mirror=tmp_path / "m.git")
    publish(first, {A: "one"}, "c1")
    site.close()
    for name in ("shallow.lock", "refs/heads/main.lock", "packed-refs.lock"):
        (tmp_path / "m.git" / name).touch()
    foreign_commit(site.repository, {"README": "x"})
    again = site.open(mirror=tmp_path / "m.git")
    publish(again, {A: "two"}, "c2")
    assert files_of(site.repository) == {A: b"two", "README": b"x"}


def test_a_remote_needs_a_mirror():
    with pytest.raises(Invalid, match="mirror"):
        GitPublisher.open("https://host/x.git", now=lambda: 0)


def test_ssh_is_given_the_key_and_asks_nobody(site, tmp_path, monkeypatch):
    told_of = tmp_path / "asked"
    (tmp_path / "bin").mkdir()
    ssh = tmp_path / "bin" / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" >> {told_of}\nfor last; do :; done\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/local/bin:/usr/bin:/bin")
    publisher = GitPublisher.open(
        f"ssh://git@host.example{site.repository}",
        now=lambda: 1_700_000_000,
        mirror=tmp_path / "m.git",
        access=Access(key_file=tmp_path / "my key", known_hosts=tmp_path / "known"),
        limits=IMPATIENT,
    )
    publish(publisher, {A: "one"}, "c1")
    publisher.close()
    assert files_of(site.repository) == {A: b"one"}
    asked = told_of.read_text()
    for part in ("BatchMode=yes", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes", "my key"):
        assert part in asked
    assert "git-receive-pack" in asked


def test_other_protocols_are_not_even_tried(tmp_path, monkeypatch):
    bare(tmp_path / "x.git")
    for place in ("ext::sh -c 'touch ran'", "http://127.0.0.1:1/x", "git://127.0.0.1/x"):
        with pytest.raises(Invalid):
            GitPublisher.open(place, now=lambda: 0, mirror=tmp_path / "m.git")
    assert not (tmp_path / "m.git").exists()
