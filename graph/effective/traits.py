"""What a selector cares for besides the objects it names.

Kept for every holder, so that a change finds those it concerns without reading their selectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.model.change import Change, Entity, ref_of
from graph.model.ref import Kind, Ref
from graph.model.referring import selector_of
from graph.model.selector import (
    And,
    Except,
    InNamespace,
    Matching,
    Only,
    Or,
    Saved,
    Selector,
    Under,
    clauses,
)
from graph.targeting.holds import depends_on_universe


@dataclass(frozen=True, slots=True)
class Traits:
    """Who cares for what, of the workload and of saved selectors."""

    universal: frozenset[Ref]
    """Holders whose answer may change because a cluster comes or goes."""
    patterned: frozenset[Ref]
    """Holders with a pattern: they care for groups far below."""
    bound: frozenset[Ref]
    """Holders that choose nobody outside the groups they name."""
    users: Mapping[Ref, frozenset[Ref]]
    """Holders by the saved selectors and namespaces their selectors name."""


def traits_of(held: Iterable[tuple[Ref, Selector]]) -> Traits:
    """Who cares for the universe, who for patterns, and who uses which other selectors."""
    universal, patterned, bound = set[Ref](), set[Ref](), set[Ref]()
    users: dict[Ref, set[Ref]] = {}
    for ref, selector in held:
        if depends_on_universe(selector):
            universal.add(ref)
        if _is_bound(selector):
            bound.add(ref)
        for clause in clauses(selector):
            if isinstance(clause, Matching):
                patterned.add(ref)
            elif (used := _used_by(clause)) is not None:
                users.setdefault(used, set()).add(ref)
    used_by = {ref: frozenset(each) for ref, each in users.items()}
    return Traits(frozenset(universal), frozenset(patterned), frozenset(bound), used_by)


def _is_bound(selector: Selector) -> bool:
    """Whether it chooses only clusters of groups it names."""
    match selector:
        case Under() | Only():
            return True
        case And(operands):
            return any(map(_is_bound, operands))
        case Or(operands):
            return all(map(_is_bound, operands))
        case Except(left, _):
            return _is_bound(left)
        case _:
            return False


def traits_after(traits: Traits, stored: Sequence[Change]) -> Traits:
    """``traits`` once these objects hold other selectors."""
    refs = frozenset(change.ref for change in stored)
    now = traits_of(selectors_of(each.after for each in stored if each.after is not None))
    users = dict(traits.users)
    for change in stored:
        was = None if change.before is None else selector_of(change.before)
        for clause in () if was is None else clauses(was):
            if (used := _used_by(clause)) is not None:
                users[used] = users[used] - refs
    for used, holders in now.users.items():
        users[used] = users.get(used, frozenset()) | holders
    return Traits(
        _replaced(traits.universal, refs, now.universal),
        _replaced(traits.patterned, refs, now.patterned),
        _replaced(traits.bound, refs, now.bound),
        {used: holders for used, holders in users.items() if holders},
    )


def _replaced(held: frozenset[Ref], refs: frozenset[Ref], now: frozenset[Ref]) -> frozenset[Ref]:
    """``held`` with ``now`` in place of what it has of ``refs``."""
    return held if held & refs == now else (held - refs) | now


def _used_by(clause: Selector) -> Ref | None:
    """The saved selector or namespace a clause stands for."""
    match clause:
        case Saved(name):
            return Ref(Kind.SAVED_SELECTOR, name)
        case InNamespace(name):
            return Ref(Kind.NAMESPACE, name)
        case _:
            return None


def selectors_of(holders: Iterable[Entity]) -> Iterator[tuple[Ref, Selector]]:
    """Objects that hold a selector, with it."""
    for each in holders:
        if (selector := selector_of(each)) is not None:
            yield ref_of(each), selector
