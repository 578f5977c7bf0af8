from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from renderer.git.objects import EMPTY
from renderer.git.ownership import merged, owned_digest
from renderer.git.process import Git
from renderer.git.reading import Objects
from renderer.git.tree import GitTree
from repositories import bare, foreign_commit


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return bare(tmp_path / "r.git")


@pytest.fixture
def objects(repository: Path) -> Iterator[Objects]:
    found = Objects(Git(repository))
    yield found
    found.close()


def meet(objects: Objects, ours: str, tip: str):
    trees = [objects.commit(bytes.fromhex(each)).tree for each in (ours, tip)]
    return merged(objects, *trees)


def files(tree, directory: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name in tree.names(directory):
        path = f"{directory}/{name}" if directory else name
        content = tree.read(path)
        found |= files(tree, path) if content is None else {path: content.decode()}
    return found


OURS = {"fleet/a": "1", "apps/pos/overlays/k/x": "2", "apps/pos/base/b": "old", "README": "old"}


def test_owned_paths_are_ours_and_all_others_theirs(repository, objects):
    ours = foreign_commit(repository, OURS)
    tip = foreign_commit(
        repository,
        {
            "fleet/a": "meddled",
            "apps/pos/overlays/k/x": "meddled",
            "apps/pos/overlays/new/x": "extra",
            "apps/pos/sync/flux/k/s": "extra",
            "apps/pos/base/b": "new",
            "apps/web/base/b": "new",
            "README": "new",
        },
    )
    tree, restored = meet(objects, ours, tip)
    assert files(tree) == {
        "fleet/a": "1",
        "apps/pos/overlays/k/x": "2",
        "apps/pos/base/b": "new",
        "apps/web/base/b": "new",
        "README": "new",
    }
    assert restored == (
        "apps/pos/overlays/k/x",
        "apps/pos/overlays/new/x",
        "apps/pos/sync/flux/k/s",
        "fleet/a",
    )


@pytest.mark.parametrize("blocked", ["apps", "apps/pos", "apps/pos/overlays"])
@pytest.mark.parametrize("kind", ["write", "links"])
def test_a_file_or_link_in_the_way_of_what_we_made_gives_way(repository, objects, blocked, kind):
    ours = foreign_commit(repository, OURS)
    tip = foreign_commit(repository, remove=("apps",), **{kind: {blocked: "elsewhere"}})
    tree, restored = meet(objects, ours, tip)
    assert tree.read("apps/pos/overlays/k/x") == b"2"
    assert "apps/pos/overlays/k/x" in restored
    assert tree.read("apps/pos/base/b") is None, "that one was theirs to remove"


def test_a_file_where_we_made_nothing_stays(repository, objects):
    ours = foreign_commit(repository, {"fleet/a": "1", "apps/pos/base/b": "x"})
    tip = foreign_commit(repository, {"apps": "a file now"}, remove=("apps",))
    tree, restored = meet(objects, ours, tip)
    assert files(tree) == {"fleet/a": "1", "apps": "a file now"}
    assert restored == ()


def test_everything_may_have_gone(repository, objects):
    ours = foreign_commit(repository, OURS)
    tip = foreign_commit(repository, remove=tuple(OURS))
    tree, restored = meet(objects, ours, tip)
    assert files(tree) == {"fleet/a": "1", "apps/pos/overlays/k/x": "2"}
    assert restored == ("apps/pos/overlays/k/x", "fleet/a")


def test_a_changed_mode_of_an_owned_file_is_a_change(repository, objects):
    ours = foreign_commit(repository, {"fleet/a": "1"})
    tip = foreign_commit(repository, links={"fleet/a": "1"})
    tree, restored = meet(objects, ours, tip)
    assert restored == ("fleet/a",)
    assert tree.read("fleet/a") == b"1"


def test_only_others_changed_makes_no_directory_up(repository, objects):
    ours = foreign_commit(repository, OURS)
    tip = foreign_commit(repository, {"README": "new", "apps/pos/base/b": "new"})
    tree, restored = meet(objects, ours, tip)
    assert restored == ()
    assert tree.root == objects.commit(bytes.fromhex(tip)).tree
    assert tree.made == {}


def digest(objects: Objects, commit: str) -> str:
    found = objects.commit(bytes.fromhex(commit))
    assert found is not None
    return owned_digest(GitTree(objects, found.tree))


@pytest.mark.parametrize(
    "path", ["README", "apps/pos/base/b", "apps/pos/base/overlays", "apps/new/b", "apps/file"]
)
def test_what_stands_for_owned_paths_does_not_see_the_others(repository, objects, path):
    before = digest(objects, foreign_commit(repository, OURS))
    assert digest(objects, foreign_commit(repository, {path: "theirs"})) == before


@pytest.mark.parametrize(
    ("write", "remove"),
    [
        ({"fleet/a": "2"}, ()),
        ({"fleet/b": "2"}, ()),
        ({"ansible/x": "2"}, ()),
        ({"apps/new/sync/x": "2"}, ()),
        ({"apps/pos/overlays/k/x": "3"}, ()),
        ({}, ("fleet",)),
        ({}, ("apps",)),
        ({"fleet": "a file now"}, ("fleet",)),
    ],
)
def test_what_stands_for_owned_paths_is_another_when_any_differs(
    repository, objects, write, remove
):
    before = digest(objects, foreign_commit(repository, OURS))
    assert digest(objects, foreign_commit(repository, write, remove)) != before


def test_a_link_in_place_of_a_file_is_not_the_same(repository, objects):
    before = digest(objects, foreign_commit(repository, {"fleet": "x"}))
    assert digest(objects, foreign_commit(repository, links={"fleet": "x"})) != before


def test_nothing_owned_is_the_same_whatever_there_is(repository, objects):
    nothing = owned_digest(GitTree(objects, None))
    assert owned_digest(GitTree(objects, EMPTY)) == nothing
    assert digest(objects, foreign_commit(repository, {"README": "x", "apps": "x"})) == nothing
