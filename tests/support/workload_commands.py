"""Random changes as the commands that ask for them, and batches of commands that do not meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from changes import Work
from graph.model.change import Change, net
from graph.model.command import (
    Command,
    CreateGroup,
    DeleteGroup,
    DeleteSelector,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
)
from graph.model.inventory import Cluster, Group, Hierarchy, SavedSelector
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.model.referring import named_in
from graph.model.view import path_of
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    DeleteApplication,
    DeleteNamespace,
    LiftProhibition,
    OrderHierarchies,
    Prohibit,
    RemoveLayer,
    RemovePolicy,
    SetLayer,
    SetPolicy,
    Unassign,
)
from twin import Twin
from workload_fleets import Workloads


@dataclass(frozen=True, slots=True)
class Wish:
    """Commands that belong together and change one object, or the order of all hierarchies."""

    commands: tuple[Command, ...]
    changes: tuple[Change, ...]

    @property
    def refs(self) -> set[Ref]:
        return {change.ref for change in self.changes}

    @property
    def meets(self) -> set[Ref]:
        """Everything it changes or names."""
        states = [state for each in self.changes for state in (each.before, each.after) if state]
        return self.refs.union(*map(named_in, states))

    def is_apart_from(self, other: Wish) -> bool:
        """Whether neither could see that the other comes first."""
        kinds = {ref.kind for ref in self.refs}, {ref.kind for ref in other.refs}
        for one_at_a_time in (RegisterCluster, OrderHierarchies):
            # numbers are given in the order of asking, and an order names every hierarchy
            if self.has(one_at_a_time) and other.has(one_at_a_time):
                return False
        paths = any(Kind.GROUP in kind for kind in kinds) and all(
            kind & {Kind.GROUP, Kind.CLUSTER} for kind in kinds
        )
        meeting = not self.refs.isdisjoint(other.meets) or not other.refs.isdisjoint(self.meets)
        return not (paths or meeting)

    def has(self, kind: type[Command]) -> bool:
        return any(isinstance(command, kind) for command in self.commands)


def independent_wishes(rng: Random, twin: Twin, *, tries: int = 12) -> list[Wish]:
    """Wishes for ``twin`` of which none concerns what another one changes."""
    found: list[Wish] = []
    for _ in range(tries):
        wish = random_wish(rng, twin)
        if wish is not None and all(wish.is_apart_from(other) for other in found):
            found.append(wish)
    return found


def random_wish(rng: Random, twin: Twin) -> Wish | None:
    """One operation as commands; None if it takes more than one object can say."""
    workloads = Workloads(Work(rng, twin.copy(), Revision(twin.cursor.revision + 1)))
    rng.choice(workloads.operations())()
    changes = net(workloads.work.changes)
    if changes and all(isinstance(change.after, Hierarchy) for change in changes):
        ordered = sorted(workloads.twin.hierarchies(), key=lambda each: each.precedence)
        return Wish((OrderHierarchies(tuple(each.name for each in ordered)),), changes)
    if len(changes) != 1:
        return None
    commands = tuple(_commands(changes[0], twin))
    return Wish(commands, changes) if commands else None


def _commands(change: Change, twin: Twin) -> Iterator[Command]:
    match change:
        case Change(Cluster() | None as was, Cluster() | None as now):
            yield from _of_cluster(was, now, twin)
        case Change(Group() | None as was, Group() | None as now):
            yield from _of_group(was, now, twin)
        case Change(gone, None):
            yield from _forgetting(gone)
        case Change(was, now) if now is not None and not _final(was, now):
            yield from _defining(now)
        case _:
            pass


def _of_cluster(was: Cluster | None, now: Cluster | None, twin: Twin) -> Iterator[Command]:
    if now is None:
        assert was is not None
        yield RetireCluster(was.name)
        return
    if was is None:
        yield RegisterCluster(
            now.name,
            now.title,
            now.kind,
            now.reconciler,
            now.labels,
            tuple(path_of(twin, each) for each in now.memberships),
            now.capacity,
            now.time_zone,
            now.opening_hours,
        )
        return
    removed = dict.fromkeys(was.labels.keys() - now.labels.keys())
    yield UpdateCluster(
        now.name,
        reconciler=now.reconciler,
        labels={**now.labels, **removed},
        capacity=now.capacity,
    )
    for left in sorted(set(was.memberships) - set(now.memberships)):
        yield Leave(now.name, path_of(twin, left))
    for joined in sorted(set(now.memberships) - set(was.memberships)):
        yield Join(now.name, path_of(twin, joined))


def _of_group(was: Group | None, now: Group | None, twin: Twin) -> Iterator[Command]:
    if was is None:
        assert now is not None and now.parent is not None
        yield CreateGroup(f"{path_of(twin, now.parent)}/{now.name}")
    elif now is None:
        yield DeleteGroup(path_of(twin, was.number))
    elif was.name != now.name:
        yield RenameGroup(path_of(twin, was.number), now.name)
    elif was.parent != now.parent and now.parent is not None:
        yield MoveGroup(path_of(twin, was.number), path_of(twin, now.parent))


def _final(was: object, now: object) -> bool:
    """Whether something differs that no definition may change."""
    match was, now:
        case Application(), Application():
            return was.namespace != now.namespace
        case Layer(), Layer():
            return was.application != now.application
        case _:
            return False


def _forgetting(gone: object) -> Iterator[Command]:
    match gone:
        case SavedSelector():
            yield DeleteSelector(gone.name)
        case Namespace():
            yield DeleteNamespace(gone.name)
        case Application():
            yield DeleteApplication(gone.name)
        case Assignment():
            yield Unassign(gone.name)
        case Prohibition():
            yield LiftProhibition(gone.name)
        case Layer():
            yield RemoveLayer(gone.name)
        case Policy():
            yield RemovePolicy(gone.name)
        case _:
            pass


def _defining(now: object) -> Iterator[Command]:
    match now:
        case SavedSelector():
            yield SaveSelector(now.name, now.selector)
        case Namespace():
            yield DefineNamespace(now.name, cost_center=now.cost_center)
        case Application():
            yield _defining_application(now)
        case Assignment():
            yield Assign(now.name, now.choice, now.selector)
        case Prohibition():
            yield Prohibit(now.name, now.choice, now.selector)
        case Layer():
            yield SetLayer(now.name, now.selector, now.values.data, now.application, now.rank)
        case Policy():
            yield SetPolicy(
                now.name, now.namespaces, now.selector, oversubscription=now.oversubscription
            )
        case _:
            pass


def _defining_application(now: Application) -> DefineApplication:
    return DefineApplication(
        now.name,
        now.namespace,
        labels=now.labels,
        requires=now.requires,
        reconcilers=now.reconcilers,
        depends_on=now.depends_on,
        requests=now.requests,
        values=now.values.data,
        schema=None if now.schema is None else now.schema.data,
        late_bound=now.late_bound,
        reads=now.reads,
        cluster_scoped=now.cluster_scoped,
    )


def all_commands(wishes: Sequence[Wish]) -> tuple[Command, ...]:
    """The commands of ``wishes``, in that order."""
    return tuple(command for wish in wishes for command in wish.commands)
