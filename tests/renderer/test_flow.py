"""Generated files say the same to every reader of YAML."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from renderer import canonical
from renderer.flow import document, flow, ordered

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
SCALARS = TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXTS, each, max_size=3),
    max_leaves=8,
)
FIELDS = st.dictionaries(st.from_regex(r"[a-z][A-Za-z]{2,12}", fullmatch=True), VALUES)


@given(VALUES)
def test_a_value_on_one_line_is_read_back_by_yaml(value: object) -> None:
    text = flow(value)
    assert "\n" not in text
    assert canonical.read(text) == value


@given(FIELDS)
def test_a_document_is_read_back_by_yaml(fields: dict[str, object]) -> None:
    fields = {name: value for name, value in fields.items() if name not in ("null", "true")}
    if fields:
        assert canonical.read(document(fields).decode()) == fields


@given(st.dictionaries(TEXTS, VALUES))
def test_the_order_of_keys_makes_no_difference(values: dict[str, object]) -> None:
    turned = dict(reversed(values.items()))
    assert flow(ordered(values)) == flow(ordered(turned))
    assert ordered(values) == values


def test_what_looks_like_something_else_stays_text() -> None:
    made = document({"kind": "Kustomization", "namespace": "no", "name": "00042", "on": ["yes"]})
    assert made == b'kind: Kustomization\nnamespace: "no"\nname: "00042"\non:\n- "yes"\n'
