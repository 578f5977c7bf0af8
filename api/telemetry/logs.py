"""Log lines: one JSON object a line for programs, or one line of text for a terminal.

A line holds no control character, whatever names and messages hold, so nobody can forge one; and
no secret of the settings, whoever put it into a message. An operation that changed something, went
wrong or took long leaves one line; at level debug every one does. There may be many of those, so
they are gathered and written together, a moment later.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import orjson

from api.settings import TelemetrySettings
from graph.model.names import shortened

NAME_LENGTH_MAX = 80
"""Characters of an operation's name, or an actor's, that a line shows."""
GATHERED_MAX = 1_000
GATHERED_SECONDS = 0.05
"""Operations' lines that wait to be written, and for how long."""
HIDDEN = "***"
SECRET_LENGTH_MIN = 4
"""A shorter secret is in every other word, and would make the log unreadable."""

ACCESS, OPERATION = "api.access", "operation"
"""The logger and the message of an operation's line."""

_ACCESS_HEAD = f'"level":"info","logger":"{ACCESS}","message":"{OPERATION}"'
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Lines(logging.Formatter):
    """What every form of a line has in common: a time, a trace, fields, and nothing secret."""

    def __init__(self, secrets: Iterable[str], trace_id: Callable[[], str]) -> None:
        super().__init__()
        known = {each for each in secrets if len(each) >= SECRET_LENGTH_MIN}
        self._secrets = tuple(known | {json.dumps(each)[1:-1] for each in known})
        self._trace_id = trace_id

    def format(self, record: logging.LogRecord) -> str:
        """One line; the trace of an error follows it in the form for people."""
        fields: dict[str, Any] = {**getattr(record, "fields", {})}
        if trace_id := self._trace_id():
            fields["trace_id"] = trace_id
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        level = record.levelname.lower()
        line = self.line(record.created, level, record.name, record.getMessage(), fields)
        for secret in self._secrets:
            line = line.replace(secret, HIDDEN)
        return line

    def line(
        self, at_seconds: float, level: str, logger: str, message: str, fields: dict[str, Any]
    ) -> str:
        """The parts in this form."""
        raise NotImplementedError

    def access(self, at_seconds: float, fields: dict[str, Any]) -> str:
        """The line of an operation, whose fields hold nothing that must be spelt out."""
        raise NotImplementedError


class JsonLines(Lines):
    """For programs."""

    def line(
        self, at_seconds: float, level: str, logger: str, message: str, fields: dict[str, Any]
    ) -> str:
        """A JSON object; its own escapes leave nothing but printable ASCII."""
        head = {"time": _time(at_seconds), "level": level, "logger": logger, "message": message}
        return json.dumps(head | fields, default=str)

    def access(self, at_seconds: float, fields: dict[str, Any]) -> str:
        """As ``line``, ten times faster."""
        return f'{{"time":"{_time(at_seconds)}",{_ACCESS_HEAD},{orjson.dumps(fields).decode()[1:]}'


class TextLines(Lines):
    """For people."""

    def line(
        self, at_seconds: float, level: str, logger: str, message: str, fields: dict[str, Any]
    ) -> str:
        """Time, level, message, fields; the trace of an error below."""
        error = str(fields.pop("error", ""))
        at = datetime.fromtimestamp(at_seconds).astimezone()
        shown = "".join(f"  {name}={value}" for name, value in fields.items() if value != "")
        head = f"{at:%H:%M:%S} {level:<7} {escaped(message + shown)}"
        return "\n".join([head, *map(escaped, error.splitlines())])

    def access(self, at_seconds: float, fields: dict[str, Any]) -> str:
        """As ``line``."""
        return self.line(at_seconds, "info", ACCESS, OPERATION, fields)


@contextmanager
def log_to(
    settings: TelemetrySettings,
    *,
    secrets: Iterable[str] = (),
    trace_id: Callable[[], str] = str,
    stream: TextIO | None = None,
) -> Generator[logging.StreamHandler[TextIO]]:
    """Send every log line of the process to ``stream``, standard error by default.

    The root logger is everybody's: when the body ends it is as it was.
    """
    out: TextIO = sys.stderr if stream is None else stream
    text = settings.logs == "text" or (settings.logs == "auto" and out.isatty())
    handler = logging.StreamHandler(out)
    handler.setFormatter((TextLines if text else JsonLines)(secrets, trace_id))
    handler.setLevel(settings.level.upper())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(settings.level.upper())
    try:
        yield handler
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


class AccessLines:
    """One line an operation, gathered and written together."""

    def __init__(self, handler: logging.StreamHandler[TextIO]) -> None:
        form = handler.formatter
        assert isinstance(form, Lines), "made by log_to"
        self._form = form
        self._handler = handler
        self._waiting: list[tuple[float, dict[str, Any]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self.wanted = handler.level <= logging.INFO
        """Whether anybody reads them."""
        self.all_wanted = handler.level <= logging.DEBUG
        """Whether also those of queries that went well and quickly."""

    def add(self, at_seconds: float, fields: dict[str, Any]) -> None:
        """An operation that ended ``at_seconds`` of the epoch."""
        self._waiting.append((at_seconds, fields))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHERED_SECONDS, self.flush)
        elif len(self._waiting) >= GATHERED_MAX:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, []
        lines = "".join(f"{self._form.access(at, fields)}\n" for at, fields in waiting)
        with self._handler.lock or nullcontext():
            self._handler.stream.write(lines)
            self._handler.flush()


def escaped(text: str) -> str:
    """``text`` with what a terminal would obey, or a reader take for another line, spelt out."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


@lru_cache(1_024)
def bounded(name: str) -> str:
    """A name a caller chose, as far as a line shows it."""
    return escaped(shortened(name, NAME_LENGTH_MAX))


def _time(at_seconds: float) -> str:
    second, milliseconds = divmod(int(at_seconds * 1000), 1000)
    return f"{_second(second)}.{milliseconds:03}Z"


@lru_cache(8)
def _second(at_seconds: int) -> str:
    return datetime.fromtimestamp(at_seconds, UTC).isoformat()[:-6]
