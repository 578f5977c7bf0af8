r"""Where a value is: the keys that lead to it, written with dots between, as ``image.tag``.

A dot inside a key is written ``\.``, as Helm's ``--set`` writes it: ``app\.properties.level`` is
``level`` inside ``app.properties``. So every key that Kubernetes takes can be named, and a path has
one meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from graph.model.errors import Invalid
from graph.model.names import check_value_key, quoted

PATH_LENGTH_MAX = 1_000
"""Characters of a written path."""

_BETWEEN = re.compile(r"(?<!\\)\.")
_ESCAPED = re.compile(r"[\\.]")


def value_path(written: str) -> tuple[str, ...]:
    """The keys that a checked path names."""
    if "\\" not in written:
        return tuple(written.split("."))
    return tuple(part.replace("\\.", ".") for part in _BETWEEN.split(written))


def written_path(keys: Iterable[str]) -> str:
    """The inverse of ``value_path``; keys that no path can name are written all the same."""
    return ".".join(_ESCAPED.sub(r"\\\g<0>", key) for key in keys)


def check_value_path(written: str) -> str:
    """Return ``written`` if it names a value."""
    try:
        if len(written) > PATH_LENGTH_MAX or written != written_path(value_path(written)):
            raise Invalid("")
        for key in value_path(written):
            check_value_key(key)
    except Invalid:
        raise Invalid(
            f"{quoted(written)} is not the key of a value",
            hint="write keys of letters, digits, - and _ with dots between, as image.tag; a dot "
            r"inside a key is written \., as app\.properties.level",
        ) from None
    return written


def overlap(one: str, other: str) -> bool:
    """Whether two paths lead to the same value, or one to a value inside the other's."""
    first, second = value_path(one), value_path(other)
    length = min(len(first), len(second))
    return first[:length] == second[:length]
