"""One job of the child: the files of a definition, rendered with values.

Text comes back as it is. Objects are read from the text and come back as data; what many
configurations have in common, everything but the text of their values, is parsed once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from graph.model.errors import Invalid
from renderer import canonical
from renderer.failure import Failure, Unrenderable
from renderer.limits import Limits
from renderer.pasted import fill, mark
from renderer.rules import Rules, objects
from renderer.templates import Definition, Parts

Values = Mapping[str, object]

_REMEMBERED_LENGTH_MAX = 32_768
_AT_LINE = re.compile(r"\(line ([0-9,]+), column [0-9,]+\)")


def shown(files: Iterable[str]) -> list[str]:
    """The files that give something; those that begin with ``_`` are for the others to use."""
    return sorted(file for file in files if not file.startswith("_"))


def texts(
    definition: Definition, files: Iterable[str], values: Values, limits: Limits
) -> dict[str, str]:
    """What each file gives, as text."""
    rendered = _rendered(definition, files, values, limits)
    return {file: "".join(parts) for file, parts in rendered}


def documents(
    definition: Definition, files: Iterable[str], values: Values, limits: Limits, rules: Rules
) -> dict[str, list[dict[str, object]]]:
    """The objects each file gives."""
    return {
        file: _objects(definition, file, parts, values, rules)
        for file, parts in _rendered(definition, files, values, limits)
    }


def _rendered(
    definition: Definition, files: Iterable[str], values: Values, limits: Limits
) -> Iterator[tuple[str, Parts]]:
    left = limits.overlay_length_max
    for file in shown(files):
        parts = definition.render(file, values, left)
        left -= sum(map(len, parts))
        yield file, parts


def _objects(
    definition: Definition, file: str, parts: Parts, values: Values, rules: Rules
) -> list[dict[str, object]]:
    marked, pasted = mark(parts)
    number = -1
    found: list[dict[str, object]] = []
    try:
        for number, document in enumerate(_parsed(marked)):  # noqa: B007  # used where it fails
            found.extend(objects(fill(document, pasted), rules))
    except Invalid as error:
        place = _AT_LINE.search(error.message)
        at = int(place[1].replace(",", "")) if place else canonical.line_of_document(marked, number)
        at = min(at, marked.rstrip().count("\n") + 1)  # an end that comes too early is behind it
        message = _AT_LINE.sub(f"(line {at:,} of the output)", error.message)
        line = definition.line_of(file, values, at)
        raise Unrenderable(Failure(message, error.hint, file, line)) from None
    return found


def _parsed(marked: str) -> tuple[object, ...]:
    if len(marked) > _REMEMBERED_LENGTH_MAX:
        return tuple(canonical.read_all(marked))
    return _remembered(marked)


@lru_cache(maxsize=64)
def _remembered(marked: str) -> tuple[object, ...]:
    return tuple(canonical.read_all(marked))
