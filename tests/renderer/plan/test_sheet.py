"""A sheet shows files as they will be."""

from __future__ import annotations

from random import Random

from memory_publisher import MemoryPublisher, MemoryTree
from renderer.plan.sheet import Sheet
from renderer.tree import Told

PATHS = ["fleet/a/x", "fleet/a/y", "fleet/b/x", "fleet/c", "clusters/0/s/k", "clusters/0/t/k"]
PLACES = [*PATHS, "fleet", "fleet/a", "fleet/b", "clusters", "clusters/0", "clusters/0/s"]


def test_what_is_read_is_what_will_be_committed() -> None:
    for seed in range(300):
        rng = Random(seed)
        publisher = MemoryPublisher()
        publisher.edit({path: b"old" for path in rng.sample(PATHS, rng.randrange(len(PATHS)))})
        head = publisher.head()
        draft = publisher.begin(head)
        sheet = Sheet(head.tree, draft)
        for step in range(12):
            act(rng, sheet, step)
            there = MemoryTree(draft.files)
            for path in PATHS:
                assert sheet.read(path) == there.read(path), (seed, step, path)
            assert sheet.read_many(PATHS) == there.read_many(PATHS)
            for place in PLACES:
                if place not in PATHS:
                    assert tuple(sheet.names(place)) == there.names(place), (seed, step, place)
        draft.commit(Told("why", "", "1.0", "stamp"))


def act(rng: Random, sheet: Sheet, step: int) -> None:
    match rng.randrange(3):
        case 0:
            sheet.write(rng.choice(PATHS), b"%d" % step, "why")
        case 1:
            sheet.remove(rng.choice(PLACES), "why")
        case _:
            names = rng.sample(["x", "y", "z"], rng.randrange(3))
            sheet.replace("fleet/a", dict.fromkeys(names, b"%d" % step), "why")


def test_why_is_told_of_what_really_goes() -> None:
    publisher = MemoryPublisher()
    publisher.edit({"fleet/a/x": b"old"})
    head = publisher.head()
    sheet = Sheet(head.tree, publisher.begin(head))
    sheet.remove("fleet/a", "nobody needs it")
    sheet.remove("fleet/b", "nobody needs it")
    assert sheet.why == {"fleet/a": "nobody needs it"}
