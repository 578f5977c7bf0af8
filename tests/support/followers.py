"""What a careful subscriber keeps: the set or the log as it was told, and where to resume.

A follower knows nothing but the messages. Whoever breaks its connection at any point and resumes
at its cursor should end with exactly what a fresh query gives.
"""

from __future__ import annotations

from typing import Any

CLUSTER_SET = """
subscription Set($where: SelectorInput!, $after: Cursor) {
  clusterSet(where: $where, after: $after) {
    __typename
    ... on Snapshot { cursor clusters { name } }
    ... on CaughtUp { cursor count }
    ... on Gained { cursor clusters { name } }
    ... on Lost { cursor clusters { id name } }
    ... on ResyncRequired { message hint head }
  }
}
"""
CHANGES = """
subscription Log($after: Cursor) {
  changes(after: $after) {
    __typename
    ... on Changeset { cursor revision reason changes { id name action } }
    ... on Progress { cursor }
    ... on ResyncRequired { message hint head }
  }
}
"""


class SetFollower:
    """Holds the set of a selector."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.query = CLUSTER_SET
        self.cursor: str | None = None
        self.held: set[str] = set()
        self._part: set[str] | None = None
        self.current = False
        """Whether the last message was that it has caught up."""

    @property
    def variables(self) -> dict[str, Any]:
        """What to subscribe with."""
        return {"where": {"text": self.where}, "after": self.cursor}

    def begin(self) -> None:
        """A new connection."""
        self.current = False
        self._part = set() if self.cursor is None else None

    def take(self, message: dict[str, Any]) -> None:
        """Believe one message."""
        kind = message["__typename"]
        assert kind != "ResyncRequired", message
        self.current = kind == "CaughtUp"
        if kind == "Snapshot":
            assert self._part is not None, "a snapshot comes only without a cursor"
            assert message["cursor"] is None
            self._part |= {each["name"] for each in message["clusters"]}
            return
        if kind == "CaughtUp" and self._part is not None:
            self.held, self._part = self._part, None
        if kind == "Gained":
            self.held |= {each["name"] for each in message["clusters"]}
        if kind == "Lost":
            self.held -= {each["name"] for each in message["clusters"]}
        if kind == "CaughtUp":
            assert message["count"] == len(self.held), "the set is not what it should be"
        assert message["cursor"] is not None
        self.cursor = message["cursor"]


class LogFollower:
    """Holds the revisions of the log."""

    def __init__(self) -> None:
        self.query = CHANGES
        self.cursor: str | None = None
        self.revisions: list[int] = []

    @property
    def variables(self) -> dict[str, Any]:
        """What to subscribe with."""
        return {"after": self.cursor}

    def begin(self) -> None:
        """A new connection."""

    def take(self, message: dict[str, Any]) -> None:
        """Believe one message."""
        assert message["__typename"] != "ResyncRequired", message
        if message["__typename"] == "Changeset":
            self.revisions.append(message["revision"])
        self.cursor = message["cursor"]


def revision_of(cursor: str | None) -> int:
    """The revision a cursor is of; 0 for none."""
    return 0 if cursor is None else int(cursor.partition(".")[0])
