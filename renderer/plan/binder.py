"""Late-bound values brought into their patches, for millions of lines.

The patches of an application differ from cluster to cluster in nothing but the values. So they are
made once, with a mark in place of each value, and after that only the values are written. A mark
holds a quote, and so shows how one is written in the place where it stands: that is all that the
texts around a value do to it. What comes out is what ``Format.patches`` gives for the values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from graph.model.errors import Invalid
from graph.model.names import quoted
from graph.model.values import Value
from graph.model.workload import Application
from renderer.flow import flow
from renderer.formats.port import Format
from renderer.formats.terse import terse
from renderer.plan.pointer import Line

_KEY = re.compile(r"(?:[A-Za-z0-9_.-]|\\\.)+", re.ASCII)
_MARK = "9c1d5e7f'TrellisLateBound{:04d}e7f5d1c9"
_MARKED = re.compile('"9c1d5e7f(\'+)TrellisLateBound([0-9]{4})e7f5d1c9"')


class _Entry(NamedTuple):
    """One of a pointer's ``patches``, without the values."""

    pieces: tuple[str, ...]
    """Text, with an empty piece for each value."""
    places: tuple[tuple[int, str, str], ...]
    """Which piece each value is, its key, and how a quote is written there."""


class _Made(NamedTuple):
    entries: tuple[_Entry, ...]
    filled: str
    """The keys of the values in the patches, one after the other."""
    bare: tuple[str, ...]
    """Keys that fill no field."""


class Binder:
    """Writes the lines of one application for one reconciler."""

    def __init__(self, words: Format, application: Application) -> None:
        self._words, self._application = words, application
        self._made: dict[tuple[str, ...], _Made] = {}

    def line(self, directory: str, late: Mapping[str, Value]) -> Line:
        """The line that leads to ``directory``, with these values."""
        keys = tuple(late)
        made = self._made.get(keys)
        if made is None:
            made = self._made[keys] = self._compiled(keys)
        entries, filled, bare = made
        if bare:
            rest = flow({key: late[key] for key in bare})
            filled = f"{filled} {rest}" if filled else rest
        return Line(directory, filled, tuple([_bound(each, late) for each in entries]))

    def _compiled(self, keys: tuple[str, ...]) -> _Made:
        marks: dict[str, Value] = {key: _MARK.format(at) for at, key in enumerate(keys)}
        patches = self._words.patches(self._application, marks)
        texts = [terse(each) for each in patches]
        self._check(keys, texts)
        entries = tuple(_entry(each, keys) for each in texts)
        filled = [key for entry in entries for _, key, _ in entry.places]
        bare = tuple(key for key in keys if key not in filled)
        return _Made(entries, " ".join(filled), bare)

    def _check(self, keys: tuple[str, ...], texts: list[str]) -> None:
        """Nothing of them may begin a line of its own, whoever checked them before."""
        whose = f"application {quoted(self._application.name)}"
        for key in keys:
            if not _KEY.fullmatch(key):
                raise Invalid(
                    f"late-bound key {quoted(key)} of {whose} cannot be written in a pointer",
                    hint="use letters, digits, dashes and underscores with dots between; a dot"
                    r" inside a key is written \.",
                )
        for text in texts:
            if not text.isprintable():
                raise Invalid(
                    f"what late-bound values of {whose} fill does not stand on a line",
                    hint="name the objects in the definition's fields by what they are called",
                )


def _entry(text: str, keys: tuple[str, ...]) -> _Entry:
    pieces: list[str] = []
    places: list[tuple[int, str, str]] = []
    at = 0
    for mark in _MARKED.finditer(text):
        pieces += (text[at : mark.start()], "")
        places.append((len(pieces) - 1, keys[int(mark[2])], mark[1]))
        at = mark.end()
    return _Entry((*pieces, text[at:]), tuple(places))


def _bound(entry: _Entry, late: Mapping[str, Value]) -> str:
    pieces, places = list(entry[0]), entry[1]
    for at, key, quote in places:
        pieces[at] = flow(late[key]).replace("'", quote)
    return "".join(pieces)
