"""A renderer worker starts from nothing, is killed twice, and git is what it should be.

The fleet is the sample's, with a few applications everywhere. Between the worker's lives people go
on changing it, and ask the API whether their change is in git.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api_process import Api, begun, calling
from changing_fleet import IN_CLUSTERS, template
from graph.effective.portion import Bounds
from graph.model.command import Command, UpdateCluster
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import Assign, DefineApplication, DefineNamespace, SetLayer
from renderer_process import (
    Record,
    Rendering,
    applied,
    caught_up,
    check_from_scratch,
    dying,
    published,
    rendering,
    run,
)
from repositories import git, shows
from serving import Serving, copy_store
from wire_renderers import RENDERING
from ws_client import connect

APPLICATIONS = 6
WORKLOAD: tuple[Command, ...] = (
    DefineNamespace("shop"),
    *(
        DefineApplication(
            f"app-{number}",
            "shop",
            reconcilers=IN_CLUSTERS,
            source=template(f"app-{number}"),
            values={"tag": "1"},
            late_bound=(LateBound("host", "{cluster}.example.com"),),
        )
        for number in range(APPLICATIONS)
    ),
    Assign("shop-all", Choice("shop"), "all"),
)


@pytest.mark.crash
async def test_a_worker_starts_from_nothing_is_killed_and_goes_on(
    loaded: Path, tmp_path: Path
) -> None:
    store = copy_store(loaded, tmp_path)
    record = Record.made(tmp_path / "fleet.git", {"README.md": "The stores."})
    async with begun(f"sqlite:///{store}", tmp_path, {}) as server, calling(server) as api:
        await applied(api, *WORKLOAD)
        await receive_in_chunks(server, await api.revision())
        await die_before_the_first_commit(record, server)
        with rendering(server.url, record.path, tmp_path) as second:
            assert (await caught_up(api, second))["commit"] == record.tip
            assert record.check() == 1
            await ask_for_a_change(record, api, second)
            second.kill()
        await change_while_nobody_is_there(record, api)
        with rendering(server.url, record.path, tmp_path) as third:
            told = await caught_up(api, third)
            assert (told["commit"], told["held"]) == (record.tip, [])
            assert third.stop() == 0
        assert record.check() >= 2
        subjects = git(record.repository, "log", "--reverse", "--format=%s", "main").splitlines()
        anew = [each for each in subjects if each.startswith("Render everything")]
        assert subjects[1] == anew[0] and len(anew) == 1, "it went on from the last commit"
        await check_from_scratch(server.url, record)
        assert "nothing differs" in run(server.url, record.path, tmp_path, "--verify")
        record.check_sound()


async def receive_in_chunks(server: Serving, revision: int) -> None:
    """What a worker from nothing is sent: the whole fleet, in messages of a bounded size."""
    sizes, clusters = list[int](), set[str]()
    async with connect(server.ws_url) as socket:
        operation = await socket.subscribe(RENDERING, {"after": None})
        while (message := await operation.value())["__typename"] != "RenderingComplete":
            sizes.append(len(json.dumps(message)))
            clusters.update(each["cluster"] for each in message.get("pointers", ()))
            assert len(message.get("pointers", ())) <= Bounds().items_max
        assert message["revision"] == revision
    assert len(clusters) == 2_000
    assert len(sizes) > 4, "it is not sent all at once"
    assert max(sizes) <= 2 * Bounds().bytes_max


async def die_before_the_first_commit(record: Record, server: Serving) -> None:
    """Killed in the middle of everything: there is nothing, and nothing is in the way."""
    directory = record.repository.parent
    armed = directory / "armed"
    armed.touch()
    with rendering(server.url, record.path, directory, command=dying("landed", armed)) as first:
        assert first.wait() == -9, first.said()
    assert record.tip == record.owners


async def ask_for_a_change(record: Record, api: Api, worker: Rendering) -> None:
    """Is my change in git? Not before it is."""
    before = record.tip
    revision = await applied(api, SetLayer("new", "all", {"tag": "2"}, "app-0"))
    told = await published(api, revision)
    assert told is not None
    if told["behind"]:
        assert told["revision"] < revision
    told = await caught_up(api, worker, revision)
    assert (told["behind"], told["commit"]) == (0, record.tip)
    changed = git(record.repository, "diff", "--name-only", before, told["commit"]).splitlines()
    overlays = [each for each in changed if each.startswith("apps/app-0/overlays/")]
    assert overlays and not [each for each in changed if each.startswith("clusters/")]
    texts = [shows(record.repository, each, told["commit"]) or "" for each in overlays]
    assert any('\\"tag\\":\\"2\\"' in each or '"tag":"2"' in each for each in texts), texts


async def change_while_nobody_is_there(record: Record, api: Api) -> None:
    before = record.tip
    names = await api.data("{ fleet { clusters(first: 3) { nodes { name } } } }")
    for number, each in enumerate(names["fleet"]["clusters"]["nodes"]):
        await applied(api, UpdateCluster(each["name"], title=f"store {number}"))
        revision = await applied(
            api, SetLayer(f"one-{number}", f"cluster {each['name']}", {"tag": "3"}, "app-1")
        )
    told = await published(api, revision)
    assert told is not None and told["behind"] > 0, "it says that the change is not there yet"
    assert record.tip == before
