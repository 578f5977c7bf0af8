"""Lines of the log: whole, unforgeable, without secrets."""

from __future__ import annotations

import io
import json
import logging

import pytest

from api.settings import TelemetrySettings
from api.telemetry.logs import AccessLines, log_to
from api.telemetry.telemetry import Telemetry

NASTY = 'a\nb\r\x1b[31m\x00"\\ \u2028\u202e\x85\ud800 é'
log = logging.getLogger("tests.logs")


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def settings(**given: str) -> TelemetrySettings:
    return TelemetrySettings.model_validate({"logs": "json", **given})


def test_a_line_is_one_json_object_with_its_fields(stream: io.StringIO) -> None:
    with log_to(settings(), stream=stream, trace_id=lambda: "ab" * 16):
        log.warning("the store is %s", "back", extra={"fields": {"seconds": 3}})
    said = json.loads(stream.getvalue())
    assert said.pop("time").endswith("Z")
    assert said == {
        "level": "warning",
        "logger": "tests.logs",
        "message": "the store is back",
        "seconds": 3,
        "trace_id": "ab" * 16,
    }


@pytest.mark.parametrize("form", ["json", "text"])
def test_nobody_forges_a_line(form: str, stream: io.StringIO) -> None:
    with log_to(settings(logs=form), stream=stream):
        log.info("%s", NASTY, extra={"fields": {"name": NASTY}})
    said = stream.getvalue()
    assert said.count("\n") == 1
    assert said.endswith("\n")
    assert said[:-1].isprintable()
    if form == "json":
        assert json.loads(said)["message"] == NASTY, "and nothing of it is lost"


async def test_nobody_forges_the_line_of_an_operation(stream: io.StringIO) -> None:
    for form in ("json", "text"):
        with log_to(settings(logs=form), stream=stream) as handler:
            telemetry = Telemetry(settings(), access=AccessLines(handler))
            long = NASTY * 50
            telemetry.done("mutation", long, "ok", seconds=0.001, actor=NASTY, revision=lambda: 3)
            await telemetry.close()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert all(line.isprintable() and len(line) < 1_500 for line in lines)


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_secret_of_the_settings_is_in_no_line(form: str, stream: io.StringIO) -> None:
    secret = 'hunt"er2é'
    with log_to(settings(logs=form), stream=stream, secrets=[secret, ""]):
        try:
            raise ValueError(f"cannot sign in with {secret}")
        except ValueError:
            log.exception("password %s", secret, extra={"fields": {"url": f"x:{secret}@y"}})
    assert "hunt" not in stream.getvalue()
    assert stream.getvalue().count("***") == 3


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_fault_is_logged_with_its_trace(form: str, stream: io.StringIO) -> None:
    with log_to(settings(logs=form), stream=stream):
        try:
            raise ValueError("oh no")
        except ValueError:
            log.exception("it failed")
    said = json.loads(stream.getvalue())["error"] if form == "json" else stream.getvalue()
    assert "Traceback" in said
    assert said.rstrip().endswith("ValueError: oh no")


def test_what_is_below_the_level_is_not_logged(stream: io.StringIO) -> None:
    with log_to(settings(level="warning"), stream=stream) as handler:
        log.info("quiet")
        log.error("loud")
        assert stream.getvalue().count("\n") == 1
        assert not AccessLines(handler).wanted


def test_the_root_logger_is_everybodys_and_as_it_was_when_lines_are_no_longer_sent() -> None:
    root = logging.getLogger()
    before = root.level, [*root.handlers]
    with pytest.raises(ValueError, match="oh no"), log_to(settings(level="debug")):
        raise ValueError("oh no")
    assert (root.level, root.handlers) == before


def test_a_terminal_gets_text_and_anything_else_json(stream: io.StringIO) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for each in (stream, Terminal()):
        with log_to(TelemetrySettings(), stream=each):
            log.info("hello")
        assert each.getvalue().startswith("{") is (each is stream)


async def test_an_operation_leaves_one_line_with_what_it_was(stream: io.StringIO) -> None:
    with log_to(settings(), stream=stream) as handler:
        telemetry = Telemetry(settings(), access=AccessLines(handler))
        telemetry.done(
            "mutation", "Counts", "ok", seconds=0.0123456, actor="ann", revision=lambda: 812
        )
        assert stream.getvalue() == "", "lines are gathered"
        await telemetry.close()
    said = json.loads(stream.getvalue())
    assert said.pop("time")
    assert said == {
        "level": "info",
        "logger": "api.access",
        "message": "operation",
        "kind": "mutation",
        "name": "Counts",
        "outcome": "ok",
        "milliseconds": 12.346,
        "actor": "ann",
        "revision": 812,
    }


async def test_a_query_that_went_well_and_quickly_leaves_a_line_only_for_those_who_debug(
    stream: io.StringIO,
) -> None:
    for level, expected in (("info", ["slow", "wrong"]), ("debug", ["quick", "slow", "wrong"])):
        stream.seek(0)
        stream.truncate()
        told = settings(level=level, slow_seconds=0.5)
        with log_to(told, stream=stream) as handler:
            telemetry = Telemetry(told, access=AccessLines(handler))
            telemetry.done("query", "quick", "ok", seconds=0.001)
            telemetry.done("query", "slow", "ok", seconds=0.5)
            telemetry.done("query", "wrong", "INVALID", seconds=0.001)
            await telemetry.close()
        assert [json.loads(line)["name"] for line in stream.getvalue().splitlines()] == expected


async def test_lines_that_wait_are_bounded(stream: io.StringIO) -> None:
    with log_to(settings(), stream=stream) as handler:
        telemetry = Telemetry(settings(), access=AccessLines(handler))
        for _ in range(2_500):
            telemetry.done("mutation", "", "ok", seconds=0.001)
        assert stream.getvalue().count("\n") == 2_000
        await telemetry.close()
    assert stream.getvalue().count("\n") == 2_500
