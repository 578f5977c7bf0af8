"""Batches: order, atomicity, expected revisions, net results; saved selectors."""

from __future__ import annotations

from typing import get_args

import pytest

from graph.decide.batch import RULES, check_batch
from graph.model.command import (
    COMMANDS_MAX,
    Batch,
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteSelector,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
)
from graph.model.errors import Conflict, Invalid, NotFound, Rejected, SelectorNotFound
from graph.model.inventory import LabelType
from graph.model.names import GROUP_DEPTH_MAX, GroupNumber
from graph.model.selector import (
    And,
    Comparison,
    HasLabel,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Under,
)
from graph.model.view import group_at
from graph.targeting.normal import LIST_LENGTH_MAX
from small import give, small


def test_every_command_has_a_rule():
    assert set(RULES) == set(get_args(Command))


def test_each_command_sees_those_before():
    fleet = small()
    give(
        fleet,
        CreateHierarchy("ring"),
        CreateGroup("/ring/pilot"),
        RegisterCluster("york-2", groups=("/ring/pilot",)),
        SaveSelector("pilots", "/ring/pilot"),
    )
    assert len(fleet.members(group_at(fleet, "/ring/pilot"))) == 1


def test_a_refused_command_refuses_the_batch_and_says_which():
    fleet = small()
    with pytest.raises(Conflict) as refusal:
        give(fleet, CreateGroup("/geo/mx"), RegisterCluster("york-1"))
    assert refusal.value.path == ("commands", 1)
    assert group_at(fleet, "/geo/mx") is None


def test_a_batch_that_undoes_itself_changes_nothing():
    fleet = small()
    assert give(fleet, Join("york-1", "/devices/grill"), Leave("york-1", "/devices/grill")) == ()
    assert give(fleet, RegisterCluster("brief"), RetireCluster("brief")) == ()
    assert fleet.cursor.revision == 1


def test_an_object_changed_twice_is_one_change():
    (change,) = give(
        small(), UpdateGroup("/geo/us/tx", "Texas"), RenameGroup("/geo/us/tx", "texas")
    )
    assert (change.before.name, change.after.name, change.after.title) == ("tx", "texas", "Texas")


def test_expected_revision_means_nothing_this_batch_names_has_changed_since():
    fleet = small()
    give(fleet, UpdateCluster("york-1", title="New"))
    give(fleet, UpdateCluster("austin-1", title="Old"), expected=1)
    with pytest.raises(Conflict, match="cluster:2 has changed at revision 2") as refusal:
        give(fleet, RetireCluster("austin-2"), Join("york-1", "/geo/ca"), expected=1)
    assert refusal.value.path == ("commands", 1)
    with pytest.raises(Conflict, match="before the expected 9"):
        give(fleet, RetireCluster("austin-2"), expected=9)


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (Batch((), "ana", "because"), "no commands"),
        (Batch((RetireCluster("x"),) * (COMMANDS_MAX + 1), "ana", "because"), "10,001 commands"),
        (Batch((RetireCluster("x"),), "", "because"), "no actor"),
        (Batch((RetireCluster("x"),), "ana", "  "), "no reason"),
        (Batch((RetireCluster("x"),), "ana", "a\x00b"), r"U\+0000"),
        (Batch((RetireCluster("x"),), "ana", "because", None, ""), "idempotency key is empty"),
        (Batch((RetireCluster("x"),), "ana", "because", expected_loss=-1), "expected loss of -1"),
        (
            Batch((RetireCluster("x"),), "ana", "because", expected_loss=2**31),
            "expected loss of 2,147,483,648",
        ),
        (Batch((RetireCluster("x"),), "ana", "because", None, "k" * 201), "201 characters"),
    ],
)
def test_a_batch_no_fleet_could_take_is_refused(batch, says):
    with pytest.raises(Invalid, match=says):
        check_batch(batch)


def test_a_saved_selector_is_read_against_the_fleet_and_an_unknown_name_has_its_column():
    with pytest.raises(SelectorNotFound) as refusal:
        give(small(), SaveSelector("bad", "size = large and /geo/usa"))
    assert refusal.value.span.column == 23


def test_a_selector_that_would_reach_itself_is_refused_with_the_chain():
    fleet = small()
    give(fleet, SaveSelector("one", "@texas"), SaveSelector("two", "@one or all"))
    with pytest.raises(Rejected, match="would select through itself") as refusal:
        give(fleet, SaveSelector("texas", "@two and size = large"))
    assert "@two -> @one -> @texas" in refusal.value.message
    with pytest.raises(Rejected):
        give(fleet, SaveSelector("texas", "not @texas"))


def test_a_selector_others_use_is_not_deleted():
    fleet = small()
    give(fleet, SaveSelector("big-texas", "@texas and size = large"))
    with pytest.raises(Rejected) as refusal:
        give(fleet, DeleteSelector("texas"))
    assert refusal.value.reasons == ("@big-texas",)


def test_a_tree_that_names_what_is_not_there_is_refused():
    with pytest.raises(NotFound, match="group:99"):
        give(small(), SaveSelector("bad", Under(GroupNumber(99))))


