"""What whoever renders has to be told to come from one state to another.

They hold an overlay for every configuration that runs somewhere, and for every cluster a pointer
with one line for every application that runs there. Both follow from the state alone, and so does
what differs between two states, however far apart:

N1  Told a rendition from one state to another, who held all of the first holds all of the second.
N2  What is blocked has no say: it is told as blocked, and the line it had, if any, stays as it was.
    Only the line does. Who holds it keeps its overlay, though it be told as dropped, until no line
    leads there; the content of an overlay that others share follows those who run it.
N3  Where an application is placed no more its line is removed, and the cause is told. Where it
    newly may not be that is told whether it is placed or not, in case there is a line.
N4  Only sets are worked out here, at the cost of what differs; ``portions`` spells them out.
N5  A line that says the same is told again where it is written otherwise: on a cluster of another
    kind or reconciler, and where the application's late-bound keys fill other fields. Overlays are
    told again where their namespace has other owners or another cost centre, which mark all in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from graph.composition.numbering import Names
from graph.effective.content import of_other_content, of_other_values
from graph.effective.definition import Definition
from graph.effective.judgement import NOWHERE, Placement
from graph.effective.late_columns import differing, rebound
from graph.effective.shift import Parts
from graph.effective.state import State
from graph.effective.trouble import Troubles, fleet_troubles, troubles_of
from graph.model.change import Entity
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.ref import Kind, Ref
from graph.model.workload import Workload

FLEET = ""
"""In place of an application's name: the fleet's own settings."""


class Cause(StrEnum):
    """Why an application is to be taken away from a cluster."""

    UNASSIGNED = "unassigned"
    """Nothing assigns it there any more."""
    PROHIBITED = "prohibited"
    """It may not be there. Nothing holds this back."""
    LACKING = "lacking"
    """The cluster has no longer what it requires."""
    RETIRED = "retired"
    """The cluster is gone."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs for one application, or for the fleet's own settings."""

    application: str
    removed: Mapping[Cause, ClusterSet]
    """Where its line goes; numbers of the clusters before."""
    written: tuple[Names, ...]
    """Configurations that run somewhere and are new, or whose overlay differs."""
    dropped: tuple[Names, ...]
    """Configurations that ran somewhere and do no more; lines of what is blocked may lead there."""
    lines: ClusterSet
    """Clusters whose line is new or differs."""
    blocked: Troubles
    """Clusters that are blocked, and were not before or not for this."""
    runs: Parts
    """Its configurations now, as far as they run."""

    def __bool__(self) -> bool:
        return bool(self.removed or self.written or self.dropped or self.lines or self.blocked)


@dataclass(frozen=True, slots=True)
class Rendition:
    """Everything that differs. Make it with ``rendition``."""

    was: State | None
    now: State
    retired: ClusterSet
    """Clusters whose pointer goes; numbers of those before."""
    differences: tuple[Difference, ...]
    """By name; the fleet's own settings first."""
    pointed: ClusterSet
    """Clusters whose pointer is new or differs."""
    defined: tuple[Ref, ...]
    """Applications, namespaces and policies that are new or differ."""
    undefined: tuple[Ref, ...]
    """Those that are gone."""

    def __bool__(self) -> bool:
        return bool(
            self.retired or self.differences or self.pointed or self.defined or self.undefined
        )


def rendition(was: State | None, now: State) -> Rendition:
    """What leads from ``was``, or from nothing, to ``now``."""
    there = EMPTY if was is None else was.view.everything()
    stayed = there & now.view.everything()
    refitted = EMPTY if was is None else _refitted(was, now) & stayed
    marked = frozenset[str]() if was is None else _marked(was.view.workload, now.view.workload)
    differences = tuple(each for each in _differences(was, now, refitted, marked) if each)
    pointed = [each.lines for each in differences]
    pointed.append(now.view.everything() - there)
    if was is not None:
        pointed += (refitted, _governed_otherwise(was, now) & stayed)
    defined, undefined = _definitions(was, now)
    return Rendition(
        was,
        now,
        there - now.view.everything(),
        differences,
        ClusterSet.union(pointed),
        defined,
        undefined,
    )


