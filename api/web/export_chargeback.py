"""Who pays for what runs, as lines of CSV: the report of ``Fleet.chargeback``, whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import islice

from api.schema.facets import group_at_path
from api.web.export import csv_lines, fields_of
from graph.effective.reading import Reading
from graph.effective.report import ChargebackRow, chargeback
from graph.engine import Engine
from graph.model.errors import Invalid
from graph.model.names import GroupNumber
from graph.model.view import FleetView

PAGE = 200
"""Rows worked out at once."""
HEAD = (
    "costCenter",
    "namespace",
    "group",
    "clusters",
    "cpuMillicores",
    "memoryMib",
    "storageMib",
)


async def chargeback_of(
    engine: Engine, view: FleetView, query_string: bytes
) -> AsyncIterator[bytes]:
    """The report that a query string asks for: ``by``, the path of a group."""
    by = fields_of(query_string, ("by",)).get("by")
    if by is None:
        raise Invalid("nothing says what the rows are", hint="give by, as by=/geo/us")
    return _lines(await engine.reading(view), group_at_path(engine, view, by))


async def _lines(reading: Reading, group: GroupNumber) -> AsyncIterator[bytes]:
    yield csv_lines([HEAD])
    rows = chargeback(reading, group)
    while page := list(islice(rows, PAGE)):
        yield csv_lines([_cells(row) for row in page])
        await asyncio.sleep(0)


def _cells(row: ChargebackRow) -> tuple[str | int, ...]:
    asked = row.requested
    amounts = (asked.cpu_millicores, asked.memory_mib, asked.storage_mib)
    return (row.cost_center, row.namespace, row.path, row.clusters, *amounts)
