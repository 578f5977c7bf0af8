"""Overlays built by the real kustomize before they are published, where a worker is told to.

What can be told by reading covers what is common. A patch that finds no object, or a field that
only some version of kustomize knows, shows when it is built. Each overlay is built alone, with what
its owners have pushed, in a directory that is gone afterwards.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from graph.model.errors import Invalid
from graph.model.names import quoted, shortened
from renderer import paths
from renderer.failure import Failure
from renderer.overlay.owners import files_below
from renderer.tree import Tree

_MESSAGE_LENGTH_MAX = 300


class Builder:
    """Builds directories with a command."""

    def __init__(self, command: Sequence[str], seconds_max: float) -> None:
        self._command = command
        self._path = os.pathsep.join((str(Path(command[0]).parent), os.defpath))
        self._seconds_max = seconds_max

    @staticmethod
    def of(command: str, seconds_max: float) -> Builder | None:
        """A builder that runs ``command``; None where there is none to run."""
        words = command.split()
        if not words:
            return None
        found = shutil.which(words[0])
        if found is None:
            raise Invalid(
                f"there is no program {quoted(words[0])} to build with",
                hint="install it, or correct TRELLIS_RENDER_BUILD_WITH",
            )
        return Builder((found, *words[1:]), seconds_max)

    def failure(
        self,
        application: str,
        key: str,
        files: Mapping[str, bytes],
        tree: Tree,
        borrowed: Iterable[str] = (),
    ) -> Failure | None:
        """Why an overlay does not build; None if it does."""
        directory = paths.overlay(application, key)
        with TemporaryDirectory(prefix="trellis-build-") as place:
            root = Path(place)
            needed = {f"{directory}/{name}": content for name, content in files.items()}
            for path in (f"apps/{application}", *borrowed):
                needed |= files_below(path, tree)
            for path, content in needed.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(content)
            return self._built(root, directory)

    def _built(self, root: Path, directory: str) -> Failure | None:
        try:
            done = subprocess.run(  # noqa: S603  # the operator's own command
                [*self._command, str(root / directory)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self._seconds_max,
                check=False,
                cwd=root,
                env={"PATH": self._path, "HOME": str(root)},
            )
        except subprocess.TimeoutExpired:
            return Failure(
                f"took more than {self._seconds_max:g} s to build",
                "make it smaller, or give it longer with TRELLIS_RENDER_BUILD_SECONDS_MAX",
            )
        if done.returncode == 0:
            return None
        said = " ".join(done.stderr.replace(f"{root}/", "").split())
        message = shortened(said[-_MESSAGE_LENGTH_MAX:], _MESSAGE_LENGTH_MAX)
        return Failure(
            f"does not build: {message}", f"build it to see: kustomize build {directory}"
        )
