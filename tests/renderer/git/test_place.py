from __future__ import annotations

from pathlib import Path

import pytest

from graph.model.errors import Conflict, Invalid, Unavailable
from renderer.git.place import Bare, prepare, tip_of
from renderer.git.process import Git
from repositories import IMPATIENT, bare, foreign_commit, git

MAIN = "refs/heads/main"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return bare(tmp_path / "r.git")


@pytest.fixture
def place(repository: Path):
    found = Bare(Git(repository, IMPATIENT), "main")
    yield found
    found.close()


def test_a_branch_moves_only_from_where_it_was_thought_to_be(repository, place):
    first, second = (foreign_commit(repository, {"f": text}) for text in "ab")
    git(repository, "update-ref", "-d", MAIN)
    place.move(first, "")
    place.move(second, first)
    assert tip_of(place.git, MAIN) == second
    for old in ("", first):
        with pytest.raises(Conflict):
            place.move(first, old)
    assert tip_of(place.git, MAIN) == second


def test_a_branch_that_went_away_is_a_conflict(repository, place):
    first = foreign_commit(repository, {"f": "a"})
    git(repository, "update-ref", "-d", MAIN)
    with pytest.raises(Conflict):
        place.move(first, first)
    assert tip_of(place.git, MAIN) == ""


def test_moving_to_where_it_is_already_is_no_conflict(repository, place):
    first = foreign_commit(repository, {"f": "a"})
    second = foreign_commit(repository, {"f": "b"})
    place.move(second, first)
    assert tip_of(place.git, MAIN) == second


@pytest.mark.parametrize("moves", [0, 1])
def test_a_held_lock_is_named_and_nothing_moves(repository, place, moves):
    first, second, third = (foreign_commit(repository, {"f": text}) for text in "abc")
    git(repository, "update-ref", MAIN, first)
    if moves:
        place.move(second, first)
    was = tip_of(place.git, MAIN)
    lock = repository / "refs" / "heads" / "main.lock"
    lock.touch()
    with pytest.raises(Unavailable) as refused:
        place.move(third, was)
    assert str(lock) in refused.value.message
    assert tip_of(place.git, MAIN) == was
    lock.unlink()
    place.move(third, was)
    assert tip_of(place.git, MAIN) == third


def test_what_is_not_there_is_made_bare(tmp_path):
    here = Git(tmp_path / "a" / "b.git", IMPATIENT)
    prepare(here, "live")
    assert git(here.directory, "symbolic-ref", "HEAD") == "refs/heads/live"
    assert git(here.directory, "rev-parse", "--is-bare-repository") == "true"
    assert not (here.directory / "hooks").exists()
    prepare(here, "live")


def test_a_repository_with_a_work_tree_is_refused(tmp_path):
    git(tmp_path, "init", "--quiet")
    with pytest.raises(Invalid, match="no git repository"):
        prepare(Git(tmp_path, IMPATIENT), "main")
    with pytest.raises(Invalid, match="no bare repository"):
        prepare(Git(tmp_path / ".git", IMPATIENT), "main")


def test_a_directory_of_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "precious").write_text("x")
    with pytest.raises(Invalid, match="no git repository"):
        prepare(Git(tmp_path, IMPATIENT), "main")
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_a_repository_of_other_ids_is_refused(tmp_path):
    git(tmp_path, "init", "--quiet", "--bare", "--object-format=sha256")
    with pytest.raises(Invalid, match="SHA-1"):
        prepare(Git(tmp_path, IMPATIENT), "main")
