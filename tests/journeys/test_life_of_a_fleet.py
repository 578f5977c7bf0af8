"""One fleet through everything: loaded, asked, explained, changed, undone, verified, restored."""

from __future__ import annotations

import json
from pathlib import Path

from cli.signing import local_author
from trellis_process import Trellis

CLUSTER = "us-northeast-ny-city003-00007"
CORPORATE = "/franchise/corporate"


def count(trellis: Trellis, selector: str) -> int:
    return int(trellis("select", selector, "--count", "-o", "json"))


def test_a_fleet_lives_through_everything(trellis: Trellis, fleet_file: Path) -> None:
    told = trellis("load", str(fleet_file), "--batch", "1000")
    head = int(told.rsplit("revision ", 1)[1])
    assert trellis("select", "all", "--count") == (
        f"2,000 of 2,000 clusters        revision {head:,}\n"
    )
    before = count(trellis, CORPORATE)

    answer = trellis("explain", CLUSTER, f"{CORPORATE} and /geo/us")
    assert answer.startswith("no: 1 of 2 clauses holds\n")
    assert f"nearest change: join {CORPORATE}" in answer

    join = {"join": {"cluster": CLUSTER, "group": CORPORATE}}
    (trellis.directory / "buy.jsonl").write_text(json.dumps(join))
    bought = trellis("apply", "buy.jsonl", "--reason", "bought", "--key", "deal-1")
    assert bought == f"revision {head + 1:,}\n"
    assert trellis("apply", "buy.jsonl", "--reason", "bought", "--key", "deal-1") == bought
    assert count(trellis, CORPORATE) == before + 1

    history = trellis("history", CLUSTER)
    assert f'{local_author().name}: "bought"\n  left /franchise/master' in history
    assert f"joined {CORPORATE}\n" in history

    reverted = trellis("revert", CLUSTER, "--to", str(head))
    assert reverted == f"1 object taken back        revision {head + 2:,}\n"
    assert count(trellis, CORPORATE) == before

    trellis("backup", "copy.db")
    trellis("save", "corporate", CORPORATE)
    trellis("restore", "copy.db", "--yes")
    assert 'no saved selector called "corporate"' in trellis("select", "@corporate", expect=1)
    assert "the record is whole" in trellis("verify")
