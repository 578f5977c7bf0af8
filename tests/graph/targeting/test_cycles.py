"""How names in selectors reach each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.model.change import ref_of
from graph.model.errors import Invalid, Rejected
from graph.model.ref import Kind, Ref
from graph.model.selector import InNamespace, Not, Saved, Selector
from graph.model.view import group_at
from graph.model.workload import Assignment, Choice
from graph.targeting.cycles import in_order, needed, reaches, refuse_cycle
from graph.targeting.parser import parse
from twin import Twin

Save = Callable[[str, str], None]
Assign = Callable[..., None]


def saved(*names: str) -> list[Saved]:
    return [Saved(name) for name in names]


def put_assignment(twin: Twin, name: str, namespace: str, selector: Selector) -> None:
    assignment = Assignment(name, Choice(namespace), selector)
    twin.put(ref_of(assignment), assignment)


def test_a_selector_reaches_what_it_names_through_any_chain(twin: Twin, save: Save) -> None:
    save("a", "size = large")
    save("b", "/geo and @a")
    save("c", "not (@b or has lanes)")
    assert reaches(parse("all except @c", twin), Saved("a"), twin) == saved("c", "b", "a")
    assert reaches(parse("@a", twin), Saved("a"), twin) == saved("a")


def test_the_shortest_chain_is_told(twin: Twin, save: Save) -> None:
    save("a", "all")
    save("b", "@a")
    save("c", "@b")
    assert reaches(parse("@c or @b", twin), Saved("a"), twin) == saved("b", "a")


def test_a_selector_that_leads_elsewhere_reaches_nothing(twin: Twin, save: Save) -> None:
    save("a", "all")
    save("b", "@a")
    assert reaches(parse("@a and has lanes", twin), Saved("b"), twin) is None
    assert reaches(parse("/geo", twin), Saved("a"), twin) is None


def test_a_name_not_saved_yet_may_be_reached_all_the_same(twin: Twin) -> None:
    assert reaches(Saved("new"), Saved("new"), twin) == saved("new")
    assert reaches(Saved("new"), Saved("other"), twin) is None


def test_a_namespace_and_a_saved_selector_of_one_name_are_two(twin: Twin, assign: Assign) -> None:
    assign("pos", stores="/geo")
    assert reaches(InNamespace("pos"), Saved("pos"), twin) is None
    assert reaches(Saved("pos"), InNamespace("pos"), twin) is None


def test_a_chain_leads_through_every_assignment_of_a_namespace(
    twin: Twin, save: Save, assign: Assign
) -> None:
    save("a", "/geo")
    save("b", "@a")
    assign("pos", first="all", second="has lanes and @b")
    chain = [InNamespace("pos"), Saved("b"), Saved("a")]
    assert reaches(parse("namespace pos", twin), Saved("a"), twin) == chain


def test_a_cycle_through_a_namespace_is_refused_with_the_chain(
    twin: Twin, save: Save, assign: Assign
) -> None:
    save("a", "/geo")
    assign("pos", stores="@a except cluster 2")
    with pytest.raises(Rejected) as caught:
        refuse_cycle(parse("namespace pos", twin), Saved("a"), twin)
    assert caught.value.message == "@a would select through itself: @a -> namespace pos -> @a"
    save("b", "namespace pos")
    with pytest.raises(Rejected, match="itself: namespace pos -> @b -> namespace pos"):
        refuse_cycle(parse("not @b", twin), InNamespace("pos"), twin)
    refuse_cycle(parse("@a", twin), InNamespace("pos"), twin)


def test_names_come_after_those_they_need(twin: Twin, save: Save, assign: Assign) -> None:
    save("a", "all")
    save("b", "@a")
    assign("pos", first="@b", second="/geo")
    save("c", "@a or namespace pos")
    found = in_order(parse("@c and @a", twin), twin)
    assert [each.clause for each in found] == [*saved("a", "b"), InNamespace("pos"), Saved("c")]
    assert found[2].selectors == (Saved("b"), parse("/geo", twin))
    assert found[2].given_by == (Ref(Kind.ASSIGNMENT, "first"), Ref(Kind.ASSIGNMENT, "second"))


def test_a_namespace_that_should_not_lead_to_itself_is_an_error_and_not_a_hang(
    twin: Twin, assign: Assign
) -> None:
    assign("pos")
    put_assignment(twin, "stores", "pos", Not(InNamespace("pos")))
    with pytest.raises(Invalid, match="namespace pos leads back to itself"):
        in_order(InNamespace("pos"), twin)


def test_what_a_selector_needs_is_all_it_names_through_any_chain(
    twin: Twin, save: Save, assign: Assign
) -> None:
    save("big", "size = large")
    assign("pos", stores="/geo and @big", kiosks="cluster 2")
    assign("grill", grills="/devices/grill")
    geo = group_at(twin, "/geo")
    assert geo is not None
    assert needed(parse("has lanes except namespace pos", twin), twin) == {
        Ref(Kind.LABEL_KEY, "lanes"),
        Ref(Kind.NAMESPACE, "pos"),
        Ref(Kind.ASSIGNMENT, "stores"),
        Ref(Kind.ASSIGNMENT, "kiosks"),
        Ref(Kind.GROUP, geo),
        Ref(Kind.SAVED_SELECTOR, "big"),
        Ref(Kind.LABEL_KEY, "size"),
        Ref(Kind.CLUSTER, 5),
    }
    assert needed(parse("all", twin), twin) == frozenset()
