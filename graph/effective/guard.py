"""What a batch may not do to what runs, unless its author says so.

G1  No application loses more than a few clusters and more than a few percent of where it was
    placed, or its last one, unless the expected loss of the batch covers all it takes away.
G2  What is lost never exceeds an expected loss that was stated, however small.
G3  A command on the workload blocks nothing that was not blocked before, and lets fleet layers
    conflict nowhere they did not. The business may: what it blocks keeps its line, and is reported.
G4  A command on the workload takes neither an application nor the fleet's own settings above a
    number of distinct configurations.
G5  The whole fleet decides, and what is told of it are names and numbers its author may see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from graph.composition.order import Strength, strength_of
from graph.composition.problem import Problem, Reason
from graph.composition.stack import Stack
from graph.effective.judgement import NOWHERE
from graph.effective.moves import Move
from graph.effective.state import State
from graph.model.change import Change
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Rejected
from graph.model.inventory import Hierarchy
from graph.model.names import counted, quoted
from graph.model.ref import WORKLOAD, Kind
from graph.model.selector import Under
from graph.model.view import FleetView
from graph.model.workload import Layer

REASONS_MAX = 20
"""Lines in a refusal."""
_NAMES_MAX = 3

_SAYING_WHAT_RUNS = WORKLOAD | {Kind.SAVED_SELECTOR}
"""Saved selectors are among what the workload is made of."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a batch may take away or multiply."""

    lost_clusters_max: int = 25
    lost_percent_max: float = 5.0
    configurations_max: int = 2_000


@dataclass(frozen=True, slots=True)
class Told:
    """The fleet before and after, as far as the author of a batch may see it."""

    before: FleetView
    after: FleetView
    in_part: bool
    """Whether anything is hidden from them."""
    covers_all: bool = True
    """Whether they see everything that is asked of a cluster they see."""

    def application(self, name: str) -> bool:
        """Whether they see an application."""
        return any(name in view.workload.applications for view in (self.before, self.after))

    def named(self, name: str) -> str:
        """An application, as it is called to them."""
        return name if self.application(name) else "an application you do not see"

    def layers(self, names: Iterable[str]) -> bool:
        """Whether they see all of some layers."""
        return all(name in self.after.workload.layers for name in names)

    def seen(self, clusters: ClusterSet) -> ClusterSet:
        """Those of some clusters that they see."""
        if not self.in_part:
            return clusters
        return clusters & (self.before.everything() | self.after.everything())


def refusals(
    was: State,
    now: State,
    moves: Sequence[Move],
    changes: Iterable[Change],
    *,
    expected_loss: int | None,
    bounds: Bounds,
    told: Told,
) -> list[Rejected]:
    """Everything for which a batch that leads from ``was`` to ``now`` must be refused."""
    found = list(_shrinking(was, moves, expected_loss, bounds, told))
    if any(map(_says_what_runs, changes)):
        found += _blocking(now, moves, told)
        found += _multiplying(was, now, moves, bounds, told)
        found += _fleet_refusals(was, now, bounds, told)
    return found


def _says_what_runs(change: Change) -> bool:
    """Whether it changes the workload, or the order in which layers override each other."""
    match change:
        case Change(Hierarchy(precedence=was), Hierarchy(precedence=now)):
            return was != now
        case _:
            return change.ref.kind in _SAYING_WHAT_RUNS


def _shrinking(
    was: State,
    moves: Sequence[Move],
    expected_loss: int | None,
    bounds: Bounds,
    told: Told,
) -> Iterator[Rejected]:
    total = sum(len(move.lost) for move in moves)
    if expected_loss is not None:
        if total > expected_loss:
            yield Rejected(
                f"the batch takes {_pairs(total)} away; {expected_loss:,} were expected",
                hint=f"look at the preview; state expectedLoss {total} if that is meant",
                reasons=list(_losses(was, moves, told)),
                loss=total,
            )
        return
    if any(_shrinks(was, move, bounds) for move in moves):
        yield Rejected(
            f"the batch takes {_pairs(total)} away, more than goes without saying "
            f"(an application loses more than {counted(bounds.lost_clusters_max, 'cluster')} "
            f"and more than {bounds.lost_percent_max:g} % of its own, or its last one)",
            hint=f"look at the preview; state expectedLoss {total} to go on,"
            " which needs the role operator",
            reasons=list(_losses(was, moves, told)),
            loss=total,
        )


