"""Documents: refused in the order of what refusing costs, and remembered when they are good."""

from __future__ import annotations

import time
from collections.abc import Mapping
from statistics import median
from typing import Any

import pytest
from graphql import OperationType

from api.execution.documents import (
    FIELD_TOKENS,
    PLANS_KEPT_MAX,
    SIZES_KEPT_MAX,
    BadDocument,
    Document,
    Documents,
)
from api.execution.fleet_counts import FleetCounts
from api.execution.plan import Plan
from api.schema.schema import GRAPHQL
from api.settings import ApiSettings
from api.telemetry.metrics import Tallies
from graph.model.errors import Invalid

LARGE = FleetCounts(*(10**9 for _ in FleetCounts._fields))
"""A fleet that bounds nothing."""


def documents(**settings: object) -> Documents:
    return Documents(GRAPHQL, ApiSettings.model_validate(settings), Tallies())


def check(prepared: Documents, document: Document, variables: Mapping[str, Any]) -> None:
    """As every request is checked, on a large fleet."""
    operation = document.operation(None)
    if not prepared.check_cost(document, operation, variables):
        prepared.check_cost_on(LARGE, document, operation, variables)


def refusal(text: str, **settings: object) -> str:
    prepared = documents(**settings)
    with pytest.raises((BadDocument, Invalid)) as refused:
        check(prepared, prepared.prepare(text), {})
    return str(refused.value)


def nested(levels: int) -> str:
    inside = "root { hierarchy { " * levels + "name" + " } }" * levels
    return f"{{ fleet {{ hierarchies {{ {inside} }} }} }}"


