"""What a child says, taken for nothing but what was asked: anything else is no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import orjson

from graph.model.errors import Invalid
from graph.model.names import shortened
from renderer.failure import Failure
from renderer.rules import Rules, objects

Objects = Mapping[str, list[dict[str, object]]]
"""Objects by the file that gave them."""
Texts = Mapping[str, str]
"""Text by the file that gave it."""

_MESSAGE_LENGTH_MAX = 400


class Unreadable(Exception):
    """What was said is no answer to that job."""


def read(
    body: bytes, number: int, files: Mapping[str, str], rules: Rules | None
) -> Objects | Texts | Failure:
    """The answer to job ``number``: objects where there are rules for them, else text."""
    try:
        answer = _map(orjson.loads(body))
        if answer.get("job") != number:
            raise Unreadable
        if "failure" in answer:
            return _failure(_map(answer["failure"]), files)
        if rules is None:
            return {_one_of(files, file): _text(text) for file, text in _items(answer, "texts")}
        return {
            _one_of(files, file): [found for each in _list(given) for found in objects(each, rules)]
            for file, given in _items(answer, "objects")
        }
    except (orjson.JSONDecodeError, Invalid):
        raise Unreadable from None


def _items(answer: Mapping[str, object], name: str) -> list[tuple[str, object]]:
    return list(_map(answer.get(name)).items())


def _failure(told: Mapping[str, object], files: Mapping[str, str]) -> Failure:
    line = told.get("line")
    if not isinstance(line, int):
        raise Unreadable
    message, hint = (_said(told.get(name)) for name in ("message", "hint"))
    return Failure(message, hint, _one_of({**files, "": ""}, _text(told.get("file"))), line)


def _said(value: object) -> str:
    """What people read: one line, and not too long."""
    text = " ".join(_text(value).split())
    return shortened("".join(each for each in text if each.isprintable()), _MESSAGE_LENGTH_MAX)


def _one_of(files: Mapping[str, str], file: str) -> str:
    if file not in files:
        raise Unreadable
    return file


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Unreadable
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise Unreadable
    return cast("list[object]", value)


def _map(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise Unreadable
    return cast("dict[str, object]", value)
