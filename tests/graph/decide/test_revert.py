"""Revert: objects, subtrees and everything back to what they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.decide.clusters import MEMBERSHIPS_MAX
from graph.decide.revert import Everything, Parts, Subtree
from graph.model.access import Role
from graph.model.change import Change
from graph.model.command import (
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
    Revert,
    RevokeAccess,
    SaveSelector,
    UpdateCluster,
    UpdateHierarchy,
)
from graph.model.errors import Conflict, Rejected
from graph.model.inventory import Cluster, Group, Hierarchy, LabelType, Mode
from graph.model.names import GROUP_DEPTH_MAX, ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.view import group_at, path_of
from small import give
from story import Story
from twin import Twin


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
    assert story.revert(ref) == ("cluster york-1: 1 of its groups is gone",)
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


def test_a_grant_comes_back_only_if_all_it_names_is_there():
    story = Story()
    story.give(GrantAccess("mine", Role.EDITOR, "ana", scope="/geo/ca and size = large"))
    story.start_here()
    story.give(GrantAccess("mine", Role.READER, claim="staff"))
    assert story.revert(Ref(Kind.GRANT, "mine")) == ()
    assert story.differs() is None
    story.give(RevokeAccess("mine"), DeleteGroup("/geo/ca"))
    (left,) = story.revert(Ref(Kind.GRANT, "mine"))
    assert left.startswith("grant:mine: group:")
    assert story.now.grant("mine") is None
    story.revert(Everything())
    assert story.revert(Ref(Kind.GRANT, "mine")) == ()
    assert story.differs() is None


def test_grants_stay_as_they_are_unless_they_are_named():
    story = Story()
    story.give(
        GrantAccess("kept", Role.READER, "ana"),
        GrantAccess("revoked", Role.ADMIN, "bo"),
        GrantAccess("less", Role.ADMIN, "cy"),
    )
    story.start_here()
    story.give(RevokeAccess("revoked"), GrantAccess("less", Role.READER, "cy"))
    story.give(GrantAccess("more", Role.READER, "di"))
    story.give(RenameGroup("/geo/ca", "canada"))
    grants = story.now.grants()
    (left,) = story.revert(Everything())
    assert left == "grants stay as they are: 3 differ; revert one by name"
    assert story.now.grants() == grants
    assert group_at(story.now, "/geo/ca") is not None
    named = tuple(Ref(Kind.GRANT, name) for name in ("revoked", "less"))
    assert story.revert(Parts(named)) == ()
    assert [each.name for each in story.now.grants()] == ["kept", "less", "more", "revoked"]
    assert story.revert(Everything()) == ("grants stay as they are: 1 differs; revert one by name",)
    assert story.revert(named[0]) == ()


def test_a_grant_given_since_stays_and_so_does_what_it_names():
    story = Story()
    story.give(CreateGroup("/geo/mx"), GrantAccess("mine", Role.READER, "ana", scope="/geo/mx"))
    mexico = group_at(story.now, "/geo/mx")
    named = "group mx of /geo: grant mine names it"
    assert story.revert(Ref(Kind.GROUP, mexico)) == (named,)
    stays = "grants stay as they are: 1 differs; revert one by name"
    assert story.revert(Everything()) == (stays, named)
    assert story.revert(Parts((Ref(Kind.GRANT, "mine"), Ref(Kind.GROUP, mexico)))) == ()
    assert story.differs() is None


def test_a_label_key_does_not_take_its_old_type_under_a_grant_that_uses_the_new():
    story = Story()
    story.give(DeclareLabel("zone", LabelType.NUMBER))
    story.start_here()
    story.give(RemoveLabel("zone"))
    story.give(DeclareLabel("zone", LabelType.TEXT))
    story.give(GrantAccess("mine", Role.READER, "ana", scope="zone = north"))
    assert story.revert(Ref(Kind.LABEL_KEY, "zone")) == (
        "label_key:zone: grant mine uses it as a text",
    )
    assert story.revert(Parts((Ref(Kind.GRANT, "mine"), Ref(Kind.LABEL_KEY, "zone")))) == ()
    assert story.differs() is None


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
        DeclareLabel("fresh", LabelType.BOOLEAN),
        RegisterCluster("mx-1", labels={"fresh": True}, groups=("/geo/mx/tx",)),
        SaveSelector("texas", "/geo/mx and fresh = true"),
        DeleteGroup("/devices/grill", cascade=True),
    )
    assert story.revert(Everything()) == ()
    assert story.differs() is None


def test_a_planned_revert_that_no_longer_fits_is_refused_whole():
    story = Story()
    ref = the(story.now, "york-1")
    story.give(RetireCluster("york-1"))
    plan = story.plan(ref)
    story.give(RegisterCluster("york-1"))
    with pytest.raises(Rejected, match="1 object cannot be as at revision 1") as refusal:
        give(story.now, plan.command)
    assert refusal.value.reasons == ("cluster:2: its name is taken",)
    assert "plan the revert again" in refusal.value.hint


# hierarchies and their roots


def test_a_deleted_hierarchy_comes_back_with_its_own_root():
    story = Story()
    story.give(CreateHierarchy("ring"))
    story.start_here()
    root = story.now.root("ring")
    story.give(DeleteHierarchy("ring"))
    assert story.revert(Ref(Kind.HIERARCHY, "ring")) == ()
    assert story.now.root("ring") == root
    assert story.differs() is None


@pytest.mark.parametrize("scope", [lambda root: Ref(Kind.GROUP, root), Subtree], ids=["ref", "sub"])
def test_a_root_group_comes_back_with_its_hierarchy(scope):
    story = Story()
    story.give(CreateHierarchy("ring"))
    story.start_here()
    root = story.now.root("ring")
    story.give(DeleteHierarchy("ring"))
    assert story.revert(scope(root)) == ()
    assert story.differs() is None


def test_a_hierarchy_created_since_goes_with_its_root():
    story = Story()
    story.give(CreateHierarchy("ring"))
    assert story.revert(Subtree(story.now.root("ring"))) == ()
    assert story.differs() is None


def test_a_hierarchy_made_anew_gives_way_to_the_old_one_with_its_groups():
    story = Story()
    story.give(CreateHierarchy("ring"), CreateGroup("/ring/pilot"))
    story.start_here()
    old = story.now.root("ring")
    story.give(DeleteGroup("/ring/pilot"), DeleteHierarchy("ring"), CreateHierarchy("ring"))
    assert story.revert(Parts((Subtree(old), Subtree(story.now.root("ring"))))) == ()
    assert story.differs() is None


def test_a_hierarchy_whose_new_root_is_in_use_keeps_that_root():
    story = Story()
    story.give(CreateHierarchy("ring"))
    story.start_here()
    story.give(DeleteHierarchy("ring"), CreateHierarchy("ring", title="new"))
    story.give(CreateGroup("/ring/pilot"))
    root = story.now.root("ring")
    assert story.revert(Ref(Kind.HIERARCHY, "ring")) == (
        "group ring of /ring: it has groups that were not there then",
        "group ring of /ring: its name is taken",
    )
    assert story.now.root("ring") == root


# labels whose type has changed


def as_text(story):
    """The label key lanes removed, and declared anew as text."""
    story.give(
        UpdateCluster("austin-1", labels={"lanes": None}),
        UpdateCluster("york-1", labels={"lanes": None}),
        RemoveLabel("lanes"),
    )
    story.give(
        DeclareLabel("lanes", LabelType.TEXT), UpdateCluster("york-1", labels={"lanes": "two"})
    )


def test_a_cluster_does_not_come_back_with_a_value_of_another_type():
    story = Story()
    as_text(story)
    left = story.revert(the(story.now, "austin-1"))
    assert left == ("cluster austin-1: label lanes is a text now",)


def test_a_saved_selector_does_not_come_back_over_a_label_of_another_type():
    story = Story()
    story.give(SaveSelector("wide", "all and lanes >= 2"), SaveSelector("some", "lanes in (1, 2)"))
    story.start_here()
    story.give(DeleteSelector("wide"), DeleteSelector("some"))
    as_text(story)
    for name in ("wide", "some"):
        left = story.revert(Ref(Kind.SAVED_SELECTOR, name))
        assert left == (f"saved_selector:{name}: label lanes has another type now",)


def test_a_label_key_takes_its_old_type_back_only_with_every_use_of_it():
    story = Story()
    as_text(story)
    alone = story.copy()
    left = alone.revert(Ref(Kind.LABEL_KEY, "lanes"))
    assert left == ("label_key:lanes: clusters use it as a text",)
    assert story.revert(Everything()) == ()
    assert story.differs() is None


def test_a_label_key_keeps_the_type_a_stored_selector_relies_on():
    story = Story()
    as_text(story)
    story.give(SaveSelector("worded", "lanes = two"))
    refs = (Ref(Kind.LABEL_KEY, "lanes"), the(story.now, "york-1"))
    assert story.revert(Parts(refs)) == (
        "label_key:lanes: @worded uses it as a text",
        "cluster york-1: label lanes is a text now",
    )


# places in a single hierarchy


def place(story, cluster):
    found = story.now.cluster(story.now.cluster_number(cluster))
    paths = [path_of(story.now, each) for each in found.memberships]
    return [path for path in paths if path.startswith("/geo")]


def test_a_cluster_that_moved_out_of_a_subtree_moves_back():
    story = Story()
    story.give(Join("austin-1", "/geo/ca"))
    assert story.revert(Subtree(group_at(story.now, "/geo/us/tx"))) == ()
    assert place(story, "austin-1") == ["/geo/us/tx/austin"]
    assert story.differs() is None


def test_a_cluster_that_moved_into_a_subtree_moves_back():
    story = Story()
    story.give(Join("york-1", "/geo/us/tx"), UpdateCluster("york-1", title="stays"))
    assert story.revert(Subtree(group_at(story.now, "/geo/us/tx"))) == ()
    assert place(story, "york-1") == ["/geo/us/ny"]
    assert story.now.cluster(story.now.cluster_number("york-1")).title == "stays"


def test_a_cluster_whose_old_place_is_gone_leaves_the_subtree_and_says_so():
    story = Story()
    story.give(Join("york-1", "/geo/us/tx"), DeleteGroup("/geo/us/ny"))
    left = story.revert(Subtree(group_at(story.now, "/geo/us/tx")))
    assert left == ("cluster york-1: 1 of its groups is gone",)
    assert place(story, "york-1") == []


# names used again


def test_the_old_holder_of_a_name_comes_back_and_the_new_one_goes():
    story = Story()
    old = the(story.now, "york-1")
    story.give(RetireCluster("york-1"))
    story.give(RegisterCluster("york-1", title="the new one"))
    assert story.revert(Parts((old, the(story.now, "york-1")))) == ()
    assert story.differs() is None


def test_the_old_group_at_a_path_comes_back_and_the_new_one_goes():
    story = Story()
    old = group_at(story.now, "/devices/grill")
    story.give(DeleteGroup("/devices/grill", cascade=True))
    story.give(CreateGroup("/devices/grill"), Join("york-1", "/devices/grill"))
    new = group_at(story.now, "/devices/grill")
    assert story.revert(Parts((Subtree(old), Subtree(new)))) == ()
    assert story.differs() is None


def test_a_new_holder_that_cannot_go_keeps_the_name():
    story = Story()
    old = the(story.now, "york-1")
    story.give(RetireCluster("york-1"))
    story.give(RegisterCluster("york-1"), SaveSelector("york", "cluster york-1"))
    assert story.revert(Parts((old, the(story.now, "york-1")))) == (
        "cluster york-1: @york names it",
        "cluster york-1: its name is taken",
    )


# others write meanwhile


@pytest.mark.parametrize(
    "meanwhile",
    [UpdateCluster("york-1", title="newer"), RetireCluster("york-1")],
    ids=["changed", "gone"],
)
def test_a_planned_revert_does_not_take_away_what_was_done_meanwhile(meanwhile):
    story = Story()
    story.give(UpdateCluster("york-1", title="new"))
    plan = story.plan(the(story.now, "york-1"))
    assert plan.command.base == Revision(2)
    story.give(meanwhile)
    with pytest.raises(Conflict, match="since the revert was planned at revision 2") as refusal:
        give(story.now, plan.command)
    assert refusal.value.hint == "plan the revert again"


def test_what_was_absent_when_the_revert_was_planned_must_be_absent_still():
    story = Story()
    story.give(DeleteSelector("texas"))
    plan = story.plan(Ref(Kind.SAVED_SELECTOR, "texas"))
    story.give(SaveSelector("texas", "all"))
    with pytest.raises(Conflict, match="saved_selector:texas has changed"):
        give(story.now, plan.command)


def test_a_change_elsewhere_does_not_stop_a_planned_revert():
    story = Story()
    story.give(UpdateCluster("york-1", title="new"))
    plan = story.plan(the(story.now, "york-1"))
    story.give(UpdateCluster("austin-1", title="other"))
    assert len(give(story.now, plan.command)) == 1


# bounds and standards


def test_a_group_does_not_go_back_where_what_lies_below_it_would_be_too_deep():
    story = Story()
    deep = "/devices/camera"
    while deep.count("/") < GROUP_DEPTH_MAX - 1:
        deep += "/x"
        story.give(CreateGroup(deep))
    story.give(CreateGroup(f"{deep}/low"))
    story.start_here()
    low = group_at(story.now, f"{deep}/low")
    story.give(MoveGroup(f"{deep}/low", "/devices/grill"))
    story.give(CreateGroup("/devices/grill/low/lower"))
    assert story.revert(Ref(Kind.GROUP, low)) == (
        f"group low of /devices: {GROUP_DEPTH_MAX + 1} levels would be too deep",
    )


def test_a_cluster_that_would_break_a_standing_standard_is_left():
    story = Story()
    story.give(RegisterCluster("new-1", labels={"lanes": 9}))
    story.start_here()
    story.give(Join("new-1", "/geo/ca"), UpdateCluster("new-1", labels={"lanes": 1}))
    story.give(UpdateHierarchy("geo", required=True))
    ref = the(story.now, "new-1")
    left = ("cluster new-1: it would break the standard: every cluster is in /geo",)
    assert story.copy().revert(ref) == left
    assert story.copy().revert(Everything()) == ()  # the standard itself goes
    story.give(UpdateHierarchy("geo", required=False))
    story.give(DeclareLabel("lanes", LabelType.NUMBER, allowed=(1, 2)))
    left = ("cluster new-1: it would break the standard: lanes is one of 1, 2",)
    assert story.revert(ref) == left


def test_a_group_stays_when_a_standard_keeps_its_member():
    story = Story()
    story.give(RegisterCluster("new-1"))
    story.start_here()
    story.give(CreateGroup("/geo/mx"), Join("new-1", "/geo/mx"))
    story.now.put(Ref(Kind.HIERARCHY, "geo"), replace(story.now.hierarchy("geo"), required=True))
    assert story.revert(Subtree(group_at(story.now, "/geo/mx"))) == (
        "cluster new-1: it would break the standard: every cluster is in /geo",
        "group mx of /geo: it has members that were not there then",
    )


# what only comes of part of the past beside part of the present


def test_a_group_does_not_come_back_without_its_hierarchy():
    story = Story()
    story.give(CreateHierarchy("ring"), CreateGroup("/ring/pilot"))
    story.start_here()
    pilot = group_at(story.now, "/ring/pilot")
    story.give(DeleteGroup("/ring/pilot"), DeleteHierarchy("ring"))
    assert story.revert(Ref(Kind.GROUP, pilot)) == ("group pilot of /ring: its hierarchy is gone",)


def test_a_hierarchy_without_a_root_is_refused_whoever_asks():
    story = Story()
    ring = Hierarchy("ring", Mode.SINGLE)
    command = Revert(Revision(1), "by hand", Revision(1), (Change(None, ring),))
    with pytest.raises(Rejected) as refusal:
        give(story.now, command)
    assert refusal.value.reasons == ("hierarchy:ring: it would have no root group",)


def test_a_root_does_not_go_without_its_hierarchy_whoever_asks():
    story = Story()
    story.give(CreateHierarchy("ring"))
    root = story.now.group(story.now.root("ring"))
    command = Revert(Revision(1), "by hand", Revision(2), (Change(root, None),))
    with pytest.raises(Rejected) as refusal:
        give(story.now, command)
    assert refusal.value.reasons == (
        f"group:{root.number}: its hierarchy would have no root group",
    )


def test_a_hierarchy_created_since_stays_while_it_has_groups():
    story = Story()
    story.give(CreateHierarchy("ring"), CreateGroup("/ring/pilot"))
    assert story.revert(Ref(Kind.HIERARCHY, "ring")) == (
        "group ring of /ring: it has groups that were not there then",
        "hierarchy:ring: it has groups",
    )


def test_a_cluster_does_not_take_two_places_where_one_is_allowed_now():
    story = Story()
    story.give(Join("york-1", "/devices/grill"))
    story.start_here()
    story.give(Leave("york-1", "/devices/grill"), Leave("austin-1", "/devices/grill"))
    story.give(UpdateHierarchy("devices", mode=Mode.SINGLE))
    left = story.revert(the(story.now, "york-1"))
    assert left == ("cluster york-1: /devices allows one place now",)


def test_a_selector_does_not_come_back_to_select_through_itself():
    story = Story()
    story.give(SaveSelector("one", "@texas"))
    story.start_here()
    story.give(SaveSelector("one", "all"))
    story.give(SaveSelector("texas", "not @one"))
    left = story.revert(Ref(Kind.SAVED_SELECTOR, "one"))
    assert left == ("saved_selector:one: it would select through itself",)


def test_old_and_new_memberships_together_stay_within_their_bound():
    story = Story()
    york = story.now.cluster(story.now.cluster_number("york-1"))
    grill, camera = (group_at(story.now, path) for path in ("/devices/grill", "/devices/camera"))
    half = MEMBERSHIPS_MAX // 2 + 1
    for number in range(100, 100 + 2 * half):
        parent = grill if number < 100 + half else camera
        group = Group(GroupNumber(number), "devices", parent, f"g{number}")
        story.now.put(Ref(Kind.GROUP, number), group)
    story.now.put(the(story.now, "york-1"), replace(york, memberships=range_of(100, half)))
    story.start_here()
    story.now.put(the(story.now, "york-1"), replace(york, memberships=range_of(100 + half, half)))
    story.touched.add(the(story.now, "york-1"))
    left = story.revert(Subtree(grill))
    assert left == (f"cluster york-1: {2 * half:,} memberships are too many",)


def range_of(start, count):
    return tuple(GroupNumber(number) for number in range(start, start + count))


# cost


class Counting(Twin):
    """A twin that counts how often it is looked at."""

    looks = 0

    def group(self, number):
        self.__class__.looks += 1
        return super().group(number)

    def children(self, number):
        self.__class__.looks += 1
        return super().children(number)


def looks_to_plan(scope, size):
    """How often the fleet is looked at to plan the return of ``size`` groups with members."""
    story = Story()
    camera = group_at(story.now, "/devices/camera")
    for number in range(100, 100 + size):
        group = Group(GroupNumber(number), "devices", camera, f"g{number}")
        story.now.put(Ref(Kind.GROUP, number), group)
        cluster = Cluster(ClusterNumber(number), f"c{number}", memberships=range_of(number, 1))
        story.now.put(Ref(Kind.CLUSTER, number), cluster)
    story.start_here()
    story.give(DeleteGroup("/devices/camera", cascade=True))
    story.then, story.now = (
        Counting(each.by_kind, each.numbers, each.cursor) for each in (story.then, story.now)
    )
    Counting.looks = 0
    assert len(story.plan(scope(camera)).command.changes) == 2 * size + 2
    return Counting.looks


@pytest.mark.parametrize("scope", [Subtree, lambda _: Everything()], ids=["subtree", "everything"])
def test_a_plan_costs_in_proportion_to_what_comes_back(scope):
    assert looks_to_plan(scope, 80) < 2.5 * looks_to_plan(scope, 40)
