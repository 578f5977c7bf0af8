"""Assignments and prohibitions: which applications, and which clusters."""

from __future__ import annotations

import pytest

from at_work import refused, working
from graph.model.command import (
    CreateGroup,
    DeclareLabel,
    DeleteGroup,
    DeleteSelector,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    SaveSelector,
)
from graph.model.errors import Conflict, Invalid, NotFound, Rejected, SelectorNotFound
from graph.model.inventory import LabelType
from graph.model.names import Revision
from graph.model.selector import InNamespace, Saved, Under
from graph.model.view import group_at
from graph.model.workload import Assignment, Choice, Prohibition
from graph.model.workload_command import (
    Assign,
    DefineNamespace,
    LiftProhibition,
    Prohibit,
    Unassign,
)
from small import give


def test_an_assignment_is_what_the_command_says():
    fleet = working()
    choice = Choice("shop", ("till", "menu"), {"tier": "front"})
    give(fleet, Assign("front-tx", choice, "/geo/us/tx", title="Front"))
    texas = group_at(fleet, "/geo/us/tx")
    assert texas is not None
    assert fleet.workload.assignments["front-tx"] == Assignment(
        "front-tx",
        Choice("shop", ("menu", "till"), {"tier": "front"}),
        Under(texas),
        title="Front",
        changed=Revision(3),
    )
    assert give(fleet, Assign("front-tx", choice, "/geo/us/tx", title="Front")) == ()


def test_an_assignment_follows_its_group_wherever_it_goes():
    fleet = working()
    give(fleet, Assign("tx", Choice("shop"), "/geo/us/tx"))
    before = fleet.workload.assignments["tx"]
    give(fleet, RenameGroup("/geo/us/tx", "texas"), MoveGroup("/geo/us/texas", "/geo/ca"))
    assert fleet.workload.assignments["tx"] == before


def test_an_assignment_taken_back_is_gone():
    fleet = working()
    give(fleet, Unassign("shop-us"), LiftProhibition("no-till"))
    assert "shop-us" not in fleet.workload.assignments
    assert "no-till" not in fleet.workload.prohibitions


def test_a_prohibition_may_choose_by_label_alone_in_any_namespace():
    fleet = working()
    give(fleet, Prohibit("no-front", Choice(labels={"tier": "front"}), "/geo/ca"))
    assert fleet.workload.prohibitions["no-front"] == Prohibition(
        "no-front",
        Choice(labels={"tier": "front"}),
        Under(group_at(fleet, "/geo/ca")),
        changed=Revision(3),
    )


# refusals


@pytest.mark.parametrize("make", [Assign, Prohibit])
@pytest.mark.parametrize(
    ("choice", "kind", "says", "path"),
    [
        (Choice("shopp"), NotFound, 'no namespace called "shopp"', ("choice", "namespace")),
        (
            Choice("shop", ("till", "mneu")),
            NotFound,
            'no application called "mneu"',
            ("choice", "applications", 1),
        ),
        (
            Choice("shop", ("grill",)),
            Invalid,
            'application "grill" is in namespace "kitchen", not in "shop"',
            ("choice", "applications", 0),
        ),
        (
            Choice("shop", ("till", "till")),
            Invalid,
            'the applications list "till" twice',
            ("choice", "applications"),
        ),
        (
            Choice("shop", labels={"T ": "x"}),
            Invalid,
            '"T " is not a label key',
            ("choice", "labels"),
        ),
        (Choice("shop", labels={"t": "\n"}), Invalid, 'label "t" holds', ("choice", "labels")),
    ],
)
def test_a_choice_names_what_is_there(make, choice, kind, says, path):
    refusal = refused(kind, working(), make("new", choice, "all"))
    assert says in refusal.message
    assert refusal.path == ("commands", 0, *path)


@pytest.mark.parametrize("make", [Assign, Prohibit])
def test_whom_it_is_for_is_read_against_the_fleet(make):
    refusal = refused(SelectorNotFound, working(), make("new", Choice("shop"), "/geo/usa"))
    assert refusal.span.column == 6
    assert refusal.hint
    assert refusal.path == ("commands", 0, "selector")
    refused(Invalid, working(), make("No", Choice("shop"), "all"))
    refused(Invalid, working(), make("new", Choice("shop"), "all", title="\t"))


