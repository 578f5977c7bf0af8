"""The clients people use, graphql-ws and graphql-sse: every kind of operation, and resuming."""

from __future__ import annotations

import json
import queue
import random
import subprocess
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from serving import copy_store, serve

HERE = Path(__file__).parent
WAIT_SECONDS = 60
KILLS = 12

COUNT = "{ fleet { clusters(first: 0) { totalCount } } }"
DECLARE = """mutation ($name: Name!) {
  declareLabel(input: {name: $name, type: TEXT}, reason: "a client writes") {
    __typename ... on Applied { revision changed }
  }
}"""
RESIZE = """mutation ($name: Name!, $size: LabelValue!) {
  updateCluster(
    input: {name: $name, labels: [{key: "size", value: $size}]}, reason: "another size"
  ) { __typename ... on Applied { revision cursor } }
}"""
CHANGES = """subscription ($after: Cursor) {
  changes(after: $after) {
    __typename
    ... on Changeset { cursor revision }
    ... on Progress { cursor }
    ... on ResyncRequired { message }
  }
}"""
LARGE = """subscription ($after: Cursor) {
  clusterSet(where: {text: "size = large"}, after: $after) {
    __typename
    ... on Snapshot { cursor clusters { name } }
    ... on CaughtUp { cursor count }
    ... on Gained { cursor clusters { name } }
    ... on Lost { cursor clusters { name } }
    ... on ResyncRequired { message }
  }
}"""
NAMES = """query ($where: SelectorInput, $atLeast: Revision) {
  fleet(atLeast: $atLeast) { cursor clusters(where: $where, first: 1000) { nodes { name } } }
}"""


def ask(server, query, **variables):
    answer = httpx.post(server.graphql, json={"query": query, "variables": variables}).json()
    assert "errors" not in answer, answer
    (found,) = answer["data"].values()
    return found


def names(server, text="all"):
    nodes = ask(server, NAMES, where={"text": text})["clusters"]["nodes"]
    return {node["name"] for node in nodes}


