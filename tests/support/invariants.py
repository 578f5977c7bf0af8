"""What every fleet satisfies, whatever was done to it: said once, the slow way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from graph.model.change import Entity, ref_of
from graph.model.inventory import Cluster, Group, Mode, SavedSelector
from graph.model.label import type_of
from graph.model.names import GROUP_DEPTH_MAX
from graph.model.referring import named_in, selector_of
from graph.model.selector import InNamespace, LabelIn, LabelIs, Saved, clauses
from graph.model.view import entity_of
from graph.model.workload import Assignment
from twin import Twin


def check_invariants(fleet: Twin) -> None:
    """Fail on the first thing that is wrong with ``fleet``."""
    broken = next(_broken(fleet), None)
    assert broken is None, broken


def _broken(fleet: Twin) -> Iterator[str]:
    yield from _roots(fleet)
    yield from _groups(fleet)
    yield from _clusters(fleet)
    yield from _named(fleet)
    yield from _selectors(fleet)
    yield from _grants(fleet)
    yield from _choices(fleet)
    yield from _dependencies(fleet)
    yield from _quotas(fleet)


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


def _named(fleet: Twin) -> Iterator[str]:
    for entity in fleet.namers():
        for ref in named_in(entity):
            if entity_of(fleet, ref) is None:
                yield f"{ref_of(entity)} names {ref}, which is gone"


def _selectors(fleet: Twin) -> Iterator[str]:
    """Labels are compared with values of their type, and no name leads to itself."""
    uses: dict[str, set[str]] = {}
    for entity in fleet.namers():
        selector = selector_of(entity)
        if selector is None:
            continue
        name = _stands_for(entity)
        for clause in clauses(selector):
            if isinstance(clause, Saved | InNamespace):
                uses.setdefault(name, set()).add(_called(clause))
            if isinstance(clause, LabelIs | LabelIn):
                yield from _misfits(fleet, name, clause)
    known = {used for each in uses.values() for used in each}
    uses = {name: uses.get(name, set()) for name in (*uses, *known)}
    while free := [name for name, used in uses.items() if not used]:
        uses = {name: used.difference(free) for name, used in uses.items() if name not in free}
    if uses:
        yield f"names lead to themselves: {sorted(uses)}"


def _stands_for(entity: Entity) -> str:
    """The name that stands for the selector of ``entity``; its own, if none does."""
    match entity:
        case SavedSelector(name=name):
            return f"@{name}"
        case Assignment(choice=choice):
            return f"namespace {choice.namespace}"
        case _:
            return str(ref_of(entity))


def _called(clause: Saved | InNamespace) -> str:
    return f"@{clause.name}" if isinstance(clause, Saved) else f"namespace {clause.name}"


def _grants(fleet: Twin) -> Iterator[str]:
    for grant in fleet.grants():
        shown = f"grant {grant.name}"
        if bool(grant.subject) == bool(grant.claim):
            yield f"{shown} is for {grant.subject!r} and {grant.claim!r}"
        for clause in clauses(grant.scope):
            if isinstance(clause, Saved | InNamespace):
                yield f"{shown} hangs on {_called(clause)}"


def _choices(fleet: Twin) -> Iterator[str]:
    """Applications chosen by name are of the namespace that is chosen."""
    workload = fleet.workload
    for each in (*workload.assignments.values(), *workload.prohibitions.values()):
        for name in each.choice.applications:
            found = workload.applications[name].namespace
            if each.choice.namespace not in ("", found):
                yield f"{each.name} names {name} of {found} in {each.choice.namespace}"


def _dependencies(fleet: Twin) -> Iterator[str]:
    needs = {name: set(each.depends_on) for name, each in fleet.workload.applications.items()}
    while free := [name for name, needed in needs.items() if not needed]:
        needs = {name: used.difference(free) for name, used in needs.items() if name not in free}
    if needs:
        yield f"applications need each other: {sorted(needs)}"


def _quotas(fleet: Twin) -> Iterator[str]:
    workload = fleet.workload
    for name, namespace in workload.namespaces.items():
        if namespace.quota is not None:
            own = [each for each in workload.applications.values() if each.namespace == name]
            cpu = sum(each.requests.cpu_millicores for each in own if each.requests is not None)
            if cpu > namespace.quota.cpu_millicores:
                yield f"namespace {name} requests {cpu} of {namespace.quota}"


def _misfits(fleet: Twin, name: str, clause: LabelIs | LabelIn) -> Iterator[str]:
    key = fleet.label_key(clause.key)
    values = (clause.value,) if isinstance(clause, LabelIs) else clause.values
    for value in values:
        if key is not None and type_of(value) is not key.type:
            yield f"{name} compares {clause.key} with {value!r}"
