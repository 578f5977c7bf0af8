"""Reverts as they travel: what is taken back, named as people name it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import strawberry

from api.context import Context
from api.schema.intent import inside, refuse_stranger
from api.schema.names import GroupPath, RevisionOrTime
from api.schema.ref import ref_from
from graph.decide.revert import Everything, Part, Parts, RevertPlan, Scope, Subtree
from graph.model.access import Role
from graph.model.errors import Invalid, NotFound
from graph.model.names import quoted, split_path
from graph.model.view import FleetView, group_at

PARTS_MAX = 1_000
"""Parts of one revert."""


@strawberry.input(one_of=True, description="An object, or a subtree. Exactly one field.")
class RevertPart:
    """One part of what is taken back."""

    id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET, description="One object, there or gone, by its global id."
    )
    subtree: GroupPath | None = strawberry.field(
        default=strawberry.UNSET,
        description="What this path led to then and what it leads to now, everything below them,"
        " and the memberships there.",
    )


@strawberry.input(one_of=True, description="What a revert takes back. Exactly one field.")
class RevertScope:
    """An object, a subtree, several of them, or the whole fleet."""

    id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET, description="One object, there or gone, by its global id."
    )
    subtree: GroupPath | None = strawberry.field(
        default=strawberry.UNSET,
        description="What this path led to then and what it leads to now, everything below them,"
        " and the memberships there.",
    )
    parts: list[RevertPart] | None = strawberry.field(
        default=strawberry.UNSET, description="Several parts, taken back together."
    )
    everything: bool | None = strawberry.field(
        default=strawberry.UNSET, description="true: the whole fleet."
    )


async def plan(context: Context, to: RevisionOrTime, scope: RevertScope) -> RevertPlan:
    """The command that takes ``scope`` back, and what cannot come back."""
    refuse_stranger(context.access, Role.EDITOR)
    with inside("to"):
        then = await context.at(to.value)
    with inside("scope"):
        asked = _scope(scope, (then, context.seen))
    found = await context.engine.plan_revert(asked, then.cursor.revision, context.actor)
    # In the caller's words: sent again it is the same request, whatever the paths lead to by now.
    return replace(found, command=replace(found.command, scope=_words(scope)))


def _scope(given: RevertScope, views: Sequence[FleetView]) -> Scope:
    if isinstance(given.everything, bool):
        with inside("everything"):
            return _everything(given.everything)
    if isinstance(given.parts, list):
        with inside("parts"):
            parts = _parts(given.parts, views)
    else:
        parts = _part(given, views)
    return parts[0] if len(parts) == 1 else Parts(tuple(dict.fromkeys(parts)))


def _everything(given: bool) -> Everything:
    if not given:
        raise Invalid("everything is only ever true", hint="name what to take back")
    return Everything()


def _parts(given: Sequence[RevertPart], views: Sequence[FleetView]) -> list[Part]:
    if not 1 <= len(given) <= PARTS_MAX:
        raise Invalid(f"a revert of {len(given):,} parts", hint=f"name 1 to {PARTS_MAX:,}")
    found: list[Part] = []
    for place, each in enumerate(given):
        with inside(place):
            found += _part(each, views)
    return found


def _part(given: RevertPart | RevertScope, views: Sequence[FleetView]) -> list[Part]:
    if isinstance(given.subtree, str):
        with inside("subtree"):
            return _subtrees(given.subtree, views)
    assert isinstance(given.id, str), "the input has exactly one field"
    with inside("id"):
        return [ref_from(given.id)]


def _subtrees(path: str, views: Sequence[FleetView]) -> list[Part]:
    """The old holder of a path and the new one: the one replaces the other."""
    split_path(path)  # refuses what can be no path
    numbers = dict.fromkeys(group_at(view, path) for view in views)
    found: list[Part] = [Subtree(number) for number in numbers if number is not None]
    if not found:
        raise NotFound(
            f"there is no group {quoted(path)}, now or then",
            hint="check the path; what is gone can be named by its id",
        )
    return found


def _words(given: RevertScope) -> str:
    if given.everything:
        return "everything"
    parts: Sequence[RevertPart | RevertScope] = given.parts or [given]
    return repr([(each.id or "", each.subtree or "") for each in parts])
