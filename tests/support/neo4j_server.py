"""A real Neo4j server for the tests: one per line and session, started when first asked for.

In this order: the URL in TRELLIS_TEST_NEO4J_URL (user and password in TRELLIS_TEST_NEO4J_USER and
TRELLIS_TEST_NEO4J_PASSWORD; its database must be empty, for the tests wipe it), a container where
a Docker engine answers, a local process from Maven Central. Where none works the test is skipped
and says what was missing; with ``neo4j`` in TRELLIS_TEST_REQUIRE it fails instead.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache, partial

import neo4j
import pytest

from neo4j_process import LTS, NEWEST, PASSWORD, USER, Line, LocalServer, Missing, answers, wipe

CONTAINER_IMAGES = {LTS: "neo4j:5.26-community", NEWEST: "neo4j:2026.08-community"}
REQUIRED_WORDS = {LTS: "neo4j", NEWEST: "neo4j-newest"}


@dataclass(frozen=True)
class Server:
    """Where a server answers, and its process when it is ours to kill."""

    url: str
    user: str
    password: str
    local: LocalServer | None = None

    def wipe(self) -> None:
        """Empty the database between tests."""
        wipe(self.url, self.user, self.password)


def server(line: Line = LTS, *, short_lived: bool = True) -> Server:
    """The session's server of ``line``, or a loud skip; a failure where one is required.

    Who measures it asks for one that is not ``short_lived``: those run without the optimiser.
    """
    found = _find(line, short_lived)
    if isinstance(found, Server):
        return found
    if REQUIRED_WORDS[line] in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"Neo4j {line.version} is required here: {found}")
    pytest.skip(f"NOT RUN ON NEO4J {line.version}: {found}")


def local_server(line: Line = LTS) -> LocalServer:
    """The session's server, if it is a process of ours; else one of its own beside it."""
    shared = server(line)
    return shared.local or _own(line)


@cache
def _find(line: Line, short_lived: bool) -> Server | str:
    """The server, or what was missing; asked once, so that a failure is not tried forty times."""
    missing: list[str] = []
    for attempt in (_from_url, _from_docker, partial(_from_maven, short_lived=short_lived)):
        try:
            return attempt(line)
        except Missing as error:
            missing.append(str(error))
    return "; ".join(missing)


@cache
def _own(line: Line) -> LocalServer:
    try:
        started = LocalServer.start(line, short_lived=True)
    except Missing as error:
        pytest.skip(f"NOT KILLED: no local Neo4j {line.version} process: {error}")
    atexit.register(started.stop)
    return started


def _from_url(line: Line) -> Server:
    url = os.environ.get("TRELLIS_TEST_NEO4J_URL")
    if not url or line is not LTS:
        raise Missing("no TRELLIS_TEST_NEO4J_URL")
    user = os.environ.get("TRELLIS_TEST_NEO4J_USER", "neo4j")
    password = os.environ.get("TRELLIS_TEST_NEO4J_PASSWORD", "")
    if not answers(url, user, password):
        raise Missing(f"no answer from TRELLIS_TEST_NEO4J_URL {url} to the user {user}")
    with neo4j.GraphDatabase.driver(url, auth=(user, password)) as driver:
        occupied = driver.execute_query("MATCH (n) RETURN 1 LIMIT 1").records
    if occupied:
        raise Missing(f"the database at {url} is not empty, and the tests would wipe it")
    atexit.register(wipe, url, user, password)
    return Server(url, user, password)


def _from_docker(line: Line) -> Server:
    if not _docker_answers():
        raise Missing("no Docker engine answers")
    from testcontainers.community.neo4j import Neo4jContainer  # slow to import, seldom needed

    container = Neo4jContainer(CONTAINER_IMAGES[line], username=USER, password=PASSWORD)
    try:
        container.start()
    except Exception as error:  # whatever the engine, the registry or the image did wrong
        container.stop()
        raise Missing(f"the image {CONTAINER_IMAGES[line]} did not start: {error}") from error
    atexit.register(container.stop)
    return Server(str(container.get_connection_url()), USER, PASSWORD)


def _docker_answers() -> bool:
    """Asked of the command, which finds the engine as its user told it to."""
    command = shutil.which("docker")
    if command is None:
        return False
    asked = [command, "version", "--format", "{{.Server.Version}}"]
    try:
        return subprocess.run(asked, capture_output=True, timeout=10).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _from_maven(line: Line, *, short_lived: bool) -> Server:
    started = LocalServer.start(line, short_lived=short_lived)
    atexit.register(started.stop)
    return Server(started.url, started.user, started.password, started)
