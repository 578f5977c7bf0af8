from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.model.errors import Rejected, Unavailable
from renderer.git.access import Limits
from renderer.git.landing import Landing
from renderer.git.process import Git
from renderer.git.reading import Objects
from repositories import bare, foreign_commit, git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return bare(tmp_path / "r.git")


@pytest.fixture
def objects(repository: Path) -> Iterator[Objects]:
    found = Objects(Git(repository, Limits(blob_bytes_max=1_000_000)))
    yield found
    found.close()


def blob(repository: Path, content: bytes) -> bytes:
    return bytes.fromhex(git(repository, "hash-object", "-w", "--stdin", said=content))


def test_many_objects_come_in_the_order_asked_for(repository, objects):
    contents = [bytes([n % 251]) * (n * 37 % 5_000) + str(n).encode() for n in range(50)]
    ids = [blob(repository, content) for content in contents]
    assert list(objects.blobs(ids)) == list(zip(ids, contents, strict=True))
    assert [content for _, content in objects.blobs(ids[::-1])] == contents[::-1]


def test_more_questions_than_a_pipe_holds_block_nobody(repository, objects):
    landing = Landing(repository / "objects")
    ids = [landing.put(b"blob", f"{n} {'x' * 3_000}".encode()) for n in range(3_000)]
    landing.land()
    assert [content.split()[0] for _, content in objects.blobs(ids)] == [
        str(n).encode() for n in range(3_000)
    ]


def test_the_tip_is_what_the_branch_points_at_now(repository, objects):
    assert objects.tip("refs/heads/main") is None
    for text in ("one", "two"):
        made = foreign_commit(repository, {"f": text})
        assert objects.tip("refs/heads/main")[0].hex() == made
    git(repository, "pack-refs", "--all")
    made = foreign_commit(repository, {"f": "three"})
    assert objects.tip("refs/heads/main")[0].hex() == made


def test_objects_that_come_later_and_move_into_packs_are_found(repository, objects):
    first = foreign_commit(repository, {"f": "one"})
    assert objects.commit(bytes.fromhex(first))
    second = foreign_commit(repository, {"f": "two"})
    git(repository, "repack", "-adq")
    git(repository, "prune-packed")
    for each in (first, second):
        assert objects.commit(bytes.fromhex(each))


def test_a_process_that_was_ended_is_started_again(repository, objects):
    name = blob(repository, b"x")
    assert list(objects.blobs([name])) == [(name, b"x")]
    objects.close()
    assert list(objects.blobs([name])) == [(name, b"x")]


def test_a_missing_object_is_told(repository, objects):
    with pytest.raises(Unavailable, match="cannot be read"):
        list(objects.blobs([b"\1" * 20]))
    assert objects.commit(b"\1" * 20) is None


def test_a_file_beyond_the_bound_is_not_read_and_others_are(repository, objects):
    big, small = blob(repository, b"x" * 1_000_001), blob(repository, b"y")
    with pytest.raises(Rejected, match="1,000,001 bytes"):
        list(objects.blobs([small, big, small]))
    assert list(objects.blobs([small])) == [(small, b"y")]


def test_directories_are_kept_up_to_a_bound(repository):
    foreign_commit(repository, {f"d{n}/{m}": "x" for n in range(9) for m in range(n + 1)})
    objects = Objects(Git(repository, Limits(tree_entries_max=20)))
    root = objects.tip("refs/heads/main")[1].tree
    for _ in range(2):
        for name, entry in objects.tree(root).items():
            assert len(objects.tree(entry[1])) == int(name[1:]) + 1
    objects.close()


def test_threads_may_ask_at_the_same_time(repository, objects):
    ids = [blob(repository, str(n).encode() * 100) for n in range(20)]
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(50):
            found = [content for _, content in objects.blobs(ids)]
            if found != [str(n).encode() * 100 for n in range(20)]:
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
