"""Hierarchies, label keys, and the standards they declare."""

from __future__ import annotations

import pytest

from graph.decide.standards import standards
from graph.model.command import (
    CreateHierarchy,
    DeclareLabel,
    DeleteHierarchy,
    Join,
    Leave,
    RegisterCluster,
    RemoveLabel,
    SaveSelector,
    UpdateCluster,
    UpdateHierarchy,
)
from graph.model.errors import Conflict, Invalid, LabelUndeclared, NotFound, Rejected
from graph.model.inventory import LabelType, Mode
from graph.model.view import group_at
from graph.model.workload_command import OrderHierarchies
from small import give, small


def broken(fleet):
    return {
        each.rule: {fleet.cluster_name(number) for number in each.broken}
        for each in standards(fleet)
    }


def test_a_hierarchy_comes_with_its_root_group():
    fleet = small()
    give(fleet, CreateHierarchy("ring"))
    assert fleet.group(group_at(fleet, "/ring")).parent is None


@pytest.mark.parametrize("name", ["g", "m", "c", "n"])
def test_res_edges_own_letters_are_no_hierarchy_names(name):
    with pytest.raises(Invalid, match="cannot name a hierarchy"):
        give(small(), CreateHierarchy(name))


def test_many_becomes_single_only_while_no_cluster_has_two():
    fleet = small()
    with pytest.raises(Rejected, match="more than one place in /devices for 1 cluster") as refusal:
        give(fleet, UpdateHierarchy("devices", mode=Mode.SINGLE))
    assert refusal.value.reasons == ("austin-1",)
    give(fleet, Leave("austin-1", "/devices/grill"), UpdateHierarchy("devices", mode=Mode.SINGLE))
    assert fleet.hierarchy("devices").mode is Mode.SINGLE
    give(fleet, Join("austin-1", "/devices/camera"))
    assert len(fleet.cluster(fleet.cluster_number("austin-1")).memberships) == 2


def test_a_hierarchy_is_deleted_only_when_it_is_empty():
    fleet = small()
    with pytest.raises(Rejected, match="holds 2 groups and 0 direct members"):
        give(fleet, DeleteHierarchy("geo"))
    give(fleet, CreateHierarchy("ring"))
    give(fleet, SaveSelector("rings", "/ring"))
    with pytest.raises(Rejected) as refusal:
        give(fleet, DeleteHierarchy("ring"))
    assert refusal.value.reasons == ("@rings",)


def order(fleet):
    ranked = sorted(fleet.hierarchies(), key=lambda each: each.precedence)
    return [each.name for each in ranked]


def test_a_new_hierarchy_is_the_weakest():
    fleet = small()
    assert [each.precedence for each in (fleet.hierarchy("geo"), fleet.hierarchy("devices"))] == [
        0,
        -1,
    ]
    give(fleet, CreateHierarchy("ring"))
    assert order(fleet) == ["ring", "devices", "geo"]


def test_hierarchies_are_ordered_by_naming_all_of_them_weakest_first():
    fleet = small()
    give(fleet, CreateHierarchy("ring"))
    give(fleet, OrderHierarchies(("geo", "ring", "devices")))
    assert [fleet.hierarchy(name).precedence for name in ("geo", "ring", "devices")] == [0, 1, 2]
    assert give(fleet, OrderHierarchies(("geo", "ring", "devices"))) == ()
    give(fleet, CreateHierarchy("late"))
    assert order(fleet) == ["late", "geo", "ring", "devices"]


@pytest.mark.parametrize(
    ("names", "kind", "says"),
    [
        ((), Invalid, "the order leaves out /devices, /geo"),
        (("geo",), Invalid, "the order leaves out /devices"),
        (("geo", "devices", "geo"), Invalid, 'the hierarchies list "geo" twice'),
        (("geo", "devices", "rings"), NotFound, 'no hierarchy called "rings"'),
    ],
)
def test_an_order_names_every_hierarchy_once(names, kind, says):
    fleet = small()
    with pytest.raises(kind, match=says) as refusal:
        give(fleet, OrderHierarchies(names))
    assert refusal.value.hint
    assert order(fleet) == ["devices", "geo"]


def test_an_order_is_refused_when_a_hierarchy_has_changed_since():
    fleet = small()
    give(fleet, UpdateHierarchy("geo", title="Places"))
    with pytest.raises(Conflict, match="hierarchy:geo has changed at revision 2"):
        give(fleet, OrderHierarchies(("geo", "devices")), expected=1)


