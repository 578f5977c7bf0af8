"""Random commands that name what a fleet has, and now and then what it has not."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

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
from graph.model.view import path_of
from graph.targeting.syntax import to_text
from twin import Twin


@dataclass(frozen=True, slots=True)
class Wishes:
    """Commands somebody may think of who has ``scope`` in mind."""

    rng: Random
    twin: Twin
    scope: Selector

    def batch(self) -> tuple[Command, ...]:
        return tuple(self.command() for _ in range(self.rng.choice((1, 1, 1, 2, 3))))

    def command(self) -> Command:
        pick = self.rng.randrange(24)
        if pick < 8:
            return self.of_groups(pick)
        return self.of_clusters(pick) if pick < 17 else self.of_names(pick)

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
                grant = GrantAccess("more", Role.ADMIN, subject="ana", scope=self.scope)
                return self.rng.choice((grant, RevokeAccess("mine")))

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
        clause = Selectors.over(self.rng, self.twin).clause()
        found = And((self.scope, clause)) if self.rng.random() < 0.5 else clause
        return to_text(found, self.twin) if self.rng.random() < 0.8 else found
