"""Values in selector text: words and quoted text, read by the type of their key.

``2301`` is a number for a number key and text for a text key; quotes always mean text. Text has
one canonical spelling, bare where no reader could stumble over it.
"""

from __future__ import annotations

import re

from graph.model.errors import Invalid
from graph.model.inventory import LabelKey, LabelType, LabelValue
from graph.model.label import normalise
from graph.model.names import quoted
from graph.model.selector import Comparison
from graph.targeting.complaint import KEYWORDS

NUMBER_LENGTH_MAX = 64
"""Characters of a number; more digits than a double tells apart, by far."""

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_BARE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]*", re.ASCII)
_BARE_KEY = re.compile(rf"(?:[a-z0-9][a-z0-9.-]*/)?{_BARE.pattern}", re.ASCII)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


def read_value(token: str, key: LabelKey) -> LabelValue:
    """The value a word or quoted text stands for, as the key's type asks."""
    if key.type is LabelType.TEXT:
        return normalise(unquote(token) if token.startswith('"') else token)
    if token.startswith('"'):
        raise Invalid(
            f"label {quoted(key.name)} is a {key.type}, and {quoted(unquote(token))} is text",
            hint=f"write the {key.type} without quotes",
        )
    return _read_number(token, key) if key.type is LabelType.NUMBER else _read_boolean(token, key)


def unquote(token: str) -> str:
    """The text inside double quotes, with its escapes undone."""
    return _ESCAPE.sub(_unescaped, token[1:-1])


def show_text(value: str) -> str:
    """Text in its canonical spelling."""
    return value if _BARE.fullmatch(value) and value not in KEYWORDS else quote(value)


def show_key(key: str) -> str:
    """A label key in its canonical spelling: quoted where a keyword could be read in it."""
    prefix, _, name = key.rpartition("/")
    is_keyword = (prefix or name).lower() in KEYWORDS
    return key if _BARE_KEY.fullmatch(key) and not is_keyword else quote(key)


def quote(value: str) -> str:
    """Text in double quotes; the inverse of ``unquote``."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def show_value(value: LabelValue) -> str:
    """Any value in its canonical spelling."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return show_text(value) if isinstance(value, str) else repr(value)


def check_order(key: LabelKey, comparison: Comparison) -> None:
    """Refuse an ordering comparison of a key that is not a number."""
    if key.type is not LabelType.NUMBER and comparison not in (Comparison.EQ, Comparison.NE):
        raise Invalid(
            f"label {quoted(key.name)} is a {key.type} label, which {comparison} does not order",
            hint="< <= > >= compare numbers; use =, != or in (...)",
        )


def _read_number(token: str, key: LabelKey) -> LabelValue:
    found = _NUMBER.fullmatch(token)
    if found is None or len(token) > NUMBER_LENGTH_MAX:
        raise Invalid(
            f"label {quoted(key.name)} is a number, and {quoted(token)} is none",
            hint="write a number, as 3, -0.5 or 1e6",
        )
    whole = found.group(1) is None and found.group(2) is None
    return normalise(int(token) if whole else float(token))


def _read_boolean(token: str, key: LabelKey) -> bool:
    value = {"true": True, "false": False}.get(token)
    if value is None:
        raise Invalid(
            f"label {quoted(key.name)} is a boolean, and {quoted(token)} is none",
            hint="write true or false",
        )
    return value


def _unescaped(found: re.Match[str]) -> str:
    escaped = found.group(1)
    if escaped in ('"', "\\"):
        return escaped
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    raise Invalid(
        f"{quoted(found.group())} is no escape", hint='inside quotes write \\", \\\\ or \\u00e9'
    )
