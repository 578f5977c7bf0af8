from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import Invalid
from renderer import canonical

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.sampled_from(["no", "Yes", "00042", "1e3", "0x1f", "12:30", "~", "null", "2026-12-24"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abcdefghij-_ yn0123", max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_written_is_read_back(value: object) -> None:
    assert canonical.read(canonical.write(value)) == value


@pytest.mark.parametrize(
    "word",
    [
        "no",
        "off",
        "Yes",
        "00042",
        "12:30",
        "2026-12-24",
        "0x1f",
        "0o17",
        "1_000",
        ".inf",
        "<<",
        "=",
    ],
)
def test_a_plain_word_is_kept_as_it_is_written(word: str) -> None:
    assert canonical.read(f"value: {word}") == {"value": word}


@pytest.mark.parametrize(
    ("word", "value"),
    [("true", True), ("false", False), ("null", None), ("", None), ("42", 42), ("-1.5", -1.5)],
)
def test_plain_values_are_values(word: str, value: object) -> None:
    assert canonical.read(f"value: {word}") == {"value": value}


@pytest.mark.parametrize("word", ["no", "00042", "1e3", "12:30", "true", "null", "0x1f", "1_000"])
def test_doubtful_text_is_written_in_quotes(word: str) -> None:
    assert canonical.write({"value": word}) == f'value: "{word}"\n'


def test_keys_stay_in_order_and_lists_are_indented() -> None:
    value = {"z": 1, "a": ["x", {"k": "v"}]}
    assert canonical.write(value) == "z: 1\na:\n  - x\n  - k: v\n"


def test_equal_values_share_no_anchor() -> None:
    shared = ["x"]
    assert canonical.write([shared, shared]) == "- - x\n- - x\n"


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", 'the key "a" is given twice (line 3, column 1)'),
        (BOMB, "aliases are not read (line 2, column 8)"),
        ("&a [*a]", "aliases are not read (line 1, column 5)"),
        ("[" * 100_000, "nested more than 64 levels (line 1, column 65)"),
        ("{" * 70 + "}" * 70, "nested more than 64 levels"),
        ("a: !!python/object/apply:os.system [x]", "is not read (line 1, column 4)"),
        ("? [a]\n: b", "a key is a list or a mapping"),
        ("a: [b", "did not find expected"),
        ("a: \x00", "control characters are not allowed"),
        ('a: "\\ud800"', "(line 1, column"),
        ("a: \ud800", "a lone surrogate"),
        ("a: " + "9" * 5_000, "a number of 5,000 digits"),
        ("a\n---\nb", "expected one YAML document and found 2"),
        ("", "expected one YAML document and found 0"),
    ],
)
def test_what_could_surprise_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(Invalid) as refusal:
        canonical.read(text)
    assert message in refusal.value.message
    assert refusal.value.hint


def test_text_beyond_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "TEXT_LENGTH_MAX", 10)
    with pytest.raises(Invalid, match="11 characters of YAML are too many"):
        canonical.read("x" * 11)


def test_documents_are_read_one_by_one() -> None:
    assert list(canonical.read_all("a: 1\n---\n- b\n")) == [{"a": 1}, ["b"]]
