"""A branch of a repository elsewhere, by way of a bare one in the worker's own directory.

The mirror belongs to one worker: a lock that its children share keeps others out, and lets go when
the last of them is gone, so whatever lock file is found on opening was left by the dead. What the
remote says decides: after a push that failed, it is asked where the branch is.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import replace

from graph.model.errors import Unavailable
from renderer.git.lock import hold
from renderer.git.place import overtaken, tip_of
from renderer.git.process import Done, Git

DEEPEN_BY = 200

_HOPELESS = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|Permission denied|not allowed"
    r"|Host key verification failed|not appear to be a git repository|[Rr]epository not found"
    r"|does not exist|certificate|[Ff]orbidden|unauthorized",
    re.IGNORECASE,
)
_REFUSED = re.compile(rb"^!\t[^\t]*\t\[(?:remote )?rejected\] \((.*)\)", re.MULTILINE)


class Mirror:
    """A branch at ``url``."""

    def __init__(
        self, git: Git, branch: str, url: str, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._handle = hold(
            git.directory.with_name(f"{git.directory.name}.lock"),
            f"the mirror {git.directory}",
            git.limits.lock_timeout_seconds,
        )
        self.git = replace(git, kept_open=(self._handle,))
        self.reference = f"refs/heads/{branch}"
        self._url = url
        self._pause = pause

    def heal(self) -> None:
        """Remove lock files that a killed worker left in what is ours alone."""
        for name in ("shallow", "packed-refs", "config", "HEAD", self.reference):
            (self.git.directory / f"{name}.lock").unlink(missing_ok=True)

    def refresh(self) -> None:
        """Fetch what the branch points at, if it is not here."""
        here, there = tip_of(self.git, self.reference), self._tip()
        if here == there:
            return
        if not there:
            self.git.ask("update-ref", "-d", self.reference)
            return
        self._fetch(*(() if here else ("--depth=1",)))

    def deepen(self) -> bool:
        """Fetch more of the history, where it was cut."""
        if not (self.git.directory / "shallow").exists():
            return False
        self._fetch(f"--deepen={DEEPEN_BY}")
        return True

    def move(self, new: str, old: str) -> None:
        """Push, provided the branch is still at ``old``."""
        for attempt in range(1, self.git.limits.attempts_max + 1):
            done = self._transfer(
                "push",
                "--porcelain",
                "--no-verify",
                f"--force-with-lease={self.reference}:{old}",
                self._url,
                f"{new}:{self.reference}",
            )
            if done.code == 0 or (there := self._tip()) == new:
                self.git.ask("update-ref", self.reference, new)
                return
            if there != old:
                raise overtaken(self.reference)
            if (refused := _REFUSED.search(done.out)) or _HOPELESS.search(done.said):
                why = refused[1].decode("utf-8", "replace") if refused else ""
                raise self._refused(why, done)
            self._wait(attempt, "push", done)

    def close(self) -> None:
        """Let another worker have the mirror."""
        os.close(self._handle)

    def _tip(self) -> str:
        done = self._persist("ls-remote", "--quiet", "--refs", self._url, self.reference)
        for line in done.out.decode("utf-8", "replace").splitlines():
            found, _, name = line.partition("\t")
            if name == self.reference:
                return found
        return ""

    def _fetch(self, *options: str) -> None:
        self._persist(
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            *options,
            self._url,
            f"+{self.reference}:{self.reference}",
        )

    def _persist(self, *arguments: str) -> Done:
        attempt = 1
        while (done := self._transfer(*arguments)).code:
            if _HOPELESS.search(done.said):
                raise self._refused("", done)
            self._wait(attempt, arguments[0], done)
            attempt += 1
        return done

    def _transfer(self, *arguments: str) -> Done:
        return self.git.run(*arguments, timeout_seconds=self.git.limits.transfer_timeout_seconds)

    def _wait(self, attempt: int, verb: str, done: Done) -> None:
        limits = self.git.limits
        if attempt >= limits.attempts_max:
            raise Unavailable(
                f"{self._url} does not answer after {attempt:,} attempts of git {verb}: "
                f"{done.said or f'exit code {done.code}'}",
                hint="see whether the remote can be reached; nothing is lost, "
                "the worker publishes again from the last commit",
            )
        self._pause(limits.backoff_seconds * 2 ** (attempt - 1))

    def _refused(self, why: str, done: Done) -> Unavailable:
        told = ": ".join(part for part in (why, done.said) if part)
        return Unavailable(
            f"{self._url} refuses: {told}",
            hint="look at the hooks, the protection of the branch and the worker's credentials; "
            "nothing is lost, the worker publishes again from the last commit",
        )
