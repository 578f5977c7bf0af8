"""Stories about what ends up in git, told by commands and what they print, and run as they stand.

A story is a page of prose. It begins with the fleet of the file it links, at revision 1, and an
empty repository, ``gitops.git``. Then its blocks happen in order:

- ``console``: commands and what they print. ``trellis`` runs in this process; ``git`` is the real
  one, in the repository, and leaves the worker's trailers out of what a commit says. An exit code
  other than 0 ends the output as ``exit 1``. Ids of git are numbered as they appear, so that two
  that are written the same are the same: ``<2>``.
- a file with a name is written down for commands to read; one below a directory is pushed to the
  repository by somebody else, together with those right beside it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.main import run
from local_user import as_ana
from published_git import owners_commit

HERE = Path(__file__).parent / "rendering"
STORIES = sorted(HERE.glob("*.md"))
FLEET = re.compile(r"\]\(([\w./-]+\.yaml)\)")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r"(TRELLIS_\w+)=(\S+) ")
ID = re.compile(r"\b[0-9a-f]{40}\b")
TRAILERS = re.compile(r"\n+Trellis-Revision: \S+(?:\nTrellis-\w+: \S+){2}$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A command and what it prints, or files somebody pushes."""

    line: int
    command: str = ""
    expected: str = ""
    pushed: dict[str, bytes] = field(default_factory=dict)
    written: dict[str, bytes] = field(default_factory=dict)


def steps(text: str) -> Iterator[Step]:
    """What happens on a page, in order."""
    pushed: dict[str, bytes] = {}
    for block in BLOCK.finditer(text):
        kind, name, content = block.groups()
        line = text.count("\n", 0, block.start()) + 1
        if kind == "console":
            if pushed:
                yield Step(line, pushed=dict(pushed))
                pushed.clear()
            yield from _commands(line, content)
        elif "/" in name:
            pushed[name] = content.encode()
        else:
            yield Step(line, written={name: content.encode()})


def _commands(line: int, content: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield Step(line, command, expected.strip("\n"))


class Stage:
    """Where a story happens."""

    def __init__(self, place: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self._place, self._capfd = place, capfd
        self._ids: dict[str, str] = {}
        subprocess.run(
            ["git", "init", "--quiet", "--bare", "--initial-branch=main", "gitops.git"], check=True
        )

    def happen(self, step: Step) -> str:
        """What a step prints."""
        for name, content in step.written.items():
            (self._place / name).write_bytes(content)
        if step.pushed:
            owners_commit(self._place / "gitops.git", step.pushed)
        if not step.command:
            return ""
        said, code = self._said(step.command)
        said = ID.sub(self._numbered, TRAILERS.sub("", as_ana(said))).strip("\n")
        return f"{said}\nexit {code}" if code else said

    def _said(self, command: str) -> tuple[str, int]:
        settings = dict(SETTING.findall(command))
        words = shlex.split(SETTING.sub("", command))
        if words[0] == "git":
            done = subprocess.run(
                ["git", "-C", "gitops.git", *words[1:]], capture_output=True, text=True, check=False
            )
            return done.stdout + done.stderr, done.returncode
        assert words[0] == "trellis", command
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            code = run(words[1:])
        out, err = self._capfd.readouterr()
        return out + err, code

    def _numbered(self, found: re.Match[str]) -> str:
        return self._ids.setdefault(found[0], f"<{len(self._ids) + 1}>")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of its own, and nothing of the caller's environment."""
    for name in [each for each in os.environ if each.startswith(("TRELLIS_", "OTEL_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRELLIS_TELEMETRY_LEVEL", "error")
    return tmp_path


def test_there_are_stories() -> None:
    assert len(STORIES) >= 2
    assert all(list(steps(page.read_text("utf-8"))) for page in STORIES)


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_a_story_happens_as_it_is_told(
    page: Path, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = page.read_text("utf-8")
    (fleet,) = dict.fromkeys(FLEET.findall(text))
    assert run(["load", str(page.parent / fleet), "--reason", "the first stores"]) == 0
    capfd.readouterr()
    stage = Stage(place, capfd)
    for step in steps(text):
        said = stage.happen(step)
        assert said == step.expected, f"{page.name}, line {step.line}: {step.command}"
