"""What every fleet satisfies, whatever was done to it: said once, the slow way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from graph.model.inventory import Cluster, Group, Mode
from graph.model.label import type_of
from graph.model.names import GROUP_DEPTH_MAX
from graph.model.selector import LabelIn, LabelIs, Saved, clauses, mentions
from graph.model.view import entity_of
from twin import Twin


def check_invariants(fleet: Twin) -> None:
    """Fail on the first thing that is wrong with ``fleet``."""
    broken = next(_broken(fleet), None)
    assert broken is None, broken


def _broken(fleet: Twin) -> Iterator[str]:
    yield from _roots(fleet)
    yield from _groups(fleet)
    yield from _clusters(fleet)
    yield from _saved(fleet)
    yield from _grants(fleet)


def _roots(fleet: Twin) -> Iterator[str]:
    roots = Counter(group.hierarchy for group in fleet.groups() if group.parent is None)
    names = {hierarchy.name for hierarchy in fleet.hierarchies()}
    if roots != Counter(names):
        yield f"hierarchies {names} have the roots {roots}"


def _groups(fleet: Twin) -> Iterator[str]:
    places = Counter((group.parent, group.name) for group in fleet.groups())
    for place, count in places.items():
        if count > 1:
            yield f"{place} is {count} groups"
    for group in fleet.groups():
        above = _ancestors(fleet, group)
        if above[-1].parent is not None:
            yield f"{group} has no way up to a root of at most {GROUP_DEPTH_MAX} levels"
        if {each.hierarchy for each in above} != {group.hierarchy}:
            yield f"{group} lies in another hierarchy"


def _ancestors(fleet: Twin, group: Group) -> list[Group]:
    found = [group]
    while len(found) < GROUP_DEPTH_MAX and (parent := found[-1].parent) is not None:
        above = fleet.group(parent)
        if above is None:
            break
        found.append(above)
    return found


def _clusters(fleet: Twin) -> Iterator[str]:
    names = Counter(cluster.name for cluster in fleet.clusters())
    for name, count in names.items():
        if count > 1:
            yield f"{count} clusters are called {name}"
    for cluster in fleet.clusters():
        yield from _places(fleet, cluster)
        for name, value in cluster.labels.items():
            key = fleet.label_key(name)
            if key is None or type_of(value) is not key.type:
                yield f"{cluster.name} has {name} = {value!r}, and the key is {key}"


def _places(fleet: Twin, cluster: Cluster) -> Iterator[str]:
    if list(cluster.memberships) != sorted(set(cluster.memberships)):
        yield f"the memberships of {cluster.name} are not in order: {cluster.memberships}"
    taken = Counter[str]()
    for number in cluster.memberships:
        group = fleet.group(number)
        if group is None:
            yield f"{cluster.name} is in group {number}, which is gone"
        else:
            taken[group.hierarchy] += 1
    for hierarchy in fleet.hierarchies():
        if hierarchy.mode is Mode.SINGLE and taken[hierarchy.name] > 1:
            yield f"{cluster.name} has {taken[hierarchy.name]} places in /{hierarchy.name}"


def _saved(fleet: Twin) -> Iterator[str]:
    uses: dict[str, set[str]] = {}
    for saved in fleet.saved_selectors():
        for ref in mentions(saved.selector):
            if entity_of(fleet, ref) is None:
                yield f"@{saved.name} names {ref}, which is gone"
        uses[saved.name] = set()
        for clause in clauses(saved.selector):
            if isinstance(clause, Saved):
                uses[saved.name].add(clause.name)
            if isinstance(clause, LabelIs | LabelIn):
                yield from _misfits(fleet, f"@{saved.name}", clause)
    while free := [name for name, used in uses.items() if not used]:
        uses = {name: used.difference(free) for name, used in uses.items() if name not in free}
    if uses:
        yield f"saved selectors lead to themselves: {sorted(uses)}"


def _grants(fleet: Twin) -> Iterator[str]:
    for grant in fleet.grants():
        shown = f"grant {grant.name}"
        if bool(grant.subject) == bool(grant.claim):
            yield f"{shown} is for {grant.subject!r} and {grant.claim!r}"
        for ref in mentions(grant.scope):
            if entity_of(fleet, ref) is None:
                yield f"{shown} names {ref}, which is gone"
        for clause in clauses(grant.scope):
            if isinstance(clause, Saved):
                yield f"{shown} hangs on @{clause.name}"
            if isinstance(clause, LabelIs | LabelIn):
                yield from _misfits(fleet, shown, clause)


def _misfits(fleet: Twin, name: str, clause: LabelIs | LabelIn) -> Iterator[str]:
    key = fleet.label_key(clause.key)
    values = (clause.value,) if isinstance(clause, LabelIs) else clause.values
    for value in values:
        if key is not None and type_of(value) is not key.type:
            yield f"{name} compares {clause.key} with {value!r}"
