"""Revert of the workload: objects with what belongs to them, and what must be left."""

from __future__ import annotations

import pytest

from at_work import WORKLOAD
from graph.decide.revert import Everything, Parts
from graph.model.access import Role
from graph.model.change import Change
from graph.model.command import (
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteHierarchy,
    GrantAccess,
    RemoveLabel,
    Revert,
    SaveSelector,
    UpdateHierarchy,
)
from graph.model.errors import Conflict, Rejected
from graph.model.inventory import Capacity, LabelType
from graph.model.ref import Kind, Ref
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
from small import give
from story import Story

SHOP, KITCHEN = Ref(Kind.NAMESPACE, "shop"), Ref(Kind.NAMESPACE, "kitchen")
TILL, MENU, GRILL = (Ref(Kind.APPLICATION, name) for name in ("till", "menu", "grill"))
ALL_OF_SHOP = (
    Unassign("shop-us"),
    LiftProhibition("no-till"),
    RemoveLayer("menu-tx"),
    RemovePolicy("images"),
    DeleteApplication("menu"),
    DeleteApplication("till"),
    DeleteNamespace("shop"),
)


@pytest.fixture
def story() -> Story:
    story = Story()
    story.give(*WORKLOAD)
    story.start_here()
    return story


@pytest.mark.parametrize(
    ("ref", "commands"),
    [
        (SHOP, [DefineNamespace("shop", title="New")]),
        (TILL, [DefineApplication("till", "shop", values={"a": 1})]),
        (GRILL, [Unassign("grill-tx"), DeleteApplication("grill")]),
        (Ref(Kind.ASSIGNMENT, "shop-us"), [Assign("shop-us", Choice("shop", ("menu",)), "all")]),
        (Ref(Kind.ASSIGNMENT, "shop-us"), [Unassign("shop-us")]),
        (Ref(Kind.ASSIGNMENT, "new"), [Assign("new", Choice("shop"), "all")]),
        (Ref(Kind.PROHIBITION, "no-till"), [LiftProhibition("no-till")]),
        (Ref(Kind.LAYER, "menu-tx"), [SetLayer("menu-tx", "all", {"lanes": 9}, "menu")]),
        (Ref(Kind.LAYER, "telemetry-all"), [RemoveLayer("telemetry-all")]),
        (Ref(Kind.POLICY, "images"), [SetPolicy("images", selector="all", registries=("x",))]),
    ],
    ids=str,
)
def test_an_object_of_the_workload_is_as_it_was(story: Story, ref: Ref, commands):
    story.give(*commands)
    assert story.revert(ref) == ()
    was, now = (view.get(ref) for view in (story.then, story.now))
    assert (was is None) == (now is None)
    if ref != GRILL:
        assert story.differs() is None


def test_an_application_takes_its_layers_along_and_nothing_else(story: Story):
    story.give(
        DefineApplication("menu", "shop", title="New"),
        SetLayer("menu-tx", "all", {"lanes": 1}, "menu"),
        SetLayer("menu-new", "all", {"lanes": 1}, "menu"),
        SetLayer("till-new", "all", {"lanes": 1}, "till"),
        DefineNamespace("shop", title="New"),
    )
    assert story.revert(MENU) == ()
    assert story.now.workload.applications["menu"].title == ""
    assert sorted(story.now.workload.layers) == ["menu-tx", "telemetry-all", "till-new"]
    assert story.now.workload.layers["menu-tx"].values.data == {"lanes": 2}
    assert story.now.workload.namespaces["shop"].title == "New"


def test_a_namespace_takes_its_applications_their_layers_and_its_assignments_along(story: Story):
    story.give(*ALL_OF_SHOP)
    assert story.revert(SHOP) == ()
    workload = story.now.workload
    assert sorted(workload.applications) == ["grill", "menu", "till"]
    assert sorted(workload.assignments) == ["grill-tx", "shop-us"]
    assert "menu-tx" in workload.layers
    assert not workload.prohibitions, "whoever lifted that meant it"
    assert not workload.policies


