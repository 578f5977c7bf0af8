"""The command against a live Neo4j server: loaded, asked, explained, changed, verified."""

from __future__ import annotations

import json
import socket
from dataclasses import replace

import pytest

from neo4j_server import server
from trellis_process import Trellis

pytestmark = pytest.mark.neo4j

CORPORATE = "/franchise/corporate"


@pytest.fixture
def on_neo4j(trellis: Trellis) -> Trellis:
    """The command with the settings of the session's server, which is empty."""
    shared = server()
    shared.wipe()
    settings = {
        "TRELLIS_STORE_URL": shared.url,
        "TRELLIS_NEO4J_USER": shared.user,
        "TRELLIS_NEO4J_PASSWORD": shared.password,
    }
    return replace(trellis, settings=settings)


def test_a_fleet_in_neo4j(on_neo4j: Trellis) -> None:
    trellis = on_neo4j
    assert trellis("select", "all", expect=1).startswith(
        "error: the Neo4j database holds no record"
    )
    trellis("generate", "--clusters", "100", "-o", "fleet.jsonl")
    head = int(trellis("load", "fleet.jsonl").rsplit("revision ", 1)[1])
    assert trellis("select", "all", "--count") == (
        f"100 of 100 clusters        revision {head:,}\n"
    )
    outside = f"/geo/us except {CORPORATE}"
    cluster = trellis("select", outside, "-o", "name", "--limit", "1").strip()
    answer = trellis("explain", cluster, f"{CORPORATE} and /geo/us")
    assert answer.startswith("no: 1 of 2 clauses holds\n")
    assert f"nearest change: join {CORPORATE}" in answer

    join = {"join": {"cluster": cluster, "group": CORPORATE}}
    (trellis.directory / "buy.jsonl").write_text(json.dumps(join))
    bought = trellis("apply", "buy.jsonl", "--reason", "bought", "--key", "deal-1")
    assert bought == f"revision {head + 1:,}\n"
    assert trellis("apply", "buy.jsonl", "--reason", "bought", "--key", "deal-1") == bought
    assert f"joined {CORPORATE}\n" in trellis("history", cluster)
    assert trellis("revert", cluster, "--to", str(head)).startswith("1 object taken back")
    assert "the record is whole" in trellis("verify")


def test_a_wrong_password_is_said_and_never_shown(on_neo4j: Trellis) -> None:
    settings = {**on_neo4j.settings, "TRELLIS_NEO4J_PASSWORD": "guessed-wrong"}
    answer = replace(on_neo4j, settings=settings)("select", "all", expect=1)
    assert answer.startswith(f"error: Neo4j at {settings['TRELLIS_STORE_URL']} does not let this")
    assert "check the user and the password" in answer
    assert "guessed-wrong" not in answer


def test_a_bolt_port_that_nobody_answers_on_is_told_from_one_that_hangs(trellis: Trellis) -> None:
    """The first is a server that does not run, the second one that is not well."""
    impatient = {"TRELLIS_NEO4J_RETRY_SECONDS": "0.1", "TRELLIS_NEO4J_ACQUIRE_SECONDS": "0.5"}

    def told(port: int) -> str:
        settings = {"TRELLIS_STORE_URL": f"bolt://127.0.0.1:{port}", **impatient}
        return replace(trellis, settings=settings)("select", "all", expect=1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        assert f"bolt://127.0.0.1:{port} accepts connections and does not answer" in told(port)
    answer = told(port)
    assert answer.startswith(
        f"error: nothing answers at bolt://127.0.0.1:{port}: is Neo4j running there?\n"
    )
    assert "start it, or correct the URL of the store" in answer
