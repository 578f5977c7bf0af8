"""Tree to text: the one canonical spelling of a selector.

Groups are named by where they are now, parentheses stand only where the meaning needs them, and
operands keep the author's order. ``parse`` reads the text back into the same tree.
"""

from __future__ import annotations

from graph.model.names import GroupNumber, join_path
from graph.model.selector import (
    And,
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
from graph.model.view import FleetView, lineage, path_of
from graph.targeting.meaning import show_name
from graph.targeting.value import show_key, show_value

_OR, _AND, _EXCEPT, _NOT, _ATOM = range(5)
"""How tightly each form binds."""


def to_text(selector: Selector, view: FleetView) -> str:
    """The canonical text of ``selector``."""
    return _shown(selector, view, _OR)


def _shown(selector: Selector, view: FleetView, least: int) -> str:
    """``selector`` where something binding at least as tightly as ``least`` is needed."""
    match selector:
        case Or(operands):
            binds, text = _OR, " or ".join(_shown(each, view, _AND) for each in operands)
        case And(operands):
            binds, text = _AND, " and ".join(_shown(each, view, _EXCEPT) for each in operands)
        case Except(left, right):
            binds = _EXCEPT
            text = f"{_shown(left, view, _EXCEPT)} except {_shown(right, view, _NOT)}"
        case Not(operand):
            binds, text = _NOT, f"not {_shown(operand, view, _ATOM)}"
        case _:
            return _clause(selector, view)
    return f"({text})" if binds < least else text


def _clause(selector: Selector, view: FleetView) -> str:
    match selector:
        case Under(group):
            text = path_of(view, group)
        case Only(group):
            text = f"only {path_of(view, group)}"
        case Matching(base, rest, only):
            text = f"{'only ' if only else ''}{pattern(base, rest, view)}"
        case IsCluster(cluster):
            text = f"cluster {view.cluster_name(cluster)}"
        case Saved() | InNamespace():
            text = show_name(selector)
        case LabelIs() | LabelIn() | HasLabel():
            text = _label(selector)
        case _:
            text = "all"
    return text


def _label(selector: LabelIs | LabelIn | HasLabel) -> str:
    match selector:
        case LabelIs(key, comparison, value):
            return f"{show_key(key)} {comparison} {show_value(value)}"
        case LabelIn(key, values):
            return f"{show_key(key)} in ({', '.join(map(show_value, values))})"
        case HasLabel(key):
            return f"has {show_key(key)}"


def pattern(base: GroupNumber, rest: tuple[str, ...], view: FleetView) -> str:
    """A path with wildcards, its known part where it is now."""
    known = [group.name for group in reversed(lineage(view, base))]
    return join_path([*known, *rest])
