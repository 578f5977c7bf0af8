from __future__ import annotations

from pathlib import Path

import click
import pytest

from cli.main import VERBS, run, trellis

pytestmark = pytest.mark.usefixtures("place")


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_one_line_of_help(verb: str) -> None:
    command = trellis.get_command(click.Context(trellis), verb)
    assert command is not None
    assert command.name == verb
    assert command.short_help == VERBS[verb][1]
    assert command.help


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_helps(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == 0
    assert f"Usage: trellis {verb}" in capfd.readouterr().out


def test_a_mistake_of_usage_is_2_and_a_near_verb_is_named(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(["selct"]) == 2
    assert "Did you mean select?" in capfd.readouterr().err
    assert run(["select"]) == 2
    assert run(["generate", "--clusters", "0"]) == 2


def test_an_unknown_setting_is_refused(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRELLIS_STORE", "sqlite:///x.db")
    assert run(["select", "all"]) == 1
    assert capfd.readouterr().err == (
        'error: there is no setting "TRELLIS_STORE"\n  did you mean TRELLIS_STORE_URL?\n'
    )


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host/db", "is no store"),
        ("sqlite://fleet.db", "names no file"),
        ("sqlite:///", "names no file"),
        ("sqlite:///no/such/place/fleet.db", "is not a directory"),
        ("bolt://neo4j:secret@127.0.0.1:1", "carries a user or password"),
    ],
)
def test_a_wrong_store_url_is_refused(
    url: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["--store", url, "select", "all"]) == 1
    error = capfd.readouterr().err
    assert message in error
    assert "secret" not in error


@pytest.mark.parametrize(
    "words",
    [
        "select all",
        "explain ny-1 all",
        "tree /geo",
        "facets size",
        "cypher all",
        "apply geo.jsonl --reason try",
        "preview geo.jsonl",
        "save mine all",
        "history ny-1",
        "revert everything --to 1",
        "revert everything --to 1 --dry-run",
        "report",
        "verify",
        "backup copy.db",
        "restore geo.jsonl --yes",
        "compact --until 1",
    ],
)
def test_a_mistyped_store_is_an_error_and_not_an_empty_fleet(
    place: Path, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (place / "geo.jsonl").write_text('{"createHierarchy":{"name":"geo"}}')
    assert run(["--store", "sqlite:///flete.db", *words.split()]) == 1
    error = capfd.readouterr().err
    assert error.startswith("error: no store at ")
    assert "check the path" in error
    assert [each.name for each in place.iterdir()] == ["geo.jsonl"]


def test_load_makes_the_store(place: Path) -> None:
    (place / "geo.jsonl").write_text('{"createHierarchy":{"name":"geo"}}')
    assert run(["--store", "sqlite:///new.db", "load", "geo.jsonl"]) == 0
    assert (place / "new.db").exists()


def test_a_time_outside_the_calendar_is_refused(
    fleet: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["select", "all", "--as-of", "9999-12-31T23:59:59-23:00"]) == 1
    assert "is neither a revision nor a time" in capfd.readouterr().err


def test_a_file_cannot_be_the_archive(fleet: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (fleet / "trellis.db.archive").write_text("a file")
    assert run(["compact", "--until", "1"]) == 1
    error = capfd.readouterr().err
    assert "trellis.db.archive cannot be the archive directory: File exists\n" in error


def test_what_the_system_refuses_is_said_with_its_reason(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (place / "demo").write_text("a file")
    monkeypatch.setenv("TRELLIS_DEMO_DIRECTORY", "demo")
    assert run(["demo", "--clusters", "100"]) == 1
    assert capfd.readouterr().err.startswith("error: demo: File exists\n  check the path")


def test_backup_is_for_the_embedded_store(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", "bolt://127.0.0.1:1", "backup", "copy.db"]) == 1
    assert "neo4j-admin" in capfd.readouterr().err


HOSTILE = {
    "nul.jsonl": b'{"createGroup":{"path":"/geo/\x00"}}',
    "escaped-nul.jsonl": rb'{"createGroup":{"path":"/geo/x","title":"\u0000"}}',
    "surrogate.jsonl": rb'{"createGroup":{"path":"/geo/x","title":"\ud800"}}',
    "long.jsonl": b'{"createGroup":{"path":"/geo/' + b"a" * 10_000_000 + b'"}}',
    "long-name.jsonl": b'{"createGroup":{"path":"/geo/' + b"a" * 64 + b'"}}',
    "deep-path.jsonl": b'{"createGroup":{"path":"' + b"/geo" * 40 + b'"}}',
    "twice.jsonl": b'{"createGroup":{"path":"/geo/x","path":"/geo/y"}}',
    "unknown.jsonl": b'{"dropGroup":{"path":"/geo/us"}}',
    "types.jsonl": b'{"createGroup":{"path":7}}',
    "huge.jsonl": b'{"registerCluster":{"name":"a","labels":{"lanes":1e400}}}',
    "digits.jsonl": b'{"registerCluster":{"name":"a","labels":{"lanes":1%s}}}' % (b"0" * 400),
    "text.jsonl": b'{"registerCluster":{"name":"a","labels":{"size":1%s}}}' % (b"0" * 4_000),
    "digits.yaml": b"registerCluster: {name: a, labels: {lanes: 1%s}}" % (b"0" * 400),
    "late.jsonl": b'{"createGroup":{"path":"/geo/x"}}\nnonsense\n',
    "refused.jsonl": b'{"createGroup":{"path":"/geo/x"}}\n{"createGroup":{"path":"/nope/x"}}\n',
    "cycle.jsonl": b'{"moveGroup":{"path":"/geo/us","parent":"/geo/us/northeast"}}',
    "bomb.yaml": b"a: &a [x, x]\nb: &b [*a, *a]\n",
    "deep.yaml": b"[" * 100_000,
    "empty.yaml": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("verb", ["load", "apply"])
def test_a_hostile_file_changes_nothing(
    fleet: Path, verb: str, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (fleet / name).write_bytes(HOSTILE[name])
    assert run([verb, name, "--reason", "try"]) == 1
    error = capfd.readouterr().err
    assert error.startswith(f"error: {name}")
    assert "\n  " in error, "no hint"
    assert "Traceback" not in error
    assert run(["select", "all", "--count"]) == 0
    assert capfd.readouterr().out == "400 of 400 clusters        revision 1\n"


@pytest.mark.parametrize(
    "selector",
    [
        "/gio/us",
        "",
        "size = ",
        "size = large and \x00",
        'size = "\udcff"',
        " and ".join(["size = large"] * 10_000),
        "(" * 1_000 + "all" + ")" * 1_000,
        "not " * 1_000 + "all",
        "size = " + "x" * 1_000_000,
        "/geo/" + "x" * 100,
    ],
    ids=["unknown", "empty", "cut", "nul", "surrogate", "wide", "deep", "nots", "long", "name"],
)
def test_a_bad_selector_is_a_short_clear_error(
    fleet: Path, selector: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["select", selector]) == 1
    out, error = capfd.readouterr()
    assert out == ""
    assert error.startswith("error: ")
    assert max(map(len, error.splitlines())) < 400


def test_a_load_is_recognised_when_it_is_run_again(
    fleet: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["load", "fleet.jsonl"]) == 0
    assert "in 1 batch, 1 of them loaded before        revision 1\n" in capfd.readouterr().out
    assert run(["load", "fleet.jsonl", "--again"]) == 1
    assert "fleet.jsonl, line 1: " in capfd.readouterr().err


def test_a_batch_beyond_the_bound_is_not_atomic(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (place / "big.jsonl").write_text('{"removeLabel":{"name":"x"}}\n' * 10_001)
    assert run(["apply", "big.jsonl", "--reason", "try"]) == 1
    assert "holds more than 10,000 commands" in capfd.readouterr().err


def test_a_generated_file_cannot_be_written_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "--clusters", "1", "-o", "no/such/place.jsonl"]) == 1
    assert "cannot be written" in capfd.readouterr().err


def test_a_restore_asks_first(fleet: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["backup", "copy.db"]) == 0
    assert run(["backup", "copy.db"]) == 1
    assert "exists already" in capfd.readouterr().err
    assert run(["restore", "nowhere.db", "--yes"]) == 1
    assert "is not a file" in capfd.readouterr().err


def test_a_selector_as_cypher_carries_its_parameters(
    fleet: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["cypher", '/geo/us and store = "0\'; DROP"']) == 0
    out = capfd.readouterr().out
    assert '[{key: "store", value: "0\'; DROP"}];' in out
    assert "DROP" not in out.rpartition("];")[2]