def _shrinks(was: State, move: Move, bounds: Bounds) -> bool:
    lost, had = len(move.lost), len(was.placements.get(move.application, NOWHERE).placed)
    if not lost:
        return False
    beyond = lost > bounds.lost_clusters_max and lost * 100 > had * bounds.lost_percent_max
    return beyond or (lost == had and not move.gained)


def _losses(was: State, moves: Iterable[Move], told: Told) -> Iterator[str]:
    losing = sorted((move for move in moves if move.lost), key=lambda each: -len(each.lost))
    for move in losing[:REASONS_MAX]:
        yield f"{told.named(move.application)} loses {_loss(was, move, told)}"
    if len(losing) > REASONS_MAX:
        yield f"and {len(losing) - REASONS_MAX:,} more"


def _loss(was: State, move: Move, told: Told) -> str:
    lost = len(move.lost)
    if not told.application(move.application):
        return counted(lost, "cluster")
    had = len(told.seen(was.placements[move.application].placed))
    return f"{lost:,} of {counted(had, 'cluster')} ({lost * 100 / had:.1f} %)"


def _blocking(now: State, moves: Iterable[Move], told: Told) -> Iterator[Rejected]:
    blocked = [move for move in moves if move.blocked]
    if not blocked:
        return
    shown = [move for move in blocked if told.application(move.application)]
    reasons = [line for move in shown for line in _blocked(now, move, told)]
    if hidden := len(blocked) - len(shown):
        reasons.append(f"{counted(hidden, 'application')} you do not see")
    yield Rejected(
        f"the batch would block {counted(len(blocked), 'application')}",
        hint="mend the values, labels, capacity or dependencies in the same batch",
        reasons=reasons[:REASONS_MAX],
    )


def _blocked(now: State, move: Move, told: Told) -> Iterator[str]:
    for reason, clusters in move.blocked.items():
        seen = told.seen(clusters)
        where = f"{counted(len(seen), 'cluster')} ({_some(now, seen)})"
        yield f"{move.application} on {where}: {_why(now, move.application, reason, seen, told)}"


def _why(now: State, application: str, reason: Reason, clusters: ClusterSet, told: Told) -> str:
    if reason in (Reason.SCHEMA, Reason.CONFLICT):
        found = _first_problem(now, application, reason, clusters)
        if found is not None:
            # whose values they are was said already
            message = found.message.removeprefix(f"application {quoted(application)}: ")
            return message if told.layers(found.layers) else _out_of_sight(reason)
    wanted = now.definitions[application].application
    match reason:
        case Reason.LATE_BOUND:
            keys = ", ".join(late.key for late in wanted.late_bound)
            return f"no value for a late-bound key ({keys})"
        case Reason.DEPENDENCY:
            names = dict.fromkeys(map(told.named, wanted.depends_on))
            return f"what it depends on is not there ({', '.join(names)})"
        case Reason.CAPACITY:
            return _shortage(now, clusters, told)
        case _:
            return f"late-bound keys have a {reason}"


def _out_of_sight(reason: Reason) -> str:
    """What is wrong where it cannot be told without layers that its author does not see."""
    if reason is Reason.SCHEMA:
        return "its values break its schema with those of a layer you do not see"
    return "two layers give one key different values, and you do not see both"


def _shortage(now: State, clusters: ClusterSet, told: Told) -> str:
    first = next(iter(clusters), None) if told.covers_all else None
    if first is None:
        return "more is asked than there is"
    asked, cluster = now.asked_of(first), now.view.cluster(first)
    has = None if cluster is None else cluster.capacity
    if cluster is None or has is None:
        return "more is asked than there is"
    return (
        f"{cluster.name} has {has.cpu_millicores:,} millicores and {has.memory_mib:,} MiB; "
        f"{asked.cpu_millicores:,} and {asked.memory_mib:,} are asked of it"
    )


