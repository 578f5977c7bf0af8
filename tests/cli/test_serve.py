"""``trellis serve``: how it begins, what it says, how it ends."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from api.serving.listening import bind
from graph.store.lock import WriterLock
from issuer import issuing
from serving import Serving, copy_store, serve

TOKEN = "a-static-token-of-many-characters"
STATIC = {"TRELLIS_AUTH_TOKENS": f"ann:admin:{TOKEN}"}
COUNT = {"query": "query Count { fleet { revision } }"}

Trellis = Callable[..., str]


@pytest.fixture
def store(loaded: Path, tmp_path: Path) -> Path:
    """A fleet of its own."""
    return copy_store(loaded / "trellis.db", tmp_path)


def asked(server: Serving, token: str | None = None) -> httpx.Response:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.post(server.graphql, json=COUNT, headers=headers)


@dataclass(frozen=True)
class Life:
    """A process from its start to its end, asked a little between."""

    url: str
    ready: dict[str, object]
    live: dict[str, object]
    answer: httpx.Response
    rebound: httpx.Response
    metrics: str
    code: int
    said: str

    def lines(self) -> list[dict[str, object]]:
        """What it logged; the line that tells the address is for people."""
        said = [line for line in self.said.splitlines() if not line.startswith("serving at ")]
        return [json.loads(line) for line in said]


@pytest.fixture(scope="module")
def life(loaded: Path, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """One process without any setting."""
    store = copy_store(loaded / "trellis.db", tmp_path_factory.mktemp("life"))
    with serve(store) as server:
        ready = httpx.get(f"{server.url}/readyz").json()
        live = httpx.get(f"{server.url}/livez").json()
        answer = asked(server)
        metrics = httpx.get(f"{server.url}/metrics").text
        rebound = httpx.post(server.graphql, json=COUNT, headers={"Host": "evil.example.com"})
        code = server.stop()
        return Life(server.url, ready, live, answer, rebound, metrics, code, server.said())


def test_it_says_where_it_listens_and_is_ready_then(life: Life) -> None:
    assert f"serving at {life.url}        revision " in life.said
    assert life.ready["ready"] is True
    assert life.live == {"live": True}
    assert life.answer.status_code == 200


def test_told_to_stop_it_ends_well(life: Life) -> None:
    assert life.code == 0
    assert "Traceback" not in life.said


def test_it_tells_its_progress_while_it_loads(life: Life) -> None:
    said = [str(line["message"]) for line in life.lines()]
    assert said[0] == "reading every fact"
    assert any(each.startswith("indexing ") for each in said)
    assert any(each.startswith("ready at revision ") for each in said)


def test_every_operation_leaves_a_count_and_one_that_went_wrong_a_line(life: Life) -> None:
    (line,) = [each for each in life.lines() if each["logger"] == "api.access"]
    assert (line["kind"], line["outcome"]) == ("refused", "UNAUTHENTICATED")
    counted = 'trellis_operation_duration_seconds_count{kind="query",outcome="ok"} 1.0'
    assert counted in life.metrics
    assert "trellis_clusters 400.0" in life.metrics


def test_a_host_name_of_somebody_else_is_refused(life: Life) -> None:
    assert life.rebound.status_code == 401
    assert "only this machine" in life.rebound.text


def test_the_next_start_reads_the_snapshot_file_and_ctrl_c_ends_it_as_well(store: Path) -> None:
    with serve(store) as server:
        first = asked(server).json()
    with serve(store) as server:
        assert asked(server).json() == first
        assert "reading every fact" not in server.said()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 0


def test_an_address_others_reach_is_refused_until_somebody_may_ask(
    fleet: Path, trellis: Trellis
) -> None:
    said = trellis("serve", "--host", "0.0.0.0", "--port", "0", expect=1)
    assert 'nobody is configured who may ask at "0.0.0.0"' in said
    assert "TRELLIS_AUTH_ISSUER" in said


def test_a_store_another_process_holds_is_refused_with_what_to_do(
    fleet: Path, trellis: Trellis
) -> None:
    lock = WriterLock.take(fleet / "trellis.db")
    said = trellis("serve", "--port", "0", expect=1)
    lock.release()
    assert "is open for writing in process " in said
    assert "keep the fleet in Neo4j" in said


def test_a_port_in_use_is_refused_before_anything_is_loaded(fleet: Path, trellis: Trellis) -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        said = trellis("serve", "--port", str(port), expect=1)
    assert f"cannot listen on 127.0.0.1 port {port}" in said
    assert "reading" not in said


def test_a_missing_store_is_refused_unless_one_is_to_be_made(place: Path, trellis: Trellis) -> None:
    assert "no store" in trellis("serve", "--port", "0", expect=1)
    assert not (place / "trellis.db").exists()
    with serve(place / "trellis.db", arguments=["--create"]) as server:
        assert httpx.get(f"{server.url}/readyz").json()["revision"] == 0


def test_static_tokens_open_the_door_and_are_in_no_line(store: Path) -> None:
    with serve(store, STATIC, arguments=["--host", "0.0.0.0"]) as server:
        here = Serving(f"http://127.0.0.1:{server.port}", server.process, server.log)
        refused = asked(here)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert asked(here, "another-token-of-many-characters").status_code == 401
        assert asked(here, TOKEN).status_code == 200
        assert httpx.get(f"{here.url}/readyz").status_code == 200, "a probe has no token"
        assert server.stop() == 0
        assert TOKEN not in server.said()


def test_tokens_of_an_issuer_open_the_door(store: Path, tmp_path: Path) -> None:
    with issuing(tmp_path) as issuer:
        settings = issuer.settings() | {"TRELLIS_AUTH_FIRST_ADMINS": "ann"}
        with serve(store, settings, arguments=["--host", "0.0.0.0"]) as server:
            here = Serving(f"http://127.0.0.1:{server.port}", server.process, server.log)
            assert asked(here, issuer.token()).status_code == 200
            assert asked(here, issuer.token(exp=1)).status_code == 401
            assert asked(here).status_code == 401