class Follower:
    """What a client that follows has printed so far."""

    def __init__(self, process):
        self.seen = []
        self._lines = queue.Queue()
        self._process = process
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def until(self, holds):
        """Read on until ``holds`` is true of everything seen."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not holds(self.seen):
            line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.01))
            assert line is not None, f"the client ended: {self._process.stderr.read()}"
            self.seen.append(line)

    def after(self, act):
        """Act, and wait until something has been heard since."""
        heard = len(self.seen)
        act()
        self.until(lambda seen: len(seen) > heard)

    @property
    def revisions(self):
        """The revisions it was told of, in order."""
        return [event["revision"] for event in self.events if "revision" in event]

    @property
    def events(self):
        """What the subscription said."""
        return [each for each in self.seen if "__typename" in each]

    @property
    def endings(self):
        """Why each connection ended."""
        return [each["ended"] for each in self.seen if "ended" in each]


@contextmanager
def follow(transport, server, query, *, after=None, kills=()):
    variables = {} if after is None else {"after": after}
    given = [transport, server.graphql, query, json.dumps(variables), json.dumps(list(kills))]
    process = subprocess.Popen(
        ["node", "follow.mjs", *given],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Follower(process)
    finally:
        process.communicate(timeout=WAIT_SECONDS)


@pytest.fixture(scope="module", params=["ws", "sse"])
def transport(request, modules):
    return request.param


@pytest.fixture
def own(sample, tmp_path):
    """A process of one test, with snapshots in many parts."""
    with serve(copy_store(sample, tmp_path), {"TRELLIS_API_CHUNK_CLUSTERS": "20"}) as serving:
        yield serving


def test_a_client_runs_queries_and_mutations(node, server, transport):
    name = f"label-{uuid.uuid4().hex[:8]}"
    declare = {"query": DECLARE, "variables": {"name": name}}
    counted, declared, again = node(
        "ask.mjs", transport, server.graphql, given=[{"query": COUNT}, declare, declare]
    )
    assert counted == [{"data": {"fleet": {"clusters": {"totalCount": 500}}}}]
    (first,) = declared
    assert first["data"]["declareLabel"]["__typename"] == "Applied"
    assert first["data"]["declareLabel"]["changed"] is True
    (second,) = again
    assert second["data"]["declareLabel"]["changed"] is False


def test_an_operation_with_a_mistake_fails_alone(node, server, transport):
    mistakes = [
        {"query": "{"},
        {"query": "{ fleet { revison } }"},
        {"query": "query A { fleet { revision } }", "operationName": "B"},
        {"query": DECLARE, "variables": {}},
    ]
    *failed, counted = node(
        "ask.mjs", transport, server.graphql, given=[*mistakes, {"query": COUNT}]
    )
    assert len(failed) == len(mistakes)
    assert all(isinstance(each[-1]["errors"], list) for each in failed), failed
    assert "errors" not in counted[0]


def test_a_log_followed_through_killed_connections_has_no_gap_and_no_repeat(own, transport):
    writer = Writer(own)
    with follow(transport, own, CHANGES, after=writer.start, kills=writer.kills()) as follower:
        while len(follower.endings) < KILLS:
            follower.after(writer.flip)
        follower.until(lambda _: follower.revisions[-1:] == writer.revisions[-1:])
    assert follower.revisions == writer.revisions
    assert follower.endings == ["killed"] * KILLS


def test_a_set_followed_through_killed_connections_ends_as_a_fresh_query_says(own, transport):
    writer = Writer(own)
    with follow(transport, own, LARGE, kills=writer.kills()) as follower:
        while len(follower.endings) < KILLS:
            follower.after(writer.flip)
        last = writer.flip()
        follower.until(lambda _: follower.events[-1].get("cursor") == last["cursor"])
    assert folded(follower.seen) == names(own, "size = large") == writer.large
    assert follower.endings == ["killed"] * KILLS


def test_a_client_goes_on_when_the_server_was_killed_and_is_back(sample, tmp_path, transport):
    store = copy_store(sample, tmp_path)
    with serve(store) as first:
        writer = Writer(first)
        with follow(transport, first, CHANGES, after=writer.start) as follower:
            follower.after(writer.flip)
            for _ in range(5):
                writer.flip()
            first.kill()
            with serve(store, {"TRELLIS_API_PORT": str(first.port)}) as second:
                for _ in range(5):
                    writer.flip(second)
                follower.until(lambda _: follower.revisions[-1:] == writer.revisions[-1:])
    assert follower.revisions == writer.revisions
    assert follower.endings


class Writer:
    """Makes clusters large, and the large ones small: every write moves the set."""

    def __init__(self, server):
        self._server = server
        self._dice = random.Random(4)
        self._everyone = sorted(names(server))
        self.start = ask(server, "{ fleet { cursor } }")["cursor"]
        self.large = names(server, "size = large")
        self.revisions = []

    def kills(self):
        """After how many events each connection is killed."""
        return [self._dice.randint(1, 6) for _ in range(KILLS)]

    def flip(self, server=None):
        """One more write; where the fleet is then."""
        name = self._dice.choice(self._everyone)
        size = "small" if name in self.large else "large"
        self.large ^= {name}
        done = ask(server or self._server, RESIZE, name=name, size=size)
        assert done["__typename"] == "Applied", done
        self.revisions.append(done["revision"])
        return done


def folded(seen):
    """The set a client has that starts again when it was cut off before its first resume point."""
    found, resumable = set(), False
    for line in seen:
        if "ended" in line and not resumable:
            found = set()
        resumable = resumable or bool(line.get("cursor"))
        told = {each["name"] for each in line.get("clusters", ())}
        match line.get("__typename"):
            case "Snapshot":
                assert not told & found, "a part of a snapshot was repeated"
                found |= told
            case "Gained":
                found |= told
            case "Lost":
                found -= told
            case "CaughtUp":
                assert line["count"] == len(found)
            case other:
                assert other is None, line
    return found
