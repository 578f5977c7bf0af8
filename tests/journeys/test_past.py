"""Earlier revisions through the real process: slow once at most, whoever has given up meanwhile."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api_process import Api, calling, eventually
from serving import Serving, copy_store, serve
from trellis_process import Trellis

PAST = 4
"""Some batches from the first revision, and some from the newest."""
BATCH = 500
THEN = "query Then($at: RevisionOrTime!) { fleet(asOf: $at) { revision clusters { totalCount } } }"
DIFF = """
query Diff($at: Revision!) {
  fleet { diff(where: {text: "size = large"}, from: $at) {
    gained { totalCount } lost { totalCount } complete
    changesets { revision reason changeCount changes(first: 1) { action } }
  } }
}
"""
LOG = "{ changesets(first: 50) { nodes { revision actor reason changeCount } } }"
COUNTED = re.compile(
    r'^trellis_reconstruction_duration_seconds_count\{outcome="(\w+)"\} (\d+)', re.M
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, fleet_file: Path) -> Path:
    """A store with the sample fleet in it, loaded in several batches, and its checkpoints."""
    directory = tmp_path_factory.mktemp("past")
    settings = {"TRELLIS_GRAPH_CHECKPOINT_CHANGES_MIN": "800"}
    trellis = Trellis(directory, [], settings)
    trellis("load", str(fleet_file), "--batch", str(BATCH))
    return directory / "trellis.db"


def checkpoints(store: Path) -> list[Path]:
    return sorted(store.with_name(f"{store.name}.checkpoints").glob("*.snapshot"))


@pytest.fixture(scope="module")
def hurried(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A process that may not use checkpoints, and whose operations have next to no time."""
    copy = copy_store(store, tmp_path_factory.mktemp("hurried"))
    settings = {
        "TRELLIS_GRAPH_CHECKPOINTS_KEPT_MAX": "0",
        "TRELLIS_API_EXECUTION_SECONDS": "0.02",
    }
    with serve(copy, settings) as server:
        yield server


async def ask(api: Api, query: str, **variables: Any) -> Any:
    """The data of an answer; None if there was not the time for it."""
    answer = (await api.post(query, **variables)).json()
    for error in answer.get("errors", ()):
        assert "took longer than" in error["message"], answer
        return None
    return answer["data"]


async def reconstructions(api: Api) -> dict[str, int]:
    """How many there were, by outcome, as the process counts them."""
    text = (await api.client.get("/metrics")).text
    return {outcome: int(count) for outcome, count in COUNTED.findall(text)}


async def test_work_on_the_past_outlives_the_requests_for_it_and_is_shared(
    hurried: Serving,
) -> None:
    async with calling(hurried) as one, calling(hurried) as other:
        answers = await asyncio.gather(*(ask(each, THEN, at=PAST) for each in (one, other) * 4))
        assert (await one.client.get("/livez")).status_code == 200

        async def known() -> bool:
            answers.append(await ask(one, THEN, at=PAST))
            return answers[-1] is not None

        await eventually(known)
        assert answers[-1]["fleet"]["revision"] == PAST
        assert 0 < answers[-1]["fleet"]["clusters"]["totalCount"] < 2_000
        assert await reconstructions(one) == {"ok": 1}, f"{len(answers)} asked"


async def test_the_log_is_listed_without_its_changes_whatever_the_time(hurried: Serving) -> None:
    async with calling(hurried) as api:
        found: list[Any] = []

        async def listed() -> bool:
            found.append(await ask(api, LOG))
            return found[-1] is not None

        await eventually(listed)
        nodes = found[-1]["changesets"]["nodes"]
        assert {each["changeCount"] for each in nodes[1:-1]} == {BATCH}
        assert nodes[-1]["revision"] == 1


async def test_checkpoints_that_are_damaged_or_gone_change_no_answer(store: Path) -> None:
    files = checkpoints(store)
    assert len(files) > 3, "the load has left some"
    said: list[Any] = []
    for harm in (lambda _: None, _cut, Path.unlink):
        for path in checkpoints(store):
            harm(path)
        with serve(store) as server:
            async with calling(server) as api:
                answers = [await api.data(THEN, at=at) for at in (1, PAST, PAST + 1, 0)]
                said.append([*answers, await api.data(DIFF, at=1)])
            assert server.stop() == 0
            assert "Traceback" not in server.said()
    assert said[0] == said[1] == said[2]
    diff = said[0][-1]["fleet"]["diff"]
    assert diff["complete"] and diff["gained"]["totalCount"] > 0
    assert diff["changesets"][0]["changes"] == [{"action": "CREATED"}]


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
