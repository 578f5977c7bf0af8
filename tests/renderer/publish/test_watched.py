"""A publisher that others look at while a worker publishes to it."""

from __future__ import annotations

import threading

import pytest

from graph.model.errors import Conflict, Unavailable
from published import MemoryTree
from renderer.publish.watched import Watched
from renderer.tree import Head, Told

TOLD = Told("Render", "because", "c", "s")


class Slow:
    """A publisher in memory that can be made to wait or to fail."""

    def __init__(self):
        self.commits, self.looks = [], 0
        self.gate = threading.Event()
        self.gate.set()
        self.fails = False

    def head(self):
        self.looks += 1
        assert self.gate.wait(10)
        if self.fails:
            raise Unavailable("away")
        return Head(f"commit-{len(self.commits)}", "c", "s", MemoryTree({}))

    def begin(self, head):
        return Draft(self)

    def close(self):
        pass


class Draft:
    def __init__(self, publisher):
        self.publisher, self.fails = publisher, False

    def write(self, path, content):
        pass

    def remove(self, path):
        pass

    def changes(self):
        return {}

    def commit(self, told):
        if told.subject == "overtaken":
            raise Conflict("overtaken")
        self.publisher.commits.append(told)
        return self.publisher.head()

    def abandon(self):
        pass


def test_whoever_looks_sees_the_newest_commit():
    slow = Slow()
    told = []
    watched = Watched(slow, lambda: told.append(watched.look().commit))
    assert watched.look().commit == "commit-0"
    watched.begin(watched.head()).commit(TOLD)
    assert watched.look().commit == "commit-1"
    assert told == ["commit-1"]


def test_while_a_commit_is_on_its_way_the_last_one_is_seen_and_nothing_is_fetched():
    slow = Slow()
    watched = Watched(slow)
    draft = watched.begin(watched.head())
    looks = slow.looks
    slow.commits.append("somebody else's")
    assert watched.look().commit == "commit-0"
    assert slow.looks == looks
    draft.abandon()
    assert watched.look().commit == "commit-1"


@pytest.mark.parametrize("end", ["abandoned", "overtaken"])
def test_a_draft_that_came_to_nothing_is_over(end):
    slow = Slow()
    watched = Watched(slow)
    draft = watched.begin(watched.head())
    if end == "overtaken":
        with pytest.raises(Conflict):
            draft.commit(Told("overtaken", "", "c", "s"))
    draft.abandon()
    draft.abandon()
    slow.commits.append("somebody else's")
    assert watched.look().commit == "commit-1"


def test_nobody_waits_for_somebody_elses_look():
    slow = Slow()
    watched = Watched(slow)
    assert watched.look().commit == "commit-0"
    slow.gate.clear()
    slow.commits.append("somebody else's")
    other = threading.Thread(target=watched.head)
    other.start()
    while slow.looks < 2:
        pass
    assert watched.look().commit == "commit-0"
    slow.gate.set()
    other.join(10)
    assert watched.look().commit == "commit-1"


def test_a_publisher_that_is_away_is_said():
    slow = Slow()
    slow.fails = True
    with pytest.raises(Unavailable, match="away"):
        Watched(slow).look()
