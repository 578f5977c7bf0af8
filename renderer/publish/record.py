"""What a worker made in a directory: the content of every file, and how far it goes.

A directory forgets what was in a file that somebody changed; the record does not. It is a database
beside the files: a commit is one transaction of it, so that a worker that dies half-way through
putting files into place finds here what is left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import decompress

from renderer.git.objects import Id
from renderer.publish.database import Database


@dataclass(frozen=True, slots=True)
class State:
    """How far the record goes."""

    commit: str = ""
    cursor: str | None = None
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the system said of a file when it was put into place."""

    size: int | None
    changed: int | None
    inode: int | None


class Record:
    """The record in the file ``path``."""

    def __init__(self, path: Path) -> None:
        self.base = Database(path)

    def close(self) -> None:
        """Let go of the file."""
        self.base.close()

    def state(self) -> State:
        """How far it goes."""
        row = self.base.row("SELECT made, cursor, stamp FROM state")
        return State(*row) if row else State()

    def content(self, path: str) -> bytes | None:
        """What was made at ``path``."""
        row = self.base.row("SELECT content FROM file WHERE path = ?", (path,))
        return decompress(row[0]) if row else None

    def name(self, path: str) -> Id | None:
        """What stands for the file at ``path``."""
        row = self.base.row("SELECT id FROM file WHERE path = ?", (path,))
        return row[0] if row else None

    def names_below(self, directory: str) -> Iterator[str]:
        """Names right below a directory: from one to the next, whatever lies between."""
        prefix = f"{directory}/" if directory else ""
        at = prefix
        while row := self.base.row(
            "SELECT path FROM file WHERE path >= ? ORDER BY path LIMIT 1", (at,)
        ):
            path: str = row[0]
            if not path.startswith(prefix):
                return
            name, slash, _ = path[len(prefix) :].partition("/")
            yield name
            at = f"{prefix}{name}0" if slash else f"{path}\x01"

    def files(self, directory: str) -> list[tuple[str, Id]]:
        """Everything below a directory; a nought is what comes right after a slash."""
        if not directory:
            return [(path, name) for path, name in self.base.rows("SELECT path, id FROM file")]
        rows = self.base.rows(
            "SELECT path, id FROM file WHERE path >= ? AND path < ?",
            (f"{directory}/", f"{directory}0"),
        )
        return [(path, name) for path, name in rows]

    def seen(self) -> dict[str, Seen]:
        """What every file should look like to the system."""
        rows = self.base.rows("SELECT path, size, changed, inode FROM file")
        return {path: Seen(*rest) for path, *rest in rows}

    def commit(self, state: State, paths: Iterable[str], apply: Callable[[], None]) -> None:
        """Go as far as ``state`` says, with ``paths`` still to be put into place."""
        with self.base.transaction():
            apply()
            self.base.run_many(
                "INSERT OR REPLACE INTO pending VALUES (?, 1)", ((path,) for path in paths)
            )
            row = (state.commit, state.cursor, state.stamp)
            self.base.run("INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?)", row)

    def finish(self, seen: Iterable[tuple[str, Seen]]) -> None:
        """Everything is in place, and looks to the system as told."""
        with self.base.transaction():
            self._note(seen)
            self.base.run("DELETE FROM pending")

    def saw(self, seen: Sequence[tuple[str, Seen]]) -> None:
        """Files look different to the system, and are the same."""
        if seen:
            with self.base.transaction():
                self._note(seen)

    def unfinished(self) -> list[str]:
        """Files that a commit has, and that may not be in place."""
        return self._pending(1)

    def changed(self) -> list[str]:
        """Files that somebody else changed, and that the next commit puts back."""
        return self._pending(0)

    def set_changed(self, paths: Iterable[str]) -> None:
        """Exactly these were changed by somebody else."""
        with self.base.transaction():
            self.base.run("DELETE FROM pending WHERE committed = 0")
            self.base.run_many(
                "INSERT OR IGNORE INTO pending VALUES (?, 0)", ((path,) for path in paths)
            )

    def _note(self, seen: Iterable[tuple[str, Seen]]) -> None:
        self.base.run_many(
            "UPDATE file SET size = ?, changed = ?, inode = ? WHERE path = ?",
            ((each.size, each.changed, each.inode, path) for path, each in seen),
        )

    def _pending(self, committed: int) -> list[str]:
        rows = self.base.rows(
            "SELECT path FROM pending WHERE committed = ? ORDER BY path", (committed,)
        )
        return [path for (path,) in rows]
