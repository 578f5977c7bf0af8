"""The peers' own suites and clients, installed by npm, against the real serving process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from serving import sample as sample
from serving import server as server

HERE = Path(__file__).parent
INSTALL_SECONDS = 300
RUN_SECONDS = 120

Node = Callable[..., object]


@pytest.fixture(scope="session")
def modules() -> Path:
    """What package-lock.json pins, installed once; a loud skip where npm cannot."""
    mark = HERE / "node_modules" / ".package-lock.json"
    lock = HERE / "package-lock.json"
    if not mark.exists() or mark.stat().st_mtime < lock.stat().st_mtime:
        missing = _install()
        if missing:
            _give_up(missing)
    return HERE / "node_modules"


@pytest.fixture(scope="session")
def node(modules: Path) -> Node:
    """Run a script to its end; the JSON it printed."""

    def run(script: str, *arguments: str, given: object = None) -> object:
        done = subprocess.run(
            ["node", script, *arguments],
            cwd=HERE,
            input=None if given is None else json.dumps(given),
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def _install() -> str:
    """Install, or say what was missing."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return "node and npm are not on the path"
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
    try:
        done = subprocess.run(
            command, cwd=HERE, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"npm took longer than {INSTALL_SECONDS} s"
    return "" if done.returncode == 0 else f"npm could not install: {done.stderr[-500:]}"


def _give_up(missing: str) -> None:
    if "node" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"the peers' suites are required here: {missing}")
    pytest.skip(f"THE PEERS' SUITES WERE NOT RUN: {missing}")
