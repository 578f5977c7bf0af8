"""Taking back what a name stood for, then and now."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

Trellis = Callable[..., str]

FLEET = """\
{"createHierarchy":{"name":"geo"}}
{"createGroup":{"path":"/geo/a","title":"old"}}
{"registerCluster":{"name":"one","title":"old","groups":["/geo/a"]}}
"""

GONE = """\
{"retireCluster":{"name":"one"}}
{"deleteGroup":{"path":"/geo/a"}}
"""

ANEW = """\
{"createGroup":{"path":"/geo/a","title":"new"}}
{"registerCluster":{"name":"one","title":"new","groups":["/geo/a"]}}
"""


@pytest.fixture
def give(place: Path, trellis: Trellis) -> Callable[[str], str]:
    """Give commands as JSON lines; the first ones make the store."""

    def work(lines: str) -> str:
        (place / "lines.jsonl").write_text(lines)
        verb = "apply" if (place / "trellis.db").exists() else "load"
        return trellis(verb, "lines.jsonl", "--reason", "because")

    return work


def test_the_old_holder_of_a_name_replaces_the_new_one(
    trellis: Trellis, give: Callable[[str], str]
) -> None:
    for lines in (FLEET, GONE, ANEW):
        give(lines)
    told = trellis("revert", "one", "--to", "1")
    assert "left as it is: cluster one: 1 of its groups is gone\n" in told
    assert "2 objects taken back" in told
    assert trellis("revert", "/geo/a", "--to", "1").startswith("3 objects taken back")
    assert '"title": "old"' in trellis("select", "/geo/a", "-o", "json")


def test_a_name_whose_new_holder_cannot_go_stays_with_it(
    trellis: Trellis, give: Callable[[str], str]
) -> None:
    for lines in (FLEET, GONE, ANEW):
        give(lines)
    told = trellis("revert", "/geo/a", "--to", "1")
    assert "left as it is: group a of /geo: it has members that were not there then\n" in told
    assert "left as it is: group a of /geo: its name is taken\n" in told
    assert "nothing to take back" in told


def test_what_is_gone_is_found_by_time_too(trellis: Trellis, give: Callable[[str], str]) -> None:
    give(FLEET)
    before = datetime.now(UTC).isoformat()
    give(GONE)
    told = trellis("revert", "/geo/a", "--to", before)
    assert "left as it is: cluster one: it was registered or retired since\n" in told
    assert "1 object taken back" in told
    assert trellis("revert", "one", "--to", before).startswith("1 object taken back")
    assert trellis("select", "/geo/a", "-o", "name") == "one\n"
    assert "there is no cluster" in trellis("revert", "nobody", "--to", before, expect=1)
