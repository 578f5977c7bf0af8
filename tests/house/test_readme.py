"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from cli.main import run
from local_user import as_ana

ROOT = Path(__file__).parents[2]


def test_every_command_of_the_readme_prints_what_it_says(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text("utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
    blocks = [block for language, block in fenced if not language]
    commands = [
        each for block in blocks for each in re.split(r"^(?=\$ )", block, flags=re.M) if each
    ]
    assert len(commands) >= 5
    for each in commands:
        line, _, expected = each.partition("\n")
        assert line.startswith("$ trellis ")
        assert run(shlex.split(line.removeprefix("$ trellis "))) == 0, line
        assert as_ana(capfd.readouterr().out).strip() == expected.strip(), line


def test_every_make_target_a_document_names_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")]
    text = "\n".join(document.read_text("utf-8") for document in documents)
    named = set(re.findall(r"(?:`|^ {4})make ([a-z]+)", text, re.M))
    assert {"demo", "test", "check", "campaign", "bench"} <= named <= targets
