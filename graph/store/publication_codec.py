"""What is held back of a publication, as JSON: what every adapter keeps in one field."""

from __future__ import annotations

import orjson

from graph.model.errors import Invalid
from graph.model.names import Revision
from graph.model.publication import HeldBack

_FIELDS = ("application", "reason", "message", "clusters", "since")


def encode_held(held: tuple[HeldBack, ...]) -> bytes:
    """The canonical bytes of a held list."""
    return orjson.dumps(
        [{name: getattr(each, name) for name in _FIELDS} for each in held],
        option=orjson.OPT_SORT_KEYS,
    )


def decode_held(data: bytes) -> tuple[HeldBack, ...]:
    """The inverse of ``encode_held``."""
    try:
        return tuple(
            HeldBack(
                application=each["application"],
                reason=each["reason"],
                message=each["message"],
                clusters=each["clusters"],
                since=Revision(each["since"]),
            )
            for each in orjson.loads(data)
        )
    except (LookupError, TypeError, ValueError) as error:
        raise Invalid(
            "cannot read what a publication holds back",
            hint="the record is damaged; restore a backup, or let the worker report again",
        ) from error
