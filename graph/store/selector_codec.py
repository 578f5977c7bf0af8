"""Selector trees as JSON: lists that name groups and clusters by number, each led by its kind.

``/geo/us and lanes >= 2`` is ``["and",["under",7],["label","lanes",">=",2]]``. The kinds are part
of the record: one may be added, none may change its meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graph.model.selector import (
    And,
    Clause,
    Comparison,
    Everything,
    Except,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Only,
    Or,
    Saved,
    Selector,
    Under,
)

Json = Any
"""What a JSON parser returns."""


def selector_json(selector: Selector) -> list[Json]:
    """``selector`` as what a JSON writer takes."""
    match selector:
        case And(operands):
            data = ["and", *(selector_json(operand) for operand in operands)]
        case Or(operands):
            data = ["or", *(selector_json(operand) for operand in operands)]
        case Not(operand):
            data = ["not", selector_json(operand)]
        case Except(left, right):
            data = ["except", selector_json(left), selector_json(right)]
        case _:
            data = _clause_json(selector)
    return data


def _clause_json(clause: Clause) -> list[Json]:
    data: list[Json]
    match clause:
        case Everything():
            data = ["all"]
        case Under(group):
            data = ["under", group]
        case Only(group):
            data = ["only", group]
        case Matching(base, rest, only):
            data = ["matching", base, rest, only]
        case LabelIs(key, comparison, value):
            data = ["label", key, comparison.value, value]
        case LabelIn(key, values):
            data = ["in", key, values]
        case HasLabel(key):
            data = ["has", key]
        case IsCluster(cluster):
            data = ["cluster", cluster]
        case Saved(name):
            data = ["saved", name]
        case InNamespace(name):
            data = ["namespace", name]
    return data


def read_selector(data: Json) -> Selector:
    """The inverse of ``selector_json``."""
    tag, *rest = data
    return _SELECTORS[tag](*rest)


def _and(*operands: Json) -> Selector:
    return And(tuple(read_selector(operand) for operand in operands))


def _or(*operands: Json) -> Selector:
    return Or(tuple(read_selector(operand) for operand in operands))


def _not(operand: Json) -> Selector:
    return Not(read_selector(operand))


def _except(left: Json, right: Json) -> Selector:
    return Except(read_selector(left), read_selector(right))


def _matching(base: Json, rest: Json, only: Json) -> Selector:
    return Matching(base, tuple(rest), only)


def _label_is(key: Json, comparison: Json, value: Json) -> Selector:
    return LabelIs(key, Comparison(comparison), value)


def _label_in(key: Json, values: Json) -> Selector:
    return LabelIn(key, tuple(values))


_SELECTORS: dict[str, Callable[..., Selector]] = {
    "all": Everything,
    "under": Under,
    "only": Only,
    "matching": _matching,
    "label": _label_is,
    "in": _label_in,
    "has": HasLabel,
    "cluster": IsCluster,
    "saved": Saved,
    "namespace": InNamespace,
    "and": _and,
    "or": _or,
    "not": _not,
    "except": _except,
}
