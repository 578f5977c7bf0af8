"""A disk whose power can be cut, and one that fails, under SQLite.

``Disk.recording`` puts a file layer under every SQLite connection of the process that notes each
write, sync, truncation and deletion while passing it on. ``Disk.cuts`` then tells what a machine
would find after losing power at some moment: what was synced, plus any part of the rest, since a
disk may write what it holds in any order, and a write of several sectors may be torn.

``failing`` instead lets the n-th call of a kind fail, once or from then on. Below both, a sync is
noted and not done: the machine under the test keeps its power, and thousands of syncs take minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random

import apsw

SECTOR = 512
_names = count()


@dataclass(frozen=True, slots=True)
class Write:
    file: str
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    file: str
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    file: str


@dataclass(frozen=True, slots=True)
class Delete:
    file: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something the writer was told: from here on it must hold."""

    what: object


Operation = Write | Truncate | Sync | Delete | Mark


@dataclass(slots=True)
class _File:
    synced: bytearray = field(default_factory=bytearray)
    waiting: list[Write | Truncate] = field(default_factory=list["Write | Truncate"])
    exists: bool = True

    def sync(self) -> None:
        for operation in self.waiting:
            _apply(self.synced, operation)
        self.waiting.clear()

    def found(self, random: Random) -> bytes | None:
        """What is in the file after a cut; None if it is not there."""
        if not self.exists and random.random() < 0.5:
            return None  # else the deletion itself was lost
        content = bytearray(self.synced)
        share = random.choice((0.0, 0.5, 0.9, 1.0))
        for operation in self.waiting:
            if random.random() >= share:
                continue
            if isinstance(operation, Write) and random.random() < 0.3:
                for part in _torn(operation, random):
                    _apply(content, part)
            else:
                _apply(content, operation)
        return bytes(content)


def _torn(write: Write, random: Random) -> Iterator[Write]:
    for start in range(0, len(write.data), SECTOR):
        if random.random() < 0.5:
            yield Write(write.file, write.offset + start, write.data[start : start + SECTOR])


def _apply(content: bytearray, operation: Write | Truncate) -> None:
    size = operation.size if isinstance(operation, Truncate) else operation.offset
    if size > len(content):
        content.extend(bytes(size - len(content)))
    if isinstance(operation, Truncate):
        del content[operation.size :]
    else:
        content[operation.offset : operation.offset + len(operation.data)] = operation.data


class Disk:
    """What was done to the files of one directory, and what a cut would leave of it."""

    def __init__(self, directory: Path) -> None:
        self._start = {
            each.name: each.read_bytes() for each in directory.iterdir() if each.is_file()
        }
        self._directory = directory
        self.operations: list[Operation] = []

    def mark(self, what: object) -> None:
        """Note that the writer has been told ``what``."""
        self.operations.append(Mark(what))

    @contextmanager
    def recording(self) -> Generator[None]:
        """Note what SQLite does to the directory meanwhile."""
        with _default(_Layer(f"recording-{next(_names)}", self._note)):
            yield

    def _note(self, operation: Operation, path: str) -> None:
        if Path(path).parent == self._directory:
            self.operations.append(operation)

    def cuts(
        self, moments: Sequence[int], random: Random
    ) -> Iterator[tuple[list[object], dict[str, bytes]]]:
        """For each of the ascending ``moments``: what the writer knew then, and what is found."""
        files = {name: _File(bytearray(content)) for name, content in self._start.items()}
        known: list[object] = []
        done = 0
        for moment in moments:
            for operation in self.operations[done:moment]:
                if isinstance(operation, Mark):
                    known.append(operation.what)
                else:
                    _do(files, operation)
            done = moment
            found = {name: file.found(random) for name, file in files.items()}
            yield list(known), {name: data for name, data in found.items() if data is not None}


def _do(files: dict[str, _File], operation: Write | Truncate | Sync | Delete) -> None:
    file = files.get(operation.file)
    if isinstance(operation, Delete):
        if file is not None:
            file.sync()
            file.exists = False
        return
    if file is None or not file.exists:
        file = files[operation.file] = _File()
    if isinstance(operation, Sync):
        file.sync()
    else:
        file.waiting.append(operation)


@contextmanager
def hasty() -> Generator[None]:
    """A disk without syncs, for looking at what was found."""
    with _default(_Layer(f"hasty-{next(_names)}", lambda operation, path: None)):
        yield


@dataclass(slots=True)
class Fault:
    """How often it struck."""

    hits: int = 0


@contextmanager
def failing(kind: str, nth: int, error: Exception, *, once: bool) -> Generator[Fault]:
    """Let the ``nth`` ``write``, ``sync`` or ``truncate`` fail with ``error``."""
    calls = count(1)
    fault = Fault()

    def note(operation: Operation, path: str) -> None:
        if type(operation).__name__.lower() != kind:
            return
        call = next(calls)
        if call == nth or (call > nth and not once):
            fault.hits += 1
            raise error

    with _default(_Layer(f"failing-{next(_names)}", note)):
        yield fault


Note = Callable[[Operation, str], None]


class _Layer(apsw.VFS):
    """The file layer below SQLite; tells before it does."""

    def __init__(self, name: str, note: Note) -> None:
        super().__init__(name, "unix", makedefault=True)
        self._note = note

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - apsw's name
        return _LayerFile(name, flags, self._note)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - apsw's name
        self._note(Delete(Path(filename).name), filename)
        super().xDelete(filename, syncdir)


class _LayerFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], note: Note) -> None:
        super().__init__("unix", name, flags)
        text = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._path = text or ""
        self._name = Path(self._path).name
        self._note = note

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - apsw's name
        self._note(Write(self._name, offset, bytes(data)), self._path)
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - apsw's name
        self._note(Truncate(self._name, newsize), self._path)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - apsw's name
        self._note(Sync(self._name), self._path)


@contextmanager
def _default(layer: _Layer) -> Generator[None]:
    try:
        yield
    finally:
        layer.unregister()
