from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import Invalid
from renderer import canonical
from renderer.pasted import MARK, Captured, Data, Pasted, Spelled, capture, fill, mark, unmark

TEXT = st.text(st.characters(exclude_categories=["Cs"], include_characters=MARK), max_size=8)
PARTS = st.lists(
    TEXT
    | TEXT.map(Pasted)
    | st.just(Spelled("1"))
    | st.sampled_from([Data('{"a":1}'), Data('"a: b"')])
)


@given(PARTS)
def test_what_is_marked_can_be_unmarked(parts: list[str]) -> None:
    whole = unmark(*mark(parts))
    assert whole == "".join(parts)
    assert mark(whole.parts)[1] == mark(parts)[1]


@given(PARTS, PARTS)
def test_what_a_macro_gave_is_marked_like_the_rest(parts: list[str], more: list[str]) -> None:
    inner = capture(parts)
    assert isinstance(inner, Captured)
    assert mark([inner, *more]) == mark([*parts, *more])


@given(TEXT)
def test_text_is_filled_in_as_it_is(text: str) -> None:
    marked, texts = mark(["a: ", Pasted(text), "\nb: 'x ", Pasted(text), "'"])
    assert fill(canonical.read(marked), texts) == {"a": text, "b": f"x {text}"}


def test_a_map_is_data_in_its_own_place_and_text_inside_of_text() -> None:
    data = Data('{"a":[1]}')
    marked, texts = mark(["a: ", data, "\nb: [", data, "]\nc: '", data, "'"])
    assert fill(canonical.read(marked), texts) == {
        "a": {"a": [1]},
        "b": [{"a": [1]}],
        "c": '{"a":[1]}',
    }


def test_quoted_text_is_itself_in_its_own_place_and_quoted_inside_of_text() -> None:
    data = Data(r'"say \"no\": # x"')
    marked, texts = mark(["a: ", data, "\nb: x ", data, "\nc: |\n  ", data, "\n", data, ": 0"])
    assert fill(canonical.read(marked), texts) == {
        "a": 'say "no": # x',
        "b": f"x {data}",
        "c": f"{data}\n",
        'say "no": # x': 0,
    }


def test_a_key_may_be_a_value_but_not_twice_the_same() -> None:
    marked, texts = mark([Pasted("a"), ": 1\n", Pasted("b"), ": 2\n8080: 3"])
    assert fill(canonical.read(marked), texts) == {"a": 1, "b": 2, "8080": 3}
    with pytest.raises(Invalid, match="given twice"):
        fill(canonical.read(marked), ["a", "a"])


@pytest.mark.parametrize("text", ["a: 1e999", "a: 99999999999999999999", "true: 1", "1.5: 1"])
def test_what_json_cannot_say_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        fill(canonical.read(text), [])
