"""Random stories taken back: whatever happened, a revert leaves a fleet in which all is right."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest

from graph.decide.revert import Everything, Part, Parts, Subtree
from graph.model.access import Role
from graph.model.change import ref_of
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
    UpdateHierarchy,
)
from graph.model.errors import TrellisError
from graph.model.inventory import Capacity, LabelType, LabelValue, Mode
from graph.model.label import type_of
from graph.model.names import GROUP_DEPTH_MAX
from graph.model.ref import Kind
from graph.model.view import path_of
from graph.model.workload import Choice, LateBound
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
from story import Story
from twin import Twin

AT_WORK: tuple[Command, ...] = (
    DefineNamespace("shop", quota=Capacity(4, 4)),
    DefineNamespace("kitchen"),
    DefineApplication("till", "shop", requests=Capacity(1, 1)),
    DefineApplication("menu", "shop", depends_on=("till",)),
    DefineApplication("grill", "kitchen"),
    Assign("x", Choice("shop"), "/geo"),
    SetLayer("x", "/geo", {"a": 1}, "till"),
)
VALUES: tuple[LabelValue, ...] = (1, 2, "small", "large", True)


class Teller:
    """Commands by chance, valid or not, over few names, so that names are used again."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def go_on(self, story: Story) -> None:
        """Something happens; at the sixth refusal nothing does."""
        for _ in range(6):
            with suppress(TrellisError):
                story.go_on(*self.commands(story.now))
                return

    def commands(self, fleet: Twin) -> list[Command]:
        kinds: Sequence[Callable[[Twin], Command]] = (
            self.on_hierarchy,
            self.on_group,
            self.on_group,
            self.on_cluster,
            self.on_cluster,
            self.on_label,
            self.on_selector,
            self.on_grant,
            self.on_namespace,
            self.on_application,
            self.on_assignment,
            self.on_layer,
        )
        return [self.chance.choice(kinds)(fleet) for _ in range(self.chance.choice((1, 1, 2, 3)))]

    def on_hierarchy(self, fleet: Twin) -> Command:
        name = self.chance.choice(("geo", "devices", "ring"))
        mode = self.chance.choice(list(Mode))
        required = self.chance.random() < 0.2
        return self.chance.choice(
            (
                CreateHierarchy(name, mode),
                DeleteHierarchy("ring"),
                UpdateHierarchy(name, mode=mode, required=required),
            )
        )

    def on_group(self, fleet: Twin) -> Command:
        one, other = self.path(fleet), self.path(fleet)
        name = self.chance.choice(("a", "b", "tx"))
        return self.chance.choice(
            (
                CreateGroup(f"{one}/{name}"),
                RenameGroup(one, name),
                MoveGroup(one, other),
                DeleteGroup(one, cascade=self.chance.random() < 0.7),
            )
        )

    def on_cluster(self, fleet: Twin) -> Command:
        name = self.chance.choice(("austin-1", "austin-2", "york-1", "new-1"))
        key, value = self.label()
        return self.chance.choice(
            (
                RegisterCluster(name, labels={key: value}, groups=(self.path(fleet),)),
                RetireCluster(name),
                Join(name, self.path(fleet)),
                Leave(name, self.path(fleet)),
                UpdateCluster(name, labels={key: self.chance.choice((value, None))}),
            )
        )

    def on_label(self, fleet: Twin) -> Command:
        key, value = self.label()
        allowed = self.chance.choice(((), (value,), VALUES[:2], VALUES[2:4]))
        kind = type_of(allowed[0]) if allowed else self.chance.choice(list(LabelType))
        return self.chance.choice((RemoveLabel(key), DeclareLabel(key, kind, allowed=allowed)))

    def on_selector(self, fleet: Twin) -> Command:
        name, other = self.chance.choices(("texas", "one", "two"), k=2)
        key, value = self.label()
        texts = (
            f"@{other}",
            self.path(fleet),
            f"has {key}",
            f"{key} = {str(value).lower()} or @{other}",
            f"{key} >= 1",
            "cluster new-1",
        )
        return self.chance.choice(
            (SaveSelector(name, self.chance.choice(texts)), DeleteSelector(name))
        )

    def on_grant(self, fleet: Twin) -> Command:
        name = self.chance.choice(("texas", "two"))
        key, value = self.label()
        scopes = (self.path(fleet), f"{key} = {str(value).lower()}", "not cluster new-1", "all")
        role, scope = self.chance.choice(list(Role)), self.chance.choice(scopes)
        covered = self.chance.choice(((), (), (self.namespace(),)))
        grant = GrantAccess(name, role, "ana", scope=scope, namespaces=covered)
        return self.chance.choice((grant, RevokeAccess(name)))

    def on_namespace(self, fleet: Twin) -> Command:
        name, size = self.namespace(), self.chance.choice((None, 2, 4))
        quota = None if size is None else Capacity(size, size)
        policy = SetPolicy("rule", (name,), registries=("a", "b")[: self.chance.randint(1, 2)])
        return self.chance.choice(
            (
                DefineNamespace(name, quota=quota),
                DefineNamespace(name, quota=quota),
                DeleteNamespace(name),
                policy,
                RemovePolicy("rule"),
                OrderHierarchies(tuple(each.name for each in fleet.hierarchies())[::-1]),
            )
        )

    def on_application(self, fleet: Twin) -> Command:
        name, other = self.chance.choices(("till", "menu", "grill"), k=2)
        key, _ = self.label()
        size = self.chance.choice((0, 1, 3))
        define = DefineApplication(
            name,
            self.namespace(),
            requires=self.chance.choice((None, f"has {key}", "namespace shop")),
            depends_on=self.chance.choice(((), (other,))),
            requests=Capacity(size, size),
            late_bound=self.chance.choice(((), (LateBound("host", f"{{{key}}}"),))),
        )
        return self.chance.choice((define, define, DeleteApplication(name)))

    def on_assignment(self, fleet: Twin) -> Command:
        name, application = self.chance.choice("xy"), self.chance.choice(("till", "menu", "grill"))
        texts = (self.path(fleet), "@one", "namespace shop", "namespace kitchen", "all")
        selector = self.chance.choice(texts)
        choice = Choice(self.namespace(), self.chance.choice(((), (application,))))
        veto = Choice(applications=(application,))
        return self.chance.choice(
            (
                Assign(name, choice, selector),
                Assign(name, choice, selector),
                Unassign(name),
                Prohibit(name, veto, selector),
                LiftProhibition(name),
                SaveSelector("one", "namespace shop or all"),
            )
        )

    def on_layer(self, fleet: Twin) -> Command:
        name = self.chance.choice("xy")
        application = self.chance.choice(("", "till", "menu"))
        layer = SetLayer(name, self.path(fleet), {"a": self.chance.choice(VALUES)}, application)
        return self.chance.choice((layer, layer, RemoveLayer(name)))

    def namespace(self) -> str:
        return self.chance.choice(("shop", "kitchen"))

    def label(self) -> tuple[str, LabelValue]:
        return self.chance.choice(("lanes", "size", "x")), self.chance.choice(VALUES)

    def path(self, fleet: Twin) -> str:
        numbers = [group.number for group in fleet.groups()]
        return path_of(fleet, self.chance.choice(numbers)) if numbers else "/geo"

    def part(self, story: Story) -> Part:
        known = {ref_of(each) for view in (story.then, story.now) for each in view.entities()}
        ref = self.chance.choice(sorted(known, key=str))
        groups = {group.number for view in (story.then, story.now) for group in view.groups()}
        if groups and self.chance.random() < 0.5:
            return Subtree(self.chance.choice(sorted(groups)))
        return ref


