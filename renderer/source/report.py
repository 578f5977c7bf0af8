"""A report as far as it can be told: the longest lists and messages are cut."""

from __future__ import annotations

from dataclasses import replace

import orjson

from graph.model.publication import HELD_MAX, MESSAGE_LENGTH_MAX, HeldBack, Report
from renderer.story import cut, one_line

REPORT_BYTES_MAX = 200_000
"""Bytes of a held list: an API takes no message of more than a quarter of a mebibyte."""
ENTRY_BYTES = 250
"""What an entry takes besides its message."""


def bounded(report: Report) -> Report:
    """A report whose held list can be told: those of most clusters, in one line each."""
    held: list[HeldBack] = []
    room = REPORT_BYTES_MAX
    for each in sorted(report.held, key=lambda each: (-each.clusters, each.application)):
        message = cut(one_line(each.message) or each.reason, MESSAGE_LENGTH_MAX)
        room -= len(orjson.dumps(message)) + ENTRY_BYTES
        if room < 0 or len(held) == HELD_MAX:
            break
        held.append(replace(each, message=message))
    return replace(report, held=tuple(held))
