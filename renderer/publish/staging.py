"""Files on their way into a record: kept in a temporary table, so that memory stays flat."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import compress, decompress

from renderer.git.objects import Id
from renderer.publish.database import Database

_LEVEL = 1


class Staging:
    """What draft number ``draft`` would change. No content: the file goes."""

    def __init__(self, base: Database, draft: int) -> None:
        self._base = base
        self._draft = draft
        self._directories: set[str] = set()

    def write(self, path: str, name: Id, content: bytes) -> None:
        """A file, and whatever is in its way goes."""
        if name == self._current(path):
            return
        self._make_way(path)
        self._base.run(
            "INSERT OR REPLACE INTO staged VALUES (?, ?, ?, ?)",
            (self._draft, path, name, compress(content, _LEVEL)),
        )

    def remove(self, path: str) -> None:
        """A file, or everything below a directory, goes."""
        self._directories.clear()
        at = {"draft": self._draft, "path": path, "from": f"{path}/", "to": f"{path}0"}
        self._base.run(
            "DELETE FROM staged WHERE draft = :draft"
            " AND (path = :path OR (path >= :from AND path < :to))",
            at,
        )
        self._base.run(
            "INSERT INTO staged SELECT :draft, path, NULL, NULL FROM file"
            " WHERE path = :path OR (path >= :from AND path < :to)",
            at,
        )

    def changes(self) -> dict[str, bool]:
        """Paths that differ from the record: True written, False gone."""
        rows = self._base.rows(
            "SELECT staged.path, staged.id IS NOT NULL FROM staged"
            " LEFT JOIN file ON file.path = staged.path"
            " WHERE draft = ? AND staged.id IS NOT file.id ORDER BY staged.path",
            (self._draft,),
        )
        return {path: bool(written) for path, written in rows}

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Files that are to be written, one at a time."""
        for path, written in self.changes().items():
            if written:
                row = self._base.row(
                    "SELECT content FROM staged WHERE draft = ? AND path = ?", (self._draft, path)
                )
                assert row is not None
                yield path, decompress(row[0])

    def apply(self) -> None:
        """Make it the record; inside a transaction."""
        self._base.run(
            "DELETE FROM file WHERE path IN"
            " (SELECT path FROM staged WHERE draft = ? AND id IS NULL)",
            (self._draft,),
        )
        self._base.run(
            "INSERT OR REPLACE INTO file (path, id, content)"
            " SELECT path, id, content FROM staged WHERE draft = ? AND id IS NOT NULL",
            (self._draft,),
        )

    def drop(self) -> None:
        """Forget it."""
        self._base.run("DELETE FROM staged WHERE draft = ?", (self._draft,))

    def _current(self, path: str) -> Id | None:
        row = self._base.row(
            "SELECT id FROM staged WHERE draft = ? AND path = ?", (self._draft, path)
        ) or self._base.row("SELECT id FROM file WHERE path = ?", (path,))
        return row[0] if row else None

    def _make_way(self, path: str) -> None:
        """No file may stand where a directory is needed, and the other way round."""
        if self._base.row(
            "SELECT 1 FROM file WHERE path >= ? AND path < ? UNION ALL"
            " SELECT 1 FROM staged WHERE draft = ? AND path >= ? AND path < ?",
            (f"{path}/", f"{path}0", self._draft, f"{path}/", f"{path}0"),
        ):
            self.remove(path)
        parent = path.rpartition("/")[0]
        while parent and parent not in self._directories:
            if self._current(parent) is not None:
                self.remove(parent)
            self._directories.add(parent)
            parent = parent.rpartition("/")[0]
