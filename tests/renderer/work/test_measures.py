"""What Prometheus reads of a worker."""

from __future__ import annotations

import socket
from urllib.request import urlopen

import pytest

from graph.model.errors import Unavailable
from renderer.work.measures import Measures


@pytest.fixture
def measures():
    found = Measures()
    yield found
    found.close()


def values(text: bytes) -> dict[str, float]:
    lines = [line for line in text.decode().splitlines() if line.startswith("trellis_render")]
    found = {}
    for line in lines:
        name, _, value = line.rpartition(" ")
        name, brace, labels = name.partition("{")
        kept = [part for part in labels.rstrip("}").split(",") if not part.startswith("otel_")]
        found[name + brace + ",".join(kept)] = float(value)
    return found


def test_how_far_behind_and_how_much_came_out(measures):
    measures.heard(7)
    measures.published(5, 3, 2, 1)
    measures.published(5, 0, 0, 1)
    measures.failed()
    measures.overtaken()
    with measures.timed("plan"):
        pass
    found = values(measures.exposition())
    assert found["trellis_render_behind{"] == 2
    assert found["trellis_render_revision{"] == 5
    assert found["trellis_render_held{"] == 1
    assert found["trellis_render_commits_total{"] == 1
    assert found['trellis_render_files_total{action="written"'] == 3
    assert found['trellis_render_files_total{action="removed"'] == 2
    assert found["trellis_render_steps_total{"] == 1
    assert found["trellis_render_reconnects_total{"] == 1
    assert found["trellis_render_conflicts_total{"] == 1
    assert found['trellis_render_duration_seconds_count{work="plan"'] == 1


def test_they_are_served_where_a_port_is_given(measures):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable), measures.served("127.0.0.1", port):
            pass
    with (
        measures.served("127.0.0.1", port),
        urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer,
    ):
        assert b"trellis_render_revision" in answer.read()
    with measures.served("127.0.0.1", 0):
        pass