HOSTILE = {
    "a thousand aliases": "{ fleet { " + " ".join(f"a{n}: revision" for n in range(1_000)) + " } }",
    "a thousand directives": "{ fleet { revision " + "@skip(if: false) " * 1_000 + "} }",
    "three thousand repeated fields": "{ fleet { " + "revision " * 3_000 + "} }",
    "nineteen hundred repeated fields": "{ fleet { " + "revision " * 1_900 + "} }",
    "repeated objects": "{ " + "fleet { revision } " * 480 + "}",
    "repeated nests": "{ "
    + "fleet { hierarchies { root { hierarchy { root { name } } } } } " * 90
    + "}",
    "repeated inline fragments": "{ fleet { " + "... on Fleet { revision } " * 320 + "} }",
    "many fragments in one place": "{ fleet { "
    + " ".join(f"...F{n}" for n in range(200))
    + " } } "
    + " ".join(f"fragment F{n} on Fleet {{ revision }}" for n in range(200)),
    "two hundred levels": nested(95),
    "four hundred levels": nested(200),
    "a chain of fragments": "{ fleet { ...F0 } } "
    + " ".join(f"fragment F{n} on Fleet {{ ...F{n + 1} }}" for n in range(200))
    + " fragment F200 on Fleet { revision }",
    "a cycle of fragments": "{ fleet { ...A } } fragment A on Fleet { ...B }"
    " fragment B on Fleet { ...A }",
    "an undefined fragment": "{ fleet { ...Nobody } }",
    "unknown fields": "{ fleet { " + " ".join(f"a{n}" for n in range(1_900)) + " } }",
    "unknown directives": "{ fleet { revision " + "@a " * 900 + "} }",
    "repeated arguments": "{ fleet(" + "asOf: 1 " * 600 + ") { revision } }",
    "unused variables": "query ("
    + " ".join(f"$a{n}: Int" for n in range(390))
    + ") { fleet { revision } }",
    "a negative page": "{ fleet { clusters(first: null) { totalCount } } }",
    "an endless comment": "{ fleet { revision } } # " + "x" * 900_000,
    "an endless text": '{ fleet { selector(text: "' + "a " * 400_000 + '") { count } } }',
    "deep values": "{ fleet { clusters(where: "
    + "{not: " * 250
    + "all"
    + "}" * 250
    + ") { a } } }",
    "two fields where one is meant": '{ fleet { clusters(where: {text: "all", everything: true})'
    " { totalCount } } }",
    "nothing where one field is meant": "{ fleet { clusters(where: {}) { totalCount } } }",
    "no document": "",
    "half a document": "{ fleet { revision ",
    "a definition of types": "type Query { a: Int }",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_document_is_refused_readably_and_cheaply(text):
    prepared = documents()
    spent = []
    for _ in range(3):
        started = time.process_time()
        with pytest.raises((BadDocument, Invalid)) as refused:
            document = prepared.prepare(text)
            document.operation(None)
        spent.append(time.process_time() - started)
    said = str(refused.value)
    assert len(said) > 10, said
    assert "Traceback" not in said
    assert "aborted" not in said or "Syntax Error" in said, said
    assert median(spent) < 0.5, "bounded, with room for a busy machine"


def test_what_is_wrong_is_said_in_the_order_of_what_it_costs_to_find_out():
    assert "characters" in refusal("{" + "x" * 200, document_length_max=100)
    assert "tokens" in refusal("{ a a a a a } }", tokens_max=4)
    assert "levels deep" in refusal(nested(30))
    assert "costs" in refusal("{ fleet { clusters { nodes { nothing } } } }", cost_max=3)
    assert "nothing" in refusal("{ fleet { nothing } }")


def test_a_cost_is_told_in_numbers_people_read():
    said = refusal("{ fleet { clusters(first: 9999999) { nodes { name } } } }")
    assert "10,000,002" in said
    assert "100,000" in said


def test_a_document_is_read_once_and_a_bad_one_is_not_kept():
    tallies = Tallies()
    prepared = Documents(GRAPHQL, ApiSettings(), tallies)
    first = prepared.prepare("{ fleet { revision } }")
    assert prepared.prepare("{ fleet { revision } }") is first
    assert (tallies.documents_hit, tallies.documents_missed) == (1, 1)
    for _ in range(2):
        with pytest.raises(BadDocument):
            prepared.prepare("{ nothing }")
    assert (tallies.documents_hit, tallies.documents_missed) == (1, 3)


def test_the_memory_of_documents_is_bounded_and_forgets_the_oldest():
    prepared = documents(documents_kept_max=2)
    first, second, third = (f"{{ fleet {{ a{n}: revision }} }}" for n in range(3))
    kept = [prepared.prepare(each) for each in (first, second, third)]
    assert prepared.prepare(third) is kept[2]
    assert prepared.prepare(second) is kept[1]
    assert prepared.prepare(first) is not kept[0]


def test_a_long_document_is_answered_and_not_kept():
    prepared = documents()
    long = "{ fleet { revision } } #" + "x" * 40_000
    assert prepared.prepare(long) is not prepared.prepare(long)


def test_without_a_memory_nothing_is_kept():
    prepared = documents(documents_kept_max=0)
    assert prepared.prepare("{ fleet { cursor } }") is not prepared.prepare("{ fleet { cursor } }")


def test_which_operation_is_meant_must_be_settled():
    document = documents().prepare("query A { fleet { revision } } query B { fleet { cursor } }")
    assert document.operation("B").name == "B"
    for name in (None, "", "C"):
        with pytest.raises(BadDocument) as refused:
            document.operation(name)
        assert "operation" in str(refused.value)
    only = documents().prepare(
        'mutation Only { revokeAccess(input: {name: "a"}, reason: "b") { __typename } }'
    )
    assert only.operation(None).kind is OperationType.MUTATION
    with pytest.raises(BadDocument):
        only.operation("Other")


def test_a_document_of_fragments_alone_has_nothing_to_execute():
    assert "never used" in refusal("fragment F on Fleet { revision }")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{ fleet { revision } viewer { name } }", {"fleet", "viewer"}),
        ("{ a: fleet { revision } }", {"fleet"}),
        ("{ ... { fleet { revision } } }", {""}),
        ("{ ...preview } fragment preview on Query { fleet { revision } }", {""}),
    ],
)
def test_what_an_operation_begins_with_cannot_hide_in_a_fragment(text, fields):
    assert documents().prepare(text).operation(None).root_fields() == fields


def test_introspection_can_be_switched_off_and_suggestions_go_with_it():
    prepared = documents(introspection=False)
    with pytest.raises(BadDocument, match="introspection"):
        prepared.prepare("{ __schema { types { name } } }")
    with pytest.raises(BadDocument) as refused:
        prepared.prepare("{ fleet { revisio } }")
    assert "Did you mean" not in str(refused.value)
    with pytest.raises(BadDocument, match="Did you mean"):
        documents().prepare("{ fleet { revisio } }")


