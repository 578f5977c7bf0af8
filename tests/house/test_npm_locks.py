"""What npm installs for the tests and the benchmarks is pinned by content, and by no address."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def locks():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*package-lock.json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [ROOT / name for name in listed]


def test_there_is_a_lock_for_the_peers_suites():
    assert ROOT / "tests" / "conformance" / "package-lock.json" in locks()


@pytest.mark.parametrize("path", locks(), ids=lambda path: path.parent.name)
def test_an_npm_lock_pins_by_content_and_names_no_registry(path):
    packages = json.loads(path.read_text("utf-8"))["packages"]
    installed = {name: each for name, each in packages.items() if name}
    assert installed
    assert [name for name, each in installed.items() if "resolved" in each] == []
    assert [name for name, each in installed.items() if "integrity" not in each] == []
    wanted = json.loads((path.parent / "package.json").read_text("utf-8"))
    direct = wanted.get("dependencies", {}) | wanted.get("devDependencies", {})
    assert all(version[:1].isdigit() for version in direct.values()), "exact versions"
