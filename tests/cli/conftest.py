"""A fleet in a directory, and the command run in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cli.documents import json_line
from cli.main import run
from cli.sample import sample

Trellis = Callable[..., str]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of its own, and nothing of the caller's environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRELLIS_ACTOR", raising=False)
    monkeypatch.delenv("TRELLIS_STORE_URL", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small fleet, as a file and in a store, to be copied."""
    directory = tmp_path_factory.mktemp("loaded")
    file, store = directory / "fleet.jsonl", directory / "trellis.db"
    file.write_text("".join(map(json_line, sample(400))))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        patch.delenv("TRELLIS_ACTOR", raising=False)
        assert run(["--store", f"sqlite:///{store}", "load", "fleet.jsonl"]) == 0
    return directory


@pytest.fixture
def fleet(place: Path, loaded: Path) -> Path:
    """A directory with a fleet in it."""
    for name in ("fleet.jsonl", "trellis.db"):
        (place / name).write_bytes((loaded / name).read_bytes())
    return place


@pytest.fixture
def trellis(place: Path, capfd: pytest.CaptureFixture[str]) -> Trellis:
    """The command: its output, if the exit code is the expected one."""

    def command(*words: str, expect: int = 0) -> str:
        code = run(list(words))
        out, err = capfd.readouterr()
        assert code == expect, out + err
        assert "Traceback" not in err
        return out + err

    return command