def test_an_assignment_is_of_a_namespace():
    refusal = refused(Invalid, working(), Assign("new", Choice(applications=("till",)), "all"))
    assert refusal.message == "the assignment names no namespace"
    assert refusal.path == ("commands", 0, "choice", "namespace")


def test_a_prohibition_says_what_is_forbidden():
    refusal = refused(Invalid, working(), Prohibit("new", Choice(), "all"))
    assert "no namespace, no application and no label" in refusal.message
    fleet = working()
    give(fleet, Prohibit("new", Choice(applications=("till", "grill")), "all"))
    assert fleet.workload.prohibitions["new"].choice.applications == ("grill", "till")


def test_an_unknown_one_is_not_found_and_the_nearest_is_named():
    refusal = refused(NotFound, working(), Unassign("shop-usa"))
    assert (refusal.message, refusal.hint) == (
        'no assignment called "shop-usa"',
        "did you mean shop-us?",
    )
    refusal = refused(NotFound, working(), LiftProhibition("zzz"))
    assert (refusal.message, refusal.hint) == (
        'no prohibition called "zzz"',
        "prohibitions: no-till",
    )


# names that lead to themselves


@pytest.mark.parametrize("selector", ["namespace shop", InNamespace("shop"), "not namespace shop"])
def test_a_namespace_is_not_assigned_where_it_is_assigned(selector):
    refusal = refused(Rejected, working(), Assign("new", Choice("shop", ("till",)), selector))
    assert "namespace shop -> namespace shop" in refusal.message


def test_a_circle_of_namespaces_and_saved_selectors_is_refused_whichever_comes_last():
    fleet = working()
    give(
        fleet,
        SaveSelector("shops", "namespace shop and size = large"),
        Assign("grill-shops", Choice("kitchen"), "@shops"),
    )
    refusal = refused(Rejected, fleet, Assign("last", Choice("shop"), "/geo or namespace kitchen"))
    assert "namespace shop -> namespace kitchen -> @shops -> namespace shop" in refusal.message
    refusal = refused(Rejected, fleet, SaveSelector("texas", "namespace kitchen"))
    assert "@texas -> namespace kitchen -> @texas" in refusal.message


def test_prohibitions_and_what_applications_require_close_no_circle():
    fleet = working()
    give(fleet, Prohibit("new", Choice("shop"), "namespace shop and /geo/us/tx"))
    assert "new" in fleet.workload.prohibitions


def test_an_assignment_may_change_sides_with_the_namespace_it_chose_through():
    fleet = working()
    give(fleet, DefineNamespace("one"), DefineNamespace("two"))
    give(fleet, Assign("between", Choice("one"), "namespace two"))
    give(fleet, Assign("between", Choice("two"), "namespace one"))
    assert fleet.workload.assignments["between"].choice.namespace == "two"
    refused(Rejected, fleet, Assign("other", Choice("one"), "namespace two"))


# what they name stays


@pytest.mark.parametrize(
    ("make", "shown"), [(Assign, "assignment new"), (Prohibit, "prohibition new")]
)
def test_what_they_name_cannot_vanish_and_they_are_listed(make, shown):
    fleet = working()
    give(
        fleet,
        CreateGroup("/geo/mx"),
        DeclareLabel("zone", LabelType.TEXT),
        RegisterCluster("lone"),
        SaveSelector("spot", "all"),
        make("new", Choice("kitchen"), "/geo/mx or has zone or cluster lone or @spot"),
    )
    for command in (
        DeleteGroup("/geo/mx"),
        RemoveLabel("zone"),
        RetireCluster("lone"),
        DeleteSelector("spot"),
    ):
        assert refused(Rejected, fleet, command).reasons == (shown,)


@pytest.mark.parametrize("make", [Assign, Prohibit])
def test_what_they_name_has_changed_since(make):
    fleet = working()
    give(fleet, SaveSelector("texas", "all"), DefineNamespace("shop", labels={"team": "y"}))
    for command in (
        make("new", Choice("kitchen"), "@texas"),
        make("new", Choice("kitchen"), Saved("texas")),
        make("new", Choice("shop"), "all"),
    ):
        with pytest.raises(Conflict, match="has changed at revision 3"):
            give(fleet, command, expected=2)
    give(fleet, make("new", Choice("kitchen"), "all"), expected=2)