def test_a_namespace_made_since_goes_with_all_that_is_in_it(story: Story):
    story.give(
        DefineNamespace("bar"),
        DefineApplication("pub", "bar"),
        Assign("bars", Choice("bar"), "all"),
        SetLayer("pubs", "all", {"a": 1}, "pub"),
    )
    assert story.revert(Ref(Kind.NAMESPACE, "bar")) == ()
    assert story.differs() is None


def test_everything_includes_the_workload(story: Story):
    story.give(*ALL_OF_SHOP)
    story.give(DefineNamespace("bar"), DefineApplication("till", "bar"))
    story.give(
        SetLayer("telemetry-all", "/geo/us", {}), SetPolicy("x", ("bar",), registries=("a",))
    )
    story.give(OrderHierarchies(("geo", "devices")))
    assert story.revert(Everything()) == ()
    assert story.differs() is None


# what must be left


def test_what_names_something_gone_stays_away_and_says_what(story: Story):
    story.give(*ALL_OF_SHOP)
    for ref, left in (
        (Ref(Kind.LAYER, "menu-tx"), "layer menu-tx: application:menu is gone"),
        (Ref(Kind.ASSIGNMENT, "shop-us"), "assignment shop-us: namespace:shop is gone"),
        (Ref(Kind.PROHIBITION, "no-till"), "prohibition no-till: application:till is gone"),
        (Ref(Kind.POLICY, "images"), "policy images: namespace:shop is gone"),
        (TILL, "application till: namespace:shop is gone"),
    ):
        assert story.copy().revert(ref) == (left,)
    assert set(story.revert(MENU)) == {
        "application menu: application:till is gone",
        "layer menu-tx: application:menu is gone",
    }


def test_a_layer_whose_group_is_gone_stays_away(story: Story):
    story.give(SetLayer("york", "/devices/camera", {"a": 1}, "till"))
    story.start_here()
    story.give(RemoveLayer("york"), DeleteGroup("/devices/camera", cascade=True))
    (left,) = story.revert(Ref(Kind.LAYER, "york"))
    assert left.startswith("layer york: group:")


def test_an_application_whose_label_is_gone_or_of_another_type_stays_away(story: Story):
    story.give(
        DeclareLabel("zone", LabelType.TEXT),
        DefineApplication("one", "shop", late_bound=(LateBound("a", "{zone}"),)),
        DefineApplication("two", "shop", requires="zone = x"),
    )
    story.start_here()
    story.give(DeleteApplication("one"), DeleteApplication("two"), RemoveLabel("zone"))
    one, two = (Ref(Kind.APPLICATION, name) for name in ("one", "two"))
    assert story.copy().revert(one) == ("application one: label_key:zone is gone",)
    story.give(DeclareLabel("zone", LabelType.NUMBER))
    assert story.revert(one) == ()
    assert story.revert(two) == ("application two: label zone has another type now",)


def test_a_label_key_does_not_take_its_old_type_back_under_an_assignment(story: Story):
    story.give(DeclareLabel("zone", LabelType.TEXT))
    story.start_here()
    story.give(RemoveLabel("zone"), DeclareLabel("zone", LabelType.NUMBER))
    story.give(Assign("zoned", Choice("shop"), "zone >= 2"))
    assert story.revert(Ref(Kind.LABEL_KEY, "zone")) == (
        "label_key:zone: assignment zoned uses it as a number",
    )


def test_an_application_made_since_stays_while_others_name_it(story: Story):
    story.give(
        DefineApplication("pub", "kitchen"),
        DefineApplication("beer", "kitchen", depends_on=("pub",)),
        GrantAccess("pubs", Role.EDITOR, "ana", applications=("beer",)),
    )
    pub, beer = (Ref(Kind.APPLICATION, name) for name in ("pub", "beer"))
    assert story.revert(pub) == ("application pub: application beer names it",)
    assert set(story.revert(Everything())) == {
        "grants stay as they are: 1 differs; revert one by name",
        "application beer: grant pubs names it",
        "application pub: application beer names it",
    }
    assert story.revert(Parts((pub, beer, Ref(Kind.GRANT, "pubs")))) == ()
    assert story.differs() is None


