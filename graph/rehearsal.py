"""A draft under a scope: what a batch would do if there were nothing but what its author may see.

A batch is decided here first, so that whatever is wrong with it is said in names its author knows.
Where the author sees a free name or an empty group and the fleet has something hidden there, the
rehearsal is over: it would touch what lies outside. The rules that decide know nothing of this.

What the batch made, and what its author saw before it, stays in sight until the batch is decided:
a cluster may leave its place in one command and join another in the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from graph.model.change import Change
from graph.model.inventory import Cluster, Group, LabelKey, SavedSelector
from graph.model.names import GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.view import FleetDraft, FleetView, entity_of
from graph.model.workload import Application
from graph.scoped import ScopedView, outside_scope


class Rehearsal(ScopedView):
    """``draft``, which starts as the base of ``before``, as far as its author may see it."""

    def __init__(self, before: ScopedView, draft: FleetDraft) -> None:
        super().__init__(draft, before.scope, visible=before.everything(), covered=before.covered)
        self._before = before
        self._draft = draft
        self._made: set[Ref] = set()

    def apply(self, changes: Iterable[Change]) -> None:
        """Make ``changes``; refused where something hidden is in their way."""
        changes = tuple(changes)
        if any(self._collides(change, changes) for change in changes):
            raise outside_scope()
        applied = list(self._in_full(changes))
        self._draft.apply(applied)
        self._made.update(change.ref for change in applied if change.after is not None)
        visible = self._visible.copy()
        for change in changes:
            match change:
                case Change(after=Cluster(number=number)):
                    visible.add(number)
                case Change(before=Cluster(number=number)):
                    visible.discard(number)
                case _:
                    pass
        self._visible = visible
        self._forget()

    def _in_full(self, changes: Iterable[Change]) -> Iterator[Change]:
        """The changes as the fleet knows their objects; a key that is there is not made again."""
        for change in changes:
            now = entity_of(self._draft, change.ref)
            if change.before is not None or now is None:
                yield Change(now, change.after)

    def _collides(self, change: Change, together: Sequence[Change]) -> bool:
        """Whether the author does not see what ``change`` would run into."""
        if change.after is None:
            return self._leaves_something(change, together)
        now = entity_of(self._draft, change.ref) if change.before is None else None
        match change.after:
            case Cluster(name=name):
                return change.before is None and self._draft.cluster_number(name) is not None
            case Group(parent=parent, name=name, number=number):
                holder = None if parent is None else self._draft.children(parent).get(name)
                return holder is not None and holder != number
            case LabelKey() as key:
                # by its first use as far as the author sees, it may have been in use elsewhere
                return now is not None and not (
                    isinstance(now, LabelKey)
                    and now.type is key.type
                    and any(_uses(each, key.name) for each in together)
                )
            case _:
                return now is not None

    def _leaves_something(self, change: Change, together: Sequence[Change]) -> bool:
        match change.before:
            case Group(number=number):
                gone = {each.ref for each in together if each.after is None}
                touched = {each.ref for each in together}
                below = {Ref(Kind.GROUP, each) for each in self._draft.children(number).values()}
                inside = {Ref(Kind.CLUSTER, each) for each in self._draft.direct_members(number)}
                return not (below <= gone and inside <= touched)
            case LabelKey(name=name):
                return bool(self._draft.labelled(name))
            case _:
                return False

    # what the author saw before, or made, is there

    def shows_group(self, number: GroupNumber) -> bool:
        """Whether the group is there."""
        return super().shows_group(number) or (
            self._draft.group(number) is not None
            and (Ref(Kind.GROUP, number) in self._made or self._before.shows_group(number))
        )

    def _label_key(self, name: str) -> LabelKey | None:
        """With no list of allowed values where a part of it is hidden: the fleet will judge."""
        key = self._draft.label_key(name)
        if key is None or Ref(Kind.LABEL_KEY, name) in self._made:
            return key
        if super()._label_key(name) is None and self._before.label_key(name) is None:
            return None
        known = len(self._seen_values(name, key.allowed)) == len(key.allowed)
        return key if known else replace(key, allowed=())

    def _reaches(self, saved: SavedSelector) -> bool:
        return (
            Ref(Kind.SAVED_SELECTOR, saved.name) in self._made
            or self._before.saved_selector(saved.name) is not None
            or super()._reaches(saved)
        )

    def _keeps(self, ref: Ref) -> bool:
        return entity_of(self._draft, ref) is not None and (
            ref in self._made or entity_of(self._before, ref) is not None
        )


def _uses(change: Change, key: str) -> bool:
    return isinstance(change.after, Cluster) and key in change.after.labels


def uncovers(changes: Iterable[Change], seen: FleetView, then: FleetView) -> bool:
    """Whether a label brings an assignment into sight that its author did not see.

    What they are then refused would tell of it.
    """
    changes = tuple(changes)
    if not any(_is_relabelled(change) for change in changes):
        return False
    made = {str(change.ref.key) for change in changes if change.ref.kind is Kind.ASSIGNMENT}
    return not then.workload.assignments.keys() <= seen.workload.assignments.keys() | made


def _is_relabelled(change: Change) -> bool:
    was, now = change.before, change.after
    return isinstance(now, Application) and (
        not isinstance(was, Application) or was.labels != now.labels
    )