def _first_problem(
    now: State, application: str, reason: Reason, clusters: ClusterSet
) -> Problem | None:
    placement = now.placements[application]
    for names, problems in placement.problems.items():
        if placement.configurations[names].meets(clusters):
            for problem in problems:
                if problem.reason is reason:
                    return problem
    return None


def _multiplying(
    was: State, now: State, moves: Iterable[Move], bounds: Bounds, told: Told
) -> Iterator[Rejected]:
    for move in moves:
        before = len(was.placements.get(move.application, NOWHERE).configurations)
        after = before + len(move.added) - len(move.dropped)
        if after > bounds.configurations_max and after > before:
            stack = now.definitions[move.application].stack
            yield _multiplied(now, told.named(move.application), stack, after, bounds, told)


def _multiplied(
    now: State, whose: str, stack: Stack, count: int, bounds: Bounds, told: Told
) -> Rejected:
    layers = [layer for layer in stack.keyed if told.layers([layer.name])]
    many = "too many" if told.in_part else f"{count:,}"
    return Rejected(
        f"{whose} would have {many} distinct configurations, "
        f"more than {bounds.configurations_max:,}",
        hint="layers multiply; make keys that differ per cluster late-bound: "
        f"{', '.join(_per_cluster(layers)) or 'those that few clusters share'}",
        reasons=list(_multipliers(layers, now)),
    )


def _fleet_refusals(was: State, now: State, bounds: Bounds, told: Told) -> Iterator[Rejected]:
    """What speaks against what became of the fleet's own settings."""
    before, after = was.fleet_configurations, now.fleet_configurations
    if before is after and was.fleet is now.fleet:
        return
    if len(after) > bounds.configurations_max and len(after) > len(before):
        yield _multiplied(now, "the fleet's settings", now.fleet, len(after), bounds, told)
        return  # the dear question is not asked of too many
    torn = _torn(now) - _torn(was)
    if torn:
        seen = told.seen(torn)
        where = f"{counted(len(seen), 'cluster')} ({_some(now, seen)})" if seen else "clusters"
        problems = (
            problem
            for names, clusters in after.items()
            if clusters.meets(torn)
            for problem in now.fleet.problems(names)
            if told.layers(problem.layers)
        )
        yield Rejected(
            f"the batch would make layers of the fleet conflict on {where}",
            hint="give one of them a higher rank, or let them reach different clusters",
            reasons=list(dict.fromkeys(each.message for each in problems))[:REASONS_MAX],
        )


def _torn(state: State) -> ClusterSet:
    """Where layers conflict about the fleet's own settings."""
    found = state.fleet_configurations.items()
    return ClusterSet.union([clusters for names, clusters in found if state.fleet.problems(names)])


def _multipliers(layers: Sequence[Layer], state: State) -> Iterator[str]:
    """How many layers of each kind there are, most first."""
    kinds = Counter(_kind(layer, state) for layer in layers)
    for kind, count in kinds.most_common(REASONS_MAX):
        yield f"{counted(count, 'layer')} on {kind}"


def _kind(layer: Layer, state: State) -> str:
    match layer.selector:
        case Under(number):
            group = state.view.group(number)
            return f"groups of /{group.hierarchy}" if group is not None else "groups"
        case _:
            single = strength_of(layer) is Strength.CLUSTER
            return "single clusters" if single else "selectors"


def _per_cluster(layers: Sequence[Layer]) -> list[str]:
    """The keys that layers on single clusters set, most used first."""
    single = (layer for layer in layers if strength_of(layer) is Strength.CLUSTER)
    keys = Counter(key for layer in single for key in layer.values.data)
    return [key for key, _ in keys.most_common(_NAMES_MAX)]


def _some(state: State, clusters: ClusterSet) -> str:
    names = [state.view.cluster_name(each) for each in islice(clusters, _NAMES_MAX)]
    more = len(clusters) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _pairs(count: int) -> str:
    return f"{counted(count, 'workload')}"
