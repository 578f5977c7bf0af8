"""Batches of those who may change a part of the workload, on random fleets.

What they are told is compared with what they would be told if there were nothing but what they may
see; what they change, with what is theirs.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from changes import random_scope
from graph.access import Access, access_of
from graph.consequence import Consequence, consequence_of
from graph.effective.state import State, begin
from graph.index.builder import build, edit
from graph.index.snapshot import Snapshot
from graph.model.access import Actor, Grant, Role
from graph.model.change import Change, Entity
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.command import Batch, Command, SaveSelector
from graph.model.errors import Denied, Rejected, TrellisError
from graph.model.inventory import Cluster
from graph.model.ref import Kind
from graph.model.selector import And, Everything, Selector
from graph.model.view import FleetView, entity_of
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from graph.model.workload_command import Assign, Prohibit, SetLayer, SetPolicy, WorkloadCommand
from graph.permission import decide_for
from graph.scoped import ScopedView, outside_scope
from graph.settings import GraphSettings
from graph.targeting.evaluate import evaluate
from graph.targeting.trim import OfWorkload, dispensable
from restricted import restricted
from twin import START, Twin
from workload_commands import Wish, random_wish
from workload_fleets import APPLICATIONS, NAMESPACES, random_workloads

BATCHES = {"test": 2_000, "campaign": 400_000}
AUTHORS_A_FLEET = 6
BATCHES_AN_AUTHOR = 25
LENIENT = GraphSettings(lost_clusters_max=1_000, configurations_max=1_000)


@dataclass(slots=True)
class Tally:
    """What happened, so that a run in which too little did fails."""

    batches: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True)
class Fleet:
    """A fleet, what runs there, and every name in it."""

    view: Snapshot
    state: State
    names: frozenset[str]

    @staticmethod
    def of(twin: Twin, numbers_of: Twin) -> Fleet:
        view = build(twin.entities(), cursor=START, numbers=numbers_of.numbers)
        return Fleet(view, begin(view), frozenset(_names(twin.entities())))


TELLING = (Cluster, Application, Assignment, Prohibition, Layer, Policy)
"""What has names that are no common words."""


def _names(entities: list[Entity]) -> list[str]:
    return [each.name for each in entities if isinstance(each, TELLING)]


@pytest.mark.volume
@pytest.mark.timeout(6 * 3600)
def test_whoever_is_covered_for_a_part_changes_that_and_is_told_of_nothing_else(scale: str) -> None:
    tally = Tally()
    seed = 0
    while tally.batches < BATCHES[scale]:
        ask_all(seed, tally)
        seed += 1
    for outcome in ("allowed", "denied", "denied by name", "refused", "guarded"):
        assert tally.outcomes[outcome] > tally.batches // 200, tally
    print(tally, f"{seed:,} fleets")


def ask_all(seed: int, tally: Tally) -> None:
    rng = Random(seed)
    twin = Twin.of(random_workloads(rng))
    whole = Fleet.of(twin, twin)
    for _ in range(AUTHORS_A_FLEET):
        grants = random_grants(rng, twin)
        access = access_of(Actor("ana"), grants)
        assert access.sight is not None
        less = twin if access.sees_all else restricted(twin, access.sight, access.coverage)
        part = Fleet.of(less, twin)
        for _ in range(BATCHES_AN_AUTHOR):
            commands = random_commands(rng, twin, grants[0].scope)
            if commands:
                loss = rng.choice((None, None, 0, 50))
                batch = Batch(commands, "ana", "because", expected_loss=loss)
                what = f"seed {seed}, {grants}: {batch}"
                done = ask(what, access, batch, whole, part, tally)
                if done is not None:
                    check_theirs(what, grants, batch, whole, part, done)


def random_grants(rng: Random, twin: Twin) -> list[Grant]:
    """A role over a part of the workload; now and then another, or over all of it somewhere."""
    found = [random_grant(rng, twin, "mine", covered=rng.random() < 0.8)]
    if rng.random() < 0.4:
        found.append(random_grant(rng, twin, "more", covered=rng.random() < 0.5))
    if rng.random() < 0.4:
        sight = Everything() if rng.random() < 0.7 else random_scope(rng, twin, depth=1)
        found.append(Grant("reads", Role.READER, sight, subject="ana"))
    return found


def random_grant(rng: Random, twin: Twin, name: str, *, covered: bool) -> Grant:
    scope = Everything() if rng.random() < 0.3 else random_scope(rng, twin, depth=1)
    role = rng.choice((Role.EDITOR, Role.OPERATOR, Role.OPERATOR))
    if not covered:
        return Grant(name, role, scope, subject="ana")
    namespaces = tuple(rng.sample(NAMESPACES, rng.choice((0, 1, 1, 2))))
    applications = tuple(rng.sample(APPLICATIONS, rng.choice((0, 1)))) if namespaces else ("pos",)
    return Grant(name, role, scope, subject="ana", namespaces=namespaces, applications=applications)


def random_commands(rng: Random, twin: Twin, scope: Selector) -> tuple[Command, ...]:
    """One wish or two, mostly about the workload."""
    found: list[Command] = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        wishes = (random_wish(rng, twin) for _ in range(9))
        workload = rng.random() < 0.8
        kept = (each for each in wishes if each is not None and is_wanted(each, workload))
        wish = next(kept, None)
        found += () if wish is None else wish.commands
    return tuple(narrowed(rng, each, scope) for each in found)


def is_wanted(wish: Wish, workload: bool) -> bool:
    return not workload or all(isinstance(each, WorkloadCommand) for each in wish.commands)


def narrowed(rng: Random, command: Command, scope: Selector) -> Command:
    """The command, mostly within the scope somebody has in mind."""
    if not isinstance(command, SaveSelector | Assign | Prohibit | SetLayer | SetPolicy):
        return command
    selector = command.selector
    if selector is None or isinstance(scope, Everything) or rng.random() < 0.2:
        return command
    assert not isinstance(selector, str)
    return replace(command, selector=And((scope, selector)))  # type: ignore[arg-type] # a tree


Done = tuple[tuple[Change, ...], Consequence]
"""What a batch changes, and what comes of it."""


def ask(
    what: str, access: Access, batch: Batch, whole: Fleet, part: Fleet, tally: Tally
) -> Done | None:
    """The same batch on the fleet, and on one that has nothing but what may be seen of it."""
    found, alone = outcome(access, batch, whole), outcome(access, batch, part)
    tally.batches += 1
    if isinstance(found, TrellisError):
        refused(what, found, alone, tally)
        check_names(what, batch, found, whole, part)
        return None
    changes, done = found
    tally.outcomes["allowed" if changes else "nothing to do"] += 1
    assert not isinstance(alone, TrellisError), f"{what}: {alone}"
    assert written(changes) == written(alone[0]), what
    for refusal in done.refusals:
        tally.outcomes["guarded"] += 1
        check_names(what, batch, refusal, whole, part, in_sight(access, done.state.view))
    return found


def refused(
    what: str,
    found: TrellisError,
    alone: Done | TrellisError,
    tally: Tally,
) -> None:
    if not isinstance(found, Denied):
        tally.outcomes["refused"] += 1
        assert isinstance(alone, TrellisError), f"{what}: {found} tells of something hidden"
        assert (str(found), found.path) == (str(alone), alone.path), what
        return
    tally.outcomes["denied"] += 1
    if found.message == outside_scope().message or "you do not see" in found.message:
        return
    tally.outcomes["denied by name"] += 1
    assert str(found) == str(alone), what


def outcome(access: Access, batch: Batch, fleet: Fleet) -> Done | TrellisError:
    draft = edit(fleet.view)
    try:
        changes = decide_for(access, batch, fleet.view, draft, lambda: edit(fleet.view))
        return changes, consequence_of(access, batch, changes, fleet.state, draft, LENIENT)
    except TrellisError as refusal:
        return refusal


def written(changes: tuple[Change, ...]) -> list[tuple[str, Entity | None]]:
    """What comes of it; without label keys, one of which may be there out of sight."""
    kept = (change for change in changes if change.ref.kind is not Kind.LABEL_KEY)
    return [(str(change.ref), change.after) for change in kept]


def in_sight(access: Access, then: FleetView) -> frozenset[str]:
    """The applications and layers that would come in sight: one sees what runs on one's own."""
    assert access.sight is not None
    seen = ScopedView(then, access.sight, covered=access.coverage)
    return frozenset((*seen.workload.applications, *seen.workload.layers))


