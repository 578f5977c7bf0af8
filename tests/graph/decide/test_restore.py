"""Revert: objects, subtrees and everything back to what they were."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace

import pytest

from graph.decide.restore import Everything, Subtree, plan_restore
from graph.model.command import (
    CreateGroup,
    DeleteGroup,
    DeleteSelector,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
    UpdateHierarchy,
)
from graph.model.errors import Rejected, TrellisError
from graph.model.inventory import Mode
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.model.view import group_at, path_of
from small import give, small
from twin import Twin, same_fleet


class Story:
    """A fleet, how it was, and what was touched since."""

    def __init__(self):
        self.now = small()
        self.then = self.now.copy()
        self.then.cursor = self.now.cursor
        self.touched = set()

    def give(self, *commands):
        self.touched |= {change.ref for change in give(self.now, *commands)}

    def revert(self, scope):
        plan = plan_restore(scope, self.then, self.now, self.touched)
        give(self.now, plan.command)
        return plan.left

    def differs(self):
        now, then = undated(self.now), undated(self.then)
        return same_fleet(now, then, ignoring=("cursor", "numbers"))


def undated(fleet):
    """The same fleet, whichever revisions wrote it."""
    parts = (
        fleet.hierarchies(),
        fleet.label_keys(),
        fleet.groups(),
        fleet.clusters(),
        fleet.saved_selectors(),
    )
    return Twin.of(replace(each, changed=Revision(0)) for part in parts for each in part)


def the(fleet, name):
    return Ref(Kind.CLUSTER, fleet.cluster_number(name))


def test_a_cluster_is_as_it_was():
    story = Story()
    story.give(
        UpdateCluster("austin-1", title="New", labels={"lanes": 4, "size": None}),
        Join("austin-1", "/geo/ca"),
        Leave("austin-1", "/devices/grill"),
    )
    assert story.revert(the(story.now, "austin-1")) == ()
    assert story.differs() is None


def test_a_retired_cluster_comes_back_with_its_own_number():
    story = Story()
    ref = the(story.now, "york-1")
    story.give(RetireCluster("york-1"))
    assert story.revert(ref) == ()
    assert the(story.now, "york-1") == ref


def test_a_retired_cluster_whose_name_is_taken_stays_away_and_says_why():
    story = Story()
    ref = the(story.now, "york-1")
    story.give(RetireCluster("york-1"))
    story.give(RegisterCluster("york-1", title="the new one"))
    assert story.revert(ref) == ("cluster york-1: its name is taken",)


def test_a_cluster_whose_group_is_gone_comes_back_without_that_membership():
    story = Story()
    ref = the(story.now, "york-1")
    story.give(RetireCluster("york-1"), DeleteGroup("/devices/camera"))
    assert story.revert(ref) == ("cluster york-1: 1 of its groups are gone",)
    york = story.now.cluster(story.now.cluster_number("york-1"))
    assert [path_of(story.now, each) for each in york.memberships] == ["/geo/us/ny"]


def test_a_cluster_that_was_not_there_is_retired_again():
    story = Story()
    story.give(RegisterCluster("york-2", groups=("/geo/us/ny",)))
    assert story.revert(the(story.now, "york-2")) == ()
    assert story.differs() is None


def test_a_moved_and_renamed_group_goes_back_with_what_is_in_it():
    story = Story()
    texas = group_at(story.now, "/geo/us/tx")
    story.give(MoveGroup("/geo/us/tx", "/geo/ca"), RenameGroup("/geo/ca/tx", "texas"))
    assert story.revert(Ref(Kind.GROUP, texas)) == ()
    assert path_of(story.now, texas) == "/geo/us/tx"
    assert story.differs() is None


def test_a_subtree_takes_its_groups_and_memberships_back_and_nothing_else():
    story = Story()
    grill = group_at(story.now, "/devices/grill")
    story.give(UpdateCluster("austin-1", title="stays"))
    story.give(DeleteGroup("/devices/grill", cascade=True))
    assert story.revert(Subtree(grill)) == ()
    austin = story.now.cluster(story.now.cluster_number("austin-1"))
    assert austin.title == "stays"
    assert {path_of(story.now, each) for each in austin.memberships} == {
        "/geo/us/tx/austin",
        "/devices/grill",
        "/devices/grill/acme3000",
    }


def test_a_group_created_since_goes_only_when_it_is_empty():
    story = Story()
    story.give(CreateGroup("/geo/us/ohio"))
    ohio = group_at(story.now, "/geo/us/ohio")
    story.give(Join("york-1", "/geo/us/ohio"))
    assert story.revert(Ref(Kind.GROUP, ohio)) == (
        "group ohio of /geo: it has members that were not there then",
    )


def test_a_saved_selector_comes_back_only_if_all_it_names_is_there():
    story = Story()
    story.give(DeleteSelector("texas"))
    assert story.revert(Ref(Kind.SAVED_SELECTOR, "texas")) == ()
    assert story.differs() is None
    story.give(DeleteSelector("texas"), DeleteGroup("/geo/us/tx", cascade=True))
    (left,) = story.revert(Ref(Kind.SAVED_SELECTOR, "texas"))
    assert left.startswith("saved_selector:texas: group:")


def test_a_hierarchy_does_not_become_single_again_over_a_cluster_with_two_places():
    story = Story()
    story.give(UpdateHierarchy("geo", mode=Mode.MANY))
    story.give(Join("york-1", "/geo/ca"))
    left = story.revert(Ref(Kind.HIERARCHY, "geo"))
    assert left == ("hierarchy:geo: cluster york-1 has two places in it",)


def test_everything_is_as_it_was():
    story = Story()
    story.give(
        CreateGroup("/geo/mx"),
        MoveGroup("/geo/us/tx", "/geo/mx"),
        RetireCluster("austin-2"),
        RegisterCluster("mx-1", labels={"fresh": True}, groups=("/geo/mx/tx",)),
        SaveSelector("texas", "/geo/mx and fresh = true"),
        DeleteGroup("/devices/grill", cascade=True),
    )
    assert story.revert(Everything()) == ()
    assert story.differs() is None


def test_a_restore_that_no_longer_fits_is_refused_whole():
    story = Story()
    ref = the(story.now, "york-1")
    story.give(RetireCluster("york-1"))
    plan = plan_restore(ref, story.then, story.now, story.touched)
    story.give(RegisterCluster("york-1"))
    with pytest.raises(Rejected, match="1 object cannot be as at revision 1") as refusal:
        give(story.now, plan.command)
    assert refusal.value.reasons == ("cluster:2: its name is taken",)
    assert "preview" in refusal.value.hint


def random_command(chance, fleet):
    """Some command, valid or not."""
    name = chance.choice([cluster.name for cluster in fleet.clusters()] or ["nobody"])
    one, other = chance.choices([path_of(fleet, group.number) for group in fleet.groups()], k=2)
    return chance.choice(
        [
            Join(name, one),
            RetireCluster(name),
            RegisterCluster(f"new-{chance.randrange(5)}"),
            MoveGroup(one, other),
            RenameGroup(one, f"g{chance.randrange(4)}"),
            CreateGroup(f"{one}/n{chance.randrange(4)}"),
            DeleteGroup(one, cascade=True),
            UpdateCluster(name, labels={"lanes": 7}),
        ]
    )


@pytest.mark.parametrize("seed", range(60))
def test_any_story_can_be_taken_back_whole(seed):
    chance = random.Random(seed)
    story = Story()
    for _ in range(chance.randint(1, 8)):
        with suppress(TrellisError):
            story.give(random_command(chance, story.now))
    assert story.revert(Everything()) == ()
    assert story.differs() is None