def fleet_runs(state: State) -> Parts:
    """The fleet's own settings, but for those about which layers conflict."""
    blocked = ClusterSet.union(fleet_troubles(state).values())
    return _without(state.fleet_configurations, blocked)


def rendering_policies(workload: Workload) -> Iterator[Ref]:
    """Policies on clusters that rendering cares for: those that say where images come from."""
    for policy in workload.policies.values():
        if policy.selector is not None and policy.registries:
            yield Ref(Kind.POLICY, policy.name)


def _differences(
    was: State | None, now: State, refitted: ClusterSet, marked: frozenset[str]
) -> Iterator[Difference]:
    if was is None or (
        was.fleet is not now.fleet or was.fleet_configurations is not now.fleet_configurations
    ):
        yield _fleet_difference(was, now)
    then: Mapping[str, Placement] = {} if was is None else was.placements
    for name in sorted(then.keys() | now.placements.keys()):
        if was is not None and (
            then.get(name) is now.placements.get(name)
            and was.definitions.get(name) is now.definitions.get(name)
            and not (refitted and now.placements[name].effective.meets(refitted))
            and now.definitions[name].application.namespace not in marked
            and _veto(name, was) is _veto(name, now)
        ):
            continue
        yield _difference(name, was, now, refitted, marked)


def _difference(
    name: str, was: State | None, now: State, refitted: ClusterSet, marked: frozenset[str]
) -> Difference:
    before = NOWHERE if was is None else was.placements.get(name, NOWHERE)
    after = now.placements.get(name, NOWHERE)
    old = None if was is None else was.definitions.get(name)
    new = now.definitions.get(name)
    ran, runs = _runs(before), _runs(after)
    lines = [_come(ran, runs), after.effective & refitted]
    written = [names for names in runs if names not in ran]
    if was is not None and old is not None and new is not None:
        stayed = before.effective & after.effective
        anew = old is not new and _in_every_line(old) != _in_every_line(new)
        lines.append(stayed if anew else rebound(name, was, now, stayed - lines[0]))
        both = _both(ran, runs)
        all_of_them = new.application.namespace in marked
        written += both if all_of_them else of_other_content(old, new, both)
    return Difference(
        name,
        dict(_removed(name, before, after, was, now)),
        _in_order(written),
        _in_order(names for names in ran if names not in runs),
        ClusterSet.union(lines),
        _newly({} if was is None else troubles_of(name, was), troubles_of(name, now)),
        runs,
    )


def _fleet_difference(was: State | None, now: State) -> Difference:
    ran: Parts = {} if was is None else fleet_runs(was)
    runs = fleet_runs(now)
    written = [names for names in runs if names not in ran]
    if was is not None:
        written += of_other_values(was.fleet, now.fleet, _both(ran, runs))
    return Difference(
        FLEET,
        {},
        _in_order(written),
        _in_order(names for names in ran if names not in runs),
        _come(ran, runs),
        _newly({} if was is None else fleet_troubles(was), fleet_troubles(now)),
        runs,
    )


def _runs(placement: Placement) -> Parts:
    """The configurations of a placement as far as they run."""
    if not placement.blocked:
        return placement.configurations
    return _without(placement.configurations, placement.placed - placement.effective)


def _without(parts: Parts, clusters: ClusterSet) -> Parts:
    """``parts`` without some clusters; those that have none of them are the same objects."""
    if not clusters:
        return parts
    cut = {
        names: part - clusters if part.meets(clusters) else part for names, part in parts.items()
    }
    return {names: part for names, part in cut.items() if part}


def _come(before: Parts, after: Parts) -> ClusterSet:
    """Clusters that are in another part than before, or in none before."""
    found: list[ClusterSet] = []
    for names, part in after.items():
        was = before.get(names)
        if was is not part:
            found.append(part if was is None else part - was)
    return ClusterSet.union(found)


