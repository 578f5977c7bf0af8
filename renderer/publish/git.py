"""Publishing to a branch of a git repository: one commit moves output and cursor together.

The cursor is in the commit (``renderer.git.telling``), so nothing else has to be remembered. Files
become objects as they are written; the commit is made of the parent's trees, of which only changed
directories are made again; the branch moves by compare and swap. History is a line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from graph.model.errors import Invalid, Rejected, Unavailable
from renderer.git.access import Access, Identity, Limits, checked_branch, checked_url, is_url
from renderer.git.editing import Edit
from renderer.git.landing import Landing
from renderer.git.mirror import Mirror
from renderer.git.objects import EMPTY, NOTHING, Commit, Entries, Id, encode_tree, object_id
from renderer.git.ownership import OWNED_DEPTH, merged, owned_digest, pushed
from renderer.git.place import Bare, Place, prepare
from renderer.git.process import Git
from renderer.git.reading import Objects
from renderer.git.sealing import Seal
from renderer.git.telling import message, trailers
from renderer.git.tidying import tidy
from renderer.git.tree import GitTree
from renderer.publish.allowed import allowed
from renderer.tree import Head, Told

Step = Callable[[str], None]


def _unobserved(step: str) -> None:
    """Nobody watches."""


class GitPublisher:
    """A branch to publish to; ``Publisher`` of ``renderer.tree``."""

    def __init__(self, place: Place, now: Callable[[], int], step: Step = _unobserved) -> None:
        self._place = place
        self._objects = Objects(place.git)
        self._seal = Seal(place.git, now)
        self._step = step

    @staticmethod
    def open(
        place: str,
        *,
        now: Callable[[], int],
        branch: str = "main",
        mirror: Path | None = None,
        identity: Identity | None = None,
        access: Access | None = None,
        limits: Limits | None = None,
        step: Step = _unobserved,
        pause: Callable[[float], None] = time.sleep,
    ) -> GitPublisher:
        """The branch of the bare repository at ``place``: a path or a URL.

        What is not there at a path is made. A URL needs a directory of the worker's own for the
        ``mirror``. ``now`` gives the seconds a commit is dated with. ``step`` is told the name of
        each step of a commit when it is done.
        """
        checked_branch(branch)
        limits, access = limits or Limits(), access or Access()
        identity = identity or Identity()
        if not is_url(place):
            git = Git(Path(place).absolute(), limits, access, identity)
            prepare(git, branch)
            return GitPublisher(Bare(git, branch), now, step)
        url = checked_url(place)
        if mirror is None:
            raise Invalid(
                "a remote repository needs a directory for its mirror",
                hint="give the worker a directory of its own",
            )
        git = Git(mirror.absolute(), limits, access, identity)
        there = Mirror(git, branch, url, pause)
        try:
            prepare(there.git, branch)
            there.heal()
        except BaseException:
            there.close()
            raise
        return GitPublisher(there, now, step)

    def head(self) -> Head:
        """The newest, fetched from where it is kept."""
        self._place.refresh()
        found = self._objects.tip(self._place.reference)
        if found is None:
            return Head(NOTHING, None, "", GitTree(self._objects, None))
        tip, commit = found
        ours = self._newest(commit)
        if ours is None:
            return Head(tip.hex(), None, "", GitTree(self._objects, commit.tree))
        made, cursor, stamp = ours
        tree, restored = merged(self._objects, made.tree, commit.tree)
        changed = pushed(self._objects, made.tree, commit.tree)
        before = GitTree(self._objects, made.tree)
        return Head(tip.hex(), cursor, stamp, tree, restored, changed, before)

    def begin(self, head: Head) -> GitDraft:
        """The next commit, on top of ``head``."""
        if not isinstance(head.tree, GitTree):
            raise TypeError("a head of another publisher cannot be gone on from")
        return GitDraft(self._place, self._objects, self._seal, self._step, head, head.tree)

    def tidy(self) -> bool:
        """Join loose objects and packs where they have become many; whether there was need."""
        done = tidy(self._place.git)
        if done:
            self._objects.close()  # the next question opens the new packs, and lets go of the old
        return done

    def close(self) -> None:
        """Give back what is held."""
        self._objects.close()
        self._place.close()

    def _newest(self, commit: Commit) -> tuple[Commit, str, str] | None:
        """The newest commit of a worker on the line of first parents."""
        for _ in range(self._place.git.limits.commits_max):
            if found := trailers(commit.message):
                cursor, stamp, owned = found
                if owned == owned_digest(GitTree(self._objects, commit.tree)):
                    return commit, cursor, stamp
            if not commit.parents:
                return None
            commit = self._parent(commit.parents[0])
        raise Rejected(
            f"none of the newest {self._place.git.limits.commits_max:,} commits of "
            f"{self._place.reference} is the worker's",
            hint="look further back (commits_max), or let the worker begin on a branch of its own",
        )

    def _parent(self, wanted: Id) -> Commit:
        while (found := self._objects.commit(wanted)) is None:
            if not self._place.deepen():
                raise Unavailable(
                    f"the history of {self._place.reference} ends at {wanted.hex()}",
                    hint="give a repository with its whole history (git fetch --unshallow)",
                )
        return found


class GitDraft:
    """The next commit; ``Draft`` of ``renderer.tree``. It is used once."""

    def __init__(
        self,
        place: Place,
        objects: Objects,
        seal: Seal,
        step: Step,
        head: Head,
        tree: GitTree,
    ) -> None:
        self._place = place
        self._objects = objects
        self._seal = seal
        self._step = step
        self._head = head
        self._tree = tree
        self._edit = Edit(tree.root, tree.entries)
        self._landing = Landing(place.git.directory / "objects")
        self._upper: dict[Id, Entries] = dict(tree.made)
        """Directories near the root that are in no repository yet."""

    def write(self, path: str, content: bytes) -> None:
        """A file, new or instead of what was there; its content leaves memory here."""
        name = object_id(b"blob", content)
        if self._edit.write(allowed(path), name):
            self._landing.put(b"blob", content, name)

    def remove(self, path: str) -> None:
        """A file or a whole directory goes, if it is there."""
        self._edit.remove(allowed(path))

    def changes(self) -> Mapping[str, bool]:
        """Files that would differ from the head: True written, False gone."""
        return dict(self._edit.changes())

    def commit(self, told: Told) -> Head | None:
        """Make it the head, or None where no file differs; ``Conflict`` if another came first."""
        try:
            return self._commit(told)
        finally:
            self._landing.drop()

    def abandon(self) -> None:
        """Leave everything as it was."""
        self._landing.drop()

    def _commit(self, told: Told) -> Head | None:
        tip = bytes.fromhex(self._head.commit) or None
        root = self._edit.seal(self._landing.put, self._keep) or self._landing.put(b"tree", b"")
        if root == (self._tree.root or EMPTY) and root == self._standing(tip):
            return None
        self._step("sealed")
        for name, entries in self._tree.made.items():
            self._landing.put(b"tree", encode_tree(entries), name)
        owned = owned_digest(GitTree(self._objects, root, self._upper))
        made = self._seal.commit(self._landing, root, tip, message(told, owned)).hex()
        self._step("landed")
        self._place.move(made, self._head.commit)
        self._step("moved")
        return Head(made, told.cursor, told.stamp, GitTree(self._objects, root))

    def _keep(self, name: Id, entries: Entries, depth: int) -> None:
        self._objects.keep(name, entries)
        if depth <= OWNED_DEPTH:
            self._upper[name] = entries

    def _standing(self, tip: Id | None) -> Id:
        """The tree of the tip: other than the head's where somebody changed owned paths."""
        commit = self._objects.commit(tip) if tip else None
        return commit.tree if commit else EMPTY
