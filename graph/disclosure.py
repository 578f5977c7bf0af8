"""What of a change may be seen: each state on its own, at the revision it belongs to.

Where both revisions are at hand, a state may be seen if the view of its revision shows it. Where
they are not, it is judged by what is known today: a cluster by its own labels and places, anything
else by whether it may be seen now. That can hide what could once be seen; it shows nothing that is
in doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graph.model.access import Grant
from graph.model.change import Change, Entity, ref_of
from graph.model.inventory import Cluster, Group, LabelKey, SavedSelector
from graph.model.label import type_of
from graph.model.ref import Kind, Ref
from graph.model.selector import Except, Not, Selector, mentions, parts
from graph.model.view import entity_of
from graph.scoped import ScopedView, readable
from graph.targeting.facts import facts_of, holds

Judge = Callable[[Entity], Entity | None]
"""A state as far as it may be seen; None if not at all."""


def disclosed(change: Change, before: Judge, after: Judge) -> Change | None:
    """``change`` with the states that may be seen; None if neither may."""
    was = None if change.before is None else before(change.before)
    now = None if change.after is None else after(change.after)
    return None if was is None and now is None else Change(was, now)


def at_revision(view: ScopedView) -> Judge:
    """Judges states of the revision that ``view`` shows."""

    def judge(entity: Entity) -> Entity | None:
        ref = ref_of(entity)
        if entity_of(view.base, ref) != entity:
            return None  # a state of another history
        seen = entity_of(view, ref)
        if isinstance(seen, SavedSelector) and not readable(seen.selector, view):
            return None
        return seen

    return judge


def by_today(today: ScopedView) -> Judge:
    """Judges states of a revision that is not at hand, by the newest view."""

    def judge(entity: Entity) -> Entity | None:
        match entity:
            case Grant():
                return None
            case Cluster():
                return _cluster(entity, today)
            case Group(parent=parent):
                known = parent is None or today.group(parent) is not None
                return entity if known and today.group(entity.number) is not None else None
            case LabelKey():
                return _label_key(entity, today)
            case SavedSelector(selector=selector):
                return entity if _is_there(entity, today) and readable(selector, today) else None
            case _:
                return entity if _is_there(entity, today) else None

    return judge


def _is_there(entity: Entity, today: ScopedView) -> bool:
    return entity_of(today, ref_of(entity)) is not None


def _label_key(key: LabelKey, today: ScopedView) -> LabelKey | None:
    now = today.label_key(key.name)
    if now is None or now.type is not key.type:
        return None
    return replace(
        key, allowed=tuple(each for each in key.allowed if today.label_equal(key.name, each))
    )


def _cluster(cluster: Cluster, today: ScopedView) -> Cluster | None:
    """The cluster if the scope chooses one with its labels and places, with those in sight."""
    there = [each for each in cluster.memberships if today.base.group(each) is not None]
    if len(there) < len(cluster.memberships) and _leaves_out(today.scope):
        return None  # it may have been in a place the scope leaves out
    if any(_retyped(cluster, ref, today) for ref in mentions(today.scope)):
        return None
    facts = facts_of(cluster.number, cluster.labels, there, today.base)
    if not holds(today.scope, facts, {}):
        return None
    return replace(
        cluster,
        labels={key: value for key, value in cluster.labels.items() if today.label_key(key)},
        memberships=tuple(each for each in there if today.shows_group(each)),
    )


def _leaves_out(scope: Selector) -> bool:
    return isinstance(scope, Not | Except) or any(map(_leaves_out, parts(scope)))


def _retyped(cluster: Cluster, ref: Ref, today: ScopedView) -> bool:
    """Whether a label the scope compares has another type by now."""
    if ref.kind is not Kind.LABEL_KEY or not isinstance(ref.key, str):
        return False
    key, value = today.base.label_key(ref.key), cluster.labels.get(ref.key)
    return value is not None and (key is None or type_of(value) is not key.type)
