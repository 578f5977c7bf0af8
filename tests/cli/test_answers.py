"""Answers in every form, at every time, from a store in every state."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Trellis = Callable[..., str]

pytestmark = pytest.mark.usefixtures("fleet")

CLUSTER = "us-northeast-ny-city001-00001"


def test_every_form_of_an_answer_names_the_same_clusters(trellis: Trellis) -> None:
    selector = "/geo/us and size = large"
    names = trellis("select", selector, "-o", "name").split()
    assert names == sorted(names)
    data = json.loads(trellis("select", selector, "-o", "json"))
    assert data["total"] == len(names) == int(trellis("select", selector, "--count", "-o", "json"))
    assert [each["name"] for each in data["clusters"]] == names
    table = trellis("select", selector, "-o", "csv").splitlines()
    assert [line.split(",")[0] for line in table[1:]] == names
    assert trellis("select", selector, "-o", "yaml").count("- name: ") == len(names)
    rows = trellis("select", selector, "--limit", "10000").splitlines()
    assert [row.split()[0] for row in rows[1 : len(names) + 1]] == names


def test_an_answer_can_be_in_the_order_of_registration(trellis: Trellis) -> None:
    answer = json.loads(trellis("select", "all", "-o", "json", "--order", "id", "--limit", "9"))
    numbers = [each["number"] for each in answer["clusters"]]
    assert numbers == list(range(9))
    assert answer["total"] == 400


@pytest.mark.parametrize("form", ["json", "yaml", "name", "csv", "table"])
def test_an_empty_answer_has_every_form(trellis: Trellis, form: str) -> None:
    answer = trellis("select", "/geo/us and not /geo/us", "-o", form)
    expected = {
        "json": '{"revision": 1, "total": 0, "clusters": []}\n',
        "yaml": "[]\n",
        "name": "",
        "table": "0 of 400 clusters        revision 1\n",
    }
    assert answer == expected.get(form, answer)
    assert form != "csv" or len(answer.splitlines()) == 1


def test_a_table_is_bounded_and_says_so(trellis: Trellis) -> None:
    lines = trellis("select", "all").splitlines()
    assert len(lines) == 1 + 50 + 2
    assert lines[-1] == "the first 50 of 400 clusters; --limit shows more        revision 1"


def test_a_table_with_fewer_columns_than_there_are_labels_says_so(
    trellis: Trellis, fleet: Path
) -> None:
    assert "labels shown" not in trellis("select", "all", "--limit", "1")
    (fleet / "more.jsonl").write_text('{"declareLabel":{"name":"zone","type":"text"}}\n')
    trellis("apply", "--reason", "one more", "more.jsonl")
    assert "8 of 9 labels shown; -o csv shows all" in trellis("select", "all", "--limit", "1")
    assert ",zone," in trellis("select", "all", "--limit", "1", "-o", "csv").splitlines()[0]


def test_the_fleet_as_it_was_is_named_by_revision_or_time(trellis: Trellis) -> None:
    trellis("save", "north", "/geo/us/northeast")
    assert trellis("select", "all", "--count", "--as-of", "0").startswith("0 of 0 clusters")
    assert trellis("select", "all", "--count", "--as-of", "2126-01-01T00:00Z") == (
        "400 of 400 clusters        revision 2\n"
    )
    assert "neither a revision nor a time" in trellis(
        "select", "all", "--as-of", "yesterday", expect=1
    )
    assert "no saved selector" in trellis("select", "@north", "--as-of", "1", expect=1)


def test_a_compacted_log_keeps_the_record(trellis: Trellis) -> None:
    trellis("save", "north", "/geo/us/northeast")
    assert "archived in" in trellis("compact", "--until", "1")
    assert "nothing to archive" in trellis("compact", "--until", "1")
    assert "older than the log keeps" in trellis("select", "all", "--as-of", "0", expect=1)
    assert "registered" in trellis("history", CLUSTER)
    assert "the record is whole" in trellis("verify")


def test_what_is_gone_is_found_by_its_last_name(trellis: Trellis, fleet: Path) -> None:
    trellis("save", "north", "/geo/us/northeast")
    (fleet / "gone.jsonl").write_text(
        '{"deleteSelector":{"name":"north"}}\n{"retireCluster":{"name":"' + CLUSTER + '"}}\n'
    )
    trellis("apply", "gone.jsonl", "--reason", "over")
    assert '"over"\n  deleted\n' in trellis("history", "@north")
    assert '"over"\n  retired\n' in trellis("history", CLUSTER)
    assert "2 objects taken back" in trellis("revert", "everything", "--to", "2")
    assert trellis("select", f"cluster {CLUSTER} and @north", "-o", "name") == f"{CLUSTER}\n"


def test_a_group_is_taken_back_with_what_is_below_it(trellis: Trellis, fleet: Path) -> None:
    (fleet / "move.jsonl").write_text(
        '{"createGroup":{"path":"/geo/us/coast"}}\n'
        '{"moveGroup":{"path":"/geo/us/west","parent":"/geo/us/coast"}}\n'
        '{"renameGroup":{"path":"/geo/us/coast/west","name":"pacific"}}\n'
    )
    before = trellis("select", "/geo/us/west", "-o", "name")
    trellis("apply", "move.jsonl", "--reason", "reorganised")
    assert trellis("select", "/geo/us/coast/pacific", "-o", "name") == before
    told = trellis("revert", "/geo/us", "--to", "1")
    assert "taken back" in told
    assert trellis("select", "/geo/us/west", "-o", "name") == before
    assert "no group called" in trellis("select", "/geo/us/coast", expect=1)


def test_a_broken_or_foreign_snapshot_file_is_passed_over(trellis: Trellis, fleet: Path) -> None:
    expected = trellis("select", "all", "--count")
    (file,) = fleet.glob("*.snapshot")
    whole = file.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", b"foreign" * 1_000):
        file.write_bytes(broken)
        assert trellis("select", "all", "--count").startswith(expected)


def test_a_restore_brings_back_the_backup(trellis: Trellis) -> None:
    trellis("backup", "copy.db")
    trellis("save", "north", "/geo/us/northeast")
    trellis("restore", "copy.db", "--yes")
    assert "no saved selector" in trellis("select", "@north", expect=1)
    assert "the record is whole" in trellis("verify")
