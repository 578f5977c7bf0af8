"""What docs/rendering.md says happens: its files are written and its commands run, one by one.

A block whose first line names a file is written there. A console block is run with the real
trellis, git and kustomize; an operation is sent to the API that the page starts. Where the page
says ``…`` anything may stand on the rest of that line, or on any lines if it stands alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

import kustomize
from crds import CRDS, mistakes
from serving import Serving, serve

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rendering.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"# (\S+/?\S*\.(?:yaml|j2))\n")
ANYTHING = "…"
COMMAND_SECONDS = 120


@dataclass
class House:
    """A directory in which the page comes true."""

    directory: Path
    around: ExitStack
    settings: dict[str, str] = field(default_factory=dict[str, str])
    server: Serving | None = None

    def write(self, name: str, content: str) -> None:
        """A file of the page."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    def run(self, command: str) -> str:
        """What a command says, to whichever stream; it may refuse."""
        if command == "trellis serve":
            return self._serve()
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.directory,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        assert "Traceback" not in done.stdout, done.stdout
        return done.stdout

    def ask(self, operation: str) -> Mapping[str, Any]:
        """What the API answers."""
        assert self.server is not None, "the page has started it"
        body = httpx.post(self.server.graphql, json={"query": operation}, timeout=60).json()
        assert "errors" not in body, (operation, body)
        data: Mapping[str, Any] = body["data"]
        return data

    def _serve(self) -> str:
        self.server = self.around.enter_context(serve(self.directory / "trellis.db"))
        self.settings["TRELLIS_SOURCE_URL"] = self.server.ws_url
        (told,) = re.findall(r"^serving at .+$", self.server.said(), re.M)
        return re.sub(r":\d+ ", ":8000 ", told)

    def _environment(self) -> dict[str, str]:
        kept = {
            n: value for n, value in os.environ.items() if not n.startswith(("TRELLIS", "OTEL"))
        }
        person = {"NAME": "Ana", "EMAIL": "ana@example.com"}
        return {
            **kept,
            "PATH": f"{self.directory / 'bin'}:{Path(sys.executable).parent}:{kept['PATH']}",
            "TRELLIS_TELEMETRY_LEVEL": "error",
            **{f"GIT_{who}_{n}": v for who in ("AUTHOR", "COMMITTER") for n, v in person.items()},
            "GIT_CONFIG_GLOBAL": os.devnull,
            **self.settings,
        }


def house(directory: Path, around: ExitStack) -> House:
    """A directory with the commands of the page at hand, wherever this machine has them."""
    built = shlex.join(kustomize.command())
    commands = {
        "trellis": f'exec {shlex.quote(sys.executable)} -m cli.main "$@"',
        "kustomize": f'shift; exec {built} "$@"',
    }
    (directory / "bin").mkdir()
    for name, script in commands.items():
        (directory / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (directory / "bin" / name).chmod(0o755)
    return House(directory, around)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what it says."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, said = part.partition("\n")
        yield command, said


def is_as_said(said: str, expected: str) -> bool:
    """Whether the page told what happened."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == ANYTHING else _pattern(line) + r"\n"
        for line in expected.splitlines()
    )
    return re.fullmatch(pattern, said.rstrip("\n") + "\n" if said.strip() else "") is not None


def _pattern(line: str) -> str:
    return ".*".join(map(re.escape, line.split(ANYTHING)))


def test_everything_on_the_page_happens_as_it_says(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE)
    ran = 0
    with ExitStack() as around:
        made = house(tmp_path, around)
        for at, (language, block) in enumerate(blocks):
            if named := FILE.match(block):
                made.write(named[1], block.removeprefix(named[0]))
            elif language == "console":
                for command, expected in commands(block):
                    said = made.run(command)
                    assert is_as_said(said, expected), f"$ {command}\n{said}"
                    ran += 1
            elif language == "graphql":
                answer = made.ask(block)
                after = blocks[at + 1] if at + 1 < len(blocks) else ("", "")
                if after[0] == "json":
                    assert answer == json.loads(after[1]), block
                else:
                    (result,) = answer.values()
                    assert result["__typename"] == "Applied", (block, answer)
                ran += 1
    assert ran >= 30


def test_what_reconcilers_are_given_by_hand_is_what_their_schemas_know() -> None:
    shown = [block for language, block in BLOCK.findall(PAGE) if language == "yaml"]
    objects = [
        each
        for block in shown
        if not FILE.match(block)
        for each in yaml.safe_load_all(block)
        if each.get("apiVersion", "").partition("/")[0] in CRDS
    ]
    assert len(objects) >= 4
    assert [wrong for each in objects for wrong in mistakes(each)] == []


def test_a_page_that_said_something_else_would_be_noticed() -> None:
    assert is_as_said("a 1 b\nx\ny\nz\n", "a … b\n…\nz\n")
    assert not is_as_said("a 1 c\nx\ny\nz\n", "a … b\n…\nz\n")
    assert not is_as_said("a 1 b\nx\ny\n", "a … b\n…\nz\n")
    assert not is_as_said("more\n", "")