def check_names(
    what: str,
    batch: Batch,
    error: TrellisError,
    whole: Fleet,
    part: Fleet,
    then: frozenset[str] = frozenset(),
) -> None:
    """Nothing is named that cannot be seen and was not asked with."""
    told = [str(error), *(error.reasons if isinstance(error, Rejected) else ())]
    words = set(re.findall(r"[\w-]+", " ".join(told))) & whole.names
    leaks = words - part.names - then - set(re.findall(r"[\w-]+", repr(batch)))
    assert not leaks, f"{what}: {told} names {leaks}"


def check_theirs(
    what: str, grants: list[Grant], batch: Batch, whole: Fleet, part: Fleet, done: Done
) -> None:
    """Objects and what runs change only where a grant says so; hidden names stay where they are."""
    changes, consequence = done
    was, now = whole.state, consequence.state
    for change in changes:
        role = Role.OPERATOR if change.ref.kind in OPERATORS else Role.EDITOR
        for entity, view in ((change.before, was.view), (change.after, now.view)):
            if isinstance(entity, OfWorkload):
                for of in about(entity, view):
                    assert held(grants, role, of), f"{what}: {entity} is not theirs"
        if isinstance(change.before, OfWorkload) and isinstance(change.after, OfWorkload):
            gone = dispensable(change.before) - dispensable(change.after)
            assert all(entity_of(part.view, ref) is not None for ref in gone), what
    forbids = any(change.ref.kind is Kind.PROHIBITION for change in changes)
    stated = forbids or batch.expected_loss is not None
    stays = was.view.everything() & now.view.everything()
    for name in was.placements.keys() | now.placements.keys():
        before, after = _placed(was, name) & stays, _placed(now, name) & stays
        for role, moved in (
            (Role.EDITOR, after - before),
            (Role.OPERATOR if stated else Role.EDITOR, before - after),
        ):
            for state in (was, now):
                theirs = clusters_of(grants, role, name, state)
                assert moved <= theirs, f"{what}: {name} moves where it is not theirs"


