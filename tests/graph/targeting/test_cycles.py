"""How saved selectors reach each other."""

from __future__ import annotations

from collections.abc import Callable

from graph.model.selector import Saved
from graph.targeting.cycles import in_order, reaches
from graph.targeting.parser import parse
from twin import Twin

Save = Callable[[str, str], None]


def test_a_selector_reaches_what_it_names_through_any_chain(twin: Twin, save: Save) -> None:
    save("a", "size = large")
    save("b", "/geo and @a")
    save("c", "not (@b or has lanes)")
    assert reaches(parse("all except @c", twin), "a", twin) == ["c", "b", "a"]
    assert reaches(parse("@a", twin), "a", twin) == ["a"]


def test_the_shortest_chain_is_told(twin: Twin, save: Save) -> None:
    save("a", "all")
    save("b", "@a")
    save("c", "@b")
    assert reaches(parse("@c or @b", twin), "a", twin) == ["b", "a"]


def test_a_selector_that_leads_elsewhere_reaches_nothing(twin: Twin, save: Save) -> None:
    save("a", "all")
    save("b", "@a")
    assert reaches(parse("@a and has lanes", twin), "b", twin) is None
    assert reaches(parse("/geo", twin), "a", twin) is None


def test_a_name_not_saved_yet_may_be_reached_all_the_same(twin: Twin) -> None:
    assert reaches(Saved("new"), "new", twin) == ["new"]
    assert reaches(Saved("new"), "other", twin) is None


def test_saved_selectors_come_after_those_they_need(twin: Twin, save: Save) -> None:
    save("a", "all")
    save("b", "@a")
    save("c", "@a or @b")
    assert [each.name for each in in_order(parse("@c and @a", twin), twin)] == ["a", "b", "c"]
