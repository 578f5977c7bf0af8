"""What a commit says: text from outside, and three trailers that no text can forge.

The cursor is in the last three lines of a commit and nowhere else. Whatever a subject or a body
holds, line breaks, control characters, halves of characters or lines that look like trailers, it
ends up above them, in another paragraph, and a line that could be taken for ours is quoted.
"""

from __future__ import annotations

import re

from graph.model.errors import Invalid
from renderer.tree import Told

SUBJECT_LENGTH_MAX = 200
BODY_LENGTH_MAX = 64 * 1024
VALUE_LENGTH_MAX = 1_000

_UNPRINTABLE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_SPACE = re.compile(r"\s+")
_TAKEN_FOR_OURS = re.compile(r"^(?=\s*(?:Trellis-|---))", re.MULTILINE | re.IGNORECASE)
_BLANKS = re.compile(r"\n{3,}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_TRAILERS = re.compile(
    rb"\n\nTrellis-Revision: ([\x21-\x7e][\x20-\x7e]*)"
    rb"\nTrellis-Renderer: ([\x21-\x7e][\x20-\x7e]*)"
    rb"\nTrellis-Owned: ([0-9a-f]{64})\n*\Z"
)


def message(told: Told, owned: str) -> bytes:
    """The message of a commit; ``owned`` stands for its owned paths."""
    paragraphs = [_subject(told.subject)]
    if body := _body(told.body):
        paragraphs.append(body)
    paragraphs.append(
        f"Trellis-Revision: {_value(told.cursor, 'cursor')}\n"
        f"Trellis-Renderer: {_value(told.stamp, 'stamp')}\n"
        f"Trellis-Owned: {owned}\n"
    )
    return "\n\n".join(paragraphs).encode()


def trailers(text: bytes) -> tuple[str, str, str] | None:
    """Cursor, stamp and what stands for owned paths, if the message may be one of ours."""
    found = _TRAILERS.search(text)
    return (found[1].decode(), found[2].decode(), found[3].decode()) if found else None


def _subject(text: str) -> str:
    line = _SPACE.sub(" ", _UNPRINTABLE.sub(" ", text)).strip()
    if len(line) > SUBJECT_LENGTH_MAX:
        line = f"{line[: SUBJECT_LENGTH_MAX - 1].rstrip()}…"
    return _TAKEN_FOR_OURS.sub("> ", line) or "Render"


def _body(text: str) -> str:
    if len(text) > BODY_LENGTH_MAX:
        text = f"{text[:BODY_LENGTH_MAX]}\n…"
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _UNPRINTABLE.sub("\ufffd", text.replace("\t", "    "))
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return _TAKEN_FOR_OURS.sub("> ", _BLANKS.sub("\n\n", text).strip())


def _value(text: str, noun: str) -> str:
    if len(text) > VALUE_LENGTH_MAX or not _VALUE.fullmatch(text):
        raise Invalid(
            f"the {noun} cannot be told in a commit",
            hint=f"a {noun} is one line of at most {VALUE_LENGTH_MAX:,} printable characters",
        )
    return text
