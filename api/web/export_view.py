"""The export over HTTP: ``/export/clusters.ndjson`` and ``.csv``.

A reader that hangs up, takes nothing for too long, or whose token expires meanwhile is not written
for any more: its answer ends without its end, so nobody takes a part for the whole.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
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
from api.web.export import Export, export_of
from api.web.quota import Quota
from graph.engine import Engine
from graph.model.errors import NotFound, TrellisError

GONE = "GONE"
"""The outcome of an export whose reader has hung up."""

_FORMS: dict[str, tuple[bytes, Callable[[Export], AsyncIterator[bytes]]]] = {
    "ndjson": (b"application/x-ndjson; charset=utf-8", Export.ndjson),
    "csv": (b"text/csv; charset=utf-8; header=present", Export.csv),
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
        form, code, begun = "", GONE, False
        try:
            form = _form(scope)
            identified = await self._door.admit(scope, headers_of(scope))
            with self._quota.held(identified.actor.name):
                export = self._export(scope, identified)
                begun = True
                await send(_head(export, form))
                code = await self._stream(_FORMS[form][1](export), identified, receive, send)
                if code == SlowReader.code or is_stalled(scope):
                    code = SlowReader.code
                    self._quota.dropped()
        except Exception as error:
            code = error.code if isinstance(error, TrellisError) else INTERNAL
            if begun:
                raise
            await _refuse(send, error)
        finally:
            self._door.tell("export", form, code, started, identified)

    def _export(self, scope: Scope, identified: Identified) -> Export:
        engine = self._engine
        view = engine.seen(engine.access(identified.actor))
        return export_of(engine, view, scope["query_string"])

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


def _form(scope: Scope) -> str:
    form: str = scope["path"].partition(".")[2]
    if form not in _FORMS:
        raise NotFound("there is no such export", hint=f"forms: {', '.join(_FORMS)}")
    if scope["method"] != "GET":
        raise WrongMethod("an export is read by GET", hint="send a GET", allow="GET")
    return form


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
