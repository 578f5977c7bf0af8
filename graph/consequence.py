"""What a decided batch would do to what runs, and whether that is refused.

The same for those who write and those who preview: the one raises what the other shows. What an
actor may not do at all is refused to both:

P5  What comes, goes or changes of an application, does so on clusters over which the author has a
    role for that application. So nobody takes away what merely depends on theirs.
P6  A loss that is stated or comes of a prohibition, and a cluster or an application that leaves
    the set of a prohibition which stands, take the role operator over just that. A cluster that is
    retired and registered anew under its name is the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graph.access import Access, Part, parts_of
from graph.effective.guard import Bounds, Told, refusals
from graph.effective.moves import Move, moves
from graph.effective.state import State
from graph.effective.step import advance
from graph.model.access import Role
from graph.model.change import Change
from graph.model.cluster_set import ClusterSet
from graph.model.command import Batch
from graph.model.errors import Denied, Rejected
from graph.model.inventory import Cluster
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref
from graph.model.selector import Everything, Selector
from graph.model.view import FleetView
from graph.model.workload import Application, Prohibition
from graph.scoped import ScopedView, outside_scope
from graph.settings import GraphSettings
from graph.targeting.evaluate import evaluate


@dataclass(frozen=True, slots=True)
class Consequence:
    """The state a batch leads to, how it differs, and what speaks against it."""

    state: State
    moves: tuple[Move, ...]
    refusals: tuple[Rejected, ...]

    @property
    def loss(self) -> int:
        """How many applications it takes from clusters in all."""
        return sum(len(move.lost) for move in self.moves)


def consequence_of(
    access: Access | None,
    batch: Batch,
    changes: Sequence[Change],
    was: State,
    after: FleetView,
    settings: GraphSettings,
) -> Consequence:
    """What ``changes``, decided from ``batch`` for an actor, make of ``was``."""
    if not changes:
        return Consequence(was, (), ())
    now = advance(was, after, changes)
    found = tuple(moves(was, now))
    told = Told(was.view, after, in_part=False)
    if access is not None:
        told = _told(access, told)
        if not isinstance(access.scope(Role.OPERATOR), Everything):
            author = _Author(access, was, now, told)
            author.check_moves(found, _role_for_losses(batch, changes))
            author.check_prohibitions(changes)
    refused = refusals(
        was,
        now,
        found,
        changes,
        expected_loss=batch.expected_loss,
        bounds=Bounds(
            settings.lost_clusters_max, settings.lost_percent_max, settings.configurations_max
        ),
        told=told,
    )
    return Consequence(now, found, tuple(refused))


def _told(access: Access, whole: Told) -> Told:
    """The fleet before and after, as far as an actor may see it."""
    if access.sees_all:
        return whole
    sight, covered = access.need(Role.READER), access.coverage
    return Told(
        ScopedView(whole.before, sight, covered=covered),
        ScopedView(whole.after, sight, covered=covered),
        in_part=True,
        covers_all=covered is None,
    )


def _role_for_losses(batch: Batch, changes: Iterable[Change]) -> Role:
    """A prohibition and a stated loss are an operator's, and so is what they take away."""
    forbids = any(change.ref.kind is Kind.PROHIBITION for change in changes)
    return Role.OPERATOR if forbids or batch.expected_loss is not None else Role.EDITOR


_Held = tuple[ClusterSet, ClusterSet]
"""A fleet, and what a scope chooses of it."""


