"""What a newcomer's fleet is asked: an empty one, twelve stores of other hierarchies, the sample's.

The samples of the console are answered on each of them by the real process, and a client that asks
for large pages is not refused where there is little to answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from serving import Serving, copy_store, serve
from trellis_process import Trellis

ROOT = Path(__file__).parents[2]
TWELVE = ROOT / "tests/scenarios/rendering/twelve_stores.yaml"
PAGE = """
query ($first: Int!) {
  fleet {
    clusters(first: $first) {
      totalCount
      nodes {
        name title kind reconciler timeZone changed labels { key value }
        groups { path hierarchy { name root { children(first: 1000) { path count } } } }
      }
    }
  }
}
"""


@pytest.fixture(scope="module", params=["empty", "twelve", "sample"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Serving]:
    directory = tmp_path_factory.mktemp(request.param)
    store = directory / "trellis.db"
    match request.param:
        case "twelve":
            Trellis(directory, [])("load", str(TWELVE))
        case "sample":
            store = copy_store(request.getfixturevalue("loaded"), directory)
        case _:
            pass
    with serve(store, arguments=["--create"] if not store.exists() else []) as serving:
        yield serving


def ask(server: Serving, query: str, **variables: Any) -> dict[str, Any]:
    sent = {"query": query, "variables": variables}
    answer: dict[str, Any] = httpx.post(server.graphql, json=sent, timeout=60).json()
    return answer


def test_every_sample_of_the_console_is_answered(server: Serving) -> None:
    text = httpx.get(f"{server.url}/console/samples.graphql", timeout=60).text
    samples = re.split(r"\n\n(?=#)", text.strip())
    assert len(samples) == 3
    for sample in samples:
        answer = ask(server, sample)
        assert "errors" not in answer, (sample, answer["errors"])
        assert answer["data"]["fleet"]


def test_a_page_is_charged_by_what_the_fleet_can_give(server: Serving) -> None:
    answer = ask(server, PAGE, first=1_000)
    clusters = ask(server, "{ fleet { clusters(first: 0) { totalCount } } }")["data"]["fleet"]
    if clusters["clusters"]["totalCount"] > 1_000:
        (error,) = answer["errors"]
        assert "costs" in error["message"]
    else:
        assert "errors" not in answer, answer["errors"]
        fleet = answer["data"]["fleet"]["clusters"]
        assert len(fleet["nodes"]) == fleet["totalCount"] == clusters["clusters"]["totalCount"]
