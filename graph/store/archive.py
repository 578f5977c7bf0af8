"""What compaction takes out of the log, kept for the record: who, when, why, before and after.

An archive is a gzipped file of JSON lines. The first says which stretch of which history it holds;
each of the others is a changeset exactly as it was sealed, so the chain can be checked from the
first revision to the live log. A file appears whole or not at all and never replaces another: it is
written before the log is cut, and a crash between the two leaves a changeset in both, never in
neither.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import zlib
from collections.abc import AsyncIterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from graph.model.change import CHAIN_DIGITS, Changeset, Cursor
from graph.model.errors import Conflict, Invalid, TrellisError, Unavailable
from graph.model.names import Revision
from graph.store.codec import decode_body, encode_body, seal
from graph.store.files import publish

FORMAT = 1
SUFFIX = ".jsonl.gz"
CHANGESETS_A_WRITE = 256

_BEFORE_CHAIN = b'{"chain":"'
_BEFORE_BODY = b'","body":'
_CHAIN_BYTES = 64


@dataclass(frozen=True, slots=True)
class Archive:
    """A stretch of history in a file."""

    path: Path
    after: Revision
    """The revision right before the first one in it."""
    chain: str
    """The whole chain hash there."""
    until: Cursor
    """The last changeset in it."""


async def write_archive(
    directory: Path,
    changesets: AsyncIterable[Changeset],
    *,
    after: Revision,
    chain: str,
    until: Cursor,
) -> Path:
    """Archive ``changesets`` up to ``until``; the first follows ``after``, sealed on ``chain``.

    An archive of the same stretch that is already there, left by a compaction that was
    interrupted, is checked and kept.
    """
    stretch = f"{after + 1:012d}-{until.revision:012d}"
    path = directory / f"changesets-{stretch}-{until.chain}{SUFFIX}"
    archive = Archive(path, after, chain, until)
    if await asyncio.to_thread(_is_there, archive):
        return path
    draft = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        await _write(draft, archive, changesets)
        await asyncio.to_thread(publish, draft, path)
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror}",
            hint="free some space or check the permissions; the log was not cut",
        ) from error
    finally:
        await asyncio.to_thread(draft.unlink, missing_ok=True)
    return path


def read_archive(path: Path) -> Iterator[Changeset]:
    """Every changeset of an archive, in order, each link of the chain checked."""
    revision: int = 0
    try:
        with gzip.open(path) as file:
            archive = _header(path, file.readline())
            revision, chain = archive.after, archive.chain
            for line in file:
                changeset = _changeset(line, chain)
                if changeset.revision != revision + 1:
                    raise ValueError
                revision, chain = changeset.revision, changeset.chain
                yield changeset
            if Cursor(Revision(revision), chain[:CHAIN_DIGITS]) != archive.until:
                raise EOFError
    except (EOFError, ValueError, zlib.error, gzip.BadGzipFile, Invalid) as error:
        raise _broken(path, f"broken at revision {revision + 1:,}") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def archives(directory: Path, until: Cursor) -> list[Archive]:
    """The archives that lead from the first revision to ``until``, oldest first.

    They are found by following the chain back, so files of another history (what was archived
    before a backup was restored) or of an interrupted compaction may lie beside them.
    """
    there: dict[Cursor, Archive] = {}
    for path in sorted(directory.glob(f"*{SUFFIX}")):
        archive = _read_header(path)
        known = there.setdefault(archive.until, archive)
        if archive.after < known.after:
            there[archive.until] = archive
    found: list[Archive] = []
    at = until
    while at.revision > 0:
        if at not in there:
            raise Invalid(
                f"{directory} has no archive that ends at revision {at.revision:,} ({at})",
                hint="bring the file back from another copy",
            )
        found.append(there[at])
        at = Cursor(there[at].after, there[at].chain[:CHAIN_DIGITS])
    return found[::-1]


def _is_there(archive: Archive) -> bool:
    if not archive.path.exists():
        return False
    if _read_header(archive.path) != archive:
        raise Conflict(
            f"{archive.path} holds another history", hint="choose another archive directory"
        )
    for _ in read_archive(archive.path):
        pass
    return True


async def _write(draft: Path, archive: Archive, changesets: AsyncIterable[Changeset]) -> None:
    chain, reached = archive.chain, archive.after
    waiting: list[Changeset] = []
    with await asyncio.to_thread(_start, draft, archive) as file:
        async for changeset in changesets:
            waiting.append(changeset)
            reached = changeset.revision
            if reached == archive.until.revision or len(waiting) == CHANGESETS_A_WRITE:
                chain = await asyncio.to_thread(_append, file, waiting, chain)
                waiting = []
            if reached == archive.until.revision:
                break
    if Cursor(reached, chain[:CHAIN_DIGITS]) != archive.until:
        raise Invalid(
            f"the log does not lead from revision {archive.after:,} to {archive.until}",
            hint="verify the record before it is compacted",
        )


def _start(draft: Path, archive: Archive) -> BinaryIO:
    draft.parent.mkdir(parents=True, exist_ok=True)
    file = cast("BinaryIO", gzip.GzipFile(draft, "wb", mtime=0))
    file.write(_header_line(archive))
    return file


def _append(file: BinaryIO, changesets: Sequence[Changeset], chain: str) -> str:
    for changeset in changesets:
        body = encode_body(changeset)
        chain = seal(chain, body)
        if chain != changeset.chain:
            raise Invalid(
                f"the history is broken at revision {changeset.revision:,}",
                hint="verify the record before it is compacted",
            )
        file.write(_BEFORE_CHAIN + chain.encode() + _BEFORE_BODY + body + b"}\n")
    return chain


def _changeset(line: bytes, previous: str) -> Changeset:
    """The changeset in ``line``, if it was sealed on ``previous``."""
    start = len(_BEFORE_CHAIN)
    kept = line[start : start + _CHAIN_BYTES]
    body = line[start + _CHAIN_BYTES + len(_BEFORE_BODY) : -2]
    chain = seal(previous, body)
    if kept != chain.encode() or not line.endswith(b"}\n"):
        raise ValueError
    return decode_body(body, chain)


def _header_line(archive: Archive) -> bytes:
    header = {
        "format": FORMAT,
        "after": archive.after,
        "chain": archive.chain,
        "until": str(archive.until),
    }
    return orjson.dumps(header, option=orjson.OPT_SORT_KEYS) + b"\n"


def _read_header(path: Path) -> Archive:
    try:
        with gzip.open(path) as file:
            return _header(path, file.readline())
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _broken(path, "not a whole archive") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _header(path: Path, line: bytes) -> Archive:
    try:
        data = orjson.loads(line)
        if data["format"] != FORMAT:
            raise ValueError
        return Archive(path, Revision(data["after"]), data["chain"], Cursor.parse(data["until"]))
    except (ValueError, LookupError, TypeError, TrellisError) as error:
        raise _broken(path, "not an archive this version can read") from error


def _unreadable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        f"{path} could not be read: {error.strerror}", hint="check the disk and the path"
    )


def _broken(path: Path, how: str) -> Invalid:
    return Invalid(f"{path} is {how}", hint="bring the file back from another copy")
