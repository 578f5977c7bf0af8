"""Tree to text: one spelling, and always read back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changes import random_changes, random_fleet, random_selector
from graph.model.change import Change
from graph.model.inventory import LabelKey, LabelType, SavedSelector
from graph.model.names import GroupNumber, Revision
from graph.model.selector import (
    And,
    Comparison,
    Except,
    HasLabel,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Or,
    Selector,
)
from graph.model.view import group_at
from graph.targeting.complete import complete
from graph.targeting.normal import normal
from graph.targeting.parser import parse
from graph.targeting.structured import from_structured, to_structured
from graph.targeting.syntax import to_text
from kubernetes_names import label_keys
from twin import Twin

FLEETS = 40
TREES_EACH = 25


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("((/geo/us))", "/geo/us"),
        ("/geo  and(has lanes)", "/geo and has lanes"),
        ("(all and all)", "all"),
        ("(/geo or /devices) or has size", "/geo or /devices or has size"),
        ("(/geo and /devices) or has size", "/geo and /devices or has size"),
        ("(/geo or /devices) and has size", "(/geo or /devices) and has size"),
        ("not (/geo)", "not /geo"),
        ("not (not /geo)", "not (not /geo)"),
        ("(not /geo) except (has size)", "not /geo except has size"),
        ("(/geo except /devices) except has size", "/geo except /devices except has size"),
        ("/geo except (/devices except has size)", "/geo except (/devices except has size)"),
        ("/geo except (/devices or has size)", "/geo except (/devices or has size)"),
        ("lanes>=2.50", "lanes >= 2.5"),
        ("lanes = 1e3", "lanes = 1000"),
        ("lanes = 2.0", "lanes = 2"),
        ('size="large"', "size = large"),
        ('size = "very large"', 'size = "very large"'),
        ('state = "or"', 'state = "or"'),
        ("state = or", 'state = "or"'),
        ("store = true", 'store = "true"'),
        ("store = 2301", "store = 2301"),
        ('size = ""', 'size = ""'),
        ('size = "-x"', 'size = "-x"'),
        ('"cluster" = blue', '"cluster" = blue'),
        ('"size" = large', "size = large"),
        ("size in(small,large, small)", "size in (small, large)"),
        ("drive-through = true", "drive-through = true"),
        ("/g/geo/us", "/geo/us"),
        ("/m/type/corp", "type = corp"),
        ("/c/2", "cluster 2"),
        ("only /geo/*/west", "only /geo/*/west"),
    ],
)
def test_every_selector_has_one_canonical_text(written: str, canonical: str, twin: Twin) -> None:
    assert to_text(parse(written, twin), twin) == canonical
    assert to_text(parse(canonical, twin), twin) == canonical


def test_the_authors_order_is_kept(twin: Twin) -> None:
    text = "size = large and /geo/us and has lanes"
    assert to_text(parse(text, twin), twin) == text


@pytest.mark.parametrize(
    "value",
    ["", " ", '"', "\\", '\\"', "or", "true", "/geo", "a/b", "ä", "a\u200bb", "(", ",", "@", "é=1"],
)
def test_any_text_a_label_can_have_is_read_back(value: str, twin: Twin) -> None:
    selector = LabelIs("size", Comparison.EQ, value)
    assert parse(to_text(selector, twin), twin) == selector


@pytest.mark.parametrize("value", [0, -1, 0.1, 1e-7, 2**53, -(2**53), 1 / 3, 123456.789, 5e-324])
def test_any_number_a_label_can_have_is_read_back(value: float, twin: Twin) -> None:
    selector = LabelIs("lanes", Comparison.LE, value)
    assert parse(to_text(selector, twin), twin) == selector


@pytest.mark.parametrize("seed", range(FLEETS))
def test_the_text_of_any_tree_is_read_back_into_that_tree(seed: int) -> None:
    rng = Random(seed)
    twin = Twin.of(random_fleet(rng))
    for _ in range(TREES_EACH):
        tree = normal(random_selector(rng, twin, depth=rng.randint(0, 5)))
        text = to_text(tree, twin)
        assert parse(text, twin) == tree
        assert to_text(parse(text, twin), twin) == text


@pytest.mark.parametrize("seed", range(10))
def test_the_text_of_any_saved_tree_is_read_back_after_any_changes(seed: int) -> None:
    rng = Random(seed)
    twin = Twin.of(random_fleet(rng))
    for revision in range(2, 22):
        twin.apply(random_changes(rng, twin, Revision(revision)))
        for saved in twin.saved_selectors():
            tree = normal(saved.selector)
            assert parse(to_text(tree, twin), twin) == tree


def test_the_deepest_tree_is_read_back(twin: Twin) -> None:
    clause, other = parse("has size", twin), parse("has lanes", twin)
    negated: Selector = clause
    excepted: Selector = clause
    mixed: Selector = clause
    for level in range(64):
        negated = Not(negated)
        excepted = Except(clause, excepted) if level % 2 else Except(excepted, clause)
        mixed = And((mixed, clause)) if level % 2 else Or((mixed, other))
    for tree in (negated, excepted, mixed):
        assert parse(to_text(tree, twin), twin) == tree


# a stored selector means the group, not the text


def moved(twin: Twin, path: str, **new: object) -> None:
    number = group_at(twin, path)
    assert number is not None
    group = twin.group(number)
    assert group is not None
    twin.apply([Change(group, replace(group, **new))])  # pyright: ignore[reportArgumentType]


def saved_text(name: str, twin: Twin) -> str:
    saved = twin.saved_selector(name)
    assert isinstance(saved, SavedSelector)
    return to_text(saved.selector, twin)


def test_a_saved_selector_follows_its_group_through_a_rename(
    twin: Twin, save: Callable[[str, str], None], chosen: Callable[[str], set[str]]
) -> None:
    save("pilot", "/geo/us/northeast/ny and size = large")
    before = chosen("@pilot")
    moved(twin, "/geo/us/northeast", name="atlantic")
    assert saved_text("pilot", twin) == "/geo/us/atlantic/ny and size = large"
    assert chosen("@pilot") == before == {"ny-1", "ny-2"}


def test_a_saved_selector_follows_its_group_through_a_move(
    twin: Twin, save: Callable[[str, str], None], chosen: Callable[[str], set[str]]
) -> None:
    save("pilot", "/geo/us/northeast/* or only /geo/us/northeast/ny")
    before = chosen("@pilot")
    moved(twin, "/geo/us/northeast", parent=group_at(twin, "/geo/us/west"))
    assert saved_text("pilot", twin) == (
        "/geo/us/west/northeast/* or only /geo/us/west/northeast/ny"
    )
    assert chosen("@pilot") == before == {"ny-1", "ny-2", "ma-1"}


def test_a_pattern_that_a_move_made_too_deep_for_any_group_is_still_read_back(twin: Twin) -> None:
    base = group_at(twin, "/geo/us/northeast/ny")
    assert base is not None
    tree = Matching(GroupNumber(base), ("*",) * 31)
    assert parse(to_text(tree, twin), twin) == tree


@given(label_keys, st.sampled_from(("x", "or", "a/b", "large", "")))
def test_any_label_key_of_kubernetes_is_read_back_from_its_canonical_text(
    key: str, value: str
) -> None:
    twin = Twin.of([LabelKey(key, LabelType.TEXT)])
    clauses = (
        LabelIs(key, Comparison.EQ, value),
        LabelIn(key, (value, "y")),
        HasLabel(key),
    )
    for tree in (*clauses, Not(clauses[0]), And(clauses), Or(clauses), Except(*clauses[:2])):
        text = to_text(tree, twin)
        assert parse(text, twin) == tree
        assert from_structured(to_structured(tree, twin), twin) == tree
    offered = [each.insert for each in complete("has ", 4, twin)]
    assert offered == [to_text(HasLabel(key), twin).removeprefix("has ")]
    assert [each.insert for each in complete(f'has "{key[:-1]}', 4 + len(key), twin)] == [
        f'"{key}"'
    ]


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("need_gpu", "need_gpu"),
        ("ENVIRONMENT", "ENVIRONMENT"),
        ("example.com/size", "example.com/size"),
        ("app.kubernetes.io/name", "app.kubernetes.io/name"),
        ("example.com/and", "example.com/and"),
        ("AND", '"AND"'),
        ("In", '"In"'),
        ("not/safe", '"not/safe"'),
        ("9/9", "9/9"),
    ],
)
def test_a_key_is_bare_unless_a_keyword_could_be_read_in_it(key: str, written: str) -> None:
    twin = Twin.of([LabelKey(key, LabelType.TEXT)])
    assert to_text(parse(f'has "{key}"', twin), twin) == f"has {written}"
    assert parse(f"{written}=x and {written} in(x,y)", twin)


def test_a_keyword_right_before_a_path_is_no_prefix_of_a_key(twin: Twin) -> None:
    assert parse("not/geo/us", twin) == parse("not /geo/us", twin)
    assert parse("only/geo/us or/devices", twin) == parse("only /geo/us or /devices", twin)
