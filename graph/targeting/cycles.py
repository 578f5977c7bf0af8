"""Saved selectors name each other; how far one reaches, and in what order to take them.

Nothing here recurses: a chain of saved selectors may be as long as the list of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from graph.model.errors import Invalid
from graph.model.inventory import SavedSelector
from graph.model.selector import Saved, Selector, clauses
from graph.model.view import FleetView


class Saving(Protocol):
    """Whatever keeps saved selectors: a view, or a fleet that is only thought of."""

    def saved_selector(self, name: str) -> SavedSelector | None:
        """The saved selector called ``name``."""
        ...


def reaches(selector: Selector, name: str, view: Saving) -> list[str] | None:
    """The saved selectors by which ``selector`` leads to the saved selector ``name``, that last.

    None if it does not: then ``selector`` may be saved as ``name`` without closing a cycle.
    """
    came_from: dict[str, str | None] = dict.fromkeys(saved_in(selector))
    waiting = list(came_from)
    for at in waiting:
        if at == name:
            return _chain(came_from, at)
        saved = view.saved_selector(at)
        for below in saved_in(saved.selector) if saved is not None else ():
            if below not in came_from:
                came_from[below] = at
                waiting.append(below)
    return None


def saved_in(selector: Selector) -> Iterator[str]:
    """Names of the saved selectors that ``selector`` names itself."""
    return (clause.name for clause in clauses(selector) if isinstance(clause, Saved))


def in_order(selector: Selector, view: FleetView) -> list[SavedSelector]:
    """Every saved selector ``selector`` leads to, each after those it needs itself.

    Left out is what the view does not show: under a scope, whatever reaches nothing in it.
    """
    ordered: dict[str, SavedSelector] = {}
    opened: set[str] = set()
    waiting = list(saved_in(selector))
    while waiting:
        name = waiting[-1]
        saved = None if name in ordered else view.saved_selector(name)
        if saved is None:
            waiting.pop()
            continue
        needed = [
            each
            for each in saved_in(saved.selector)
            if each not in ordered and view.saved_selector(each) is not None
        ]
        if not needed:
            ordered[name] = saved
        elif name in opened:
            raise Invalid(
                f"@{name} leads back to itself",
                hint=f"save @{name} again without naming what is made of it",
            )
        else:
            opened.add(name)
            waiting += needed
    return list(ordered.values())


def _chain(came_from: dict[str, str | None], name: str) -> list[str]:
    chain: list[str] = []
    at: str | None = name
    while at is not None:
        chain.append(at)
        at = came_from[at]
    return chain[::-1]
