from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from renderer.publish.git import GitPublisher
from repositories import IMPATIENT, is_sound, publish


def opened(path: Path, **limits: int) -> GitPublisher:
    return GitPublisher.open(
        str(path), now=lambda: 1_700_000_000, limits=replace(IMPATIENT, **limits)
    )


def counted(path: Path) -> tuple[int, int]:
    objects = path / "objects"
    return len(list(objects.glob("??/*"))), len(list(objects.glob("pack/*.pack")))


def test_loose_objects_are_packed_when_they_are_many(tmp_path):
    publisher = opened(tmp_path / "r.git", loose_max=50)
    assert not publisher.tidy()
    for number in range(20):
        publish(publisher, {f"clusters/{number:02x}/k": str(number)}, f"c{number}")
    assert counted(tmp_path / "r.git")[0] > 50
    assert publisher.tidy()
    assert counted(tmp_path / "r.git") == (0, 1)
    assert not publisher.tidy()
    publish(publisher, {"clusters/00/k": "new"}, "c20")
    head = publisher.head()
    assert head.tree.read("clusters/13/k") == b"19"
    assert is_sound(tmp_path / "r.git")
    publisher.close()


def test_packs_are_joined_when_they_are_many(tmp_path):
    publisher = opened(tmp_path / "r.git", packs_max=3)
    for number in range(5):
        files = {f"clusters/{n:02x}/k": f"{n} {number}" for n in range(120)}
        publish(publisher, files, f"c{number}")
    assert counted(tmp_path / "r.git")[1] == 5
    assert publisher.tidy()
    assert counted(tmp_path / "r.git")[1] <= 3
    assert publisher.head().tree.read("clusters/77/k") == b"119 4"
    assert is_sound(tmp_path / "r.git")
    publisher.close()


def test_litter_of_the_dead_is_removed_and_that_of_the_living_is_not(tmp_path):
    publisher = opened(tmp_path / "r.git")
    publish(publisher, {"fleet/a": "1"}, "c1")
    objects = tmp_path / "r.git" / "objects"
    (objects / "aa").mkdir(exist_ok=True)
    old = [objects / "aa" / "tmp_obj_trellis_x", objects / "pack" / "tmp_pack_trellis_x"]
    new = [objects / "aa" / "tmp_obj_trellis_y", objects / "pack" / "tmp_pack_trellis_y"]
    for path in old + new:
        path.touch()
    for path in old:
        os.utime(path, (time.time() - 100_000,) * 2)
    publisher.tidy()
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in new)
    publisher.close()
