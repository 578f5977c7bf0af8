"""Objects of a repository, read through one ``git cat-file --batch`` that stays.

Questions are sent many at a time and answered in order. A portion of questions fits into a pipe, so
neither side ever waits for the other to read first. Directories are kept, parsed, up to a bound;
files are not. Whoever asks may be any thread: one asks at a time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from graph.model.errors import Rejected, Unavailable
from renderer.git.conversation import Conversation
from renderer.git.objects import Commit, Entries, Id, parse_commit, parse_tree
from renderer.git.process import Git

_PORTION = 1_000
"""Questions sent at once: 41 bytes each, and a pipe holds 65,536."""
_KEPT_ENTRIES_MIN = 8


class Objects:
    """The objects of one repository."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._talk: Conversation | None = None
        self._trees = _Kept(git.limits.tree_entries_max)

    def commit(self, wanted: Id) -> Commit | None:
        """A commit; None if it is not there."""
        found = self._one(wanted.hex(), b"commit")
        return parse_commit(found[1]) if found else None

    def tip(self, reference: str) -> tuple[Id, Commit] | None:
        """What a branch points at right now."""
        found = self._one(reference, b"commit")
        return (bytes.fromhex(found[0]), parse_commit(found[1])) if found else None

    def tree(self, wanted: Id) -> Entries:
        """The entries of a directory."""
        kept = self._trees.get(wanted)
        return self.trees((wanted,))[wanted] if kept is None else kept

    def trees(self, wanted: Iterable[Id]) -> Mapping[Id, Entries]:
        """The entries of many directories."""
        found: dict[Id, Entries] = {}
        missing: list[Id] = []
        for each in dict.fromkeys(wanted):
            kept = self._trees.get(each)
            if kept is None:
                missing.append(each)
            else:
                found[each] = kept
        for each, content in self._many(missing, b"tree"):
            found[each] = parse_tree(content)
            self._trees.put(each, found[each])
        return found

    def keep(self, name: Id, entries: Entries) -> None:
        """A directory that was just made, and is asked for next; small ones are soon read."""
        if len(entries) >= _KEPT_ENTRIES_MIN:
            self._trees.put(name, entries)

    def blobs(self, wanted: Iterable[Id]) -> Iterator[tuple[Id, bytes]]:
        """The contents of many files, in the order asked for."""
        yield from self._many(list(dict.fromkeys(wanted)), b"blob")

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            self._drop()

    def _many(self, wanted: Sequence[Id], kind: bytes) -> Iterator[tuple[Id, bytes]]:
        rest = iter(wanted)
        while portion := list(islice(rest, _PORTION)):
            answers = self._asked([each.hex() for each in portion])
            for each, answer in zip(portion, answers, strict=True):
                if answer is None or answer[1] != kind:
                    raise _damaged(self._git, each.hex())
                yield each, answer[2]

    def _one(self, name: str, kind: bytes) -> tuple[str, bytes] | None:
        answer = self._asked([name])[0]
        if answer is None:
            return None
        if answer[1] != kind:
            raise _damaged(self._git, name)
        return answer[0], answer[2]

    def _asked(self, names: list[str]) -> list[tuple[str, bytes, bytes] | None]:
        with self._lock:
            for last in (False, True):
                try:
                    return self._answers(names)
                except OSError as error:  # it was ended by somebody: once is bad luck
                    self._drop()
                    if last:
                        raise Unavailable(
                            f"git cat-file ended unexpectedly at {self._git.directory}",
                            hint="see whether the machine is short of memory, or the disk is gone",
                        ) from error
                except BaseException:
                    self._drop()  # answers may be left in the pipe
                    raise
        raise AssertionError("the second attempt returns or raises")

    def _answers(self, names: list[str]) -> list[tuple[str, bytes, bytes] | None]:
        if self._talk is None:
            self._talk = Conversation(self._git, "cat-file", "--batch")
        self._talk.say("\n".join(names) + "\n")
        return [self._answer(self._talk) for _ in names]

    def _answer(self, talk: Conversation) -> tuple[str, bytes, bytes] | None:
        head = talk.line().split(b" ")
        if head[-1] in (b"missing", b"ambiguous"):
            return None
        name, kind, digits = head
        size, allowed = int(digits), self._git.limits.blob_bytes_max
        if size > allowed:
            raise Rejected(
                f"{name.decode()} in the repository has {size:,} bytes",
                hint=f"files beyond {allowed:,} bytes are not read",
            )
        return name.decode(), kind, talk.exactly(size + 1)[:-1]

    def _drop(self) -> None:
        if self._talk is not None:
            self._talk.close()
            self._talk = None


class _Kept:
    """Directories by id, the least recently used going first; for any thread."""

    def __init__(self, entries_max: int) -> None:
        self._left = entries_max
        self._lock = threading.Lock()
        self._trees: OrderedDict[Id, Entries] = OrderedDict()

    def get(self, wanted: Id) -> Entries | None:
        with self._lock:
            found = self._trees.get(wanted)
            if found is not None:
                self._trees.move_to_end(wanted)
            return found

    def put(self, name: Id, entries: Entries) -> None:
        with self._lock:
            if name in self._trees:
                return
            self._trees[name] = entries
            self._left -= len(entries) + 4  # a directory of one costs as much as some entries
            while self._left < 0 and len(self._trees) > 1:
                _, gone = self._trees.popitem(last=False)
                self._left += len(gone) + 4


def _damaged(git: Git, name: str) -> Unavailable:
    return Unavailable(
        f"{name} cannot be read at {git.directory}",
        hint="run git fsck there; a damaged repository is restored from a copy or made anew",
    )
