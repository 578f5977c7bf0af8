"""The child: reads jobs, renders, answers, and cannot do much else.

It has no environment and no files but its pipes, and can open none: the three numbers it may use
are taken. It may write no file, start no process, and take no more memory than its bound. The
kernel counts the processor time of a job, and ends the process where asking it did not help.
"""

from __future__ import annotations

import codecs
import gc
import os
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import BinaryIO, cast

import orjson

from renderer.failure import Unrenderable
from renderer.limits import OUT_OF_MEMORY, OUT_OF_TIME, Limits
from renderer.rules import Rules
from renderer.sandbox.frames import HEADER, frame
from renderer.sandbox.work import documents, texts
from renderer.templates import Definition, TooLong

GRACE_SECONDS = 0.5
"""A template that is over its time is interrupted between two steps; if a single step takes this
long the kernel ends the process."""

_REHEARSED = (
    "a: {{ b | yaml | indent }}",
    "{{ 'a b' | wordwrap(1) }}",
    "{{ b.c }}",
    "{{ b.__class__ }}",
    "{{ b",
    "a: [",
)
"""A template of each sort that makes some part work for the first time."""

_Known = dict[str, tuple[Definition, list[str]]]
"""Definitions by what they are called in jobs, and the files of each."""


def serve() -> None:
    """Answer jobs in order until there are no more."""
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    limits = Limits(**orjson.loads(_read(incoming)))
    known: _Known = {}
    _rehearse(limits)
    confine(limits)
    signal.signal(signal.SIGPROF, _stop)
    outgoing.write(frame({"ready": True}))
    outgoing.flush()
    try:
        while body := _read(incoming):
            outgoing.write(_answered(body, known, limits))
            outgoing.flush()
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except TooLong:
        os._exit(OUT_OF_TIME)


def _answered(body: bytes, known: _Known, limits: Limits) -> bytes:
    job = cast("dict[str, object]", orjson.loads(body))
    seconds_max = min(cast("float", job["seconds"]), limits.seconds_max)
    signal.setitimer(signal.ITIMER_PROF, seconds_max)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds_max + GRACE_SECONDS)
    answer = frame({"job": job["job"], **_answer(job, known, limits)})
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return answer


def _stop(*_: object) -> None:
    raise TooLong


def _answer(job: dict[str, object], known: _Known, limits: Limits) -> dict[str, object]:
    for name in cast("Sequence[str]", job["forget"]):
        del known[name]
    name = cast("str", job["definition"])
    if name not in known:
        files = cast("dict[str, str]", job["files"])
        known[name] = (Definition(files, limits), list(files))
    definition, files_of = known[name]
    values = cast("dict[str, object]", job["values"])
    try:
        if job["rules"] is None:
            return {"texts": texts(definition, files_of, values, limits)}
        namespace, listed = cast("tuple[str, Sequence[str]]", job["rules"])
        rules = Rules(namespace, tuple(listed))
        return {"objects": documents(definition, files_of, values, limits, rules)}
    except Unrenderable as error:
        return {"failure": asdict(error.failure)}


def _rehearse(limits: Limits) -> None:
    """Make every import that waits for its first use: later there is no opening a file."""
    for codec in ("ascii", "latin-1", "unicode-escape", "utf-8"):
        codecs.lookup(codec)
    for text in _REHEARSED:
        job: dict[str, object] = {"forget": (), "definition": "", "files": {"a": text}}
        _answer({**job, "values": {"b": "c"}, "rules": ("a", ())}, {}, limits)
    gc.freeze()


def confine(limits: Limits) -> None:
    """Give up what a template has no need of. There is no way back."""
    for name, bound in (
        ("RLIMIT_AS", limits.memory_bytes_max),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NPROC", 0),
        ("RLIMIT_NOFILE", 3),
    ):
        # A bound that this system does not know leaves those of the parent.
        with suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (bound, bound))


def _read(incoming: BinaryIO) -> bytes:
    """The next frame; nothing at the end."""
    header = incoming.read(HEADER.size)
    if len(header) < HEADER.size:
        return b""
    (length,) = HEADER.unpack(header)
    return incoming.read(length)
