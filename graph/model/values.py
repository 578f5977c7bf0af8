"""Values of a configuration: JSON, kept as canonical text.

Text and not objects decides what is equal: ``true`` is not ``1`` and ``1`` is not ``1.0``, which
Python would have equal. Equal values have equal text in every process, so a digest of it names
them, and a frozen object that holds them is frozen all the way down.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from graph.model.errors import Invalid

Value = str | int | float | bool | list["Value"] | dict[str, "Value"] | None
"""Anything JSON can say. Treated as frozen once it is part of ``Values``."""

VALUES_LENGTH_MAX = 65_536
"""Characters of the canonical text of one object's values."""
_UNCARRIED = re.compile("[\x7f-\x9f\ufffe\uffff]")
"""Characters that kustomize does not carry: it takes U+0085 for a space and refuses the others."""
VALUES_DEPTH_MAX = 16
"""Levels of maps and lists."""


@dataclass(frozen=True, slots=True)
class Values:
    """A map of values by key. Make it with ``Values.of`` or ``Values.read``."""

    text: str = "{}"
    """Canonical JSON: sorted keys, no spaces."""
    data: Mapping[str, Value] = field(default_factory=dict[str, Value], compare=False, repr=False)
    """The same as objects; to be read, never changed."""

    @staticmethod
    def of(data: Mapping[str, object], noun: str = "the values") -> Values:
        """``data`` as values, or a refusal of what JSON cannot say or is too large."""
        _check_depth(data, noun)
        try:
            text = json.dumps(
                data, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
            )
            text.encode()
        except (TypeError, ValueError) as error:
            raise Invalid(
                f"{noun} cannot be written as JSON: {error}",
                hint="use maps with text keys, lists, text, finite numbers, true, false and null",
            ) from error
        if len(text) > VALUES_LENGTH_MAX:
            raise Invalid(
                f"{noun} are {len(text):,} characters long",
                hint=f"keep them to {VALUES_LENGTH_MAX:,}; large files belong to the base",
            )
        if found := _UNCARRIED.search(text):
            raise Invalid(
                f"{noun} hold the character U+{ord(found[0]):04X}",
                hint="no manifest carries it unchanged: leave it out, or encode it yourself",
            )
        return Values.read(text)

    @staticmethod
    def read(text: str) -> Values:
        """Values from their canonical text."""
        return Values(text, cast(Mapping[str, Value], json.loads(text)))

    def __bool__(self) -> bool:
        return bool(self.data)


def _check_depth(data: object, noun: str, level: int = 1) -> None:
    if not isinstance(data, Mapping | list | tuple):
        if isinstance(data, int) and not -(2**63) <= data < 2**63:
            raise Invalid(f"{noun} hold the number {data}", hint="use text for larger numbers")
        return
    if level > VALUES_DEPTH_MAX:
        raise Invalid(
            f"{noun} are nested more than {VALUES_DEPTH_MAX} levels deep", hint="flatten them"
        )
    if isinstance(data, Mapping):
        for key, value in cast(Mapping[object, object], data).items():
            if not isinstance(key, str):
                raise Invalid(f"{noun} have a key that is no text: {key!r}", hint="quote the key")
            _check_depth(value, noun, level + 1)
        return
    for value in cast("list[object]", data):
        _check_depth(value, noun, level + 1)
