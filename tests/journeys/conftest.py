"""The real process and a fleet for it, made once and copied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trellis_process import Trellis


def _trellis(directory: Path) -> Iterator[Trellis]:
    trellis = Trellis(directory, [])
    yield trellis
    for process in trellis.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def trellis(tmp_path: Path) -> Iterator[Trellis]:
    """The command in an empty directory."""
    yield from _trellis(tmp_path)


@pytest.fixture(scope="session")
def fleet_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample fleet as JSON lines."""
    directory = tmp_path_factory.mktemp("fleet")
    for trellis in _trellis(directory):
        trellis("generate", "--clusters", "2000", "-o", "fleet.jsonl")
    return directory / "fleet.jsonl"


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory, fleet_file: Path) -> Path:
    """A store with the sample fleet in it, to be copied."""
    directory = tmp_path_factory.mktemp("loaded")
    for trellis in _trellis(directory):
        trellis("load", str(fleet_file))
    return directory / "trellis.db"


@pytest.fixture
def fleet(trellis: Trellis, loaded: Path) -> Trellis:
    """The command beside a store of its own that holds the sample fleet."""
    (trellis.directory / "trellis.db").write_bytes(loaded.read_bytes())
    return trellis
