"""Every bad end is a good one: a clear error, an exit code, nothing changed, nothing lost."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from trellis_process import Trellis


def test_a_hostile_file_changes_nothing(fleet: Trellis) -> None:
    before = fleet("select", "all", "--count")
    line = b'{"createGroup":{"path":"/geo/fine"}}\n'
    (fleet.directory / "late.jsonl").write_bytes(line + b"\x00nonsense\n")
    (fleet.directory / "refused.jsonl").write_bytes(line + line)
    for name in ("late.jsonl", "refused.jsonl"):
        answer = fleet("load", name, expect=1)
        assert answer.startswith(f"error: {name}, line 2: ")
    assert fleet("select", "all", "--count") == before


def test_a_store_that_is_not_there_is_said_so(trellis: Trellis) -> None:
    answer = trellis("select", "all", expect=1)
    assert answer.startswith("error: no store at ")
    assert not list(trellis.directory.iterdir())


def test_a_file_that_is_no_store_is_left_alone(trellis: Trellis) -> None:
    file = trellis.directory / "trellis.db"
    file.write_bytes(b"dear diary\n" * 1_000)
    before = file.read_bytes()
    assert trellis("select", "all", expect=1).startswith("error: ")
    (trellis.directory / "x.jsonl").write_text('{"createHierarchy":{"name":"geo"}}')
    assert trellis("load", "x.jsonl", expect=1).startswith("error: ")
    assert file.read_bytes() == before


def test_a_second_writer_is_refused_and_readers_are_not(fleet: Trellis) -> None:
    writer = fleet.start("load", "-", stdin=subprocess.PIPE)
    assert writer.stdin is not None
    join = {"join": {"cluster": "us-northeast-ny-city003-00007", "group": "/devices/camera"}}
    fleet.wait_until(lambda: fleet.is_writer(writer), writer)
    (fleet.directory / "join.jsonl").write_text(json.dumps(join))
    answer = fleet("load", "join.jsonl", expect=1)
    assert f"is open for writing in process {writer.pid}" in answer
    assert "2,000 of 2,000 clusters" in fleet("select", "all", "--count")
    writer.stdin.write((json.dumps(join) + "\n").encode())
    output, errors = writer.communicate(timeout=60)
    assert writer.returncode == 0, errors
    assert output.startswith(b"1 command from - in 1 batch ")


@pytest.mark.crash
def test_a_load_that_was_killed_is_resumed(trellis: Trellis, fleet_file: Path) -> None:
    words = ("load", str(fleet_file), "--batch", "100", "--reason", "first load")
    log = trellis.directory / "trellis.db-wal"

    def size() -> int:
        return log.stat().st_size if log.exists() else 0

    def cut_short(enough: int) -> None:
        process = trellis.start(*words)
        trellis.wait_until(lambda: trellis.is_writer(process) and size() > enough, process)
        process.kill()
        process.wait()

    cut_short(100_000)
    cut_short(300_000)
    told = trellis(*words)
    assert "of them loaded before" in told
    assert trellis("select", "all", "--count").startswith("2,000 of 2,000 clusters")
    assert "the record is whole" in trellis("verify")
    again = trellis(*words)
    assert again.rsplit("revision", 1)[1] == told.rsplit("revision", 1)[1]


def test_an_interrupt_is_clean(trellis: Trellis) -> None:
    (trellis.directory / "geo.jsonl").write_text('{"createHierarchy":{"name":"geo"}}')
    trellis("load", "geo.jsonl")
    process = trellis.start("load", "-", stdin=subprocess.PIPE)
    trellis.wait_until(lambda: trellis.is_writer(process), process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in output + errors
    assert b"interrupted" in errors
    assert "0 of 0 clusters" in trellis("select", "all", "--count")


def test_whoever_waits_for_standard_input_is_interrupted_at_once(trellis: Trellis) -> None:
    process = trellis.start("load", "-", stdin=subprocess.PIPE)
    trellis.wait_until(lambda: trellis.is_writer(process), process)
    time.sleep(0.5)  # until it waits; and if it does not yet, it is interrupted all the same
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130, "though more may come"
    assert process.stderr is not None
    errors = process.stderr.read()
    assert b"Traceback" not in errors
    assert b"interrupted" in errors


def test_a_reader_that_has_seen_enough_is_no_error(trellis: Trellis) -> None:
    process = trellis.start("generate", "--clusters", "20000")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate(timeout=60)
    assert errors == b""
    assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("words", [["select", "all"], ["generate"], ["--help"], ["--version"]])
def test_output_that_nobody_can_take_is_an_error_of_one_line(
    fleet: Trellis, words: list[str]
) -> None:
    with Path("/dev/full").open("wb") as full:
        process = fleet.start(*words, stdout=full.fileno())
        _, errors = process.communicate(timeout=60)
    assert errors.startswith(b"error: the output: No space left on device\n")
    assert b"Traceback" not in errors
    assert b"Exception ignored" not in errors
    assert process.returncode == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_closed_are_no_error(fleet: Trellis, closed: str) -> None:
    command = " ".join(fleet.words(("select", "all", "-o", "name")))
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} {closed}"], cwd=fleet.directory, capture_output=True
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0
    assert "the record is whole" in fleet("verify")


def test_a_link_that_leads_to_itself_is_no_store(trellis: Trellis) -> None:
    (trellis.directory / "trellis.db").symlink_to("trellis.db")
    (trellis.directory / "geo.jsonl").write_text('{"createHierarchy":{"name":"geo"}}')
    for words in (("select", "all"), ("load", "geo.jsonl")):
        assert trellis(*words, expect=1).startswith("error: ")


def test_a_terminal_sees_colour_and_a_progress_bar(trellis: Trellis, fleet_file: Path) -> None:
    said = trellis.on_a_terminal("load", str(fleet_file), "--batch", "500")
    assert f"loading {fleet_file}" in said
    assert "commands from" in said
    assert "\x1b[31m\x1b[1merror:\x1b[0m no hierarchy" in trellis.on_a_terminal("select", "/gio")


@pytest.mark.parametrize("settings", [{"NO_COLOR": "no"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_escape_codes_gets_none(
    trellis: Trellis, settings: dict[str, str]
) -> None:
    (trellis.directory / "geo.jsonl").write_text('{"createHierarchy":{"name":"geo"}}')
    said = trellis.on_a_terminal("load", "geo.jsonl", **settings)
    said += trellis.on_a_terminal("select", "/gio", **settings)
    assert "commands from" in said or "1 command from" in said
    assert "error: no hierarchy" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("ws://127.0.0.1:1/graphql", "cannot be reached"),
        ("http://trellis.example.com", "read by whoever is between"),
        ("ftp://trellis.example.com", "is no address of an API"),
        ("store", "no store at"),
    ],
)
def test_a_worker_whose_source_is_wrong_makes_no_repository(
    trellis: Trellis, source: str, why: str
) -> None:
    words = ("render", "--once", "--from", source, "--to", "git:fleet.git#main")
    answer = trellis(*words, expect=1)
    assert answer.startswith("error: ") and why in answer
    assert "rendering everything" not in answer
    assert not list(trellis.directory.iterdir())


def test_help_imports_nothing_heavy(trellis: Trellis) -> None:
    code = (
        "import sys; from cli.main import run; run(['--help']);"
        "print(sorted({'rich', 'neo4j', 'lark', 'pydantic', 'apsw', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [*trellis.words(())[:1], "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")