def test_applications_do_not_come_back_to_need_each_other(story: Story):
    story.give(DefineApplication("menu", "shop"))
    story.give(DefineApplication("till", "shop", depends_on=("menu",)))
    assert story.copy().revert(MENU) == ("application menu: it would depend on itself",)
    assert story.revert(Parts((MENU, TILL))) == ()
    assert story.differs() is None


def test_an_assignment_does_not_come_back_to_choose_through_itself(story: Story):
    story.give(SaveSelector("texas", "namespace shop"))
    story.give(SaveSelector("texas", "/geo/us/tx"), Assign("ring", Choice("shop"), "@texas"))
    story.start_here()
    story.give(Unassign("ring"))
    story.give(SaveSelector("texas", "namespace shop and size = large"))
    ring = Ref(Kind.ASSIGNMENT, "ring")
    assert story.copy().revert(ring) == (
        "assignment ring: its namespace would select through itself",
    )
    assert story.revert(Parts((ring, Ref(Kind.SAVED_SELECTOR, "texas")))) == ()


def test_a_saved_selector_does_not_come_back_to_choose_through_a_namespace(story: Story):
    story.give(SaveSelector("one", "namespace shop"))
    story.start_here()
    story.give(SaveSelector("one", "all"), Assign("ring", Choice("shop"), "@one"))
    assert story.revert(Ref(Kind.SAVED_SELECTOR, "one")) == (
        "saved_selector:one: it would select through itself",
    )


def test_an_application_that_is_elsewhere_now_comes_back_unless_it_is_named_there(story: Story):
    story.give(Unassign("grill-tx"), DeleteApplication("grill"), DefineApplication("grill", "shop"))
    assert story.copy().revert(Parts((GRILL, Ref(Kind.ASSIGNMENT, "grill-tx")))) == ()
    assert story.copy().revert(Ref(Kind.ASSIGNMENT, "grill-tx")) == (
        "assignment grill-tx: application grill is in namespace shop now",
    )
    story.give(Prohibit("no-grill", Choice("shop", ("grill",)), "all"))
    assert story.revert(GRILL) == (
        "application grill: prohibition no-grill names it in namespace shop",
    )


def test_an_application_that_would_break_a_quota_is_left_with_the_numbers(story: Story):
    story.give(
        DefineApplication("till", "shop", requests=Capacity(100, 100)),
        DefineNamespace("shop", quota=Capacity(600, 400)),
    )
    assert story.copy().revert(TILL) == (
        "application till: namespace shop would request cpu 800 of 600 millicores, "
        "memory 512 of 400 MiB",
    )
    assert story.revert(SHOP) == ()
    assert story.differs() is None


def test_a_quota_that_would_be_broken_is_left_alone_by_its_namespace(story: Story):
    story.give(DefineNamespace("kitchen", quota=Capacity(100, 100)))
    story.start_here()
    story.give(DefineNamespace("kitchen", title="New"))
    grants = GrantAccess("ovens", Role.EDITOR, "ana", applications=("oven",))
    story.give(DefineApplication("oven", "kitchen", requests=Capacity(500, 50)), grants)
    assert set(story.revert(KITCHEN)) == {
        "application oven: grant ovens names it",
        "namespace kitchen: namespace kitchen would request cpu 500 of 100 millicores",
    }
    assert story.now.workload.namespaces["kitchen"].title == "New"


COOKS = SetPolicy("cooks", ("kitchen",), required_labels=("team", "cook"))


def test_what_would_break_a_policy_made_since_is_left_with_the_policy(story: Story):
    story.give(DefineNamespace("kitchen", labels={"team": "food", "cook": "ana"}), COOKS)
    broken = "it would break a policy: namespace kitchen has no label cook (policy cooks)"
    assert story.revert(KITCHEN) == (f"namespace kitchen: {broken}",)
    assert "cook" in story.now.workload.namespaces["kitchen"].labels
    assert story.revert(Parts((KITCHEN, Ref(Kind.POLICY, "cooks")))) == ()
    assert "cook" not in story.now.workload.namespaces["kitchen"].labels


