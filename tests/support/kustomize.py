"""The real kustomize: the first of ``kustomize``, ``kubectl kustomize``, and one built by Go.

The last is installed once into the user's cache directory. Where none is to be had the test is
skipped and says what was missing; with ``kustomize`` in TRELLIS_TEST_REQUIRE it fails instead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

MODULE = "sigs.k8s.io/kustomize/kustomize/v5@v5.8.2"
INSTALL_SECONDS = 300
BUILD_SECONDS = 60
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The same reader, ten times as fast where libyaml is there."""


class NotBuilt(Exception):
    """What kustomize says when it refuses."""


def build(directory: Path) -> list[dict[str, Any]]:
    """The objects of a directory, read as Kubernetes reads YAML; ``NotBuilt`` if it does not."""
    read = yaml.load_all(output(directory), Loader=_LOADER)
    return [each for each in read if each is not None]


def output(directory: Path) -> str:
    """What a directory builds to, as text."""
    done = subprocess.run(
        [*_required(), str(directory)],
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise NotBuilt(done.stderr)
    return done.stdout


def found(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    """The one object of a kind and name."""
    (one,) = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    return one


def command() -> list[str]:
    """The words that go before a directory; where there are none the test ends here."""
    return _required()


def header() -> str:
    """Which one it is, for the top of a test run; nothing is installed for that."""
    command = _at_hand()
    if command:
        return f"kustomize: {' '.join(command)}"
    go = shutil.which("go")
    return f"kustomize: {MODULE}, by {go}" if go else "kustomize: NONE, and no Go to build one"


def _at_hand() -> list[str] | None:
    if alone := shutil.which("kustomize"):
        return [alone, "build"]
    if (kubectl := shutil.which("kubectl")) and _has_kustomize(kubectl):
        return [kubectl, "kustomize"]
    if (installed := _cache() / "kustomize").exists():
        return [str(installed), "build"]
    return None


def _has_kustomize(kubectl: str) -> bool:
    asked = [kubectl, "kustomize", "--help"]
    return subprocess.run(asked, capture_output=True, timeout=20, check=False).returncode == 0


def _required() -> list[str]:
    command = _found()
    if isinstance(command, list):
        return command
    if "kustomize" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"kustomize is required here: {command}")
    pytest.skip(f"NOT BUILT WITH KUSTOMIZE: {command}")


@cache
def _found() -> list[str] | str:
    """The command, or what was missing; asked once."""
    return _at_hand() or _install()


def _install() -> list[str] | str:
    go = shutil.which("go")
    if go is None:
        return "neither kustomize nor kubectl nor go is on the path"
    done = subprocess.run(
        [go, "install", MODULE],
        env=os.environ | {"GOBIN": str(_cache()), "GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        return f"go could not install {MODULE}: {done.stderr[-300:]}"
    return [str(_cache() / "kustomize"), "build"]


def _cache() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "trellis" / MODULE.rpartition("@")[2]
