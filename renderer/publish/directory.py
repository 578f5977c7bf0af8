"""Publishing to a plain directory: changed files are renamed into place, the cursor comes last.

What was made is also kept in a record beside the files (``renderer.publish.record``). A commit
first writes everything beside its place, so that a full disk is found while nothing has changed;
then the record commits, and from then on the commit stands; then files are renamed into place, and
``.trellis/cursor.json`` says so. A worker that died in between completes this when it comes back.

Somebody who reads the directory meanwhile sees files change one by one; the cursor tells when they
are all there. Owned files that somebody else changed are put back by the next commit. To find them,
only those are read of which the system says something else than it did (size, time, inode). One
worker at a time: a lock sees to it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import count
from pathlib import Path

from graph.model.errors import Conflict, Rejected, Unavailable
from renderer.flow import flow
from renderer.git.lock import hold
from renderer.git.objects import object_id
from renderer.paths import is_owned
from renderer.publish.allowed import allowed
from renderer.publish.directory_tree import STATE, DirectoryTree
from renderer.publish.record import Record, Seen, State
from renderer.publish.rooted import BESIDE, Rooted
from renderer.publish.staging import Staging
from renderer.tree import Head, Told

CURSOR = ".trellis/cursor.json"
RESTORED_MAX = 100
SYNCED_ONE_BY_ONE_MAX = 100
"""Beyond this, the whole machine is told once to write what it holds."""

Step = Callable[[str], None]


def _unobserved(step: str) -> None:
    """Nobody watches."""


class DirectoryPublisher:
    """A directory to publish to; ``Publisher`` of ``renderer.tree``."""

    def __init__(self, root: Path, handle: int, step: Step) -> None:
        self._handle = handle
        self._drafts = count(1)
        self.files = Rooted(root)
        self.record = Record(root / STATE / "record.db")
        self.step = step
        self.complete()

    @staticmethod
    def open(
        root: Path, *, lock_timeout_seconds: float = 10.0, step: Step = _unobserved
    ) -> DirectoryPublisher:
        """The directory ``root``, made if it is not there. ``step`` is told what is done."""
        root = root.absolute()
        handle = hold(root / STATE / "lock", f"the directory {root}", lock_timeout_seconds)
        try:
            return DirectoryPublisher(root, handle, step)
        except BaseException:
            os.close(handle)
            raise

    def head(self) -> Head:
        """The newest, with what somebody else did to it found out."""
        self.complete()
        state, changed = self.record.state(), self._changed()
        if changed and not state.commit:
            raise Rejected(
                f"the directory holds {changed[0]} and {len(changed) - 1:,} others at paths that "
                "the worker would own, and no record that a worker made them",
                hint="give it an empty directory, or remove these files yourself",
            )
        self.record.set_changed(changed)
        shown = self.shown(state, tuple(changed[:RESTORED_MAX]))
        return replace(shown, pushed=None)  # of owners' files there is no record

    def shown(self, state: State, restored: tuple[str, ...] = ()) -> Head:
        """The head, as the record has it."""
        tree = DirectoryTree(self.record, self.files)
        return Head(state.commit, state.cursor, state.stamp, tree, restored)

    def begin(self, head: Head) -> DirectoryDraft:
        """The next commit, on top of ``head``."""
        return DirectoryDraft(self, head, Staging(self.record.base, next(self._drafts)))

    def close(self) -> None:
        """Give back what is held."""
        self.record.close()
        self.files.close()
        os.close(self._handle)

    def complete(self) -> None:
        """Put into place what the record has committed, and nobody has put there."""
        paths = self.record.unfinished()
        if paths:
            with _refused():
                self.write_beside((path, self.record.content(path)) for path in paths)
                self.place({path: self.record.name(path) is not None for path in paths})

    def write_beside(self, files: Iterable[tuple[str, bytes | None]]) -> None:
        """Write files beside their places; where one fails, none stays."""
        begun: list[str] = []
        try:
            for path, content in files:
                if content is not None:
                    begun.append(path)
                    self.files.write_beside(path, content)
        except BaseException:
            for path in begun:
                self.files.drop_beside(path)
            raise

    def place(self, changes: Mapping[str, bool]) -> None:
        """Rename what waits beside into place, take away what goes, and move the cursor."""
        one_by_one = len(changes) <= SYNCED_ONE_BY_ONE_MAX
        for path, written in changes.items():
            if not written:
                self.files.remove(path)
        seen = [
            (path, _seen(self.files.take(path, one_by_one)))
            for path, written in changes.items()
            if written
        ]
        if not one_by_one:
            os.sync()
        self.record.finish(seen)
        state = self.record.state()
        told = {"commit": state.commit, "cursor": state.cursor, "stamp": state.stamp}
        self.files.write_beside(CURSOR, f"{flow(told)}\n".encode())
        self.files.take(CURSOR, sync=True)

    def _changed(self) -> list[str]:
        """Owned paths that are not as the worker left them, sorted."""
        expected = self.record.seen()
        found: set[str] = set()
        moved: list[tuple[str, Seen]] = []
        for path, status in self._owned():
            was = expected.pop(path, None)
            now = _seen(status) if stat.S_ISREG(status.st_mode) else None
            if was is not None and now is not None and was != now and self._is_same(path):
                moved.append((path, now))  # copied, or touched: another look, the same content
            elif was != now or now is None:
                found.add(path)
        self.record.saw(moved)
        return sorted(found | expected.keys())

    def _owned(self) -> Iterator[tuple[str, os.stat_result]]:
        """Whatever is at owned paths, without what is still, or was left, beside."""
        for top in self.files.kinds(""):
            if not (is_owned(top) or top == "apps"):
                continue
            for path, status in self.files.walk(top):
                if path.endswith(BESIDE) and is_owned(path):
                    self.files.remove(path)  # left by somebody who died
                elif is_owned(path) and path != CURSOR:
                    yield path, status

    def _is_same(self, path: str) -> bool:
        content = self.files.read(path)
        return content is not None and object_id(b"blob", content) == self.record.name(path)


class DirectoryDraft:
    """The next commit; ``Draft`` of ``renderer.tree``."""

    def __init__(self, publisher: DirectoryPublisher, head: Head, staging: Staging) -> None:
        self._publisher = publisher
        self._head = head
        self._staging = staging

    def write(self, path: str, content: bytes) -> None:
        """A file, new or instead of what was there."""
        self._staging.write(allowed(path), object_id(b"blob", content), content)

    def remove(self, path: str) -> None:
        """A file or a whole directory goes, if it is there."""
        self._staging.remove(allowed(path))

    def changes(self) -> Mapping[str, bool]:
        """Files that would differ from the head: True written, False gone."""
        return self._staging.changes()

    def commit(self, told: Told) -> Head | None:
        """Make it the head, or None where no file differs; ``Conflict`` if another came first."""
        try:
            return self._commit(told)
        finally:
            self._staging.drop()

    def abandon(self) -> None:
        """Leave everything as it was."""
        self._staging.drop()

    def _commit(self, told: Told) -> Head | None:
        publisher, record = self._publisher, self._publisher.record
        if record.state().commit != self._head.commit:
            raise Conflict(
                "the directory was published to since",
                hint="plan again on top of the new head; nothing was changed",
            )
        changes = self._staging.changes()
        restored = [path for path in record.changed() if path not in changes]
        if not changes and not restored:
            return None
        with _refused():
            publisher.write_beside(self._contents(restored))
        publisher.step("written")
        state = State(_chained(self._head.commit, told, changes), told.cursor, told.stamp)
        record.commit(state, [*changes, *restored], self._staging.apply)
        publisher.step("recorded")
        with _refused():
            known = {path: record.name(path) is not None for path in restored}
            publisher.place({**known, **changes})
        publisher.step("placed")
        return publisher.shown(state)

    def _contents(self, restored: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        yield from self._staging.contents()
        for path in restored:
            yield path, self._publisher.record.content(path)


def _seen(status: os.stat_result) -> Seen:
    return Seen(status.st_size, status.st_mtime_ns, status.st_ino)


def _chained(before: str, told: Told, changes: Mapping[str, bool]) -> str:
    """What stands for a commit: where it comes from, how far it goes, what it touches."""
    said = "\0".join((before, told.cursor, told.stamp, *changes))
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:40]


@contextmanager
def _refused() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"the directory could not be written to: {error.strerror or error}",
            hint="see that the disk has room and the worker may write there; nothing is lost",
        ) from error