def tell(seed: int) -> tuple[Story, Teller]:
    teller = Teller(random.Random(seed))
    story = Story()
    if seed % 2:
        story.go_on(*AT_WORK)
    for length in (10, 25):
        story.start_here()
        for _ in range(teller.chance.randint(1, length)):
            teller.go_on(story)
    return story, teller


@pytest.mark.parametrize("block", range(8))
def test_everything_is_as_it_was_or_what_is_left_is_listed(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        story, _ = tell(seed)
        left = story.revert(Everything())
        assert left or story.differs() is None, f"seed {seed}"


@pytest.mark.parametrize("block", range(8))
def test_any_parts_taken_back_leave_a_fleet_in_which_all_is_right(block: int) -> None:
    for seed in range(1_000 + block * 25, 1_025 + block * 25):
        story, teller = tell(seed)
        for _ in range(4):
            story.revert(teller.part(story))
        story.revert(Parts((teller.part(story), teller.part(story), teller.part(story))))


@pytest.mark.parametrize("seed", range(20))
def test_groups_moved_about_at_the_depth_bound_never_come_to_lie_deeper(seed: int) -> None:
    chance = random.Random(seed)
    story = Story()
    path = "/devices"
    for depth in range(1, GROUP_DEPTH_MAX):
        path += f"/d{depth}"
        story.go_on(CreateGroup(path))
    story.start_here()
    for _ in range(12):
        paths = [path_of(story.now, group.number) for group in story.now.groups()]
        with suppress(TrellisError):
            story.go_on(MoveGroup(*chance.choices(paths, k=2)))
    for group in chance.choices(story.now.groups(), k=5):
        story.revert(Subtree(group.number))
    story.revert(Everything())
    assert story.differs() is None


def test_stories_are_not_idle() -> None:
    """The chance is worth taking: most stories change much, and some cannot be taken back whole."""
    told = [tell(seed)[0] for seed in range(100)]
    assert sum(len(story.touched) > 5 for story in told) > 50
    assert any(story.plan(Everything()).left for story in told)
    for kind in (Kind.NAMESPACE, Kind.APPLICATION, Kind.ASSIGNMENT, Kind.LAYER, Kind.PROHIBITION):
        assert sum(any(ref.kind is kind for ref in story.touched) for story in told) > 15, kind
