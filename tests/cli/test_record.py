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


STORES = "".join(f'{{"registerCluster":{{"name":"s{number:02}"}}}}\n' for number in range(30))
NONE_RUN = f"""\
{STORES}{{"defineNamespace":{{"name":"kitchen"}}}}
{{"defineApplication":{{"name":"grill","namespace":"kitchen"}}}}
{{"saveSelector":{{"name":"grills","selector":"not all"}}}}
{{"assign":{{"name":"us","namespace":"kitchen","selector":"@grills"}}}}
"""
ALL_RUN = '{"saveSelector":{"name":"grills","selector":"all"}}\n'
NARROW = (
    '{"defineNamespace":{"name":"bar"}}\n{"saveSelector":{"name":"grills","selector":"not all"}}\n'
)
LOSS = "--expect-loss 30 says that it is meant"


def test_a_revert_that_takes_much_away_is_made_when_its_loss_is_stated(
    trellis: Trellis, give: Callable[[str], str]
) -> None:
    give(NONE_RUN)
    give(ALL_RUN)
    back = ("revert", "everything", "--to", "1")
    told = trellis(*back, "--dry-run")
    assert "1 object would be taken back\n" in told
    assert "grill: 30 lost\n  - s00\n" in told
    assert "! the batch takes 30 workloads away" in told
    assert "  grill loses 30 of 30 clusters (100.0 %)\n" in told
    assert LOSS in told
    refused = trellis(*back, expect=1)
    assert LOSS in refused
    assert "expectedLoss" not in refused
    stated = (*back, "--expect-loss", "30")
    assert "!" not in trellis(*stated, "--dry-run")
    assert trellis(*stated).startswith("1 object taken back        revision 3")


def test_a_saved_selector_may_take_away_what_was_stated(
    trellis: Trellis, give: Callable[[str], str]
) -> None:
    give(NONE_RUN)
    give(ALL_RUN)
    assert LOSS in trellis("save", "grills", "not all", expect=1)
    assert "30 workloads away; 29 were" in trellis(
        "save", "grills", "not all", "--expect-loss", "29", expect=1
    )
    assert "revision 3" in trellis("save", "grills", "not all", "--expect-loss", "30")


def test_a_load_that_takes_much_away_says_which_commands_to_apply(
    place: Path, trellis: Trellis, give: Callable[[str], str]
) -> None:
    give(NONE_RUN)
    give(ALL_RUN)
    (place / "narrow.jsonl").write_text(NARROW)
    told = trellis("load", "narrow.jsonl", expect=1)
    assert (
        "nothing from narrow.jsonl, line 1 on was loaded; give the commands up to"
        " narrow.jsonl, line 2 to trellis apply with --expect-loss 30" in told
    )
    assert "revision 3" in trellis(
        "apply", "narrow.jsonl", "--reason", "meant", "--expect-loss", "30"
    )
