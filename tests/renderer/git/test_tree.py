from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from renderer.git.process import Git
from renderer.git.reading import Objects
from renderer.git.tree import GitTree
from repositories import bare, foreign_commit, git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return bare(tmp_path / "r.git")


@pytest.fixture
def objects(repository: Path) -> Iterator[Objects]:
    found = Objects(Git(repository))
    yield found
    found.close()


def test_links_and_submodules_read_as_absent(repository, objects):
    made = foreign_commit(
        repository,
        {"d/file": "x", "secret": "s"},
        links={"d/link": "../secret", "elsewhere": "/etc"},
        modules=("d/module",),
    )
    tree = GitTree(objects, objects.commit(bytes.fromhex(made)).tree)
    assert tree.names("d") == ("file",)
    assert tree.names("") == ("d", "secret")
    absent = ["d/link", "elsewhere", "elsewhere/passwd", "d/module", "d/module/x"]
    assert tree.read_many([*absent, "d/file"]) == {"d/file": b"x"}
    assert {tree.identity(path) for path in absent} == {None}


def test_identities_are_those_of_git(repository, objects):
    made = foreign_commit(repository, {"a/b/c": "1", "a/d": "2"})
    tree = GitTree(objects, objects.commit(bytes.fromhex(made)).tree)
    for path in ("a", "a/b", "a/b/c", "a/d"):
        assert tree.identity(path) == git(repository, "rev-parse", f"main:{path}")
    assert tree.identity("") == git(repository, "rev-parse", "main^{tree}")


def test_a_program_is_a_file_as_well(repository, objects):
    blob = git(repository, "hash-object", "-w", "--stdin", said=b"#!/bin/sh")
    root = git(repository, "mktree", said=f"100755 blob {blob}\trun".encode())
    assert GitTree(objects, bytes.fromhex(root)).read("run") == b"#!/bin/sh"


def test_a_name_that_is_no_text_harms_nobody(repository, objects):
    blob = git(repository, "hash-object", "-w", "--stdin", said=b"x")
    rows = b"100644 blob %b\t\xff\xfe\x00100644 blob %b\tok\0" % (blob.encode(), blob.encode())
    root = git(repository, "mktree", "-z", said=rows)
    tree = GitTree(objects, bytes.fromhex(root))
    assert len(tree.names("")) == 2
    assert tree.read("ok") == b"x"
