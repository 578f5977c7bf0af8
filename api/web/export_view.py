"""The exports over HTTP: ``/export/clusters.ndjson`` and ``.csv``, ``/export/chargeback.csv``.

A reader that hangs up, takes nothing for too long, or whose token expires meanwhile is not written
for any more: its answer ends without its end, so nobody takes a part for the whole.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from api.caller.identity import Identified, Unauthenticated, still_valid
from api.execution.operations import OK
from api.problems import INTERNAL
from api.refusals import SlowReader, WrongMethod
from api.settings import ApiSettings
from api.web.door import (
    Door,
    Receive,
    Scope,
    Send,
    headers_of,
    is_stalled,
    send_fault,
    send_refusal,
)
from api.web.export import export_of
from api.web.export_chargeback import chargeback_of
from api.web.quota import Quota
from graph.engine import Engine
from graph.model.errors import NotFound, TrellisError
from graph.model.view import FleetView

GONE = "GONE"
"""The outcome of an export whose reader has hung up."""

Lines = AsyncIterator[bytes]
"""An export as it is sent, part by part."""
Make = Callable[[Engine, FleetView, bytes], Awaitable[Lines]]
"""Makes the export that a query string asks for, of a view."""


async def _ndjson(engine: Engine, view: FleetView, query_string: bytes) -> Lines:
    return export_of(engine, view, query_string).ndjson()


async def _csv(engine: Engine, view: FleetView, query_string: bytes) -> Lines:
    return export_of(engine, view, query_string).csv()


_CSV = b"text/csv; charset=utf-8; header=present"
_FILES: dict[str, tuple[bytes, Make]] = {
    "clusters.ndjson": (b"application/x-ndjson; charset=utf-8", _ndjson),
    "clusters.csv": (_CSV, _csv),
    "chargeback.csv": (_CSV, chargeback_of),
}


class ExportView:
    """The ASGI endpoint of the exports."""

    def __init__(self, engine: Engine, door: Door, quota: Quota, settings: ApiSettings) -> None:
        self._engine = engine
        self._door = door
        self._quota = quota
        self._send_seconds = settings.send_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream one export."""
        started = time.perf_counter()
        identified: Identified | None = None
        file, code, begun = "", GONE, False
        try:
            file = _file(scope)
            identified = await self._door.admit(scope, headers_of(scope))
            with self._quota.held(identified.actor.name):
                view = self._engine.seen(self._engine.access(identified.actor))
                lines = await _FILES[file][1](self._engine, view, scope["query_string"])
                begun = True
                await send(_head(view, file))
                code = await self._stream(lines, identified, receive, send)
                if code == SlowReader.code or is_stalled(scope):
                    code = SlowReader.code
                    self._quota.dropped()
        except Exception as error:
            code = error.code if isinstance(error, TrellisError) else INTERNAL
            if begun:
                raise
            await _refuse(send, error)
        finally:
            self._door.tell("export", _told(file), code, started, identified)

    async def _stream(
        self, lines: AsyncIterator[bytes], identified: Identified, receive: Receive, send: Send
    ) -> str:
        """Send every line; how that ended."""
        hung_up = asyncio.create_task(_hung_up(receive))
        try:
            async for part in lines:
                if hung_up.done():
                    return GONE
                if not still_valid(identified, time.time()):
                    return Unauthenticated.code
                async with asyncio.timeout(self._send_seconds):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            return SlowReader.code
        except OSError:
            return GONE
        finally:
            hung_up.cancel()
        return OK


async def _refuse(send: Send, error: Exception) -> None:
    if isinstance(error, TrellisError):
        await send_refusal(send, error)
    else:
        await send_fault(send, error)


def _file(scope: Scope) -> str:
    file: str = scope["path"].removeprefix("/export/")
    if file not in _FILES:
        raise NotFound("there is no such export", hint=f"exports: {', '.join(_FILES)}")
    if scope["method"] != "GET":
        raise WrongMethod("an export is read by GET", hint="send a GET", allow="GET")
    return file


def _told(file: str) -> str:
    """What an export is called where it is told of: those of clusters by their form alone."""
    return file.removeprefix("clusters.")


def _head(view: FleetView, file: str) -> dict[str, Any]:
    headers = [
        (b"content-type", _FILES[file][0]),
        (b"content-disposition", f'attachment; filename="{file}"'.encode()),
        (b"cache-control", b"private, no-store"),
        (b"vary", b"Authorization"),
        (b"trellis-cursor", str(view.cursor).encode()),
    ]
    return {"type": "http.response.start", "status": 200, "headers": headers}


async def _hung_up(receive: Receive) -> None:
    """Return once the reader is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