@dataclass(frozen=True, slots=True)
class _Author:
    """Somebody with roles over a part of the fleet, and what their batch leads to."""

    access: Access
    was: State
    now: State
    told: Told
    _held: dict[Selector, list[_Held]] = field(default_factory=dict[Selector, "list[_Held]"])
    """By scope, before and after."""

    def check_moves(self, found: Iterable[Move], loss: Role) -> None:
        """Refuse what is not theirs to move (P5), or to lose, which takes the role ``loss``."""
        for move in found:
            part = self._part(move.application)
            touched = ClusterSet.union([move.gained, move.reconfigured, move.repointed])
            for needed, clusters in ((Role.EDITOR, touched), (loss, move.lost)):
                if clusters and not self._has(needed, (part,), clusters):
                    raise self._not_theirs(part, needed, clusters)

    def check_prohibitions(self, changes: Sequence[Change]) -> None:
        """Refuse what leaves a prohibition without an operator (P6)."""
        relabelled, anew = list(_relabelled(changes)), _registered_anew(changes)
        then = self.now.view.workload.prohibitions
        for name, old in self.was.view.workload.prohibitions.items():
            new = then.get(name)
            leaving = () if new is None else self._leaving(old, new, relabelled, anew)
            for parts, clusters in leaving:
                if not self._has(Role.OPERATOR, parts, clusters):
                    raise self._leaves(name, parts, clusters)

    def _leaving(
        self,
        old: Prohibition,
        new: Prohibition,
        relabelled: Iterable[_Relabelled],
        anew: Mapping[ClusterNumber, ClusterNumber],
    ) -> Iterator[tuple[Sequence[Part], ClusterSet]]:
        """What was in the set of a prohibition and is so no more: of which parts, on which."""
        ref = Ref(Kind.PROHIBITION, old.name)
        reached, still = self.was.reach.sets[ref], self.now.reach.sets[ref]
        if reached is not still and (left := (reached - still) & self.now.view.everything()):
            yield parts_of(old, self.was.view), left
        for was, now in anew.items():
            if was in reached and now not in still:
                yield parts_of(old, self.was.view), ClusterSet.of([was, now])
        for before, after in relabelled:
            if reached and old.choice.takes(before) and not new.choice.takes(after):
                yield ((before.namespace, before.name),), reached

    def _has(self, role: Role, parts: Iterable[Part], clusters: ClusterSet) -> bool:
        """Whether they have ``role`` for all of ``parts``, on clusters before and after."""
        scopes = [self.access.scope_for(role, *part) for part in parts]
        return all(scope is not None and self._holds(scope, clusters) for scope in scopes)

    def _holds(self, scope: Selector, clusters: ClusterSet) -> bool:
        if isinstance(scope, Everything):
            return True
        if scope not in self._held:
            views = (self.was.view, self.now.view)
            self._held[scope] = [(view.everything(), evaluate(scope, view)) for view in views]
        return all(clusters & fleet <= chosen for fleet, chosen in self._held[scope])

    def _part(self, application: str) -> Part:
        states = (self.was, self.now)
        found = (state.definitions.get(application) for state in states)
        spaces = (each.application.namespace for each in found if each is not None)
        return next(spaces, ""), application

    def _is_seen(self, role: Role, parts: Sequence[Part], clusters: ClusterSet) -> bool:
        """Whether they lack the role on a cluster in sight, so that one can say so."""
        seen = self.told.seen(clusters)
        return bool(seen) and not self._has(role, parts, seen)

    def _not_theirs(self, part: Part, role: Role, clusters: ClusterSet) -> Denied:
        name = part[1]
        if not self.told.application(name) or not self._is_seen(role, (part,), clusters):
            return outside_scope()
        return Denied(
            f"application {name} would change where you have not got the role {role} for it",
            hint="leave it as it is, or ask somebody who has the role to make the change",
        )

    def _leaves(self, name: str, parts: Sequence[Part], clusters: ClusterSet) -> Denied:
        known = name in self.told.before.workload.prohibitions
        seen = known and self._is_seen(Role.OPERATOR, parts, clusters)
        what = f"prohibition {name}" if seen else "a prohibition you do not see"
        return Denied(
            f"something would leave {what}",
            hint="that takes the role operator over it; ask somebody who has it",
        )


_Relabelled = tuple[Application, Application]
"""An application before and after."""


def _relabelled(changes: Iterable[Change]) -> Iterator[_Relabelled]:
    for change in changes:
        match change:
            case Change(Application() as was, Application() as now) if was.labels != now.labels:
                yield was, now
            case _:
                pass


def _registered_anew(changes: Iterable[Change]) -> dict[ClusterNumber, ClusterNumber]:
    """The clusters that are retired and registered again, with their new numbers."""
    gone: dict[str, ClusterNumber] = {}
    made: dict[str, ClusterNumber] = {}
    for change in changes:
        match change:
            case Change(Cluster() as was, None):
                gone[was.name] = was.number
            case Change(None, Cluster() as now):
                made[now.name] = now.number
            case _:
                pass
    return {gone[name]: made[name] for name in gone.keys() & made.keys()}


def seen_moves(found: Iterable[Move], before: FleetView, after: FleetView) -> Iterator[Move]:
    """Moves as far as they concern what somebody may see of the two views."""
    visible = before.everything() | after.everything()
    for move in found:
        names = (view.workload.applications for view in (before, after))
        if any(move.application in known for known in names) and (cut := move.among(visible)):
            yield cut
