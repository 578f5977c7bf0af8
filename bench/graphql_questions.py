"""What every side of the GraphQL benchmarks is asked, word for word.

One request is the same bytes for all of them; a side that is no GraphQL server reads the variables
and passes over the document.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cli.sample import SEED_SENTENCE

BROAD = "/geo/us and size = large"
TREE_ROOT, TREE_DEPTH = "/geo", 3
FIELDS = ("name", "title", "kind", "reconciler", "timeZone", "changed")


@dataclass(frozen=True, slots=True)
class Question:
    """A document with its variables."""

    name: str
    path: str
    """Where the bare routes answer it."""
    document: str
    where: str
    first: int | None = None

    def body(self, where: str | None = None) -> bytes:
        """The request as it is posted, optionally about other clusters."""
        variables: dict[str, Any] = {"where": {"text": where or self.where}}
        if self.first is not None:
            variables["first"] = self.first
        return json.dumps({"query": self.document, "variables": variables}).encode()

    def answer(self, body: bytes) -> object:
        """What a side said, to be compared with what others said."""
        said = json.loads(body)
        assert "errors" not in said, said["errors"]
        return said["data"]


def _rows(first: int) -> Question:
    document = (
        "query Rows($where: SelectorInput, $first: Int) { fleet {"
        f" clusters(where: $where, first: $first) {{ nodes {{ {' '.join(FIELDS)} }} }} }} }}"
    )
    return Question(f"{first:,} rows of 6 fields", "/rows", document, BROAD, first)


COUNT = Question(
    "count of the seed sentence",
    "/count",
    "query Count($where: SelectorInput) { fleet { clusters(where: $where) { totalCount } } }",
    SEED_SENTENCE,
)
FEW_ROWS, MANY_ROWS = _rows(50), _rows(1_000)
TREE = Question(
    "geo tree to depth 3 of the seed sentence",
    "/tree",
    "query Tree($where: SelectorInput) { fleet {"
    f' tree(root: "{TREE_ROOT}", depth: {TREE_DEPTH}, where: $where)'
    " { path depth count share } } }",
    SEED_SENTENCE,
)
QUESTIONS = (COUNT, FEW_ROWS, MANY_ROWS, TREE)


def never_seen(number: int) -> str:
    """A text nobody has read before, which chooses what the seed sentence chooses."""
    return f"{SEED_SENTENCE} and sqft >= {number / 1_000}"
