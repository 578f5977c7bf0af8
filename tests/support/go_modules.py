"""Files that projects ship inside their Go modules, fetched when a test first asks for them.

Their sums are pinned here. A module is unpacked even where it asks for a newer Go. Where it cannot
be had the test is skipped and says why; with ``go`` in TRELLIS_TEST_REQUIRE it fails instead.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

FETCH_SECONDS = 300


@dataclass(frozen=True)
class Module:
    """A module at a version, and what its content adds up to."""

    path: str
    version: str
    sum: str


FLUX_KUSTOMIZE = Module(
    "github.com/fluxcd/kustomize-controller",
    "v1.9.5",
    "h1:/XY2zy3K7fntyppEXIHG7oRMzmfgIt50eJzUfaPX1Kc=",
)
FLUX_SOURCE = Module(
    "github.com/fluxcd/source-controller",
    "v1.9.5",
    "h1:MFPyCodUi9hZIMaKDsC/rYbNoyzpvrAdrPVixj7W9F0=",
)
ARGO_CD = Module(
    "github.com/argoproj/argo-cd/v3",
    "v3.5.6",
    "h1:twzdsPiPufKLRtEqD1Jg3FqtuZmSHLTIxs7t6fSkjlk=",
)
EXTERNAL_SECRETS = Module(
    "github.com/external-secrets/external-secrets",
    "v1.3.2",
    "h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=",
)
KUBERNETES = Module(
    "k8s.io/kubernetes",
    "v1.36.3",
    "h1:qDQdoMiluAE2Eab6Fa52YV+WjiGz9mZFFoagEA6cI+o=",
)


def unpacked(module: Module) -> Path:
    """Where a module's files are, or a loud skip; a failure where they are required."""
    found = _fetch(module)
    if isinstance(found, Path):
        return found
    if "go" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"{module.path} is required here: {found}")
    pytest.skip(f"NOT COMPARED WITH {module.path}: {found}")


@cache
def _fetch(module: Module) -> Path | str:
    """The directory, or what was missing; asked once."""
    go = shutil.which("go")
    if go is None:
        return "go is not on the path"
    with tempfile.TemporaryDirectory() as nowhere:
        done = subprocess.run(
            [go, "mod", "download", "-json", f"{module.path}@{module.version}"],
            cwd=nowhere,
            env=os.environ | {"GOFLAGS": "-mod=mod", "GOSUMDB": "off", "GOTOOLCHAIN": "local"},
            capture_output=True,
            text=True,
            timeout=FETCH_SECONDS,
            check=False,
        )
    if done.returncode != 0:
        return f"go could not fetch it: {done.stdout[-300:]}{done.stderr[-300:]}"
    told = json.loads(done.stdout)
    assert told["Sum"] == module.sum, f"{module.path} is not what it was"
    return Path(told["Dir"])
