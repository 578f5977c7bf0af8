from __future__ import annotations

import pytest

from cli.settings import names, read_settings
from graph.model.errors import Invalid


def test_a_fresh_machine_needs_no_settings() -> None:
    settings = read_settings({})
    assert settings.store.url == "sqlite:///trellis.db"
    assert settings.actor
    assert settings.load.batch_commands == 10_000


def test_settings_come_from_their_section() -> None:
    settings = read_settings(
        {
            "TRELLIS_ACTOR": "ci-bot",
            "TRELLIS_STORE_URL": "neo4j://graph.example.com",
            "TRELLIS_NEO4J_PASSWORD": "secret",
            "TRELLIS_GRAPH_PAGE_SIZE_MAX": "50",
            "PATH": "/bin",
        }
    )
    assert settings.actor == "ci-bot"
    assert settings.store.url == "neo4j://graph.example.com"
    assert settings.neo4j.password.get_secret_value() == "secret"
    assert settings.graph.page_size_max == 50


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("TRELLIS_STOER_URL", "did you mean TRELLIS_STORE_URL?"),
        ("TRELLIS_STORE_URI", "did you mean TRELLIS_STORE_URL?"),
        ("TRELLIS_STORE", "did you mean TRELLIS_STORE_URL?"),
    ],
)
def test_an_unknown_name_is_refused_at_both_levels(name: str, hint: str) -> None:
    with pytest.raises(Invalid, match=f'there is no setting "{name}"') as refusal:
        read_settings({name: "x"})
    assert refusal.value.hint == hint


def test_names_of_the_test_suite_are_passed_over() -> None:
    assert read_settings({"TRELLIS_TEST_NEO4J_URL": "bolt://x"}) == read_settings({})


@pytest.mark.parametrize("value", ["0", "10001", "many"])
def test_a_value_out_of_bounds_is_refused_by_name(value: str) -> None:
    with pytest.raises(Invalid, match="TRELLIS_LOAD_BATCH_COMMANDS") as refusal:
        read_settings({"TRELLIS_LOAD_BATCH_COMMANDS": value})
    assert refusal.value.hint


def test_a_secret_is_never_shown() -> None:
    settings = read_settings({"TRELLIS_NEO4J_PASSWORD": "hunter2"})
    assert "hunter2" not in repr(settings) + str(settings)


def test_every_setting_is_described() -> None:
    settings = read_settings({})
    for section, field in names().values():
        holder = type(getattr(settings, section)) if section else type(settings)
        assert holder.model_fields[field].description, (section, field)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        read_settings({}).actor = "somebody"  # type: ignore[misc] # the point of the test
