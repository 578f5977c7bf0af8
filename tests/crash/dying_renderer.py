"""``trellis render`` that kills itself right after a step, once a file says that it is time.

    python dying_renderer.py STEP FILE render --once ...

The steps are those of a commit (``renderer.publish.git``) and the worker's own around them.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from cli.main import main
from renderer.publish.git import GitDraft, GitPublisher
from renderer.source.socket import SocketSource
from renderer.work.publishing import Publishing

STEPS = ("looked", "begun", "taken", "planned", "sealed", "landed", "moved", "committed", "told")


def die_after(step: str, armed: Path) -> None:
    """See to it."""

    def done(name: str) -> None:
        if name == step and armed.exists():
            os.kill(os.getpid(), signal.SIGKILL)

    opened = GitPublisher.open
    GitPublisher.open = staticmethod(wraps(opened)(lambda *a, **k: opened(*a, **k, step=done)))
    _tell(Publishing, "look", "looked", done)
    _tell(Publishing, "begin", "begun", done)
    _tell(Publishing, "finish", "planned", done)
    _tell(SocketSource, "report", "told", done)
    written, commit = GitDraft.write, GitDraft.commit
    setattr(GitDraft, "write", lambda *a: (written(*a), done("taken"))[0])  # noqa: B010
    setattr(GitDraft, "commit", lambda *a: (commit(*a), done("committed"))[0])  # noqa: B010


def _tell(owner: type, name: str, step: str, done: Callable[[str], None]) -> None:
    before = getattr(owner, name)

    async def told(*given: Any, **named: Any) -> Any:
        found = await before(*given, **named)
        done(step)
        return found

    setattr(owner, name, told)


if __name__ == "__main__":
    die_after(sys.argv[1], Path(sys.argv[2]))
    del sys.argv[1:3]
    main()
