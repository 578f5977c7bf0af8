"""Text still being written: the word at a position, and what may stand there.

Only what lies left of the position decides. Text that is broken further left is taken up again
behind the break, so that a slip at the beginning does not silence the rest. Work is bounded: of
long text only the last stretch is looked at, and taking up again has an end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from graph.model.errors import Invalid
from graph.model.selector import Comparison
from graph.targeting.complaint import KEY_PREFIX, KEYWORDS
from graph.targeting.grammar import Opening, read_opening
from graph.targeting.value import unquote

LOOKED_MAX = 4_096
"""Characters left of the position that are read."""

RESTARTS_MAX = 16
"""Breaks behind which the text is taken up again."""

_PIECE = re.compile(
    rf"""(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<quoted>"(?:[^"\\]|\\.)*\\?\Z)
    |(?P<path>/[^\s()",=<>!@&|']*)
    |(?P<word>{KEY_PREFIX}[\w.:+-]*|[\w.:+-]+)
    |(?P<sign>[!<>=]+)
    |\S""",
    re.DOTALL | re.VERBOSE,
)
_REST = {
    "path": re.compile(r"""[^\s()",=<>!@&|'/]*"""),
    "sign": re.compile(r"=?"),
    "": re.compile(r"[\w.:+-]*"),
}
"""What right of the position belongs to the word at it."""

_FURTHER = re.compile(r"/[\w.:+-]*")
_WHOLE_SIGNS = frozenset({"=", "!=", "<=", ">="})
"""Comparisons that no further character would change."""


class Written(StrEnum):
    """What the word at the position begins as."""

    NOTHING = ""
    WORD = "word"
    PATH = "path"
    QUOTED = "quoted"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a text: the word there, and what may stand in its stead."""

    written: Written
    word: str
    """What there is of the word left of the position."""
    start: int
    stop: int
    """The characters of the word, right of the position too."""
    opening: Opening

    def accepts(self, *terminals: str) -> bool:
        """Whether one of ``terminals`` may stand here."""
        return not self.opening.accepts.isdisjoint(terminals)

    @property
    def last(self) -> str:
        """The terminal right before the word; empty at the beginning."""
        return self.opening.tokens[-1].type if self.opening.tokens else ""

    @property
    def said(self) -> str:
        """The word without the quotes it may have."""
        if self.written is not Written.QUOTED:
            return self.word
        try:
            return unquote(f'{self.word}"')
        except Invalid:
            return self.word[1:]

    @property
    def key(self) -> str:
        """The label key right before the word."""
        return _key(str(self.opening.tokens[-1])) if self.opening.tokens else ""

    def compared(self) -> tuple[str, Comparison | None]:
        """Where a value may stand: the label key it is for, and how; None inside ``in (...)``."""
        tokens = self.opening.tokens
        for place in range(len(tokens) - 1, 0, -1):
            if tokens[place].type in ("COMPARISON", "_IN"):
                is_list = tokens[place].type == "_IN"
                sign = None if is_list else Comparison(str(tokens[place]))
                return _key(str(tokens[place - 1])), sign
        return "", None


def place_at(text: str, position: int) -> Place:
    """The place in ``text`` before its character at ``position``, counted from 0."""
    position = min(max(position, 0), len(text))
    left = text[:position]
    written, start, begin = _word(left)
    return Place(
        written,
        left[start:],
        start,
        _stop(text, written, start, position),
        _opening(left[begin:start]),
    )


def _word(left: str) -> tuple[Written, int, int]:
    """How the last word of ``left`` is written, where it starts, and where reading begins."""
    begin, start, written = 0, len(left), Written.NOTHING
    for found in _PIECE.finditer(left):
        if found.start() < len(left) - LOOKED_MAX:
            begin = found.end()
        if found.end() == len(left) and _unfinished(found):
            written, start = Written(found.lastgroup or ""), found.start()
    return written, start, min(begin, start)


def _unfinished(piece: re.Match[str]) -> bool:
    return piece.lastgroup in set(Written) and piece.group() not in _WHOLE_SIGNS


def _stop(text: str, written: Written, start: int, position: int) -> int:
    if written is Written.QUOTED:
        return _closed(text, start) or position
    rest = _REST.get(written, _REST[""]).match(text, position)
    stop = rest.end() if rest else position
    whole = text[start:stop]
    if written is Written.WORD and "/" not in whole and whole not in KEYWORDS:
        further = _FURTHER.match(text, stop)  # the word is the prefix of a label key
        stop = further.end() if further else stop
    return stop


def _closed(text: str, start: int) -> int | None:
    """Where the quoted text ends, if a quote behind closes this one and opens no other."""
    found = _PIECE.match(text, start)
    if found is None or found.lastgroup != "string":
        return None
    later = (each.lastgroup for each in _PIECE.finditer(text, found.end()))
    return None if "quoted" in later else found.end()


def _opening(text: str) -> Opening:
    for _ in range(RESTARTS_MAX):
        found = read_opening(text)
        if isinstance(found, Opening):
            return found
        broken = _PIECE.match(text, found)
        stop = broken.end() if broken else found + 1
        doubled = broken is not None and broken.lastgroup == Written.SIGN
        text = text[: found if doubled else 0] + text[stop:]
    fresh = read_opening("")
    assert isinstance(fresh, Opening), "nothing is the beginning of any selector"
    return fresh


def _key(token: str) -> str:
    """The label key a token names."""
    try:
        return unquote(token) if token.startswith('"') else token
    except Invalid:
        return ""
