"""A published tree in a real git repository: owners commit their bases, a worker the rest."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import closing
from itertools import count
from pathlib import Path

from published import MemoryTree
from renderer.paths import is_owned
from renderer.publish.git import GitPublisher
from renderer.tree import Told

_NUMBERS = count(1)


def opened(path: Path) -> GitPublisher:
    """The repository at ``path``, made where there is none."""
    return GitPublisher.open(str(path), now=lambda: 1_700_000_000)


def publish(path: Path, tree: MemoryTree) -> None:
    """Commit the files of ``tree``, each as whoever it belongs to."""
    opened(path).close()
    owners_commit(path, {name: each for name, each in tree.files.items() if not is_owned(name)})
    with closing(opened(path)) as publisher:
        draft = publisher.begin(publisher.head())
        for name, content in tree.files.items():
            if is_owned(name):
                draft.write(name, content)
        draft.commit(Told("Render", "because", f"c{next(_NUMBERS)}", "format=1 settings=x"))


def owners_commit(path: Path, files: Mapping[str, bytes]) -> None:
    """A commit of somebody who owns bases."""
    branch = "refs/heads/main"
    known = subprocess.run(
        ["git", "-C", str(path), "rev-parse", "--verify", "-q", branch],
        capture_output=True,
        check=False,
    )
    parent = b"from refs/heads/main^0\n" if known.returncode == 0 else b""
    stream = [b"commit refs/heads/main\ncommitter Owner <o@example.com> 1700000000 +0000\n"]
    stream += [_data(f"Owners' commit {next(_NUMBERS)}".encode()), parent]
    stream += [f"M 100644 inline {name}\n".encode() + _data(files[name]) for name in sorted(files)]
    subprocess.run(
        ["git", "-C", str(path), "fast-import", "--quiet"],
        input=b"".join(stream),
        check=True,
        timeout=60,
    )


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)
