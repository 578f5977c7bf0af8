"""Transcripts a product owner can read, run as they stand.

A transcript is prose (lines that start with #), commands ($ trellis ...) and what they print. It
begins with the fleet of fleet.yaml at revision 1. ``<file`` lines write a file, up to a line with
``>``. Times are written <time>; an exit code other than 0 ends the output as ``exit 1``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.main import run
from local_user import as_ana

HERE = Path(__file__).parent
TRANSCRIPTS = sorted(HERE.glob("*.txt"))
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ")


@dataclass
class Step:
    command: str
    expected: list[str] = field(default_factory=list[str])


def steps(text: str, directory: Path) -> Iterator[Step]:
    """The commands of a transcript, files written as they come."""
    step: Step | None = None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ trellis "):
            if step is not None:
                yield step
            step = Step(line.removeprefix("$ trellis "))
        elif line.startswith("<"):
            if step is not None:
                yield step
                step = None
            content = "".join(f"{each}\n" for each in iter(lines.__next__, ">"))
            (directory / line[1:]).write_text(content)
        elif not line.startswith("#") and step is not None:
            step.expected.append(line)
    if step is not None:
        yield step


def test_there_are_transcripts() -> None:
    assert TRANSCRIPTS


@pytest.mark.parametrize("file", TRANSCRIPTS, ids=lambda file: file.stem)
def test_a_transcript_comes_out_as_it_is_written(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["load", str(HERE / "fleet.yaml"), "--reason", "the first stores"]) == 0
    capfd.readouterr()
    for step in steps(file.read_text(), tmp_path):
        code = run(shlex.split(step.command))
        out, err = capfd.readouterr()
        said = TIME.sub("<time>", as_ana(out + err)).rstrip("\n")
        said += f"\nexit {code}" if code else ""
        assert said == "\n".join(step.expected).strip("\n"), step.command
