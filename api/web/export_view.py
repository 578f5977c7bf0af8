"""The export over HTTP: ``/export/clusters.ndjson`` and ``.csv``.

A reader that hangs up, or takes nothing for too long, is not written for any more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from api.problems import INTERNAL
from api.refusals import WrongMethod
from api.web.door import Door, Headers, Receive, Scope, Send, headers_of, send_fault, send_refusal
from api.web.export import Export, export_of
from graph.engine import Engine
from graph.model.errors import NotFound, TrellisError

_FORMS: dict[str, tuple[bytes, Callable[[Export], AsyncIterator[bytes]]]] = {
    "ndjson": (b"application/x-ndjson; charset=utf-8", Export.ndjson),
    "csv": (b"text/csv; charset=utf-8; header=present", Export.csv),
}


class ExportView:
    """The ASGI endpoint of the exports."""

    def __init__(self, engine: Engine, door: Door, *, send_seconds: float) -> None:
        self._engine = engine
        self._door = door
        self._send_seconds = send_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream one export."""
        headers = headers_of(scope)
        started = time.perf_counter()
        try:
            export, form = await self._export(scope, headers)
        except TrellisError as error:
            self._door.tell("export", "", error.code, started)
            await send_refusal(send, error)
            return
        except Exception as error:
            self._door.tell("export", "", INTERNAL, started)
            await send_fault(send, error)
            return
        self._door.tell("export", form, "ok", started)
        await send(_head(export, form))
        hung_up = asyncio.create_task(_hung_up(receive))
        try:
            await self._stream(_FORMS[form][1](export), hung_up, send)
        finally:
            hung_up.cancel()

    async def _stream(
        self, lines: AsyncIterator[bytes], hung_up: asyncio.Task[None], send: Send
    ) -> None:
        async for part in lines:
            if hung_up.done():
                return
            try:
                async with asyncio.timeout(self._send_seconds):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            except TimeoutError:
                return
        await send({"type": "http.response.body", "body": b""})

    async def _export(self, scope: Scope, headers: Headers) -> tuple[Export, str]:
        form = scope["path"].partition(".")[2]
        if form not in _FORMS:
            raise NotFound("there is no such export", hint=f"forms: {', '.join(_FORMS)}")
        if scope["method"] != "GET":
            raise WrongMethod("an export is read by GET", hint="send a GET", allow="GET")
        identified = await self._door.admit(scope, headers)
        engine = self._engine
        view = engine.seen(engine.access(identified.actor))
        return export_of(engine, view, scope["query_string"]), form


def _head(export: Export, form: str) -> dict[str, Any]:
    headers = [
        (b"content-type", _FORMS[form][0]),
        (b"content-disposition", f'attachment; filename="clusters.{form}"'.encode()),
        (b"cache-control", b"private, no-store"),
        (b"vary", b"Authorization"),
        (b"trellis-cursor", str(export.view.cursor).encode()),
    ]
    return {"type": "http.response.start", "status": 200, "headers": headers}


async def _hung_up(receive: Receive) -> None:
    """Return once the reader is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
