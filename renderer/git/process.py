"""Running git: always with the same small environment, and never for longer than allowed.

Nobody's configuration and no hook has a say. Options go through the environment of the child, not
its arguments. A command that takes too long is ended together with whatever it started.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph.model.errors import Unavailable
from renderer.git.access import PROTOCOLS, Access, Identity, Limits

_LOCKED = re.compile(r"Unable to create '([^'\n]+\.lock)': File exists")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\n]")
_SAID_LENGTH_MAX = 1_000
_PAUSE_SECONDS = 0.05
_PATIENCE_SECONDS = 1.0
"""How long git itself waits for a lock, where it can; the rest of the wait is ours."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: bytes
    said: str
    """What it wrote for people."""


@dataclass(frozen=True, slots=True)
class Git:
    """Git, at one repository."""

    directory: Path
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
    identity: Identity = field(default_factory=Identity)
    kept_open: tuple[int, ...] = ()
    """Handles every child inherits: a lock on them is held until the last child is gone."""

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A command that stays, with its input and output open."""
        return self._started(arguments, {}, subprocess.DEVNULL)

    def run(
        self,
        *arguments: str,
        said: bytes = b"",
        timeout_seconds: float | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Done:
        """A command, to its end; a lock somebody holds is waited for, as long as allowed."""
        until = time.monotonic() + self.limits.lock_timeout_seconds
        while True:
            done = self._once(arguments, said, timeout_seconds, extra or {})
            locked = _LOCKED.search(done.said) if done.code else None
            if locked is None:
                return done
            if time.monotonic() >= until:
                raise _held(locked[1])
            time.sleep(_PAUSE_SECONDS)

    def ask(self, *arguments: str, said: bytes = b"") -> str:
        """What a command answers; ``Unavailable`` if it fails."""
        done = self.run(*arguments, said=said)
        if done.code:
            raise self.failed(arguments[0], done)
        return done.out.decode("utf-8", "replace").strip()

    def failed(self, verb: str, done: Done) -> Unavailable:
        """What to raise for a command that failed."""
        return Unavailable(
            f"git {verb} failed at {self.directory}: {done.said or f'exit code {done.code}'}",
            hint="put right what git says; the worker goes on from the last commit",
        )

    def _once(
        self,
        arguments: Sequence[str],
        said: bytes,
        timeout_seconds: float | None,
        extra: Mapping[str, str],
    ) -> Done:
        allowed = timeout_seconds or self.limits.command_timeout_seconds
        with self._started(arguments, extra, subprocess.PIPE) as child:
            try:
                out, error = child.communicate(said, timeout=allowed)
            except subprocess.TimeoutExpired:
                raise Unavailable(
                    f"git {arguments[0]} took longer than {allowed:,.0f} s and was stopped",
                    hint="see whether the disk and the remote answer, or allow more time",
                ) from None
            finally:
                end(child)
        return Done(child.returncode, out, _told(error))

    def _started(
        self, arguments: Sequence[str], extra: Mapping[str, str], error: int
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - no shell, and every argument is made here
            [_program(), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=error,
            env=self._environment(extra),
            pass_fds=self.kept_open,
            start_new_session=True,
        )

    def _environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        options = list(self._options())
        return {
            "PATH": os.pathsep.join(os.get_exec_path()),  # where programs are, as for any child
            "GIT_DIR": str(self.directory),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_COUNT": str(len(options)),
            **{f"GIT_CONFIG_KEY_{at}": key for at, (key, _) in enumerate(options)},
            **{f"GIT_CONFIG_VALUE_{at}": value for at, (_, value) in enumerate(options)},
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C",
            **extra,
        }

    def _options(self) -> Sequence[tuple[str, str]]:
        patience = str(int(min(self.limits.lock_timeout_seconds, _PATIENCE_SECONDS) * 1_000))
        return [
            ("core.hooksPath", os.devnull),
            ("core.fsync", "committed"),
            ("core.filesRefLockTimeout", patience),
            ("core.packedRefsTimeout", patience),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("http.lowSpeedLimit", "1"),
            ("http.lowSpeedTime", str(int(self.limits.command_timeout_seconds))),
            ("core.sshCommand", _ssh(self.access)),
            ("credential.helper", ""),  # an empty one forgets those of the repository
            *([("credential.helper", helper)] if (helper := self.access.credential_helper) else []),
            *([("http.sslCAInfo", str(ca))] if (ca := self.access.ca_file) else []),
            *([("gpg.format", signing.format)] if (signing := self.identity.signing) else []),
        ]


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child and what it started, if it still runs."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _program() -> str:
    found = shutil.which("git")
    if found is None:
        raise Unavailable("there is no git on this machine", hint="install git 2.34 or newer")
    return found


def _ssh(access: Access) -> str:
    words = ["ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"]
    if access.key_file:
        words += ["-i", str(access.key_file), "-o", "IdentitiesOnly=yes"]
    if access.known_hosts:
        words += ["-o", f"UserKnownHostsFile={access.known_hosts}"]
    return shlex.join(words)


def _told(error: bytes) -> str:
    text = _UNPRINTABLE.sub("?", error.decode("utf-8", "replace")).strip()
    return text if len(text) <= _SAID_LENGTH_MAX else f"{text[:_SAID_LENGTH_MAX]}…"


def _held(lock: str) -> Unavailable:
    return Unavailable(
        f"another process holds {lock}",
        hint="if no git runs there any more, remove that file; the worker goes on by itself",
    )
