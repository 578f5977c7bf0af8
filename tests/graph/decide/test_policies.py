"""Policies: what they are attached to, what they ask, and who breaks them."""

from __future__ import annotations

import pytest

from at_work import refused, working
from graph.decide.governance import breaches
from graph.model.command import CreateGroup, DeleteGroup, Join, RegisterCluster, SaveSelector
from graph.model.errors import Conflict, Invalid, NotFound, Rejected, SelectorNotFound
from graph.model.inventory import Capacity
from graph.model.names import Revision
from graph.model.selector import Everything
from graph.model.workload import Choice, Enforcement, Policy
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    RemovePolicy,
    SetLayer,
    SetPolicy,
    Unassign,
)
from small import give
from twin import Twin


def test_a_policy_is_what_the_command_says_and_its_sets_are_in_one_order():
    fleet = working()
    give(
        fleet,
        SetPolicy(
            "strict",
            namespaces=("shop", "kitchen"),
            quota_max=Capacity(1_000, 1_024, 10),
            required_labels=("team", "owner"),
            registries=("registry.example:5000/pos", "quay.example"),
            oversubscription=Enforcement.REPORT,
            title="Strict",
        ),
        SetPolicy("everywhere", selector="all", oversubscription=Enforcement.REFUSE),
    )
    assert fleet.workload.policies["strict"] == Policy(
        "strict",
        namespaces=("kitchen", "shop"),
        quota_max=Capacity(1_000, 1_024, 10),
        required_labels=("owner", "team"),
        registries=("quay.example", "registry.example:5000/pos"),
        oversubscription=Enforcement.REPORT,
        title="Strict",
        changed=Revision(3),
    )
    assert fleet.workload.policies["everywhere"].selector == Everything()
    give(fleet, RemovePolicy("strict"))
    assert "strict" not in fleet.workload.policies


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (SetPolicy("No", ("shop",), registries=("a",)), '"No" is not a policy name'),
        (SetPolicy("new", registries=("a",)), "the policy is attached to nothing"),
        (SetPolicy("new", ("shop",), "all", registries=("a",)), "both namespaces and a selector"),
        (SetPolicy("new", ("shop",)), "the policy says nothing"),
        (SetPolicy("new", selector="all", title="x"), "the policy says nothing"),
        (SetPolicy("new", ("shop", "shop"), registries=("a",)), 'list "shop" twice'),
        (SetPolicy("new", ("shop",), required_labels=("A/a",)), '"A/a" is not a label key'),
        (SetPolicy("new", ("shop",), required_labels=("a", "a")), 'list "a" twice'),
        (SetPolicy("new", ("shop",), registries=("a", "a")), 'the registries list "a" twice'),
        (SetPolicy("new", ("shop",), registries=("https://a",)), "is not a registry"),
        (SetPolicy("new", ("shop",), registries=("a b",)), "is not a registry"),
        (SetPolicy("new", ("shop",), registries=("",)), "is not a registry"),
        (SetPolicy("new", ("shop",), registries=("a/'; x",)), "is not a registry"),
        (SetPolicy("new", ("shop",), quota_max=Capacity(-1, 0)), "is negative or too large"),
        (SetPolicy("new", ("shop",), registries=("a",), title="\n"), "the title holds"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_policy_that_cannot_be_is_refused(command: SetPolicy, says: str):
    assert says in refused(Invalid, working(), command).message


def test_a_policy_is_attached_to_what_is_there():
    refusal = refused(NotFound, working(), SetPolicy("new", ("shp",), registries=("a",)))
    assert refusal.hint == "did you mean shop?"
    assert refusal.path == ("commands", 0, "namespaces", 0)
    refused(SelectorNotFound, working(), SetPolicy("new", selector="/goe", registries=("a",)))
    assert refused(NotFound, working(), RemovePolicy("image")).hint == "did you mean images?"


def test_what_a_policy_is_attached_to_cannot_vanish():
    fleet = working()
    give(fleet, CreateGroup("/geo/mx"), SetPolicy("mx", selector="/geo/mx", registries=("a",)))
    assert refused(Rejected, fleet, DeleteGroup("/geo/mx")).reasons == ("policy mx",)


@pytest.mark.parametrize(
    "command",
    [
        SetPolicy("images", ("kitchen",), registries=("a",)),
        RemovePolicy("images"),
        SetPolicy("new", ("shop",), registries=("a",)),
        SetPolicy("new", selector="@texas", registries=("a",)),
    ],
    ids=str,
)
def test_a_policy_or_what_it_names_has_changed_since(command: SetPolicy | RemovePolicy):
    fleet = working()
    give(
        fleet,
        SetPolicy("images", ("shop",), registries=("x",)),
        DefineNamespace("shop", title="Shop"),
        SaveSelector("texas", "all"),
    )
    with pytest.raises(Conflict, match="has changed at revision 3"):
        give(fleet, command, expected=2)
    give(fleet, SetPolicy("new", ("kitchen",), registries=("a",)), expected=2)


# what is asked of namespaces and applications

TEAMS = SetPolicy("teams", namespaces=("kitchen",), required_labels=("team",))
SMALL = SetPolicy("small", namespaces=("kitchen",), quota_max=Capacity(100, 100))


def told(fleet: Twin) -> list[str]:
    return [str(each) for each in breaches(fleet)]


def test_a_policy_set_over_what_breaks_it_is_reported_not_refused():
    fleet = working()
    give(fleet, TEAMS, SMALL)
    assert told(fleet) == [
        "namespace kitchen has no quota (policy small)",
        "application grill has no label team (policy teams)",
    ]
    give(fleet, DefineApplication("grill", "kitchen", title="as bad as it was"))
    give(fleet, DefineNamespace("kitchen", labels={"team": "food"}, title="likewise"))


def test_an_application_without_a_required_label_is_refused():
    fleet = working()
    give(fleet, TEAMS)
    refusal = refused(Rejected, fleet, DefineApplication("fryer", "kitchen"))
    assert refusal.message == (
        "1 object would break a policy: application fryer has no label team (policy teams)"
    )
    assert refusal.reasons == ("application fryer has no label team (policy teams)",)
    refused(Rejected, fleet, DefineNamespace("kitchen"))
    give(fleet, DefineApplication("fryer", "kitchen", labels={"team": "food"}))
    refused(Rejected, fleet, DefineApplication("fryer", "kitchen", labels={"tier": "x"}))


def test_a_quota_above_what_a_policy_allows_is_refused_with_the_numbers():
    fleet = working()
    give(fleet, DefineNamespace("kitchen", quota=Capacity(100, 100, 5_000)), SMALL)
    refusal = refused(Rejected, fleet, DefineNamespace("kitchen", quota=Capacity(2_000, 50)))
    assert refusal.reasons == (
        "namespace kitchen has a quota of cpu 2,000 of 100 millicores (policy small)",
    )
    refusal = refused(Rejected, fleet, DefineNamespace("kitchen"))
    assert refusal.reasons == ("namespace kitchen has no quota (policy small)",)
    give(fleet, DefineNamespace("kitchen", quota=Capacity(50, 50)))
    assert told(fleet) == []


def test_policies_are_judged_on_the_net_result_in_whatever_order():
    fleet = working()
    give(fleet, TEAMS)
    batch = (
        DefineApplication("fryer", "kitchen"),
        DefineApplication("fryer", "kitchen", labels={"team": "food"}),
    )
    give(fleet, *batch)
    refused(Rejected, fleet, *batch[::-1])
    bad = DefineApplication("oven", "kitchen")
    for order in ((bad, TEAMS), (TEAMS, bad)):
        refused(Rejected, working(), *order)
    give(fleet, bad, RemovePolicy("teams"))


def test_who_is_assigned_to_a_cluster_of_the_policys_selector_is_governed():
    fleet = working()
    give(fleet, SetPolicy("texan", selector="/geo/us/tx", required_labels=("state",)))
    assert told(fleet) == [
        "namespace kitchen has no label state (policy texan)",
        "namespace shop has no label state (policy texan)",
        "application grill has no label state (policy texan)",
        "application menu has no label state (policy texan)",
        "application till has no label state (policy texan)",
    ]
    give(fleet, DefineNamespace("bar"), DefineApplication("pub", "bar"))
    give(fleet, Assign("bar-ny", Choice("bar"), "/geo/us/ny"))
    refusal = refused(Rejected, fleet, Assign("bar-tx", Choice("bar"), "cluster austin-1"))
    assert refusal.reasons == (
        "namespace bar has no label state (policy texan)",
        "application pub has no label state (policy texan)",
    )
    give(
        fleet,
        Assign("bar-tx", Choice("bar"), "cluster austin-1"),
        DefineNamespace("bar", labels={"state": "tx"}),
        DefineApplication("pub", "bar", labels={"state": "tx"}),
    )


def test_a_cluster_that_moves_under_a_policy_is_the_business_moving():
    fleet = working()
    give(fleet, SetPolicy("canada", selector="/geo/ca", required_labels=("country",)))
    assert told(fleet) == []
    give(fleet, Assign("shop-york", Choice("shop"), "cluster york-1"))
    give(fleet, Join("york-1", "/geo/ca"))
    assert len(told(fleet)) == 3
    give(fleet, RegisterCluster("ca-1", groups=("/geo/ca",)))
    give(fleet, Unassign("shop-york"), SetLayer("x", "/geo/ca", {"a": 1}, "till"))
    assert told(fleet) == []


def test_an_object_others_touch_is_not_blamed_for_a_policy_that_grows():
    fleet = working()
    give(
        fleet,
        DefineApplication("grill", "kitchen", title="touched"),
        SetPolicy("texan", selector="/geo/us/tx", required_labels=("state",)),
    )
    assert "application grill has no label state (policy texan)" in told(fleet)
