from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import BaseModel

from cli.settings import Neo4jSettings, Settings, StoreSettings, names, read_settings
from graph.model.errors import Invalid
from graph.store.neo4j_connection import CONNECTIONS_MAX, Timeouts
from graph.store.port import RECEIPTS_KEPT_DAYS


def test_a_fresh_machine_needs_no_settings() -> None:
    settings = read_settings({})
    assert settings.store.url == "sqlite:///trellis.db"
    assert settings.actor == ""
    assert settings.load.batch_commands == 10_000


def test_settings_come_from_their_section() -> None:
    settings = read_settings(
        {
            "TRELLIS_ACTOR": "ci-bot",
            "TRELLIS_STORE_URL": "neo4j://graph.example.com",
            "TRELLIS_NEO4J_PASSWORD": "secret",
            "TRELLIS_GRAPH_PAGE_SIZE_MAX": "50",
            "TRELLIS_API_PORT": "0",
            "TRELLIS_API_CONSOLE": "false",
            "TRELLIS_AUTH_TOKENS": "ann:admin:hunter2",
            "TRELLIS_TELEMETRY_TRACES_SHARE": "0.25",
            "PATH": "/bin",
        }
    )
    assert settings.actor == "ci-bot"
    assert settings.store.url == "neo4j://graph.example.com"
    assert settings.neo4j.password.get_secret_value() == "secret"
    assert settings.graph.page_size_max == 50
    assert (settings.api.port, settings.api.console) == (0, False)
    assert settings.auth.tokens.get_secret_value() == "ann:admin:hunter2"
    assert settings.telemetry.traces_share == 0.25


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("TRELLIS_STOER_URL", "did you mean TRELLIS_STORE_URL?"),
        ("TRELLIS_STORE_URI", "did you mean TRELLIS_STORE_URL?"),
        ("TRELLIS_STORE", "did you mean TRELLIS_STORE_URL?"),
        ("TRELLIS_API_HOSTNAME", "did you mean TRELLIS_API_HOST?"),
        ("TRELLIS_AUTH_TOKEN", "did you mean TRELLIS_AUTH_TOKENS?"),
    ],
)
def test_an_unknown_name_is_refused_at_both_levels(name: str, hint: str) -> None:
    with pytest.raises(Invalid, match=f'there is no setting "{name}"') as refusal:
        read_settings({name: "x"})
    assert refusal.value.hint == hint


def test_names_of_the_test_suite_are_passed_over() -> None:
    assert read_settings({"TRELLIS_TEST_NEO4J_URL": "bolt://x"}) == read_settings({})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRELLIS_API_PORT", "65536"),
        ("TRELLIS_API_BODY_SECONDS", "inf"),
        ("TRELLIS_API_REQUESTS_PER_SECOND", "0"),
        ("TRELLIS_API_CONSOLE", "perhaps"),
        ("TRELLIS_AUTH_ANONYMOUS", "root"),
        ("TRELLIS_AUTH_LEEWAY_SECONDS", "301"),
        ("TRELLIS_TELEMETRY_TRACES_SHARE", "1.5"),
        ("TRELLIS_TELEMETRY_LOGS", "xml"),
    ],
)
def test_the_apis_settings_are_checked_as_well(name: str, value: str) -> None:
    with pytest.raises(Invalid, match=f"{name}: "):
        read_settings({name: value})


@pytest.mark.parametrize("value", ["0", "10001", "many"])
def test_a_value_out_of_bounds_is_refused_by_name(value: str) -> None:
    with pytest.raises(Invalid, match="TRELLIS_LOAD_BATCH_COMMANDS") as refusal:
        read_settings({"TRELLIS_LOAD_BATCH_COMMANDS": value})
    assert refusal.value.hint


def test_a_secret_is_never_shown() -> None:
    settings = read_settings(
        {"TRELLIS_NEO4J_PASSWORD": "hunter2", "TRELLIS_AUTH_TOKENS": "ann:admin:hunter2"}
    )
    assert "hunter2" not in repr(settings) + str(settings)


def test_every_setting_is_described() -> None:
    settings = read_settings({})
    for section, field in names().values():
        holder = type(getattr(settings, section)) if section else type(settings)
        assert holder.model_fields[field].description, (section, field)


def test_the_operating_page_tells_every_default_and_what_it_does() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operating.md").read_text("utf-8")
    told = re.findall(r"^\| `((?:TRELLIS|OTEL)_\w+)` \| (.*?) \| (.*) \|$", page, re.MULTILINE)
    models: dict[str, type[BaseModel]] = {
        section: kind
        for section, field in Settings.model_fields.items()
        if isinstance(kind := field.annotation, type) and issubclass(kind, BaseModel)
    }
    expected: list[tuple[str, str, str]] = []
    for name, (section, field) in names().items():
        found = models.get(section, Settings).model_fields[field]
        default = "" if found.default_factory else str(found.default).strip("*")
        expected.append((name, f"`{default}`" if default else "", found.description or ""))
    assert told == expected


def test_waits_for_neo4j_are_settings_with_the_defaults_of_the_store() -> None:
    waits = {each.name: each.default for each in fields(Timeouts)}
    known = Neo4jSettings.model_fields
    assert {name: known[name].default for name in waits} == waits
    assert known["connections_max"].default == CONNECTIONS_MAX
    assert StoreSettings.model_fields["receipts_kept_days"].default == RECEIPTS_KEPT_DAYS


@pytest.mark.parametrize("value", ["inf", "nan", "0", "-1"])
@pytest.mark.parametrize("name", ["TRELLIS_NEO4J_READ_SECONDS", "TRELLIS_GRAPH_POLL_SECONDS"])
def test_a_wait_is_finite(name: str, value: str) -> None:
    with pytest.raises(Invalid, match=name):
        read_settings({name: value})


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        read_settings({}).actor = "somebody"  # type: ignore[misc] # the point of the test
