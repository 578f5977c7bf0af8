"""Late-bound values brought into their patches, for millions of lines.

The patches of an application differ from cluster to cluster in nothing but the values. So they are
made once, with a mark in place of each value, and after that only the values are written: as JSON,
inside the text of as many JSON documents as the mark was found in. What comes out is what
``Format.patches`` gives for the values themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.model.values import Value
from graph.model.workload import Application
from renderer.flow import flow
from renderer.formats.port import Format

_MARK = "9c1d5e7fTrellisLateBound{:04d}e7f5d1c9"
_MARKED = re.compile(r'(\\*)"9c1d5e7fTrellisLateBound([0-9]{4})e7f5d1c9\1"')
_QUOTES = tuple("\\" * (2**documents - 1) + '"' for documents in range(8))
"""A quote as it stands inside so many documents."""
Piece = str | tuple[str, int]
"""Text, or the key of a value and how many documents it is inside of."""


class Binder:
    """Writes the patches of one application for one reconciler."""

    def __init__(self, words: Format, application: Application) -> None:
        self._words, self._application = words, application
        self._made: dict[tuple[str, ...], tuple[tuple[Piece, ...], ...]] = {}

    def patches(self, late: Mapping[str, Value]) -> tuple[str, ...]:
        """Entries of a pointer's ``patches``, as they stand in the file."""
        keys = tuple(late)
        made = self._made.get(keys)
        if made is None:
            made = self._made[keys] = self._compiled(keys)
        return tuple(_filled(pieces, late) for pieces in made)

    def _compiled(self, keys: tuple[str, ...]) -> tuple[tuple[Piece, ...], ...]:
        marks: dict[str, Value] = {key: _MARK.format(at) for at, key in enumerate(keys)}
        entries = self._words.patches(self._application, marks)
        return tuple(_pieces(flow(each), keys) for each in entries)


def _pieces(text: str, keys: tuple[str, ...]) -> tuple[Piece, ...]:
    found: list[Piece] = []
    at = 0
    for mark in _MARKED.finditer(text):
        found.append(text[at : mark.start()])
        # a quote inside n documents has 2^n - 1 backslashes before it
        found.append((keys[int(mark[2])], (len(mark[1]) + 1).bit_length() - 1))
        at = mark.end()
    return (*found, text[at:])


def _filled(pieces: tuple[Piece, ...], late: Mapping[str, Value]) -> str:
    return "".join(
        piece if isinstance(piece, str) else _inside(late[piece[0]], piece[1]) for piece in pieces
    )


def _inside(value: Value, documents: int) -> str:
    if isinstance(value, str) and _is_plain(value):
        quote = _QUOTES[documents]
        return f"{quote}{value}{quote}"
    text = flow(value)
    for _ in range(documents):
        text = flow(text)[1:-1]
    return text


def _is_plain(text: str) -> bool:
    """Whether a text stands in JSON as it is, however deep."""
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text
