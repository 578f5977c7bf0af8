"""Two workers on one branch while people change things: one line of commits, none of them undone.

Every change sets a value that never comes back, so each commit can be held against its trailer:
it has to show the value of the newest change up to the revision it names.
"""

from __future__ import annotations

import asyncio
import re
import time
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from api_process import Api, begun, calling
from changing_fleet import FLEET, OWNERS, Changes
from renderer_process import Record, applied, caught_up, check_from_scratch, rendering, tree_of
from repositories import git

pytestmark = [pytest.mark.crash, pytest.mark.timeout(3_600)]

SECONDS = {"test": 20.0, "campaign": 600.0}
PAUSE_SECONDS = 0.05
NAMES = ("one", "two")
LOOKED_AT = 150
"""Commits whose every file is read."""
PLACE = "apps/grill"
TAG = "tag[^a-z0-9]+[a-z0-9]+(-[0-9]+)?"


async def test_two_workers_make_one_line_and_undo_nothing(tmp_path: Path, scale: str) -> None:
    record, changes = Record.made(tmp_path / "fleet.git", OWNERS), Changes("race")
    store = f"sqlite:///{tmp_path / 'trellis.db'}"
    async with begun(store, tmp_path, {}, arguments=["--create"]) as server, calling(server) as api:
        await applied(api, *FLEET)
        with ExitStack() as stack:
            workers = [
                stack.enter_context(
                    rendering(
                        server.url,
                        record.path,
                        tmp_path,
                        {"TRELLIS_RENDER_NAME": name, "TRELLIS_GIT_NAME": name},
                    )
                )
                for name in NAMES
            ]
            for name, worker in zip(NAMES, workers, strict=True):
                await caught_up(api, worker, name=name)
            tags = await under_load(api, changes, SECONDS[scale])
            await changes.settle(api)
            for name, worker in zip(NAMES, workers, strict=True):
                await caught_up(api, worker, name=name)
            assert [worker.stop() for worker in workers] == [0, 0], "both are well"
        count = record.check(most=LOOKED_AT)
        record.check_sound()
        authors = git(record.repository, "log", "--format=%an", "main").split("\n")
        assert set(NAMES) <= set(authors), "only one of them ever came first"
        check_history(record, tags)
        await check_from_scratch(server.url, record)
    print(f"{len(tags):,} changes in {count:,} commits: {authors.count(NAMES[0]):,} by the first")


async def under_load(api: Api, changes: Changes, seconds: float) -> dict[int, str]:
    """Change things for a while; the value that counts, by revision."""
    tags: dict[int, str] = {}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        revision = await changes.send(api)
        tags[revision] = changes.tag
        await asyncio.sleep(PAUSE_SECONDS)
    return tags


def check_history(record: Record, tags: Mapping[int, str]) -> None:
    """No commit brings a state back, and each holds what its trailer says."""
    trees = [tree_of(record.repository, commit) for commit in record.commits]
    assert len(set(trees)) == len(trees), "a state came back that nobody asked for"
    known = sorted(tags)
    for commit, revision in zip(record.commits, record.revisions, strict=True):
        newest = bisect_right(known, revision)
        wanted = tags[known[newest - 1]] if newest else "t0"
        assert shown(record.repository, commit) == {wanted}, f"{commit} at {revision}"


def shown(repository: Path, commit: str) -> set[str]:
    """The values that the overlays of a commit show; none where it runs nowhere."""
    found = git(repository, "grep", "-h", "-o", "-E", f"{TAG}|^apiVersion", commit, "--", PLACE)
    lines = [line for line in found.splitlines() if not line.endswith("apiVersion")]
    return {re.split("[^a-z0-9-]+", line)[-1] for line in lines}


def test_a_history_that_undoes_something_would_be_noticed(tmp_path: Path) -> None:
    record = Record.made(tmp_path / "fleet.git", {"README.md": "Ours."})
    place = f"{PLACE}/overlays/0123456789abcdef/all.yaml"

    def commit(tag: str, revision: int) -> None:
        tree = written(record, place, tag)
        text = f"Render\n\nTrellis-Revision: {revision}.0\nTrellis-Renderer: 1.0\n"
        made = git(record.repository, "commit-tree", tree, "-p", record.tip, said=text.encode())
        git(record.repository, "update-ref", "refs/heads/main", made)
        record.commits.append(made)
        record.revisions.append(revision)

    commit("a-1", 1)
    commit("a-2", 2)
    check_history(record, {1: "a-1", 2: "a-2"})
    commit("a-1", 3)
    with pytest.raises(AssertionError, match="came back"):
        check_history(record, {1: "a-1", 2: "a-2", 3: "a-3"})
    record.commits.pop()
    record.revisions.pop()
    commit("a-3", 2)
    with pytest.raises(AssertionError):
        check_history(record, {1: "a-1", 2: "a-2", 3: "a-3"})


def written(record: Record, path: str, tag: str) -> str:
    """A tree with one file of a tag."""
    index = {"GIT_INDEX_FILE": str(record.repository / "written.index")}
    said = f'tag": "{tag}"'.encode()
    blob = git(record.repository, "hash-object", "-w", "--stdin", said=said)
    row = f"100644 {blob}\t{path}".encode()
    git(record.repository, "update-index", "--add", "--index-info", said=row, **index)
    return git(record.repository, "write-tree", **index)
