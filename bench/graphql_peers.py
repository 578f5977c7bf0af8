"""GraphQL servers on Node, from bench/peers: installed by npm, started in production mode."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from bench.graphql_export import export
from bench.graphql_process import Server, running
from bench.result import ROOT
from bench.stores import directory, embedded
from graph.index.file import read_snapshot

HOME = ROOT / "bench" / "peers"
INSTALL_SECONDS = 300
PEERS = {
    "mercurius with jit": ("mercurius-jit", "/graphql"),
    "mercurius": ("mercurius", "/graphql"),
    "Apollo Server": ("apollo", "/"),
    "graphql-yoga": ("yoga", "/graphql"),
}
"""What serve.js calls each, and where it answers."""


@cache
def missing() -> str:
    """Why there are no peers on this machine; nothing if there are."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "there is no Node here"
    lock, installed = HOME / "package-lock.json", HOME / "node_modules" / ".package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return ""
    done = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=HOME,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    return f"npm could not install them: {done.stderr[-500:]}" if done.returncode else ""


def versions() -> str:
    """Node and the packages that answer."""
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    wanted = json.loads((HOME / "package.json").read_text("utf-8"))["dependencies"]
    found = ", ".join(f"{name} {number}" for name, number in wanted.items())
    return f"Node {node.stdout.strip().removeprefix('v')} in production mode; {found}"


@contextmanager
def serving(clusters: int) -> Iterator[dict[str, tuple[Server, str]]]:
    """Every peer over the sample fleet of that size, with the URL it answers at; or nobody."""
    if missing():
        yield {}
        return
    fleet = _exported(clusters)
    with ExitStack() as stack:
        found: dict[str, tuple[Server, str]] = {}
        for name, (peer, path) in PEERS.items():
            words = ["node", str(HOME / "serve.js"), peer, str(fleet)]
            server = stack.enter_context(running(words, {"NODE_ENV": "production"}))
            found[name] = server, server.url + path
        yield found


@cache
def _exported(clusters: int) -> Path:
    path = directory() / "fleet.json"
    export(read_snapshot(embedded(clusters).snapshot), path)
    return path
