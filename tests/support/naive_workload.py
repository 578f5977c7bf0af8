"""Effective state the slow way: every application on every cluster, straight from the rules.

Loops over clusters and plain sets; it shares no code with ``graph.composition`` and
``graph.effective``, has its own merge, and judges schemas with another implementation of JSON
Schema. It is what the product is compared with, so it is written to be believed, not to be fast.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator

from graph.composition.problem import Reason
from graph.model.inventory import Capacity, Cluster, Hierarchy, LabelValue
from graph.model.names import GroupNumber
from graph.model.selector import Everything, IsCluster, Selector, Under
from graph.model.workload import (
    Application,
    Assignment,
    Enforcement,
    LateBound,
    Layer,
    Policy,
    Prohibition,
)
from twin import Twin, twin_select

NOTHING = Capacity(0, 0, 0)
Path = tuple[str, ...]


class Standing(Enum):
    """Where one application stands on one cluster; effective is placed and not blocked."""

    UNASSIGNED = "unassigned"
    PROHIBITED = "prohibited"
    LACKING = "lacking"
    PLACED = "placed"


@dataclass(slots=True)
class Outcome:
    """One application on one cluster."""

    standing: Standing
    layers: frozenset[str] = frozenset()
    """What identifies its configuration there."""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    late: Mapping[str, Any] = field(default_factory=dict[str, Any])
    clashes: frozenset[tuple[str, str]] = frozenset()
    """Pairs of layers that give one composed leaf different values, each pair sorted."""
    reasons: set[Reason] = field(default_factory=set[Reason])

    @property
    def effective(self) -> bool:
        return self.standing is Standing.PLACED and not self.reasons


@dataclass(slots=True)
class Naive:
    """The effective state of a fleet: an outcome for every application and cluster."""

    twin: Twin
    outcomes: dict[str, dict[int, Outcome]] = field(default_factory=dict[str, dict[int, Outcome]])
    demand: dict[int, Capacity] = field(default_factory=dict[int, Capacity])
    oversubscribed: set[int] = field(default_factory=set[int])

    @staticmethod
    def of(twin: Twin) -> Naive:
        naive = Naive(twin)
        fleet = _Fleet.of(twin)
        for application in dependencies_first(fleet.applications):
            naive.outcomes[application.name] = {
                cluster.number: fleet.outcome(application, cluster) for cluster in fleet.clusters
            }
        for cluster in fleet.clusters:
            naive._judge_capacity(fleet, cluster)
        for application in dependencies_first(fleet.applications):
            for number, outcome in naive.outcomes[application.name].items():
                naive._judge_dependencies(application, number, outcome)
        return naive

    def _judge_capacity(self, fleet: _Fleet, cluster: Cluster) -> None:
        placed = [
            each
            for each in fleet.applications
            if self.outcomes[each.name][cluster.number].standing is Standing.PLACED
        ]
        self.demand[cluster.number] = total(each.requests for each in placed)
        if not exceeds(self.demand[cluster.number], cluster.capacity):
            return
        self.oversubscribed.add(cluster.number)
        for application in placed:
            if application.requests is not None and not fleet.only_reported(application, cluster):
                self.outcomes[application.name][cluster.number].reasons.add(Reason.CAPACITY)

    def _judge_dependencies(self, application: Application, number: int, outcome: Outcome) -> None:
        needed = [self.outcomes[name][number] for name in application.depends_on]
        if outcome.standing is Standing.PLACED and not all(each.effective for each in needed):
            outcome.reasons.add(Reason.DEPENDENCY)

    # the same as sets, which is how the product tells it

    def standing_at(self, name: str, *standings: Standing) -> set[int]:
        found = self.outcomes[name].items()
        return {number for number, outcome in found if outcome.standing in standings}

    def assigned(self, name: str) -> set[int]:
        return self.standing_at(name, Standing.PROHIBITED, Standing.LACKING, Standing.PLACED)

    def effective(self, name: str) -> set[int]:
        return {number for number, outcome in self.outcomes[name].items() if outcome.effective}

    def blocked(self, name: str) -> dict[Reason, set[int]]:
        found: dict[Reason, set[int]] = {}
        for number, outcome in self.outcomes[name].items():
            for reason in outcome.reasons:
                found.setdefault(reason, set()).add(number)
        return found

    def configurations(self, name: str) -> dict[frozenset[str], set[int]]:
        found: dict[frozenset[str], set[int]] = {}
        for number in self.standing_at(name, Standing.PLACED):
            found.setdefault(self.outcomes[name][number].layers, set()).add(number)
        return found


@dataclass(slots=True)
class _Fleet:
    """The workload with every selector already answered."""

    twin: Twin
    clusters: list[Cluster]
    applications: list[Application]
    assignments: list[tuple[Assignment, set[int]]]
    prohibitions: list[tuple[Prohibition, set[int]]]
    layers: list[tuple[Layer, set[int]]]
    policies: list[tuple[Policy, set[int]]]
    required: dict[str, set[int]]
    composed: dict[tuple[str, frozenset[str]], Outcome]
    """What was composed for an application and the layers that reach a cluster, late ones too."""

    @staticmethod
    def of(twin: Twin) -> _Fleet:
        workload = twin.workload

        def chosen(selector: Selector | None) -> set[int]:
            return set() if selector is None else twin_select(selector, twin)

        return _Fleet(
            twin,
            twin.clusters(),
            list(workload.applications.values()),
            [(each, chosen(each.selector)) for each in workload.assignments.values()],
            [(each, chosen(each.selector)) for each in workload.prohibitions.values()],
            [(each, chosen(each.selector)) for each in workload.layers.values()],
            [(each, chosen(each.selector)) for each in workload.policies.values()],
            {
                each.name: chosen(each.requires)
                for each in workload.applications.values()
                if each.requires is not None
            },
            {},
        )

    def outcome(self, application: Application, cluster: Cluster) -> Outcome:
        if not reaches(self.assignments, application, cluster):
            return Outcome(Standing.UNASSIGNED)
        if self.vetoed(application, cluster):
            return Outcome(Standing.PROHIBITED)
        if self.lacks(application, cluster):
            return Outcome(Standing.LACKING)
        return self.configured(application, cluster)

    def vetoed(self, application: Application, cluster: Cluster) -> bool:
        if reaches(self.prohibitions, application, cluster):
            return True
        needed = [each for each in self.applications if each.name in application.depends_on]
        return any(self.vetoed(each, cluster) for each in needed)

    def lacks(self, application: Application, cluster: Cluster) -> bool:
        required = self.required.get(application.name)
        if required is not None and cluster.number not in required:
            return True
        return bool(application.reconcilers) and cluster.reconciler not in application.reconcilers

    def only_reported(self, application: Application, cluster: Cluster) -> bool:
        said = {
            policy.oversubscription
            for policy, chosen in self.policies
            if application.namespace in policy.namespaces or cluster.number in chosen
        }
        return Enforcement.REPORT in said and Enforcement.REFUSE not in said

    def configured(self, application: Application, cluster: Cluster) -> Outcome:
        here = [layer for layer, chosen in self.layers if cluster.number in chosen]
        own = [layer for layer in here if layer.application == application.name]
        fleet = [layer for layer in here if not layer.application]
        key = (application.name, frozenset(layer.name for layer in own + fleet))
        if key not in self.composed:
            self.composed[key] = configure(application, own, fleet, self.twin)
        same = self.composed[key]
        late = {**same.late}
        for each in application.late_bound:
            if each.key not in late and (text := filled(each, cluster)) is not None:
                late[each.key] = text
        reasons = set(same.reasons)
        if len(late) < len(application.late_bound):
            reasons.add(Reason.LATE_BOUND)
        return Outcome(same.standing, same.layers, same.values, late, same.clashes, reasons)


def reaches(
    objects: Sequence[tuple[Assignment, set[int]]] | Sequence[tuple[Prohibition, set[int]]],
    application: Application,
    cluster: Cluster,
) -> bool:
    return any(
        each.choice.takes(application) and cluster.number in chosen for each, chosen in objects
    )


def dependencies_first(applications: Sequence[Application]) -> list[Application]:
    done: list[Application] = []
    waiting = list(applications)
    while waiting:
        names = {each.name for each in waiting}
        ready = [each for each in waiting if names.isdisjoint(each.depends_on)]
        assert ready, "applications that need each other"
        done.extend(ready)
        waiting = [each for each in waiting if each not in ready]
    return done


def total(requests: Iterable[Capacity | None]) -> Capacity:
    said = [each for each in requests if each is not None]
    return Capacity(
        sum(each.cpu_millicores for each in said),
        sum(each.memory_mib for each in said),
        sum(each.storage_mib for each in said),
    )


def exceeds(demand: Capacity, capacity: Capacity | None) -> bool:
    if capacity is None:
        return False
    if demand.cpu_millicores > capacity.cpu_millicores or demand.memory_mib > capacity.memory_mib:
        return True
    return capacity.storage_mib != 0 and demand.storage_mib > capacity.storage_mib


# composition


def configure(
    application: Application, own: Sequence[Layer], fleet: Sequence[Layer], twin: Twin
) -> Outcome:
    """The configuration of ``application`` where exactly these layers reach."""
    late_keys = [tuple(each.key.split(".")) for each in application.late_bound]
    own_parts = {layer.name: without(layer.values.data, late_keys) for layer in own}
    read_parts = {layer.name: read(layer.values.data, application.reads) for layer in fleet}
    values = composed(without(application.values.data, late_keys), own, own_parts, twin)
    settings = composed({}, fleet, read_parts, twin)
    if settings:
        values = {**values, "fleet": settings}
    late_parts = {layer.name: only(layer.values.data, late_keys) for layer in own}
    late = late_values(application, own, twin)
    clashes = clashing(own, own_parts, twin) | clashing(fleet, read_parts, twin)
    reasons: set[Reason] = set()
    if clashes or clashing(own, late_parts, twin):
        reasons.add(Reason.CONFLICT)  # nothing says what the values are, so no schema is judged
    elif not fits(application, values, late_keys):
        reasons.add(Reason.SCHEMA)
    identity = frozenset(
        layer.name
        for layer in (*own, *fleet)
        if not isinstance(layer.selector, Everything) and (own_parts | read_parts).get(layer.name)
    )
    return Outcome(Standing.PLACED, identity, values, late, frozenset(clashes), reasons)


def composed(
    base: Mapping[str, Any], layers: Sequence[Layer], parts: Mapping[str, Any], twin: Twin
) -> dict[str, Any]:
    values = merged({}, base)
    for layer in weakest_first(layers, twin):
        values = merged(values, parts[layer.name])
    return values


def merged(weaker: Any, stronger: Any) -> Any:
    """Maps merge, lists of named maps merge by name, null removes, anything else replaces."""
    if isinstance(stronger, dict | Mapping):
        result = dict(weaker) if isinstance(weaker, dict) else {}
        for key, value in stronger.items():
            if value is None:
                result.pop(key, None)
            else:
                result[key] = merged(result.get(key), value)
        return result
    if is_named(stronger):
        result = {item["name"]: item for item in weaker} if is_named(weaker) else {}
        for item in stronger:
            result[item["name"]] = merged(result.get(item["name"]), item)
        return list(result.values())
    return stronger


def is_named(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in value)
    )


def clashing(layers: Sequence[Layer], parts: Mapping[str, Any], twin: Twin) -> set[tuple[str, str]]:
    """The pairs of layers that the rules do not order and that do not agree."""
    return {
        (one.name, other.name)
        for one in layers
        for other in layers
        if one.name < other.name
        and not weaker_than(one, other, twin)
        and not weaker_than(other, one, twin)
        and not agree(parts[one.name], parts[other.name])
    }


def agree(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(agree(one[key], other[key]) for key in one.keys() & other.keys())
    if is_named(one) and is_named(other):
        return agree({item["name"]: item for item in one}, {item["name"]: item for item in other})
    return text(one) == text(other)


def text(value: Any) -> str:
    """What decides whether values are equal: true is not 1, and 1 is not 1.0."""
    return json.dumps(value, sort_keys=True)


def weakest_first(layers: Sequence[Layer], twin: Twin) -> list[Layer]:
    done: list[Layer] = []
    waiting = list(layers)
    while waiting:
        ready = [
            each for each in waiting if not any(weaker_than(other, each, twin) for other in waiting)
        ]
        done.append(ready[0])
        waiting.remove(ready[0])
    return done


def weaker_than(one: Layer, other: Layer, twin: Twin) -> bool:
    if strength(one) != strength(other):
        return strength(one) < strength(other)
    if not isinstance(one.selector, Under) or not isinstance(other.selector, Under):
        return one.rank < other.rank
    here, there = one.selector.group, other.selector.group
    if hierarchy_of(here, twin).name != hierarchy_of(there, twin).name:
        return hierarchy_of(here, twin).precedence < hierarchy_of(there, twin).precedence
    if one.rank != other.rank:
        return one.rank < other.rank
    return here != there and there in twin.at_or_under(here)


def hierarchy_of(number: GroupNumber, twin: Twin) -> Hierarchy:
    group = twin.group(number)
    assert group is not None
    found = twin.hierarchy(group.hierarchy)
    assert found is not None
    return found


def strength(layer: Layer) -> int:
    match layer.selector:
        case Everything():
            return 0
        case Under():
            return 1
        case IsCluster():
            return 3
        case _:
            return 2


# what is left out, and what is filled in


def without(values: Mapping[str, Any], paths: Sequence[Path]) -> dict[str, Any]:
    """``values`` without what is at ``paths``, and without the maps this leaves empty."""
    kept: dict[str, Any] = {}
    for key, value in values.items():
        if (key,) in paths:
            continue
        below = [path[1:] for path in paths if path[0] == key]
        if below and isinstance(value, Mapping) and value:
            if rest := without(value, below):
                kept[key] = rest
        else:
            kept[key] = value
    return kept


def at(values: Any, path: Path) -> Any:
    """What is at ``path``; None if nothing is."""
    for segment in path:
        if not isinstance(values, Mapping):
            return None
        values = values.get(segment)
    return values


def only(values: Mapping[str, Any], paths: Sequence[Path]) -> dict[str, Any]:
    """What ``values`` has at ``paths``, by dotted key."""
    found = {".".join(path): at(values, path) for path in paths}
    return {key: value for key, value in found.items() if value is not None}


def late_values(application: Application, own: Sequence[Layer], twin: Twin) -> dict[str, Any]:
    """What layers say of late-bound keys: the strongest wins, whole."""
    paths = [tuple(each.key.split(".")) for each in application.late_bound]
    found: dict[str, Any] = {}
    for layer in weakest_first(own, twin):
        found.update(only(layer.values.data, paths))
    return found


def filled(late: LateBound, cluster: Cluster) -> str | None:
    words: dict[str, LabelValue] = {**cluster.labels, "cluster": cluster.name}
    needed = re.findall(r"\{([^}]*)\}", late.source)
    if not late.source or any(word not in words for word in needed):
        return None
    return re.sub(r"\{([^}]*)\}", lambda found: spelled(words[found[1]]), late.source)


def spelled(value: LabelValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read(values: Mapping[str, Any], reads: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key in reads}


def fits(application: Application, values: Mapping[str, Any], late: Sequence[Path]) -> bool:
    """Whether the schema holds; what is missing because it is late-bound is not missed."""
    if application.schema is None:
        return True
    own = {key: value for key, value in values.items() if key != "fleet"}
    for error in validator(application.schema.text).iter_errors(own):
        path = tuple(str(each) for each in error.absolute_path)
        if error.validator != "required" or not excused(error, path, late):
            return False
    return True


def excused(error: Any, path: Path, late: Sequence[Path]) -> bool:
    """Whether all that is missing here is late-bound, or the way to what is."""
    missed = {name for name in error.validator_value if name not in error.instance}
    return missed <= {key[len(path)] for key in late if key[: len(path)] == path}


@lru_cache(maxsize=256)
def validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))
