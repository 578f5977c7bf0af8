"""The sample fleet as facts, without an engine: a million clusters in half a minute.

Commands become entities by the same rules as in ``graph.decide``, minus every check, in one pass.
A test holds the two equal on a small fleet.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from cli.sample import sample
from graph.index.builder import build
from graph.index.snapshot import Snapshot
from graph.model.change import CHAIN_DIGITS, Cursor, Entity, Numbers
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    RegisterCluster,
)
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, Reconciler
from graph.model.names import ClusterNumber, GroupNumber, Revision

CURSOR = Cursor(Revision(1), "0" * CHAIN_DIGITS)


@dataclass(slots=True)
class Facts:
    """Everything the commands so far have made."""

    entities: list[Entity] = field(default_factory=list[Entity])
    groups: dict[str, GroupNumber] = field(default_factory=dict[str, GroupNumber])
    clusters: int = 0

    @property
    def numbers(self) -> Numbers:
        """The next free numbers."""
        return Numbers(ClusterNumber(self.clusters), GroupNumber(len(self.groups)))


def facts(commands: Iterable[Command]) -> Facts:
    """What ``commands`` lead to as one batch on an empty fleet; the sample's commands only."""
    made = Facts()
    for command in commands:
        match command:
            case RegisterCluster():
                made.entities.append(_cluster(command, made))
                made.clusters += 1
            case CreateGroup(path, title):
                made.entities.append(_group(path, title, made))
            case CreateHierarchy(name, mode, required, title):
                weaker = -sum(isinstance(each, Hierarchy) for each in made.entities)
                made.entities.append(
                    Hierarchy(name, mode, required, title, weaker, CURSOR.revision)
                )
                made.entities.append(_group(f"/{name}", "", made))
            case DeclareLabel(name, kind, title, unit, allowed):
                made.entities.append(LabelKey(name, kind, title, unit, allowed, CURSOR.revision))
            case _:
                raise AssertionError(f"the sample has no {type(command).__name__}")
    return made


@cache
def snapshot(clusters: int) -> Snapshot:
    """The index of the sample fleet, made once a process; out of the collector's way."""
    gc.disable()
    try:
        made = facts(sample(clusters))
        built = build(made.entities, cursor=CURSOR, numbers=made.numbers)
        del made
    finally:
        gc.enable()
    gc.collect()
    gc.freeze()
    return built


def _group(path: str, title: str, made: Facts) -> Group:
    parent, _, name = path.rpartition("/")
    number = made.groups[path] = GroupNumber(len(made.groups))
    hierarchy = path.split("/", 2)[1]
    return Group(number, hierarchy, made.groups.get(parent), name, title, CURSOR.revision)


def _cluster(command: RegisterCluster, made: Facts) -> Cluster:
    return Cluster(
        number=ClusterNumber(made.clusters),
        name=command.name,
        title=command.title,
        kind=command.kind,
        reconciler=command.reconciler or Reconciler.FLUX,
        labels=dict(sorted(command.labels.items())),
        memberships=tuple(sorted({made.groups[path] for path in command.groups})),
        capacity=command.capacity,
        time_zone=command.time_zone,
        changed=CURSOR.revision,
    )
