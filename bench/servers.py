"""Where a Neo4j server comes from: exactly where the tests get theirs, whose modules these are."""

from __future__ import annotations

import sys

import pytest

from bench.result import ROOT

sys.path.append(str(ROOT / "tests" / "support"))

from neo4j_process import LTS
from neo4j_server import Server, server

__all__ = ["Server", "find_server"]


def find_server(*, measured: bool) -> Server | str:
    """A server whose database is ours alone, or what this machine lacks to run one.

    One that is ``measured`` runs as in production; one for a quick look saves its warm-up.
    """
    try:
        return server(LTS, short_lived=not measured)
    except pytest.skip.Exception as missing:
        return str(missing)