def test_variables_that_ask_for_too_much_are_refused_before_execution():
    prepared = documents()
    document = prepared.prepare(
        "query ($n: Int!) { fleet { clusters(first: $n) { nodes { name } } } }"
    )
    check(prepared, document, {"n": 10_000})
    for hostile in (100_001, 100_001.0, 2**31 - 1):
        with pytest.raises(Invalid, match="costs"):
            check(prepared, document, {"n": hostile})


@pytest.mark.parametrize("cheap", [1.0, "1", None, 1, True, [], {}])
def test_what_was_affordable_says_nothing_about_what_costs_more(cheap):
    """A float counts as the number it is, also after another float was let in."""
    prepared = documents()
    document = prepared.prepare(
        "query ($n: Int!) { fleet { clusters(first: $n) { nodes { name id } } } }"
    )
    check(prepared, document, {"n": cheap})
    for dear in (60_000, 60_000.0, 1e300, float("inf"), 10**400):
        with pytest.raises(Invalid, match="costs"):
            check(prepared, document, {"n": dear})


def test_sizes_that_were_affordable_are_not_measured_again_and_are_bounded():
    prepared = documents()
    document = prepared.prepare(
        "query ($n: Int!) { fleet { clusters(first: $n) { nodes { name } } } }"
    )
    operation = document.operation(None)
    before = document.weight
    for size in range(3 * SIZES_KEPT_MAX + 5):
        prepared.check_cost(document, operation, {"n": size})
        assert 0 < document.weight - before == len(operation.affordable) <= SIZES_KEPT_MAX
    prepared.check_cost(document, operation, {"n": 3 * SIZES_KEPT_MAX})
    assert len(operation.affordable) == 5


def test_the_memory_of_documents_is_bounded_in_tokens():
    prepared = documents(documents_kept_tokens=1_000)
    small = prepared.prepare("{ fleet { revision } }")
    long = [
        f"{{ fleet {{ {' '.join(f'a{n}b{m}: revision' for m in range(150))} }} }}" for n in range(3)
    ]
    first = prepared.prepare(long[0])
    assert prepared.prepare("{ fleet { revision } }") is small
    second = prepared.prepare(long[1])
    assert prepared.memory.weight == first.weight + second.weight + small.weight <= 1_000
    prepared.prepare(long[2])
    assert prepared.memory.weight <= 1_000
    assert prepared.prepare(long[1]) is second
    assert prepared.prepare(long[0]) is not first


def test_plans_weigh_upon_the_memory_and_drive_out_older_documents():
    prepared = documents(documents_kept_tokens=475)
    old = prepared.prepare("{ fleet { cursor } }")
    document = prepared.prepare("query ($yes: Boolean!) { fleet { revision @skip(if: $yes) } }")
    operation = document.operation(None)
    before = prepared.memory.weight
    document.keep_plan(operation, (True,), Plan((), 50))
    assert prepared.memory.weight == before + 50 * FIELD_TOKENS
    document.keep_plan(operation, (False,), Plan((), 100))
    assert prepared.memory.weight == document.weight == before - old.weight + 150 * FIELD_TOKENS
    assert prepared.prepare("{ fleet { cursor } }") is not old
    old.keep_plan(old.operation(None), (), Plan((), 10_000))  # nobody remembers it any more
    assert prepared.memory.weight <= 475


def test_plans_that_are_forgotten_weigh_nothing():
    document = documents().prepare("query ($yes: Boolean!) { fleet { revision @skip(if: $yes) } }")
    operation = document.operation(None)
    before = document.weight
    for place in range(3 * PLANS_KEPT_MAX + 1):
        document.keep_plan(operation, (place,), Plan((), 10) if place % 2 else None)
    assert list(operation.plans) == [(3 * PLANS_KEPT_MAX,)]
    assert document.weight == before + 1


def test_a_document_heavier_than_the_memory_is_answered_and_not_kept():
    prepared = documents(documents_kept_tokens=5)
    assert prepared.prepare("{ fleet { cursor } }") is not prepared.prepare("{ fleet { cursor } }")
    assert prepared.memory.weight == 0


def test_no_more_than_ten_faults_are_told_at_once():
    with pytest.raises(BadDocument) as refused:
        documents().prepare("{ " + " ".join(f"a{n}" for n in range(100)) + " }")
    assert 1 <= len(refused.value.errors) <= 11
