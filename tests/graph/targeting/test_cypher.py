"""Tree to Cypher: the shape of the statement; its answers are compared on a real server."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from changes import random_fleet, random_selector
from graph.model.change import ref_of
from graph.model.inventory import Cluster, Group, SavedSelector
from graph.model.names import GROUP_DEPTH_MAX
from graph.model.selector import (
    And,
    Comparison,
    HasLabel,
    InNamespace,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Or,
    Saved,
    Selector,
    clauses,
)
from graph.targeting.cypher import compile_cypher
from graph.targeting.parser import parse
from twin import Twin

SEED_SENTENCE = (
    "/franchise/corporate and size = large and /geo/us/northeast and lanes >= 2 "
    "and (/devices/grill/acme/acme3000 or /devices/grill/acme/acme3001)"
)

WORDS = re.compile(
    r"COLLECT|UNWIND|MATCH|WHERE|RETURN|WITH|ORDER|BY|AS|AND|OR|NOT|IN|IS|NULL|DISTINCT"
    r"|Cluster|Group|LabelValue|MEMBER_OF|CHILD_OF|LABELLED"
    r"|number|name|key|value|base|rest|cluster|label|path|end|step|wanted|fleet"
    r"|kept|one|n|range|reduce|nodes|all|nothing|saved\d+|namespace\d+"
    r"|named|under|only|has|equal|differs|below|at_most|above|at_least|among|(?:only_)?matching\d+|\d+"
)


def test_the_seed_sentence_is_an_intersection_of_collected_sets(twin: Twin) -> None:
    statement = compile_cypher(parse(SEED_SENTENCE, twin), twin)
    assert statement.text == (
        "WITH\n"
        "  [wanted IN $under | COLLECT {\n"
        "    MATCH (:Group {number: wanted})<-[:CHILD_OF*0..31]-(:Group)"
        "<-[:MEMBER_OF]-(cluster:Cluster)\n"
        "    RETURN DISTINCT cluster.number\n"
        "  }] AS under,\n"
        "  [wanted IN $equal | COLLECT {\n"
        "    MATCH (:LabelValue {key: wanted.key, value: wanted.value})"
        "<-[:LABELLED]-(cluster:Cluster)\n"
        "    RETURN DISTINCT cluster.number\n"
        "  }] AS equal,\n"
        "  [wanted IN $at_least | COLLECT {\n"
        "    MATCH (label:LabelValue {key: wanted.key})<-[:LABELLED]-(cluster:Cluster) "
        "WHERE label.value >= wanted.value\n"
        "    RETURN DISTINCT cluster.number\n"
        "  }] AS at_least\n"
        "UNWIND reduce(kept = under[0], one IN [equal[0], under[1], at_least[0], "
        "reduce(kept = [], one IN [under[2], under[3]] | kept + [n IN one WHERE NOT n IN kept])]"
        " | [n IN kept WHERE n IN one]) AS number\n"
        "RETURN number ORDER BY number"
    )
    assert statement.parameters["equal"] == [{"key": "size", "value": "large"}]
    assert statement.parameters["at_least"] == [{"key": "lanes", "value": 2}]


def test_groups_are_walked_exactly_as_deep_as_they_may_be(twin: Twin) -> None:
    text = compile_cypher(parse("/geo", twin), twin).text
    assert f"[:CHILD_OF*0..{GROUP_DEPTH_MAX - 1}]" in text


def test_a_wildcard_is_a_null_in_the_parameters(twin: Twin) -> None:
    statement = compile_cypher(parse("/geo/us/*/ny", twin), twin)
    [wanted] = statement.parameters["matching2"]  # type: ignore[attr-defined]
    assert wanted["rest"] == [None, "ny"]


def test_equal_clauses_are_collected_once(twin: Twin) -> None:
    selector = parse("(/geo and has size) or (/geo and has lanes)", twin)
    statement = compile_cypher(selector, twin)
    assert len(statement.parameters["under"]) == 1  # type: ignore[arg-type]


def test_a_saved_selector_is_worked_out_once_and_before_it_is_used(
    twin: Twin, save: Callable[[str, str], None]
) -> None:
    save("big", "size = large")
    save("east", "@big and /geo/us/northeast")
    text = compile_cypher(parse("@east or not @big", twin), twin).text
    first = text.index(" AS saved0")
    second = text.index(" AS saved1")
    assert first < second
    assert text.count("equal[0]") == 1


def test_a_namespace_is_written_out_as_the_union_of_its_assignments(
    twin: Twin, assign: Callable[..., None]
) -> None:
    assign("pos", east="/geo/us/northeast", large="size = large")
    statement = compile_cypher(parse("namespace pos or not namespace pos", twin), twin)
    assert statement.text.count(" AS namespace0") == 1
    assert "reduce(kept = [], one IN [under[0], equal[0]]" in statement.text
    assert_only_our_words(statement.text)


def test_a_namespace_that_assigns_nothing_is_still_a_statement(
    twin: Twin, assign: Callable[..., None]
) -> None:
    assign("pos")
    text = compile_cypher(parse("namespace pos", twin), twin).text
    assert text.splitlines() == [
        "WITH",
        "  [] AS nothing",
        "WITH *, [] AS namespace0",
        "UNWIND namespace0 AS number",
        "RETURN number ORDER BY number",
    ]


def test_saved_selectors_that_name_each_other_twice_do_not_multiply(twin: Twin) -> None:
    base = SavedSelector("s0", HasLabel("size"))
    twin.put(ref_of(base), base)
    for level in range(40):
        below = Saved(f"s{level}")
        both = SavedSelector(f"s{level + 1}", Or((And((below, Not(below))), below)))
        twin.put(ref_of(both), both)
    assert len(compile_cypher(Saved("s40"), twin).text) < 20_000


@pytest.mark.parametrize("operator", [" and ", " or "])
def test_a_thousand_clauses_make_one_statement_of_bounded_nesting(
    operator: str, twin: Twin
) -> None:
    many = operator.join(f"store = s{number}" for number in range(1_000))
    statement = compile_cypher(parse(many, twin), twin)
    assert statement.text.count("COLLECT {") == 1
    assert statement.text.count("reduce(") == 1
    assert len(statement.text) < 50_000


HOSTILE = ("x' OR 1=1 //", "}) DETACH DELETE n //", "$under", "`", '"; MATCH (n)', "\\u0027", "ä😀")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_values_reach_the_statement_only_as_parameters(hostile: str, twin: Twin) -> None:
    selectors: list[Selector] = [
        LabelIs("size", Comparison.EQ, hostile),
        LabelIs("size", Comparison.NE, hostile),
        LabelIn("size", (hostile, "large")),
        HasLabel(hostile),
        Matching(parse("/geo", twin).group, ("*", hostile)),  # type: ignore[union-attr]
    ]
    statement = compile_cypher(And(tuple(selectors)), twin)
    assert hostile not in statement.text
    assert_only_our_words(statement.text)


@pytest.mark.parametrize("seed", range(30))
def test_nothing_anybody_named_is_ever_in_a_statement(seed: int) -> None:
    rng = Random(seed)
    twin = Twin.of(map(hostile_name, random_fleet(rng)))
    for _ in range(10):
        selector = random_selector(rng, twin, depth=4)
        statement = compile_cypher(selector, twin)
        assert_only_our_words(statement.text)
        used = set(re.findall(r"\$(\w+)", statement.text))
        assert used == set(statement.parameters)
        named = {clause for clause in clauses(selector) if isinstance(clause, Saved | InNamespace)}
        assert named or statement.text.count("WITH *") == 0


def hostile_name(entity: object) -> object:
    """The entity with a name that no statement may hold."""
    if isinstance(entity, Cluster | Group):
        return replace(entity, name=f"evil'{entity.name}")
    return entity


def assert_only_our_words(text: str) -> None:
    strange = {word for word in re.findall(r"\w+", text) if not WORDS.fullmatch(word)}
    assert strange == set()
    assert not set(text) & set("'\"`;\\/")
