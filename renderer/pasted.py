r"""Text out of a template, where what a value gave stays apart from what its author wrote.

Pasting ``prod"\nspec:`` into YAML would let a value write structure. So a value stands in the text
as a mark, the marked text is parsed, and the value takes the place of its mark in what was parsed:
it arrives as the text it is, in quotes or without, whatever it looks like. Maps and lists stand in
it the same way, so what differs between configurations is hardly ever parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import cast

import orjson

from graph.model.errors import Invalid
from graph.model.names import quoted

MARK = "\ue000"
"""Begins and ends a mark. A plain letter to YAML; nobody writes it, and whoever does may."""
_MAP = f"{MARK}m"
"""Begins the mark of a map or a list, which stands in a map of its own: no quotes go around it."""
_QUOTED = f"{MARK}q"
"""Begins the mark of quoted text, which stands in quotes of its own."""

_MARKED = re.compile(
    f'\\{{"{_MAP}([0-9]+){MARK}":0\\}}|"{_QUOTED}([0-9]+){MARK}"'
    f"|{_QUOTED}([0-9]+){MARK}|{MARK}([0-9]+){MARK}"
)


class Pasted(str):
    """What a value gave: text and never structure."""

    __slots__ = ()

    def __str__(self) -> str:
        return self


class Spelled(str):
    """A number, true, false or null, as JSON has it."""

    __slots__ = ()

    def __str__(self) -> str:
        return self


class Data(str):
    """A map, a list or quoted text, as JSON has it."""

    __slots__ = ()

    def __str__(self) -> str:
        return self


class Captured(str):
    """What a macro or a block gave: made of both, and still known apart."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return self


def capture(parts: Iterable[str]) -> Captured:
    """The parts as one text."""
    kept = tuple(parts)
    whole = Captured("".join(kept))
    whole.parts = kept
    return whole


def mark(parts: Iterable[str]) -> tuple[str, list[str]]:
    """The text with marks in it, and what they stand for."""
    texts: list[str] = []
    return "".join([_marked(part, texts) for part in parts]), texts


def unmark(marked: str, texts: Sequence[str]) -> Captured:
    """The opposite of ``mark``."""
    parts: list[str] = []
    end = 0
    for found in _MARKED.finditer(marked):
        kind = Pasted if found[4] else Data
        parts += (marked[end : found.start()], kind(_meant(found, texts)))
        end = found.end()
    return capture((*parts, marked[end:]))


def fill(value: object, texts: Sequence[str]) -> object:
    """What was parsed of a marked text, with every mark replaced, as JSON can say it."""
    if type(value) is str:
        return _filled(value, texts) if MARK in value else value
    if type(value) is dict:
        return _filled_map(cast("dict[object, object]", value), texts)
    if type(value) is list:
        return [fill(item, texts) for item in cast("list[object]", value)]
    if type(value) is float and not isfinite(value):
        raise Invalid("a number is too large to be kept", hint="quote it if it is text")
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise Invalid(f"the number {value} is beyond 64 bits", hint="quote it if it is text")
    return value


def _marked(part: str, texts: list[str]) -> str:
    if type(part) is str:
        return part if MARK not in part else part.replace(MARK, _marked(Pasted(MARK), texts))
    if isinstance(part, Spelled):
        return part
    if isinstance(part, Captured):
        return "".join([_marked(inner, texts) for inner in part.parts])
    texts.append(part)
    number = len(texts) - 1
    if isinstance(part, Data):
        quoted_text = f'"{_QUOTED}{number}{MARK}"'
        return quoted_text if part.startswith('"') else f'{{"{_MAP}{number}{MARK}":0}}'
    return f"{MARK}{number}{MARK}"


def _meant(found: re.Match[str], texts: Sequence[str]) -> str:
    """What a mark stands for where it stands: where its quotes are gone, so are the value's."""
    text = texts[int(found[found.lastindex or 0])]
    return cast("str", orjson.loads(text.encode())) if found[3] else text


def _filled(text: str, texts: Sequence[str]) -> str:
    return _MARKED.sub(lambda found: _meant(found, texts), text)


def _filled_map(value: dict[object, object], texts: Sequence[str]) -> object:
    if len(value) == 1:
        (key,) = value
        if isinstance(key, str) and key.startswith(_MAP):
            return orjson.loads(texts[int(key[len(_MAP) : -1])].encode())
    filled: dict[str, object] = {}
    for key, item in value.items():
        if type(key) is str:
            name = _filled(key, texts) if MARK in key else key
        elif type(key) is int:
            name = str(key)
        else:
            raise Invalid(f"a key is {key!r} and not text", hint="quote the key")
        if name in filled:
            raise Invalid(f"the key {quoted(name)} is given twice", hint="keep one of the two")
        filled[name] = fill(item, texts)
    return filled