def test_a_key_declared_anew_with_another_type_in_one_batch_is_a_change():
    fleet = small()
    give(
        fleet,
        UpdateCluster("austin-1", labels={"lanes": None}),
        UpdateCluster("york-1", labels={"lanes": None}),
        RemoveLabel("lanes"),
        DeclareLabel("lanes", LabelType.BOOLEAN),
        UpdateCluster("york-1", labels={"lanes": True}),
    )
    assert fleet.cluster(fleet.cluster_number("york-1")).labels["lanes"] is True
    assert fleet.label_key("lanes").type is LabelType.BOOLEAN


# what a command names


def swapped():
    """Two groups that have taken each other's name, each with its own /x below."""
    fleet = small()
    give(
        fleet,
        *(CreateGroup(path) for path in ("/geo/a", "/geo/b", "/geo/a/x", "/geo/b/x")),
        SaveSelector("ex", "/geo/a/x"),
    )
    give(
        fleet,
        RenameGroup("/geo/a", "t"),
        RenameGroup("/geo/b", "a"),
        RenameGroup("/geo/t", "b"),
    )
    return fleet


@pytest.mark.parametrize(
    "command",
    [
        DeleteGroup("/geo/a/x"),
        UpdateGroup("/geo/a/x", "title"),
        CreateGroup("/geo/a/x/y"),
        CreateGroup("/geo/a/z"),
        Join("york-1", "/geo/a/x"),
        RegisterCluster("york-2", groups=("/geo/a/x",)),
        MoveGroup("/geo/ca", "/geo/a/x"),
        SaveSelector("new", "/geo/a/x or all"),
        SaveSelector("new", "/geo/a/*/x"),
    ],
    ids=str,
)
def test_a_path_through_a_renamed_group_has_changed(command):
    with pytest.raises(Conflict, match="has changed at revision 3, after the expected 2"):
        give(swapped(), command, expected=2)


@pytest.mark.parametrize(
    "command",
    [
        RegisterCluster("york-2", labels={"lanes": 3}),
        UpdateCluster("york-1", labels={"lanes": 3}),
        SaveSelector("new", "lanes = 3"),
        SaveSelector("new", HasLabel("lanes")),
    ],
    ids=str,
)
def test_a_label_key_counts_as_named(command):
    fleet = small()
    give(fleet, DeclareLabel("lanes", LabelType.NUMBER, unit="checkouts"))
    with pytest.raises(Conflict, match="label_key:lanes has changed at revision 2"):
        give(fleet, command, expected=1)
    give(fleet, command, expected=2)


def test_a_saved_selector_named_in_text_counts_as_named():
    fleet = small()
    give(fleet, SaveSelector("texas", "/geo/us/ny"))
    with pytest.raises(Conflict, match="saved_selector:texas"):
        give(fleet, SaveSelector("new", "@texas and size = large"), expected=1)


def test_what_the_batch_makes_itself_has_not_changed_since():
    fleet = small()
    give(
        fleet,
        CreateGroup("/geo/mx"),
        RegisterCluster("mx-1", labels={"fresh": True}, groups=("/geo/mx",)),
        SaveSelector("mexico", "/geo/mx and fresh = true"),
        expected=1,
        declare=True,
    )
    with pytest.raises(SelectorNotFound):
        give(fleet, SaveSelector("bad", "/geo/nowhere"), expected=1)


# selectors given as trees


def test_a_tree_is_kept_in_the_one_shape():
    fleet = small()
    tree = And((And((LabelIs("lanes", Comparison.EQ, 2.0),)), LabelIn("lanes", (1, 1.0, 2))))
    give(fleet, SaveSelector("tree", tree), SaveSelector("text", "lanes = 2 and lanes in (1, 2)"))
    tree, text = fleet.saved_selector("tree").selector, fleet.saved_selector("text").selector
    assert repr(tree) == repr(text)


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        (LabelIs("size", Comparison.LT, "small"), "which < does not order"),
        (LabelIs("size", Comparison.EQ, 1), 'label "size" is a text, and 1 is a number'),
        (LabelIs("lanes", Comparison.EQ, True), "is a number, and true is a boolean"),
        (Not(LabelIn("lanes", (1, "two"))), "is a text"),
        (LabelIs("lanes", Comparison.EQ, float("inf")), "out of range"),
        (LabelIn("lanes", ()), "0 values in one list"),
        (LabelIn("lanes", tuple(range(LIST_LENGTH_MAX + 1))), "1,001 values in one list"),
        (And(()), "of no selectors"),
        (Matching(GroupNumber(0), ("*", "Not A Name")), "is not a group name"),
        (Matching(GroupNumber(0), ("*",) * GROUP_DEPTH_MAX), "a pattern of 32 levels"),
    ],
    ids=str,
)
def test_a_tree_no_text_could_say_is_refused(tree, says):
    with pytest.raises(Invalid, match=says):
        give(small(), SaveSelector("bad", tree))
