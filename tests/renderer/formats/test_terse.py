"""What is written in few characters is the same text to every reader of YAML."""

from __future__ import annotations

from itertools import product

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import kustomize
from renderer import canonical
from renderer.flow import flow
from renderer.formats.terse import Said, terse

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20).map(flow)
WORDS = st.text(st.sampled_from("aeEnoxyO01.-_/~'\"\\:#{}[]%, "), max_size=8)
SAID = st.recursive(
    WORDS | TEXTS,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(WORDS | TEXTS, each, max_size=3),
    max_leaves=8,
)
DOUBTFUL = (
    *("no", "on", "y", "Off", "TRUE", "null", "~", "", "1e5", "0x1f", "00042", "0o7", "1_000"),
    *(".inf", ".NaN", "-", "---", "...", "12:30:45", "2026-12-24", "*a", "&a", "!a"),
    *("it's", "''", "a: b", "a #b", "- a", "[a]", "{a: b}", "a, b", "?", "|", ">", "%a", "@a", "`"),
)


@given(SAID)
def test_every_reader_takes_it_for_the_same(said: Said) -> None:
    text = terse(said)
    assert "\n" not in text
    assert canonical.read(text) == said
    assert yaml.safe_load(text) == said


@given(TEXTS)
def test_text_inside_text_comes_out_of_each_level_as_it_went_in(said: str) -> None:
    inside = said
    for _ in range(3):
        inside = terse([inside])
    for _ in range(3):
        (inside,) = yaml.safe_load(inside)
    assert inside == said


def test_what_is_left_plain_is_text_to_old_readers_too() -> None:
    words = {"".join(each) for each in product("aefnoxyEN019._/-+~", repeat=3)}
    plain = [each for each in words if terse(each) == each]
    assert len(plain) > 1_000
    assert [each for each in plain if yaml.safe_load(each) != each] == []


@pytest.mark.parametrize("text", ["Ingress", "app-000", "/spec/patches/-", "apps/v1", "x86_64"])
def test_a_word_is_plain(text: str) -> None:
    assert terse(text) == text


@pytest.mark.parametrize("text", DOUBTFUL)
def test_what_could_be_anything_else_is_quoted(text: str) -> None:
    assert terse(text) == "'{}'".format(text.replace("'", "''"))


def test_kustomize_reads_doubtful_text_as_it_is(tmp_path) -> None:
    told = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    data = {f"k{at}": text for at, text in enumerate(DOUBTFUL)}
    (tmp_path / "a.yaml").write_text(terse({**told, "data": data}))
    (tmp_path / "kustomization.yaml").write_text(terse({"resources": ["a.yaml"]}))
    (found,) = kustomize.build(tmp_path)
    assert found["data"] == data
