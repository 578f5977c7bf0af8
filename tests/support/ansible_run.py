"""Real Ansible on this machine: a repository of files, its inventory and its playbook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SECONDS_MAX = 180
COMMANDS = Path(sys.executable).parent


def run(command: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """One of Ansible's commands, with nothing of the user's own settings."""
    environment = {
        "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_HOME": str(home / ".ansible"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_NOCOWS": "1",
        "ANSIBLE_PIPELINING": "true",  # every task starts one process less
    }
    return subprocess.run(
        [str(COMMANDS / command), *arguments],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def play(root: Path, inventory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The generated playbook on this machine, over no connection at all."""
    here = json.dumps({"ansible_connection": "local", "ansible_python_interpreter": sys.executable})
    site = str(root / "ansible" / "site.yaml")
    return run("ansible-playbook", "-i", str(inventory), "-e", here, *arguments, site, home=root)


def listed(root: Path, inventory: Path) -> dict[str, Any]:
    """The variables of every host as Ansible has them."""
    done = run("ansible-inventory", "-i", str(inventory), "--list", home=root)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["_meta"]["hostvars"]
    return found


def write(root: Path, files: Mapping[str, bytes | str]) -> None:
    """Files by path."""
    for path, content in files.items():
        at = root / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(content if isinstance(content, bytes) else content.encode())
