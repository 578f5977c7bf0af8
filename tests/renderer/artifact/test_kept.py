"""What is remembered, and what is let go of."""

from __future__ import annotations

from renderer.artifact.kept import ENTRY_BYTES, Kept

ROOM = 3 * (ENTRY_BYTES + 100)


def test_what_nobody_asked_for_the_longest_goes():
    kept = Kept[str, bytes](ROOM, len)
    for name in "abc":
        kept.put(name, bytes(100))
    assert kept.get("a") is not None
    kept.put("d", bytes(100))
    assert [name for name in "abcd" if kept.get(name) is not None] == ["a", "c", "d"]
    assert kept.bytes == ROOM


def test_a_value_put_again_counts_once():
    kept = Kept[str, bytes](ROOM, len)
    for size in (100, 50, 100):
        kept.put("a", bytes(size))
    assert (len(kept), kept.bytes) == (1, ENTRY_BYTES + 100)


def test_what_is_larger_than_the_room_is_kept_alone():
    kept = Kept[str, bytes](ROOM, len)
    kept.put("a", bytes(100))
    kept.put("b", bytes(10 * ROOM))
    assert (len(kept), kept.get("a")) == (1, None)
