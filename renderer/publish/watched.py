"""A publisher that others look at while a worker publishes to it.

Whoever looks sees the newest commit there is; while the worker is busy with the next one, the
newest that was seen. So a mirror is never fetched in the middle of a commit, and nobody waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from graph.model.errors import Unavailable
from renderer.tree import Draft, Head, Publisher, Told


class Watched:
    """A ``Publisher`` of ``renderer.tree``, and what looks at it."""

    def __init__(self, publisher: Publisher, committed: Callable[[], None] = lambda: None) -> None:
        self._publisher = publisher
        self._committed = committed
        self._lock = threading.Lock()
        self._drafts = 0
        self._newest: Head | None = None

    def look(self) -> Head:
        """The newest commit, on any thread."""
        if not self._lock.acquire(blocking=self._newest is None):
            return self._seen()
        try:
            if not self._drafts:
                self._newest = self._publisher.head()
            return self._seen()
        finally:
            self._lock.release()

    def head(self) -> Head:
        """The newest, for the worker."""
        with self._lock:
            self._newest = self._publisher.head()
            return self._newest

    def begin(self, head: Head) -> Draft:
        """The next commit; until it is made or abandoned, nobody disturbs it."""
        with self._lock:
            draft = self._publisher.begin(head)
            self._drafts += 1
            return _WatchedDraft(draft, self._end)

    def close(self) -> None:
        """Give back what is held."""
        with self._lock:
            self._publisher.close()

    def _end(self, head: Head | None) -> None:
        with self._lock:
            self._drafts -= 1
            self._newest = head or self._newest
        if head is not None:
            self._committed()

    def _seen(self) -> Head:
        if self._newest is None:
            raise Unavailable("nothing is published yet", hint="try again when the worker has been")
        return self._newest


class _WatchedDraft:
    """A ``Draft`` of ``renderer.tree`` that says when it is over."""

    def __init__(self, draft: Draft, end: Callable[[Head | None], None]) -> None:
        self._draft = draft
        self._end = end
        self._over = False

    def write(self, path: str, content: bytes) -> None:
        """A file, new or instead of what was there."""
        self._draft.write(path, content)

    def remove(self, path: str) -> None:
        """A file or a whole directory goes."""
        self._draft.remove(path)

    def changes(self) -> Mapping[str, bool]:
        """Files that would differ from the head."""
        return self._draft.changes()

    def commit(self, told: Told) -> Head | None:
        """Make it the head."""
        found: Head | None = None
        try:
            found = self._draft.commit(told)
            return found
        finally:
            self._finish(found)

    def abandon(self) -> None:
        """Leave everything as it was."""
        try:
            self._draft.abandon()
        finally:
            self._finish(None)

    def _finish(self, head: Head | None) -> None:
        if not self._over:
            self._over = True
            self._end(head)
