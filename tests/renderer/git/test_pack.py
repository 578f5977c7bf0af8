from __future__ import annotations

import os
import struct

import pytest

from renderer.git.objects import object_id
from renderer.git.pack import PackWriter, _index
from repositories import bare, git


def test_git_finds_and_verifies_what_is_in_a_pack(tmp_path):
    repository = bare(tmp_path / "r")
    pack = PackWriter(repository / "objects" / "pack")
    contents = [b"", b"x", os.urandom(15), b"y" * 16, b"z" * 2_047, os.urandom(70_000)]
    for content in contents:
        pack.put(b"blob", object_id(b"blob", content), content)
    pack.finish()
    (index,) = (repository / "objects" / "pack").glob("*.idx")
    git(repository, "verify-pack", str(index))
    for content in contents:
        name = object_id(b"blob", content).hex()
        assert git(repository, "cat-file", "-s", name) == str(len(content))
    assert sorted(path.suffix for path in index.parent.iterdir()) == [".idx", ".pack"]


def test_the_same_objects_make_the_same_pack(tmp_path):
    repository = bare(tmp_path / "r")
    for _ in range(2):
        pack = PackWriter(repository / "objects" / "pack")
        pack.put(b"blob", object_id(b"blob", b"same"), b"same")
        pack.finish()
    assert len(list((repository / "objects" / "pack").iterdir())) == 2


def test_a_pack_that_is_dropped_leaves_nothing(tmp_path):
    pack = PackWriter(tmp_path / "pack")
    pack.put(b"blob", object_id(b"blob", b"x"), b"x")
    pack.drop()
    assert list((tmp_path / "pack").iterdir()) == []


@pytest.mark.parametrize("offset", [12, 0x7FFFFFFF, 0x80000000, 0x1_2345_6789])
def test_an_index_reaches_objects_however_far_back_they_are(tmp_path, offset):
    rows = sorted(
        os.urandom(20) + struct.pack(">IQ", number, offset + number) for number in range(3)
    )
    shown = git(bare(tmp_path / "r"), "show-index", said=_index(rows, b"c" * 20))
    found = sorted(int(line.split()[0]) for line in shown.splitlines())
    assert found == [offset, offset + 1, offset + 2]
