"""What passes between the two processes: a length of four bytes, and JSON of that length."""

from __future__ import annotations

import struct

import orjson

HEADER = struct.Struct(">I")


def frame(value: object) -> bytes:
    """``value`` as it is sent. Keys are sorted: the same values are the same order everywhere."""
    body = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return HEADER.pack(len(body)) + body
