"""Where a branch is kept: what a publisher needs to know of it, and a repository on this machine.

``Place`` has two forms: ``Bare`` here, and ``Mirror`` of a repository elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from graph.model.errors import Conflict, Invalid, Unavailable
from renderer.git.conversation import Conversation
from renderer.git.landing import unwritten
from renderer.git.process import Git

ZEROS = "0" * 40


class Place(Protocol):
    """A branch, wherever it is."""

    @property
    def git(self) -> Git:
        """The repository on this machine through which it is read and written."""
        ...

    @property
    def reference(self) -> str:
        """The full name of the branch."""
        ...

    def refresh(self) -> None:
        """Bring what the branch points at to this machine."""
        ...

    def deepen(self) -> bool:
        """Bring more of its history; False if there is no more."""
        ...

    def move(self, new: str, old: str) -> None:
        """Let the branch point at ``new`` if it points at ``old`` (empty: at nothing)."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...


class Bare:
    """A branch of a bare repository on this machine, which others may write as well."""

    def __init__(self, git: Git, branch: str) -> None:
        self.git = git
        self.reference = f"refs/heads/{branch}"
        self._talk: Conversation | None = None

    def refresh(self) -> None:
        """Nothing to do: it is here."""

    def deepen(self) -> bool:
        """There is no more than what is here."""
        return False

    def move(self, new: str, old: str) -> None:
        """Compare and swap, by a git that stays; by another one where that fails, to learn why."""
        if self._moved(new, old or ZEROS):
            return
        done = self.git.run("update-ref", self.reference, new, old or ZEROS)
        if done.code == 0:
            return
        tip = tip_of(self.git, self.reference)
        if tip == new:
            return
        if tip != old:
            raise overtaken(self.reference)
        raise self.git.failed("update-ref", done)

    def close(self) -> None:
        """End the git that stays."""
        if self._talk is not None:
            self._talk.close()
            self._talk = None

    def _moved(self, new: str, old: str) -> bool:
        try:
            if self._talk is None:
                self._talk = Conversation(self.git, "update-ref", "--stdin")
            self._talk.say(f"start\nupdate {self.reference} {new} {old}\nprepare\ncommit\n")
            answers = [self._talk.line() for _ in range(3)]
        except OSError:
            self.close()
            return False
        except BaseException:
            self.close()
            raise
        return answers == [b"start: ok", b"prepare: ok", b"commit: ok"]


def prepare(git: Git, branch: str) -> None:
    """See that there is a bare repository, making one where there is nothing."""
    directory = git.directory
    if _is_vacant(directory):
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritten(directory, error) from error
        git.ask("init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}")
        return
    done = git.run("rev-parse", "--is-bare-repository", "--show-object-format")
    if done.code and "dubious ownership" in done.said:
        raise Unavailable(
            f"{directory} belongs to another user",
            hint="let the worker run as that user, or give it the repository",
        )
    if done.code:
        raise Invalid(
            f"{directory} is no git repository",
            hint="give an empty directory, or a repository made by git init --bare",
        )
    if done.out.split() != [b"true", b"sha1"]:
        raise Invalid(
            f"{directory} is no bare repository of the usual kind",
            hint="give a bare one (git init --bare) with SHA-1 ids; the worker uses no work tree",
        )


def tip_of(git: Git, reference: str) -> str:
    """What a branch points at; empty if there is none."""
    done = git.run("rev-parse", "--quiet", "--verify", f"{reference}^{{commit}}")
    return done.out.decode().strip() if done.code == 0 else ""


def overtaken(reference: str) -> Conflict:
    """What to raise where another commit came first."""
    return Conflict(
        f"{reference} was moved by somebody else",
        hint="plan again on top of the new head; nothing was changed",
    )


def _is_vacant(directory: Path) -> bool:
    return not directory.exists() or (directory.is_dir() and not any(directory.iterdir()))
