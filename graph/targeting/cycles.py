"""Names stand for selectors that hold names: how far one reaches, and in what order to take them.

Names are saved selectors and namespaces alike. Nothing here recurses: a chain of them may be as
long as the list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from graph.model.errors import Invalid, Rejected
from graph.model.ref import Ref
from graph.model.selector import InNamespace, Saved, Selector, clauses, mentions
from graph.targeting.meaning import Meaning, Meanings, Named, Naming, show_name


def names_in(*selectors: Selector) -> Iterator[Named]:
    """The names that ``selectors`` hold themselves."""
    for selector in selectors:
        for clause in clauses(selector):
            if isinstance(clause, Saved | InNamespace):
                yield clause


def reaches(selector: Selector, name: Named, view: Naming) -> list[Named] | None:
    """The names by which ``selector`` leads to ``name``, that last; the shortest such chain.

    None if it does not: then ``name`` may stand for ``selector`` without closing a cycle.
    """
    meanings = Meanings(view)
    came_from: dict[Named, Named | None] = dict.fromkeys(names_in(selector))
    waiting = list(came_from)
    for at in waiting:
        if at == name:
            return _chain(came_from, at)
        meaning = meanings.of(at)
        for below in names_in(*meaning.selectors) if meaning is not None else ():
            if below not in came_from:
                came_from[below] = at
                waiting.append(below)
    return None


def refuse_cycle(selector: Selector, name: Named, view: Naming) -> None:
    """Refuse that ``name`` should stand for ``selector`` if that leads back to it."""
    chain = reaches(selector, name, view)
    if chain is not None:
        raise Rejected(
            f"{show_name(name)} would select through itself: {show_chain([name, *chain])}",
            hint="leave one of them out",
        )


def show_chain(chain: Iterable[Named]) -> str:
    """Names that lead to each other, as ``@a -> namespace pos -> @a``."""
    return " -> ".join(map(show_name, chain))


def needed(selector: Selector, view: Naming) -> frozenset[Ref]:
    """Whatever ``selector`` names, itself or through names, and the objects these stand for.

    A namespace may be given another assignment: who compares two views asks both.
    """
    found = set(mentions(selector))
    for meaning in in_order(selector, view):
        found.update(meaning.given_by, *map(mentions, meaning.selectors))
    return frozenset(found)


def in_order(selector: Selector, view: Naming) -> list[Meaning]:
    """Every name ``selector`` leads to with its meaning, each after those it needs itself.

    Left out is what the view does not show: under a scope, whatever reaches nothing in it.
    """
    return ordered(selector, Meanings(view).of)


def ordered(selector: Selector, meaning_of: Callable[[Named], Meaning | None]) -> list[Meaning]:
    """As ``in_order``, with names that mean what ``meaning_of`` says; None leaves one out."""
    shown = cache(meaning_of)
    done: dict[Named, Meaning] = {}
    opened: set[Named] = set()
    waiting = list(names_in(selector))
    while waiting:
        name = waiting[-1]
        meaning = None if name in done else shown(name)
        if meaning is None:
            waiting.pop()
            continue
        below = names_in(*meaning.selectors)
        first = [each for each in below if each not in done and shown(each) is not None]
        if not first:
            done[name] = meaning
        elif name in opened:
            raise Invalid(
                f"{show_name(name)} leads back to itself",
                hint=f"write {show_name(name)} again without naming what is made of it",
            )
        else:
            opened.add(name)
            waiting += first
    return list(done.values())


def _chain(came_from: dict[Named, Named | None], name: Named) -> list[Named]:
    chain: list[Named] = []
    at: Named | None = name
    while at is not None:
        chain.append(at)
        at = came_from[at]
    return chain[::-1]
