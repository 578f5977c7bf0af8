"""What a commit says: why its changes are there, who made them, and what was written.

The log of what is published reads like the log of the fleet. Reasons are people's own words, so
they are brought to one line of printable text here; nothing in them can pass for a trailer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from graph.model.publication import HeldBack
from renderer.message import Reason

SUBJECT_LENGTH_MAX = 72
LINE_LENGTH_MAX = 200
HELD_MAX = 20
"""Lines about what is held."""
RESTORED_MAX = 20
RETRIED = "Render what could not be rendered before, or depends on what others pushed"
UNDONE = "Undo others' edits of what is rendered"
"""Subjects of commits that no change of the fleet is behind."""

_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_UNPRINTABLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def subject_of(reasons: Sequence[Reason], revision: int) -> str:
    """The first line, of changes: the reason there is, or how many and the first of them."""
    said = [text for each in reasons if (text := one_line(each.reason))]
    if not said:
        return f"Render revision {revision:,}"
    if len(reasons) == 1:
        return cut(said[0], SUBJECT_LENGTH_MAX)
    each_once = "; ".join(dict.fromkeys(said))
    return cut(f"{len(reasons):,} changes: {each_once}", SUBJECT_LENGTH_MAX)


def body_of(
    reasons: Sequence[Reason],
    changes: Mapping[str, bool],
    held: Sequence[HeldBack],
    restored: Sequence[str] = (),
) -> str:
    """The rest: a line for each revision, what was written, and what is held back."""
    parts = (
        _reasons(reasons),
        _written(changes),
        _held(held),
        _restored(restored),
    )
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part)))


def one_line(text: str) -> str:
    """Text without anything that begins another line or hides in one."""
    return _UNPRINTABLE.sub("", _SPACE.sub(" ", text)).strip()


def cut(text: str, length_max: int) -> str:
    """As much of ``text`` as there is room for."""
    return text if len(text) <= length_max else f"{text[: length_max - 1].rstrip()}…"


def kind_of(path: str) -> str:
    """What a file is, for whoever counts them."""
    parts = path.split("/")
    if parts[0] == "apps" and len(parts) > 2:
        return parts[2]
    return parts[0].removeprefix(".")


def _reasons(reasons: Iterable[Reason]) -> Iterator[str]:
    for each in reasons:
        said = one_line(each.reason) or "no reason given"
        line = f"{each.revision} {one_line(each.actor)}: {said}"
        yield cut(line, LINE_LENGTH_MAX)


def _written(changes: Mapping[str, bool]) -> Iterator[str]:
    counts: dict[str, list[int]] = {}
    for path, is_written in changes.items():
        counts.setdefault(kind_of(path), [0, 0])[0 if is_written else 1] += 1
    for kind, (written, removed) in sorted(counts.items()):
        parts = [f"{written:,} written"] if written else []
        parts += [f"{removed:,} removed"] if removed else []
        yield f"{kind}: {', '.join(parts)}"


def _held(held: Sequence[HeldBack]) -> Iterator[str]:
    for each in held[:HELD_MAX]:
        name = each.application or "the fleet's settings"
        line = f"held: {name} ({each.reason}): {one_line(each.message)}"
        yield cut(line, LINE_LENGTH_MAX)
    if len(held) > HELD_MAX:
        yield f"held: {len(held) - HELD_MAX:,} more"


def _restored(restored: Sequence[str]) -> Iterator[str]:
    for path in restored[:RESTORED_MAX]:
        yield cut(f"restored: {one_line(path)}", LINE_LENGTH_MAX)
    if len(restored) > RESTORED_MAX:
        yield f"restored: {len(restored) - RESTORED_MAX:,} more"