def _both(before: Parts, after: Parts) -> list[Names]:
    """Configurations that are there before and after."""
    return [names for names in after if names in before]


def _in_order(found: Iterable[Names]) -> tuple[Names, ...]:
    """In an order that depends on nothing but the names."""
    return tuple(sorted(found, key=sorted))


def _removed(
    name: str, before: Placement, after: Placement, was: State | None, now: State
) -> Iterator[tuple[Cause, ClusterSet]]:
    """Where it was placed and is no more, and where it newly may not be, placed or not.

    A line may be there that nothing places any more: whoever renders may have held it back.
    """
    lost = before.placed - after.placed
    there = now.view.everything()
    stays = lost & there
    vetoed = _veto(name, now) & there
    prohibited = (stays & vetoed) | (vetoed - (EMPTY if was is None else _veto(name, was)))
    lacking = (stays & after.lacking) - prohibited
    for cause, clusters in (
        (Cause.PROHIBITED, prohibited),
        (Cause.LACKING, lacking),
        (Cause.UNASSIGNED, stays - prohibited - lacking),
        (Cause.RETIRED, lost - there),
    ):
        if clusters:
            yield cause, clusters


def _veto(name: str, state: State) -> ClusterSet:
    """Where an application may not be, assigned or not."""
    place = state.places.get(name)
    return EMPTY if place is None else place.standing.veto


def _newly(before: Troubles, after: Troubles) -> Troubles:
    """What is blocked now, and was not for the same before."""
    if not before:
        return after
    found = {told: part - before.get(told, EMPTY) for told, part in after.items()}
    return {told: part for told, part in found.items() if part}


def _in_every_line(definition: Definition) -> object:
    """What of an application the line of each of its clusters says, whatever the values are."""
    each = definition.application
    return each.namespace, [(late.key, late.fields) for late in each.late_bound]


def _marked(was: Workload, now: Workload) -> frozenset[str]:
    """Namespaces with which whatever is in them is marked otherwise than before."""
    if was.namespaces is now.namespaces:
        return frozenset()
    return frozenset(
        name
        for name, each in now.namespaces.items()
        if (old := was.namespaces.get(name)) is not None
        and (old.owners, old.cost_center) != (each.owners, each.cost_center)
    )


def _refitted(was: State, now: State) -> ClusterSet:
    """Clusters that are of another kind, or are reconciled by another."""
    before, after = was.view.columns, now.view.columns
    kinds = differing(before.kind, after.kind)
    return kinds | differing(before.reconciler, after.reconciler)


def _governed_otherwise(was: State, now: State) -> ClusterSet:
    """Clusters that other policies reach."""
    found: list[ClusterSet] = []
    then, policies = (set(rendering_policies(each.view.workload)) for each in (was, now))
    for ref in then | policies:
        had = was.reach.sets[ref] if ref in then else EMPTY
        has = now.reach.sets[ref] if ref in policies else EMPTY
        if had is not has:
            found.append(had ^ has)
    return ClusterSet.union(found)


def _definitions(was: State | None, now: State) -> tuple[tuple[Ref, ...], tuple[Ref, ...]]:
    """Definitions that are new or differ, and those that are gone."""
    before = {} if was is None else _defined(was.view.workload)
    after = _defined(now.view.workload)
    changed = (ref for ref, each in after.items() if _is_other(before.get(ref), each))
    return tuple(changed), tuple(ref for ref in before if ref not in after)


def _defined(workload: Workload) -> dict[Ref, Entity]:
    tables: dict[Kind, Mapping[str, Entity]] = {
        Kind.NAMESPACE: workload.namespaces,
        Kind.APPLICATION: workload.applications,
        Kind.POLICY: workload.policies,
    }
    return {Ref(kind, name): held[name] for kind, held in tables.items() for name in sorted(held)}


def _is_other(one: Entity | None, other: Entity) -> bool:
    return one is not other and one != other
