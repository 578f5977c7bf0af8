"""The selector tree: what a selector means, after its names were looked up.

A tree names groups by number, so a stored selector means the group and not the text: after a
rename or move it selects that group wherever it now is. ``graph.targeting`` turns text and the
structured form into trees and back; there is no second, unresolved tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from graph.model.names import ClusterNumber, GroupNumber
from graph.model.ref import Kind, Ref

SelectorValue = str | int | float | bool

Structured = Mapping[str, object]
"""A selector as nested mappings; ``graph.targeting.structured`` reads it."""
Written = str | Structured
"""A selector as somebody wrote it, before its names are looked up."""


class Comparison(StrEnum):
    """How a label is compared. Ordering comparisons are for numbers."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


@dataclass(frozen=True, slots=True)
class Everything:
    """``all``: the whole fleet."""


@dataclass(frozen=True, slots=True)
class Under:
    """``/geo/us``: members of the group or of any group below it."""

    group: GroupNumber


@dataclass(frozen=True, slots=True)
class Only:
    """``only /geo/us``: direct members."""

    group: GroupNumber


@dataclass(frozen=True, slots=True)
class Matching:
    """``/geo/us/*/austin``: a known group, then segments of which ``*`` matches any one."""

    base: GroupNumber
    rest: tuple[str, ...]
    only: bool = False


@dataclass(frozen=True, slots=True)
class LabelIs:
    """``lanes >= 2``. A cluster without the label fails, ``!=`` included."""

    key: str
    comparison: Comparison
    value: SelectorValue


@dataclass(frozen=True, slots=True)
class LabelIn:
    """``size in (large, medium)``."""

    key: str
    values: tuple[SelectorValue, ...]


@dataclass(frozen=True, slots=True)
class HasLabel:
    """``has lanes``."""

    key: str


@dataclass(frozen=True, slots=True)
class IsCluster:
    """``cluster us-ny-0001``."""

    cluster: ClusterNumber


@dataclass(frozen=True, slots=True)
class Saved:
    """``@pilot-stores``: a saved selector by name."""

    name: str


@dataclass(frozen=True, slots=True)
class InNamespace:
    """``namespace pos``: the clusters its assignments choose, before any veto."""

    name: str


@dataclass(frozen=True, slots=True)
class And:
    """Every operand holds. Two operands or more, none of them an ``And``."""

    operands: tuple[Selector, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some operand holds. Two operands or more, none of them an ``Or``."""

    operands: tuple[Selector, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The operand does not hold; the universe is the whole fleet."""

    operand: Selector


@dataclass(frozen=True, slots=True)
class Except:
    """``left except right``."""

    left: Selector
    right: Selector


Clause = (
    Everything
    | Under
    | Only
    | Matching
    | LabelIs
    | LabelIn
    | HasLabel
    | IsCluster
    | Saved
    | InNamespace
)
Selector = Clause | And | Or | Not | Except


def parts(selector: Selector) -> tuple[Selector, ...]:
    """The operands of ``selector``, left to right; none for a clause."""
    match selector:
        case And(operands) | Or(operands):
            return operands
        case Not(operand):
            return (operand,)
        case Except(left, right):
            return (left, right)
        case _:
            return ()


def clauses(selector: Selector) -> Iterator[Clause]:
    """Every clause of ``selector``, left to right."""
    match selector:
        case And() | Or() | Not() | Except():
            for part in parts(selector):
                yield from clauses(part)
        case _:
            yield selector


def mentions(selector: Selector) -> frozenset[Ref]:
    """What ``selector`` names directly, and which may therefore not vanish under it."""
    found: set[Ref] = set()
    for clause in clauses(selector):
        match clause:
            case Under(group) | Only(group) | Matching(base=group):
                found.add(Ref(Kind.GROUP, group))
            case LabelIs(key=key) | LabelIn(key=key) | HasLabel(key=key):
                found.add(Ref(Kind.LABEL_KEY, key))
            case IsCluster(cluster):
                found.add(Ref(Kind.CLUSTER, cluster))
            case Saved(name):
                found.add(Ref(Kind.SAVED_SELECTOR, name))
            case InNamespace(name):
                found.add(Ref(Kind.NAMESPACE, name))
            case Everything():
                pass
    return frozenset(found)