def test_a_label_keys_type_is_final():
    with pytest.raises(Conflict, match='label "lanes" is a number'):
        give(small(), DeclareLabel("lanes", LabelType.TEXT))


@pytest.mark.parametrize(
    "command",
    [UpdateCluster("york-1", labels={"lanse": 2}), RegisterCluster("new", labels={"lanse": 2})],
)
def test_a_key_that_nobody_declared_is_refused_with_the_nearest_one(command):
    fleet = small()
    with pytest.raises(LabelUndeclared, match='no label key called "lanse"') as refusal:
        give(fleet, command)
    assert refusal.value.path == ("commands", 0, "labels")
    assert refusal.value.nearest == ("lanes",)
    assert "did you mean lanes?" in refusal.value.hint and "declareLabel" in refusal.value.hint
    give(fleet, command, declare=True)
    assert fleet.label_key("lanse").type is LabelType.NUMBER


def test_taking_away_a_label_that_nobody_has_declares_nothing():
    fleet = small()
    assert give(fleet, UpdateCluster("york-1", labels={"lanse": None}), declare=True) == ()
    assert fleet.label_key("lanse") is None


def test_keys_that_differ_in_letter_case_alone_are_two_and_hint_at_each_other():
    fleet = small()
    with pytest.raises(LabelUndeclared, match="SIZE") as refusal:
        give(fleet, UpdateCluster("york-1", labels={"SIZE": "XL"}))
    assert refusal.value.nearest == ("size",)
    give(fleet, DeclareLabel("SIZE", LabelType.TEXT))
    give(fleet, UpdateCluster("york-1", labels={"SIZE": "XL", "size": "small"}))
    york = fleet.cluster(fleet.cluster_number("york-1"))
    assert york.labels == {"SIZE": "XL", "lanes": 1, "size": "small"}


def test_a_label_key_disappears_only_by_command_and_only_when_unused():
    fleet = small()
    give(fleet, UpdateCluster("austin-1", labels={"lanes": None}))
    with pytest.raises(Rejected, match="is used by 1 cluster"):
        give(fleet, RemoveLabel("lanes"))
    give(fleet, UpdateCluster("york-1", labels={"lanes": None}))
    assert fleet.label_key("lanes") is not None
    give(fleet, SaveSelector("laned", "has lanes"))
    with pytest.raises(Rejected) as refusal:
        give(fleet, RemoveLabel("lanes"))
    assert refusal.value.reasons == ("@laned",)


def test_a_standard_declared_over_a_fleet_that_breaks_it_is_reported_not_refused():
    fleet = small()
    give(
        fleet,
        UpdateHierarchy("devices", required=True),
        DeclareLabel("size", LabelType.TEXT, allowed=("large",)),
    )
    assert broken(fleet) == {
        "every cluster is in /devices": {"austin-2"},
        'size is one of "large"': {"austin-2"},
    }


def test_allowed_values_have_the_keys_type():
    with pytest.raises(Invalid, match="is a number"):
        give(small(), DeclareLabel("lanes", LabelType.NUMBER, allowed=("two",)))


@pytest.mark.parametrize(
    "batch",
    [
        (
            UpdateCluster("york-1", labels={"size": "large"}),
            DeclareLabel("size", LabelType.TEXT, allowed=("small",)),
        ),
        (
            DeclareLabel("size", LabelType.TEXT),
            UpdateCluster("york-1", labels={"size": "huge"}),
            DeclareLabel("size", LabelType.TEXT, allowed=("large", "small")),
        ),
    ],
    ids=["narrowed", "reordered"],
)
def test_a_restated_list_does_not_excuse_a_value_given_against_it(batch):
    fleet = small()
    with pytest.raises(Rejected, match="1 cluster would break the standard: size") as refusal:
        give(fleet, *batch)
    assert refusal.value.reasons == ("york-1",)


def test_clusters_that_only_the_restated_list_breaks_are_reported():
    fleet = small()
    give(
        fleet,
        UpdateCluster("york-1", labels={"size": "small"}),
        UpdateCluster("austin-1", title="touched, its size is as it was"),
        DeclareLabel("size", LabelType.TEXT, allowed=("small",)),
    )
    assert broken(fleet) == {'size is one of "small"': {"austin-1"}}
