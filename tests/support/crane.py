"""A real client and a real registry: crane, built once from its Go module into the cache directory.

Where Go is not at hand or the module cannot be fetched, the test is skipped and says so; with
``go`` in TRELLIS_TEST_REQUIRE it fails instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

VERSION = "v0.22.1"
MODULE = f"github.com/google/go-containerregistry/cmd/crane@{VERSION}"
BUILD_SECONDS = 400
_PORT = re.compile(r"serving on port (\d+)")


@cache
def _built() -> Path | str:
    """The program, or what is missing."""
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    directory = cached / "trellis" / f"crane-{VERSION.removeprefix('v')}"
    program = directory / "crane"
    if program.is_file():
        return program
    if shutil.which("go") is None:
        return "there is no go on the PATH"
    directory.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            ["go", "install", MODULE],
            env={**os.environ, "GOBIN": str(directory), "GOFLAGS": "-buildvcs=false"},
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it was not built within {BUILD_SECONDS} s"
    return program if program.is_file() else f"go install failed: {done.stderr[-300:]}"


def crane_program() -> Path:
    """The program; without it the test is skipped, or fails where it is required."""
    found = _built()
    if isinstance(found, Path):
        return found
    if "go" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"crane is required here: {found}")
    pytest.skip(f"NOTHING WAS CHECKED AGAINST A REAL REGISTRY OR ITS CLIENT: {found}")


def crane(*arguments: str, config: Path | None = None) -> str:
    """What the client prints."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    if config is not None:
        environment["DOCKER_CONFIG"] = str(config)
    done = subprocess.run(
        [str(crane_program()), *arguments],
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "replace")


@contextmanager
def registry(disk: Path | None = None) -> Iterator[str]:
    """A real registry on a free port of 127.0.0.1; its address."""
    program = crane_program()
    kept = ["--disk", str(disk)] if disk else []
    process = subprocess.Popen(
        [str(program), "registry", "serve", "--address", "127.0.0.1:0", *kept],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        port = None
        for line in process.stderr:
            if found := _PORT.search(line):
                port = found[1]
                break
        assert port, "the registry did not start"
        drain = threading.Thread(target=process.stderr.read)
        drain.start()
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(30)
        drain.join(30)
        process.stderr.close()
