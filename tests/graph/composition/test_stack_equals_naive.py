"""Composition against a naive composer that knows the rules and nothing of ``graph.composition``.

It compares layers pair by pair by their paths, merges them in an order drawn at random from all
that the rules allow, and finds conflicts by writing every layer out as a table of paths.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from graph.composition.stack import OWN, Composed, Stack
from graph.model.inventory import Group, Hierarchy, Mode
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import Everything, HasLabel, IsCluster, Only, Selector, Under
from graph.model.values import Values
from graph.model.view import path_of
from graph.model.workload import Application, LateBound, Layer
from twin import Twin

pytestmark = pytest.mark.volume
CASES = {"test": 2_500, "campaign": 200_000}

Path = tuple[str, ...]
Leaf = tuple[str, str]
"""What is at a path: its kind (leaf, map, items) and, of a leaf, its text."""


# the rules, naively


Places = Mapping[GroupNumber, tuple[int, str]]
"""The precedence of each group's hierarchy, and the group's path."""


def places(fleet: Twin) -> Places:
    precedences = {each.name: each.precedence for each in fleet.hierarchies()}
    return {
        each.number: (precedences[each.hierarchy], path_of(fleet, each.number))
        for each in fleet.groups()
    }


def stronger(one: Layer, other: Layer, where: Places) -> bool:
    """Whether the rules say that ``one`` overrides ``other``."""
    if class_of(one) != class_of(other):
        return class_of(one) > class_of(other)
    if not isinstance(one.selector, Under) or not isinstance(other.selector, Under):
        return one.rank > other.rank
    precedence, path = where[one.selector.group]
    other_precedence, other_path = where[other.selector.group]
    if precedence != other_precedence:
        return precedence > other_precedence
    if path.split("/")[1] != other_path.split("/")[1]:
        return False
    if one.rank != other.rank:
        return one.rank > other.rank
    return path.startswith(f"{other_path}/")


def class_of(layer: Layer) -> int:
    match layer.selector:
        case Everything():
            return 0
        case Under():
            return 1
        case IsCluster():
            return 3
        case _:
            return 2


def any_order(layers: Iterable[Layer], where: Places, rng: Random) -> list[Layer]:
    """The layers weakest first, in one of the orders the rules allow."""
    left, ordered = list(layers), list[Layer]()
    while left:
        weakest = [each for each in left if not any(stronger(each, other, where) for other in left)]
        ordered.append(rng.choice(weakest))
        left.remove(ordered[-1])
    return ordered


def named(value: Any) -> bool:
    return (
        isinstance(value, list)
        and value != []
        and all(isinstance(each, dict) and isinstance(each.get("name"), str) for each in value)
    )


def laid_over(weak: Any, strong: Any) -> Any:
    if isinstance(strong, dict):
        result = dict(weak) if isinstance(weak, dict) else {}
        for key, value in strong.items():
            result[key] = laid_over(result.get(key), value)
        return {key: value for key, value in result.items() if value is not None}
    if named(strong):
        result = {each["name"]: each for each in weak} if named(weak) else {}
        for each in strong:
            result[each["name"]] = laid_over(result.get(each["name"]), each)
        return list(result.values())
    return strong


def table(value: Any, path: Path = ()) -> dict[Path, Leaf]:
    """Everything ``value`` says, by path."""
    if isinstance(value, dict):
        found, below = {path: ("map", "")}, value
    elif named(value):
        found, below = {path: ("items", "")}, {each["name"]: each for each in value}
    else:
        return {path: ("leaf", text(value))}
    for key, each in below.items():
        found |= table(each, (*path, key))
    return found


def clashing(one: Any, other: Any) -> set[Path]:
    ours, theirs = table(one), table(other)
    differ = {path for path in ours.keys() & theirs.keys() if ours[path] != theirs[path]}
    return {path for path in differ if not any(path[:end] in differ for end in range(len(path)))}


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# the cases


@dataclass(frozen=True)
class Case:
    fleet: Twin
    where: Places
    application: Application
    layers: tuple[Layer, ...]
    reaching: frozenset[str]
    """Names of the layers that reach a cluster, those everywhere left out."""

    def stack(self, rng: Random) -> Stack:
        shuffled = rng.sample(self.layers, len(self.layers))
        own = [each for each in shuffled if each.application]
        return Stack.of(
            self.application, own, [each for each in shuffled if not each.application], self.fleet
        )

    def taking_part(self) -> list[Layer]:
        return [
            each
            for each in self.layers
            if isinstance(each.selector, Everything) or each.name in self.reaching
        ]

    def given(self, layer: Layer) -> dict[str, Any]:
        """What a layer gives composed values."""
        if layer.application:
            return {key: value for key, value in layer.values.data.items() if key != "late"}
        read = {key: value for key, value in layer.values.data.items() if key == "a"}
        return {"fleet": read} if read else {}


class Cases:
    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)

    def case(self) -> Case:
        rng, fleet = self.rng, self.fleet()
        layers = tuple(self.layer(number, fleet) for number in range(rng.randint(1, 7)))
        pos = Application(
            "pos",
            "stores",
            values=Values.of(self.values()),
            reads=("a", "nowhere"),
            late_bound=(LateBound("late"),),
        )
        reaching = [each.name for each in layers if rng.random() < 0.8]
        return Case(fleet, places(fleet), pos, layers, frozenset(reaching))

    def fleet(self) -> Twin:
        rng, facts, number = self.rng, list[Hierarchy | Group](), 0
        for name in ("geo", "devices"):
            facts.append(Hierarchy(name, Mode.MANY, precedence=rng.randint(0, 1)))
            first = number
            for number in range(first, first + 4):
                parent = None if number == first else GroupNumber(rng.randrange(first, number))
                group = name if parent is None else f"g{number}"
                facts.append(Group(GroupNumber(number), name, parent, group))
            number += 1
        return Twin.of(facts)

    def layer(self, number: int, fleet: Twin) -> Layer:
        rng = self.rng
        group = rng.choice(fleet.groups()).number
        selector: Selector = rng.choice(
            (
                Everything(),
                Under(group),
                Under(group),
                Under(group),
                Only(group),
                HasLabel("size"),
                IsCluster(ClusterNumber(1)),
            )
        )
        application = "pos" if rng.random() < 0.8 else ""
        rank = rng.choice((0, 0, 0, 1, -1))
        return Layer(f"layer-{number}", selector, Values.of(self.values()), application, rank)

    def values(self) -> dict[str, Any]:
        keys = ("a", "b", "m", "env", "late")
        return {key: self.value(2) for key in keys if self.rng.random() < 0.4}

    def value(self, depth: int) -> Any:
        rng = self.rng
        kind = rng.random()
        if depth and kind < 0.35:
            return {key: self.value(depth - 1) for key in "xyz" if rng.random() < 0.5}
        if depth and kind < 0.6:
            names = rng.sample("pqr", rng.randint(1, 3))
            return [
                {"name": name} | ({"v": self.value(depth - 1)} if rng.random() < 0.6 else {})
                for name in names
            ]
        return rng.choice((1, 1, 1, 2, 1.0, True, "x", None, [], [1], {}))


def without(value: Any, paths: Iterable[Path]) -> Any:
    """``value`` with the items of lists by name, and without what is at ``paths``."""
    if named(value):
        value = {each["name"]: each for each in value}
    if not isinstance(value, dict):
        return value
    gone = {path[0] for path in paths if len(path) == 1}
    return {
        key: without(each, [path[1:] for path in paths if path[0] == key])
        for key, each in value.items()
        if key not in gone
    }


def test_composition_is_what_the_rules_say_in_whatever_order_they_allow(scale: str) -> None:
    clashed = 0
    for seed in range(CASES[scale]):
        cases = Cases(seed)
        case = cases.case()
        composed = compose(case, cases.rng)
        conflicts = expected_conflicts(case)
        assert pairs(composed) == conflicts, seed
        clashed += bool(conflicts)
        torn = {path for path, _ in conflicts}
        given = without(expected_values(case, cases.rng), torn)
        assert text(without(composed.values, torn)) == text(given), seed
        check_origins(case, composed, seed)
        for each in case.layers:
            assert text(each.values.data) == each.values.text, "an input was changed"
    assert clashed > CASES[scale] / 10


def compose(case: Case, rng: Random) -> Composed:
    stack = case.stack(rng)
    keyed = {each.name for each in stack.keyed}
    assert keyed == {
        each.name
        for each in case.layers
        if case.given(each) and not isinstance(each.selector, Everything)
    }
    return stack.compose(case.reaching & keyed)


def pairs(composed: Composed) -> set[tuple[Path, frozenset[str]]]:
    return {(clash.path, frozenset((clash.one, clash.other))) for clash in composed.conflicts}


def expected_conflicts(case: Case) -> set[tuple[Path, frozenset[str]]]:
    found = set[tuple[Path, frozenset[str]]]()
    layers, where = case.taking_part(), case.where
    for at, one in enumerate(layers):
        for other in layers[at + 1 :]:
            if not stronger(one, other, where) and not stronger(other, one, where):
                differ = clashing(case.given(one), case.given(other))
                found |= {(path, frozenset((one.name, other.name))) for path in differ}
    return found


def expected_values(case: Case, rng: Random) -> Any:
    own = {key: value for key, value in case.application.values.data.items() if key != "late"}
    values = laid_over({}, own)
    for layer in any_order(case.taking_part(), case.where, rng):
        values = laid_over(values, case.given(layer))
    return values


def check_origins(case: Case, composed: Composed, seed: int) -> None:
    """Every leaf has an origin, which gave it, and nothing stronger did."""
    result = table(composed.values)
    inner = {path[:end] for path in result for end in range(len(path))}
    assert set(composed.origins) == result.keys() - inner - {()}, seed
    by_name = {each.name: each for each in case.taking_part()}
    tables = {name: table(case.given(each)) for name, each in by_name.items()}
    tables[OWN] = table(case.application.values.data)
    for path, origin in composed.origins.items():
        assert tables[origin][path] == result[path], (seed, path)
        for name, each in by_name.items():
            over = origin == OWN or stronger(each, by_name[origin], case.where)
            assert not (over and path in tables[name]), (seed, path)


def test_renaming_layers_changes_no_value_and_no_conflict(scale: str) -> None:
    for seed in range(CASES[scale] // 5):
        cases = Cases(seed)
        case = cases.case()
        names = [each.name for each in case.layers]
        renamed = dict(zip(names, cases.rng.sample(names, len(names)), strict=True))
        other = replace(
            case,
            layers=tuple(replace(each, name=renamed[each.name]) for each in case.layers),
            reaching=frozenset(renamed[name] for name in case.reaching),
        )
        before, after = compose(case, cases.rng), compose(other, cases.rng)
        assert text(before.values) == text(after.values), seed
        assert {(path, called(pair, renamed)) for path, pair in pairs(before)} == pairs(after), seed


def called(names: frozenset[str], renamed: Mapping[str, str]) -> frozenset[str]:
    return frozenset(renamed[name] for name in names)


def test_layers_that_give_equal_values_never_conflict() -> None:
    for seed in range(500):
        cases = Cases(seed)
        case = cases.case()
        shared = Values.of(cases.values() | {"a": 1})
        alike = replace(case, layers=tuple(replace(each, values=shared) for each in case.layers))
        assert compose(alike, cases.rng).conflicts == (), seed
