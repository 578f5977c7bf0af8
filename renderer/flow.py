"""Generated files: data written one way, as JSON that every reader of YAML takes for the same.

A generated document is block YAML at its first level and JSON below, one line for each item of a
list, so that a change is a line of a diff and a file is read back without parsing YAML. Text is
always quoted: no reader can take ``no`` or ``00042`` for anything but text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

import orjson

from graph.model.values import Value

_REFUSED_BY_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""JSON carries these as they are; YAML refuses them, or takes them for the end of a line."""

NO_TEXT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
"""Words that some reader of YAML takes for something else unless they are quoted."""


def flow(value: object) -> str:
    """``value`` on one line, keys in their order; equal values of equal order give equal text."""
    text = orjson.dumps(value).decode()
    if text.isascii() and "\x7f" not in text:
        return text
    return _REFUSED_BY_YAML.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def ordered(values: Mapping[str, Value]) -> dict[str, Value]:
    """``values`` with every map in order of its keys: equal ones are written alike."""
    found: dict[str, Value] = orjson.loads(orjson.dumps(values, option=orjson.OPT_SORT_KEYS))
    return found


def document(fields: Mapping[str, object]) -> bytes:
    """A file of ``fields``: each on a line of its own, and each item of a list."""
    return "".join(_field(name, value) for name, value in fields.items()).encode()


def _field(name: str, value: object) -> str:
    if isinstance(value, str) and value.isidentifier() and value.lower() not in NO_TEXT:
        return f"{name}: {value}\n"
    items = _items(value)
    return (
        "\n- ".join((f"{name}:", *map(flow, items))) + "\n" if items else f"{name}: {flow(value)}\n"
    )


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