def test_an_assignment_that_would_bring_somebody_under_a_policy_is_left(story: Story):
    story.give(
        Unassign("grill-tx"),
        DefineApplication("grill", "kitchen", title="New"),
        SetPolicy("texan", selector="/geo/us/tx", required_labels=("state",)),
    )
    (left,) = story.revert(Parts((GRILL, Ref(Kind.ASSIGNMENT, "grill-tx"))))
    assert left.startswith("assignment grill-tx: it would break a policy: namespace kitchen has no")
    assert story.now.workload.applications["grill"].title == ""
    assert "grill-tx" not in story.now.workload.assignments


def test_a_revert_planned_before_a_policy_is_refused_like_any_other_command(story: Story):
    story.give(DefineNamespace("kitchen", labels={"team": "food", "cook": "ana"}))
    plan = story.plan(KITCHEN)
    story.give(COOKS)
    with pytest.raises(Rejected, match="namespace kitchen has no label cook"):
        story.give(plan.command)


def test_a_layer_that_would_leave_no_place_for_a_late_bound_key_is_left(story: Story):
    layer = Ref(Kind.LAYER, "menu-tx")
    story.give(RemoveLayer("menu-tx"))
    story.give(DefineApplication("menu", "shop", late_bound=(LateBound("lanes.number"),)))
    assert story.revert(layer) == (
        "layer menu-tx: it would leave no place for lanes.number, which is late-bound",
    )
    assert story.revert(MENU) == ()
    assert "menu-tx" in story.now.workload.layers


# the order of hierarchies


def test_a_hierarchy_takes_its_place_in_the_order_back_unless_another_has_it(story: Story):
    geo, devices = (Ref(Kind.HIERARCHY, name) for name in ("geo", "devices"))
    story.give(OrderHierarchies(("devices", "geo")), UpdateHierarchy("geo", title="Places"))
    assert story.copy().revert(Parts((geo, devices))) == ()
    copy = story.copy()
    assert copy.revert(devices) == ()
    assert copy.revert(geo) == ()
    assert copy.differs() is None
    assert story.revert(geo) == ("hierarchy:geo: its place in the order is taken",)
    found = story.now.hierarchy("geo")
    assert found is not None
    assert (found.title, found.precedence) == ("", 1)


def test_a_hierarchy_that_comes_back_where_its_place_is_taken_is_the_weakest(story: Story):
    story.give(CreateHierarchy("ring"))
    story.start_here()
    story.give(DeleteHierarchy("ring"))
    story.give(CreateHierarchy("path"))
    ring = Ref(Kind.HIERARCHY, "ring")
    assert story.revert(ring) == ("hierarchy:ring: its place in the order is taken",)
    found = {each.name: each.precedence for each in story.now.hierarchies()}
    assert sorted(found, key=found.__getitem__) == ["ring", "path", "devices", "geo"]
    assert len(set(found.values())) == 4


# others write meanwhile


def test_a_planned_revert_does_not_take_away_what_was_done_to_the_workload_meanwhile(story: Story):
    story.give(DefineApplication("till", "shop", title="new"))
    plan = story.plan(TILL)
    story.give(DefineApplication("till", "shop", title="newer"))
    with pytest.raises(Conflict, match="application:till has changed since the revert"):
        give(story.now, plan.command)


def test_a_revert_made_by_hand_keeps_what_every_fleet_satisfies(story: Story):
    grill = story.then.workload.applications["grill"]
    story.give(Unassign("grill-tx"), DeleteApplication("grill"), DeleteNamespace("kitchen"))
    revision = story.now.cursor.revision
    command = Revert(story.then.cursor.revision, "by hand", revision, (Change(None, grill),))
    with pytest.raises(Rejected) as refusal:
        give(story.now, command)
    assert refusal.value.reasons == ("application:grill: namespace:kitchen is gone",)