OPERATORS = (Kind.NAMESPACE, Kind.PROHIBITION, Kind.POLICY)


def about(entity: OfWorkload, view: FleetView) -> list[tuple[str, str]]:
    """Namespace and application of all that an object is about; nothing stands for any."""
    applications = view.workload.applications
    match entity:
        case Namespace(name=name):
            return [(name, "")]
        case Application():
            return [(entity.namespace, entity.name)]
        case Layer(application=name):
            return [(applications[name].namespace, name)] if name else [("", "")]
        case Policy(namespaces=names):
            return [(name, "") for name in names] or [("", "")]
        case Assignment(choice=choice) | Prohibition(choice=choice):
            if not choice.applications:
                return [(choice.namespace, "")]
            return [(applications[name].namespace, name) for name in choice.applications]


def held(grants: list[Grant], role: Role, of: tuple[str, str]) -> list[Selector]:
    """Where grants give a role for a namespace, and one application of it."""
    return [
        each.scope
        for each in grants
        if each.role.includes(role)
        and (
            not (each.namespaces or each.applications)
            or of[0] in each.namespaces
            or of[1] in each.applications
        )
    ]


def clusters_of(grants: list[Grant], role: Role, application: str, state: State) -> ClusterSet:
    definition = state.definitions.get(application)
    if definition is None:
        return state.view.everything()
    scopes = held(grants, role, (definition.application.namespace, application))
    return ClusterSet.union([evaluate(scope, state.view) for scope in scopes])


def _placed(state: State, application: str) -> ClusterSet:
    found = state.placements.get(application)
    return EMPTY if found is None else found.placed
