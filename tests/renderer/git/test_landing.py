from __future__ import annotations

import stat

import pytest

from graph.model.errors import Unavailable
from renderer.git.landing import LOOSE_MAX, WAITING_BYTES_MAX, Landing
from repositories import bare, git


def loose(repository):
    return [path for path in (repository / "objects").glob("??/*")]


def packs(repository):
    return list((repository / "objects" / "pack").glob("*.pack"))


def test_few_objects_become_loose_files_as_git_has_them(tmp_path):
    repository = bare(tmp_path / "r")
    landing = Landing(repository / "objects")
    name = landing.put(b"blob", b"content")
    assert loose(repository) == []
    landing.land()
    assert git(repository, "cat-file", "blob", name.hex()) == "content"
    (path,) = loose(repository)
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert packs(repository) == []


def test_many_objects_become_one_pack(tmp_path):
    repository = bare(tmp_path / "r")
    landing = Landing(repository / "objects")
    names = [landing.put(b"blob", str(number).encode()) for number in range(LOOSE_MAX + 1)]
    landing.land((b"blob", b"last"))
    assert len(packs(repository)) == 1
    assert len(loose(repository)) == 1, "the last one goes alone, so that packs repeat themselves"
    for number, name in enumerate(names):
        assert git(repository, "cat-file", "blob", name.hex()) == str(number)


def test_a_few_big_objects_do_not_wait_in_memory(tmp_path):
    repository = bare(tmp_path / "r")
    landing = Landing(repository / "objects")
    for number in range(3):
        landing.put(b"blob", bytes([number]) * (WAITING_BYTES_MAX // 2))
    assert list((repository / "objects" / "pack").iterdir())
    landing.drop()
    assert list((repository / "objects" / "pack").iterdir()) == []


def test_an_object_is_taken_in_once(tmp_path):
    repository = bare(tmp_path / "r")
    landing = Landing(repository / "objects")
    for _ in range(LOOSE_MAX * 3):
        landing.put(b"blob", b"same")
    landing.land()
    assert len(loose(repository)) == 1


def test_what_is_dropped_never_lands(tmp_path):
    repository = bare(tmp_path / "r")
    landing = Landing(repository / "objects")
    landing.put(b"blob", b"x")
    landing.drop()
    landing.land()
    assert loose(repository) == []


def test_a_disk_that_refuses_is_unavailable_and_leaves_no_litter(tmp_path):
    repository = bare(tmp_path / "r")
    (repository / "objects" / "41").write_text("a file where a directory is needed")
    landing = Landing(repository / "objects")
    landing.put(b"blob", b"fine")
    landing.put(b"blob", b"", bytes.fromhex("41" * 20))
    with pytest.raises(Unavailable, match="could not be written"):
        landing.land()
    assert [path for path in loose(repository) if path.name.startswith("tmp_")] == []
