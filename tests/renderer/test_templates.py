from __future__ import annotations

import pytest

from renderer.failure import Failure, Unrenderable
from renderer.limits import Limits
from renderer.templates import Definition

LIMITS = Limits(file_length_max=10_000)
VALUES: dict[str, object] = {
    "name": "pos",
    "count": 3,
    "on": True,
    "nothing": None,
    "map": {"b": 1, "a": ["x", 'say "no"'], "items": "of the shop"},
    "list": ["x", "y"],
}


def rendered(text: str, **files: str) -> str:
    return "".join(Definition({"a": text, **files}, LIMITS).render("a", VALUES, 20_000))


def failed(text: str, **files: str) -> Failure:
    with pytest.raises(Unrenderable) as caught:
        rendered(text, **files)
    return caught.value.failure


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("{{ name }} {{ count }} {{ on }} {{ nothing }}", "pos 3 true null"),
        ("{{ list | yaml }}", '["x","y"]'),
        ("{{ map.a | json }}", r'["x","say \"no\""]'),
        ("{{ map.a[1] | yaml }}", r'"say \"no\""'),
        ("{{ count | quote }} {{ name | quote }}", '"3" "pos"'),
        ("{{ map.items }}", "of the shop"),
        ("{{ name | upper }}-{{ list | join('+') }}", "POS-x+y"),
        ("{{ missing | default('none') }}", "none"),
        ("{{ missing is defined }}", "false"),
        ("{% for each in list %}\n{{ each }}\n{% endfor %}\n", "x\ny\n"),
        ("{{ name ~ '&' ~ count }}", "pos&3"),
        ("{% set both %}{{ name }}!{% endset %}{{ both == 'pos!' }}", "true"),
        ("{% include 'b' %}", "<pos>"),
        ("{% import 'c' as c %}{{ c.twice('x') | indent(2, true) }}", "  x\n  x"),
    ],
)
def test_an_expression_gives_what_it_is(text: str, given: str) -> None:
    shared = {"b": "<{{ name }}>", "c": "{% macro twice(t) %}{{ t }}\n{{ t }}{% endmacro %}"}
    assert rendered(text, **shared) == given


@pytest.mark.parametrize(
    ("text", "line", "said", "hint"),
    [
        ("x\n{{ nam }}", 2, "'nam' is undefined", "did you mean name"),
        ("x\n\n{{ map.tag }}", 3, "no attribute 'tag'", "default"),
        ("x\n{{ name", 2, "unexpected end of template", "correct the template"),
        ("x\n{% for %}", 2, "Expected an expression", "correct the template"),
        ("x\n{% unknown %}", 2, "unknown tag", "correct the template"),
        ("{{ name | random }}", 1, "No filter named 'random'", "correct the template"),
        ("x\n{{ name + count }}", 2, "can only concatenate str", "types"),
        ("x\n{{ map }}", 2, "a map is no text", "| yaml"),
        ("x\n{{ list }}", 2, "a list is no text", "| yaml"),
        ("x\n{{ name.upper }}", 2, "nothing that can be written", "name()"),
        ("x\n{% include 'z' %}", 2, 'there is no file "z"', "its own"),
        ("x\n{{ 1 / 0 }}", 2, "division by zero", "types"),
        ("x\n{{ 'y' * 20000 }}", 2, "gave more than 10,000 characters", "less"),
    ],
)
def test_a_refusal_names_the_line_and_says_what_to_do(
    text: str, line: int, said: str, hint: str
) -> None:
    told = failed(text)
    assert said in told.message
    assert hint in told.hint
    assert (told.file, told.line) == ("a", line)


def test_a_refusal_names_the_file_that_was_included() -> None:
    told = failed("x\n{% include 'b' %}", b="\n\n\n{{ nam }}")
    assert (told.file, told.line) == ("b", 4)
    told = failed("{% include 'b' %}", b="\n{{ nam")
    assert (told.file, told.line) == ("b", 2)


def test_the_line_of_the_output_leads_to_the_line_of_the_template() -> None:
    text = "one\n{% for each in list %}\n- {{ each }}\n{% endfor %}\nlast\n{{ name }}\n"
    assert rendered(text) == "one\n- x\n- y\nlast\npos\n"
    definition = Definition({"a": text}, Limits())
    lines = [definition.line_of("a", VALUES, number) for number in range(1, 6)]
    assert lines == [1, 3, 3, 5, 6]
