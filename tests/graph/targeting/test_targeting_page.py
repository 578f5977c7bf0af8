"""Every example of docs/targeting.md, executed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from graph.model.errors import SelectorInvalid, SelectorNotFound
from graph.targeting.complete import complete
from graph.targeting.evaluate import evaluate
from graph.targeting.explain import explain
from graph.targeting.parser import parse
from graph.targeting.structured import from_structured
from graph.targeting.syntax import to_text
from twin import Twin

PAGE = (Path(__file__).parents[3] / "docs" / "targeting.md").read_text("utf-8")
CODE = re.compile(r"`((?:[^`])+)`")


def rows(first: str, second: str) -> list[tuple[str, str]]:
    """The rows of every table with these two headings."""
    found: list[tuple[str, str]] = []
    for table in re.findall(rf"\| {first} \| {second} \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE):
        for row in table.splitlines():
            _, one, other, _ = row.split("|")
            found.append((one.strip(), other.strip()))
    return found


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def stored(save: Callable[[str, str], None], assign: Callable[..., None]) -> None:
    save("flagship", "size = large and lanes > 2")
    assign("pos", flagships="@flagship", fryers="/devices/fryer")


def code(cell: str) -> str:
    [text] = CODE.findall(cell)
    return text


@pytest.mark.parametrize(("selector", "names"), rows("selector", "chooses"))
def test_a_selector_on_the_page_chooses_what_the_page_says(
    selector: str, names: str, twin: Twin
) -> None:
    found = evaluate(parse(code(selector), twin), twin)
    assert {twin.cluster_name(each) for each in found} == set(CODE.findall(names))


@pytest.mark.parametrize(("written", "canonical"), rows("written", "canonical"))
def test_a_canonical_text_on_the_page_is_the_canonical_text(
    written: str, canonical: str, twin: Twin
) -> None:
    assert to_text(parse(code(written), twin), twin) == code(canonical)


@pytest.mark.parametrize(("typed", "inserts"), rows("typed", "offered"))
def test_a_completion_on_the_page_is_what_is_offered(typed: str, inserts: str, twin: Twin) -> None:
    text = code(typed)
    found = [each.insert for each in complete(text, len(text), twin)]
    assert found == CODE.findall(inserts)


@pytest.mark.parametrize("block", blocks("error"))
def test_an_error_on_the_page_is_the_error(block: str, twin: Twin) -> None:
    text, _, _, _ = block.split("\n")
    with pytest.raises((SelectorInvalid, SelectorNotFound)) as caught:
        parse(text, twin)
    error = caught.value
    assert isinstance(error, SelectorInvalid | SelectorNotFound)
    carets = " " * (error.span.column - 1) + "^" * error.span.length
    assert f"{text}\n{carets}\n{error.message}\n{error.hint}" == block


@pytest.mark.parametrize(
    ("data", "text"), list(zip(blocks("json"), blocks("selector"), strict=True))
)
def test_a_structured_selector_on_the_page_is_the_text_below_it(
    data: str, text: str, twin: Twin
) -> None:
    assert from_structured(json.loads(data), twin) == parse(text, twin)


@pytest.mark.parametrize("block", blocks("explain"))
def test_an_explanation_on_the_page_is_the_explanation(block: str, twin: Twin) -> None:
    name, _, text = block.split("\n")[0].partition(": ")
    number = twin.cluster_number(name)
    assert number is not None
    found = explain(parse(text, twin), number, twin)
    lines = [
        f"{'yes' if each.holds else 'no':3}  {each.text}" + (f": {each.fact}" if each.fact else "")
        for each in found.clauses
    ]
    told = [f"{name}: {text}", found.summary, *lines, f"nearest change: {found.proposal}"]
    assert "\n".join(told) == block


def test_the_page_describes_the_fleet_its_examples_run_against(twin: Twin) -> None:
    table = re.search(r"\| cluster \| groups \| labels \|\n\|---\|---\|---\|\n((?:\|.*\n)+)", PAGE)
    assert table is not None
    for row in table.group(1).splitlines():
        _, name, groups, labels, _ = row.split("|")
        for clause in [*CODE.findall(groups), *CODE.findall(labels)]:
            clause = f'"cluster"{clause[7:]}' if clause.startswith("cluster") else clause
            told = f"{'only ' if clause.startswith('/') else ''}{clause} and cluster {code(name)}"
            assert len(evaluate(parse(told, twin), twin)) == 1, told


def test_the_page_holds_examples_of_every_kind() -> None:
    assert len(rows("selector", "chooses")) >= 15
    assert len(rows("written", "canonical")) >= 8
    assert len(rows("typed", "offered")) >= 10
    assert len(blocks("error")) >= 5
    assert len(blocks("json")) == len(blocks("selector")) >= 2
    assert blocks("explain")
