"""Namespaces: defined whole, deleted when nothing names them."""

from __future__ import annotations

from dataclasses import fields

import pytest

from at_work import refused, working
from graph.decide.fields import LIST_MAX
from graph.decide.labels import LABELS_MAX
from graph.model.access import Role
from graph.model.command import GrantAccess, SaveSelector
from graph.model.errors import Invalid, NotFound, Rejected
from graph.model.inventory import Capacity
from graph.model.names import Revision
from graph.model.workload import Choice, Namespace
from graph.model.workload_command import DefineNamespace, DeleteNamespace, Prohibit
from small import give, small

SHOP = DefineNamespace(
    "shop",
    title="Shop",
    owners=("retail", "ana"),
    cost_center="4711",
    labels={"team": "retail", "a": ""},
    quota=Capacity(2_000, 4_096),
    limits=Capacity(500, 512),
)


def test_a_namespace_is_what_the_command_says():
    fleet = small()
    give(fleet, SHOP)
    assert fleet.workload.namespaces == {
        "shop": Namespace(
            "shop",
            title="Shop",
            owners=("retail", "ana"),
            cost_center="4711",
            labels={"a": "", "team": "retail"},
            quota=Capacity(2_000, 4_096),
            limits=Capacity(500, 512),
            changed=Revision(2),
        )
    }
    assert list(fleet.workload.namespaces["shop"].labels) == ["a", "team"]


def test_the_same_definition_again_changes_nothing_and_another_replaces_it_whole():
    fleet = small()
    give(fleet, SHOP)
    assert give(fleet, SHOP) == ()
    give(fleet, DefineNamespace("shop", title="Shops"))
    assert fleet.workload.namespaces["shop"] == Namespace(
        "shop", title="Shops", changed=Revision(3)
    )


@pytest.mark.parametrize("name", ["", "Shop", "a_b", "-a", "a" * 64, "a/b", "a.b"])
def test_what_is_no_name_names_no_namespace(name: str):
    refusal = refused(Invalid, small(), DefineNamespace(name))
    assert "is not a namespace name" in refusal.message


@pytest.mark.parametrize(
    "name",
    ["default", "kube-system", "kube-x", "flux-system", "argocd", "trellis", "trellis-render"],
)
def test_names_that_clusters_use_themselves_are_reserved(name: str):
    refusal = refused(Invalid, small(), DefineNamespace(name))
    assert refusal.message == f'"{name}" cannot name a namespace'
    assert "choose another name" in refusal.hint


@pytest.mark.parametrize("name", ["kube", "default-2", "my-argocd", "flux"])
def test_names_near_reserved_ones_are_free(name: str):
    fleet = small()
    give(fleet, DefineNamespace(name))
    assert name in fleet.workload.namespaces


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (DefineNamespace("n", title="a\nb"), "the title holds the character"),
        (DefineNamespace("n", title="x" * 201), "the title has 201 characters"),
        (DefineNamespace("n", owners=("a\tb",)), "an owner holds the character"),
        (DefineNamespace("n", owners=("ana", "ana")), 'the owners list "ana" twice'),
        (DefineNamespace("n", owners=tuple(map(str, range(LIST_MAX + 1)))), "1,001 owners"),
        (DefineNamespace("n", cost_center="\x00"), "the cost center holds the character"),
        (DefineNamespace("n", labels={"Team/x": "x"}), '"Team/x" is not a label key'),
        (DefineNamespace("n", labels={"team": "x" * 64}), 'label "team" has 64 characters'),
        (DefineNamespace("n", labels={"team": "a\nb"}), 'label "team" holds the character'),
        (
            DefineNamespace("n", labels={f"l{at}": "" for at in range(LABELS_MAX + 1)}),
            "257 labels on one object",
        ),
        (DefineNamespace("n", quota=Capacity(-1, 0)), "the quota is negative or too large"),
        (DefineNamespace("n", quota=Capacity(0, 2**41)), "the quota is negative or too large"),
        (DefineNamespace("n", quota=Capacity(2**31, 0)), "too large (in millicores"),
        (DefineNamespace("n", limits=Capacity(0, 0, -1)), "a limit is negative or too large"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_namespace_that_cannot_be_is_refused(command: DefineNamespace, says: str):
    refusal = refused(Invalid, small(), command)
    assert says in refusal.message
    (wrong,) = [
        each.name
        for each in fields(command)
        if getattr(command, each.name) != getattr(DefineNamespace("n"), each.name)
    ]
    assert refusal.path == ("commands", 0, wrong)


def test_a_namespace_that_nothing_names_is_deleted():
    fleet = small()
    give(fleet, SHOP)
    give(fleet, DeleteNamespace("shop"))
    assert fleet.workload.namespaces == {}


def test_an_unknown_namespace_is_not_found_and_the_nearest_is_named():
    refusal = refused(NotFound, working(), DeleteNamespace("shp"))
    assert (refusal.message, refusal.hint) == (
        'no namespace called "shp"',
        "did you mean shop?",
    )
    assert refusal.path == ("commands", 0, "name")
    assert refused(NotFound, small(), DeleteNamespace("x")).hint == "there are no namespaces"
    assert "kitchen, shop" in refused(NotFound, working(), DeleteNamespace("zzz")).hint


def test_what_names_a_namespace_keeps_it_and_is_listed():
    fleet = working()
    give(
        fleet,
        SaveSelector("shops", "namespace shop"),
        GrantAccess("retail", Role.EDITOR, "ana", namespaces=("shop",)),
        Prohibit("no-shop", Choice("shop"), "cluster york-1"),
    )
    refusal = refused(Rejected, fleet, DeleteNamespace("shop"))
    assert refusal.reasons == (
        "@shops",
        "grant retail",
        "application menu",
        "application till",
        "assignment shop-us",
        "prohibition no-shop",
        "policy images",
    )
    assert refusal.message == (
        'namespace "shop" is named by 1 saved selector, 1 grant, 2 applications, 1 assignment, '
        "1 prohibition and 1 policy"
    )
    assert refusal.hint == (
        "change @shops, grant retail, application menu, application till, assignment shop-us "
        "... first"
    )
