"""Random commands that name what a fleet has, and now and then what it has not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from random import Random
from typing import Any

from changes import CLUSTER_NAMES, HIERARCHIES, KEYS, SAVED, SEGMENTS, Selectors, random_value
from graph.model.access import Role
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteHierarchy,
    DeleteSelector,
    GrantAccess,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    RevokeAccess,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
    UpdateHierarchy,
)
from graph.model.inventory import LabelKey, LabelValue
from graph.model.selector import And, Selector
from graph.model.values import Values
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
from graph.targeting.syntax import to_text
from twin import Twin
from workload_changes import (
    APPLICATIONS,
    ASSIGNMENTS,
    LAYERS,
    NAMESPACES,
    POLICIES,
    PROHIBITIONS,
    WorkloadMaker,
)

DEFINING: Mapping[type, type[Command]] = {
    Namespace: DefineNamespace,
    Application: DefineApplication,
    Assignment: Assign,
    Prohibition: Prohibit,
    Layer: SetLayer,
    Policy: SetPolicy,
}
REMOVING: tuple[tuple[type[Command], tuple[str, ...]], ...] = (
    (DeleteNamespace, NAMESPACES),
    (DeleteApplication, APPLICATIONS),
    (Unassign, ASSIGNMENTS),
    (LiftProhibition, PROHIBITIONS),
    (RemoveLayer, LAYERS),
    (RemovePolicy, POLICIES),
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """Commands somebody may think of who has ``scope`` in mind."""

    rng: Random
    twin: Twin
    scope: Selector

    def batch(self) -> tuple[Command, ...]:
        return tuple(self.command() for _ in range(self.rng.choice((1, 1, 1, 2, 3))))

    def command(self) -> Command:
        pick = self.rng.randrange(34)
        if pick < 8:
            return self.of_groups(pick)
        if pick < 17:
            return self.of_clusters(pick)
        return self.of_names(pick) if pick < 24 else self.of_workload(pick)

    def of_groups(self, pick: int) -> Command:
        match pick:
            case 0 | 1:
                return CreateGroup(f"{self.path()}/{self.rng.choice(SEGMENTS)}")
            case 2:
                return UpdateGroup(self.path(), "A title")
            case 3 | 4:
                return RenameGroup(self.path(), self.rng.choice(SEGMENTS))
            case 5 | 6:
                return MoveGroup(self.path(), self.path())
            case _:
                return DeleteGroup(self.path(), cascade=self.rng.random() < 0.7)

    def of_clusters(self, pick: int) -> Command:
        match pick:
            case 8 | 9:
                groups = tuple({self.path() for _ in range(self.rng.randint(0, 2))})
                return RegisterCluster(self.name(), labels=self.labels(), groups=groups)
            case 10 | 11:
                gone = dict.fromkeys(self.rng.sample(sorted(KEYS), 1))
                return UpdateCluster(self.name(), labels={**self.labels(), **gone})
            case 12:
                return RetireCluster(self.name())
            case 13 | 14 | 15:
                return Join(self.name(), self.path())
            case _:
                return Leave(self.name(), self.path())

    def of_names(self, pick: int) -> Command:
        match pick:
            case 17 | 18:
                return SaveSelector(self.rng.choice(SAVED), self.selector())
            case 19:
                return DeleteSelector(self.rng.choice(SAVED))
            case 20:
                return DeclareLabel(*self.rng.choice(sorted(KEYS.items())), title="A label")
            case 21:
                return RemoveLabel(self.rng.choice(sorted(KEYS)))
            case 22:
                name = self.rng.choice(HIERARCHIES)
                made = (CreateHierarchy(name), UpdateHierarchy(name, title="x"))
                return self.rng.choice((*made, DeleteHierarchy(name)))
            case _:
                grant = GrantAccess(
                    "more", Role.ADMIN, subject="ana", scope=self.scope, **self.coverage()
                )
                return self.rng.choice((grant, RevokeAccess("mine")))

    def of_workload(self, pick: int) -> Command:
        keys = [key.name for key in self.twin.label_keys()]
        made = WorkloadMaker(self.rng, self.twin.workload, keys)
        match pick:
            case 24:
                wanted = made.namespace()
            case 25 | 26:
                wanted = made.application(self.tree)
            case 27:
                wanted = made.assignment(lambda _: self.tree())
            case 28:
                wanted = made.prohibition(self.tree)
            case 29 | 30:
                wanted = made.layer(self.tree)
            case 31:
                wanted = made.policy(self.tree)
            case _:
                wanted = None
        return self.removing() if wanted is None else self.defining(wanted)

    def defining(self, wanted: Any) -> Command:
        """The command that makes an object so, its selector as anybody may write it."""
        given: dict[str, Any] = {
            each.name: getattr(wanted, each.name)
            for each in fields(wanted)
            if each.name != "changed"
        }
        for name in given.keys() & {"values", "schema"}:
            given[name] = given[name].data if isinstance(given[name], Values) else None
        for name in given.keys() & {"selector", "requires"}:
            given[name] = given[name] and self.as_written(given[name])
        return DEFINING[type(wanted)](**given)

    def removing(self) -> Command:
        kind, names = self.rng.choice(REMOVING)
        order = tuple(each.name for each in self.twin.hierarchies())
        ordering = OrderHierarchies(tuple(self.rng.sample(order, len(order))))
        return self.rng.choice((kind(self.rng.choice(names)), kind(names[0]), ordering))

    def coverage(self) -> dict[str, tuple[str, ...]]:
        """Everything, or a part of the workload; its names need not be there."""
        names = {"namespaces": NAMESPACES, "applications": APPLICATIONS}
        return {key: tuple(self.rng.sample(each, self.rng.choice((0, 0, 1))))
                for key, each in names.items()}  # fmt: skip

    def path(self) -> str:
        groups = self.twin.groups()
        return path_of(self.twin, self.rng.choice(groups).number)

    def name(self) -> str:
        known = [each.name for each in self.twin.clusters()]
        return self.rng.choice(CLUSTER_NAMES if self.rng.random() < 0.2 else known)

    def labels(self) -> dict[str, LabelValue]:
        chosen = self.rng.sample(sorted(KEYS), self.rng.randint(0, 2))
        return {name: random_value(self.rng, LabelKey(name, KEYS[name])) for name in chosen}

    def selector(self) -> str | Selector:
        return self.as_written(self.tree())

    def tree(self) -> Selector:
        clause = Selectors.over(self.rng, self.twin).clause()
        return And((self.scope, clause)) if self.rng.random() < 0.5 else clause

    def as_written(self, tree: Selector) -> str | Selector:
        return to_text(tree, self.twin) if self.rng.random() < 0.8 else tree
