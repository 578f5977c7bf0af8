from __future__ import annotations

from cli.problems import WIDTH, refusal
from graph.model.errors import Invalid, Rejected, SelectorInvalid, SelectorNotFound, Span


def test_an_error_says_what_is_wrong_and_what_to_do() -> None:
    assert refusal(Invalid("no", hint="yes")) == "error: no\n  yes"
    assert refusal(Invalid("no")) == "error: no"


def test_a_selector_error_points_at_its_place() -> None:
    error = SelectorNotFound("no gio", text="/gio/us", span=Span(2, 3), hint="did you mean /geo?")
    assert refusal(error) == "error: no gio\n  /gio/us\n   ^^^\n  did you mean /geo?"


def test_a_long_selector_is_shown_around_the_place() -> None:
    text = "a" * 10_000 + "!" + "b" * 10_000
    _, shown, carets = refusal(SelectorInvalid("no", text=text, span=Span(10_001, 1))).split("\n")
    assert len(shown) <= WIDTH + 8
    assert shown.strip().startswith("...")
    assert shown.endswith("...")
    assert shown[carets.index("^")] == "!"


def test_carets_stay_inside_what_is_shown() -> None:
    text = "x" * 10_000
    _, shown, carets = refusal(SelectorInvalid("no", text=text, span=Span(1, 10_000))).split("\n")
    assert len(carets) <= len(shown)


def test_what_cannot_be_seen_takes_one_column() -> None:
    error = SelectorInvalid("no", text="a\x00\x1b[31m\ud800 !", span=Span(10, 1))
    _, shown, carets = refusal(error).split("\n")
    assert shown.isprintable()
    assert shown[carets.index("^")] == "!"
    shown.encode()


def test_reasons_are_listed_up_to_a_bound() -> None:
    lines = refusal(Rejected("no", reasons=[str(each) for each in range(1_000)])).split("\n")
    assert lines[1] == "  - 0"
    assert lines[-1] == "  - and 980 more"
