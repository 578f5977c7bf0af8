"""The house stays as it is drawn."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cli.settings import names

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "graph", "renderer", "cli")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "service"}


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=short)
def test_a_module_says_what_it_is_and_is_small(path):
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "it opens with what it is"
    assert len(text.splitlines()) <= 500, "look for the second noun in it"
    assert path.stem not in VAGUE, "that is a noun not found yet"
    assert "TYPE_CHECKING" not in text, "it would hide a cycle"
    if path.name == "__init__.py":
        assert len(tree.body) == 1, "each name has one address"


def test_the_import_contracts_hold():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_floors_of_the_architecture_page_are_those_of_the_contracts():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    drawn = [
        [re.split(r"\s{2,}", line)[0] for line in block.splitlines()]
        for block in re.findall(r"^```\n(.*?)^```", page, re.M | re.S)
    ]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    assert drawn == [each["layers"] for each in contracts if "containers" in each]


def test_the_lock_file_is_hashed_complete_and_names_no_registry():
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert "://" not in lock
    assert "--index" not in lock
    pinned = set(re.findall(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==", lock, re.MULTILINE))
    blocks = re.split(r"\n(?=[a-z0-9])", lock)
    assert all("--hash=sha256:" in block for block in blocks if block.strip())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    names = {re.split(r"[<>=!~\[ ]", each)[0].lower() for each in wanted}
    assert names <= pinned


def test_no_file_names_a_place_of_this_machine():
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    homes = re.compile(r"(?<![\w.])/(?:root|home/\w+|Users/\w+)/")
    found = [
        name
        for name in tracked
        if (ROOT / name).is_file() and homes.search((ROOT / name).read_text("utf-8", "replace"))
    ]
    assert found == []


def test_links_between_documents_lead_somewhere():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")]
    broken = [
        f"{short(document)}: {target}"
        for document in documents
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text("utf-8"))
        if not (document.parent / target).exists()
    ]
    assert broken == []


def test_every_setting_is_in_the_operating_page():
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    assert set(re.findall(r"`((?:TRELLIS|OTEL)_[A-Z0-9_]+)`", page)) == set(names())
