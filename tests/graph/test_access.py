"""Grants folded into scopes, and the role each command needs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from graph.access import access_of, reader_scope
from graph.model.access import Actor, Coverage, Grant, Role
from graph.model.change import Change
from graph.model.command import Command, Revert
from graph.model.errors import Denied
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, LabelType, Mode
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.selector import Everything, HasLabel, Or, Under
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
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
from graph.roles import ROLES, role_for
from graph.targeting.sight import CoveredBesides
from twin import Twin

TEXAS, YORK = Under(GroupNumber(2)), Under(GroupNumber(3))
ANA = Actor("ana", frozenset({"night-crew"}))


def test_an_actor_without_a_grant_has_no_role() -> None:
    access = access_of(ANA, [Grant("other", Role.ADMIN, Everything(), subject="ben")])
    assert [access.scope(role) for role in Role] == [None] * 4
    with pytest.raises(Denied, match="has not got the role reader") as refusal:
        access.need(Role.READER)
    assert refusal.value.hint == "ask an admin for a grant of reader"


@pytest.mark.parametrize("held", list(Role))
def test_a_role_includes_those_before_it_and_none_after(held: Role) -> None:
    access = access_of(ANA, [Grant("one", held, TEXAS, subject="ana")])
    ranks = list(Role)
    for role in Role:
        wanted = TEXAS if ranks.index(role) <= ranks.index(held) else None
        assert access.scope(role) == wanted


def test_a_claim_gives_what_a_subject_gives_and_scopes_add_up() -> None:
    grants = [
        Grant("b", Role.READER, YORK, claim="night-crew"),
        Grant("a", Role.EDITOR, TEXAS, subject="ana"),
        Grant("c", Role.ADMIN, HasLabel("size"), claim="day-crew"),
    ]
    access = access_of(ANA, grants)
    assert access.scope(Role.READER) == Or((TEXAS, YORK))
    assert access.scope(Role.EDITOR) == TEXAS
    assert access.scope(Role.ADMIN) is None


def test_a_subject_is_no_claim_and_a_claim_no_subject() -> None:
    crew = Actor("night-crew", frozenset({"ana"}))
    grants = [
        Grant("a", Role.ADMIN, TEXAS, subject="ana"),
        Grant("b", Role.ADMIN, TEXAS, claim="night-crew"),
    ]
    assert access_of(crew, grants).scopes == ()
    assert access_of(Actor("", frozenset({""})), grants).scopes == ()


def test_all_swallows_every_other_scope() -> None:
    grants = [
        Grant("a", Role.READER, TEXAS, subject="ana"),
        Grant("b", Role.READER, Everything(), subject="ana"),
    ]
    assert access_of(ANA, grants).scope(Role.READER) == Everything()


@pytest.mark.parametrize("standing", list(Role))
def test_a_standing_role_is_held_everywhere(standing: Role) -> None:
    access = access_of(Actor("root", standing=standing), [])
    for role in Role:
        wanted = Everything() if standing.includes(role) else None
        assert access.scope(role) == wanted


def test_equal_keys_read_the_same_whoever_asks_and_however_it_was_granted() -> None:
    grants = [
        Grant("x", Role.READER, YORK, subject="ben"),
        Grant("y", Role.ADMIN, TEXAS, subject="ben"),
        Grant("a", Role.READER, TEXAS, subject="ana"),
        Grant("b", Role.EDITOR, YORK, subject="ana"),
        Grant("c", Role.READER, TEXAS, subject="cleo"),
    ]
    ana, ben, cleo, nobody = (
        access_of(Actor(name), grants) for name in ("ana", "ben", "cleo", "nobody")
    )
    assert ana.key == ben.key
    assert len({ana.key, cleo.key, nobody.key}) == 3
    for one, other in product((ana, ben, cleo, nobody), repeat=2):
        same = one.scope(Role.READER) == other.scope(Role.READER)
        assert (one.key == other.key) is same


def test_every_command_has_its_role() -> None:
    assert set(ROLES) == set(get_args(Command)) - {Revert}
    assert {role for role in ROLES.values()} == {Role.EDITOR, Role.OPERATOR, Role.ADMIN}


def test_operators_hold_what_protects_the_fleet_and_admins_the_order_of_hierarchies() -> None:
    of_operators = {command for command, role in ROLES.items() if role is Role.OPERATOR}
    assert of_operators == {
        DefineNamespace,
        DeleteNamespace,
        Prohibit,
        LiftProhibition,
        SetPolicy,
        RemovePolicy,
    }
    assert ROLES[OrderHierarchies] is Role.ADMIN
    for command in (DefineApplication, DeleteApplication, Assign, Unassign, SetLayer, RemoveLayer):
        assert ROLES[command] is Role.EDITOR


def test_a_revert_needs_the_strongest_role_its_changes_need() -> None:
    cluster = Change(None, Cluster(ClusterNumber(0), "c"))
    group = Change(Group(GroupNumber(0), "geo", None, "geo"), None)
    key = Change(None, LabelKey("size", LabelType.TEXT))
    hierarchy = Change(Hierarchy("geo", Mode.SINGLE), None)
    grant = Change(None, Grant("g", Role.READER, TEXAS, subject="ana"))

    def needed(*changes: Change) -> Role:
        return role_for(Revert(Revision(1), "", Revision(2), changes))

    everywhere, none = Everything(), Choice(applications=("a",))
    edited = (
        Change(None, Application("a", "n")),
        Change(None, Assignment("a", Choice("n"), everywhere)),
        Change(None, Layer("a", everywhere, Values())),
    )
    operated = (
        Change(Namespace("n"), None),
        Change(None, Prohibition("p", none, everywhere)),
        Change(None, Policy("p", ("n",))),
    )
    assert needed() is Role.EDITOR
    assert needed(cluster, group, *edited) is Role.EDITOR
    for change in operated:
        assert needed(*edited, change) is Role.OPERATOR
    for change in (key, hierarchy, grant):
        assert needed(cluster, operated[0], change) is Role.ADMIN


# parts of the workload

SHOP = Grant("shop", Role.EDITOR, TEXAS, subject="ana", namespaces=("shop",))
GRILL = Grant("grill", Role.OPERATOR, YORK, claim="night-crew", applications=("grill",))


def test_a_covered_grant_gives_its_role_over_that_part_and_nothing_of_the_inventory() -> None:
    access = access_of(ANA, [SHOP, GRILL])
    assert [access.scope(role) for role in (Role.EDITOR, Role.OPERATOR, Role.ADMIN)] == [None] * 3
    assert access.scope_for(Role.EDITOR, "shop") == TEXAS
    assert access.scope_for(Role.EDITOR, "shop", "till") == TEXAS
    assert access.scope_for(Role.OPERATOR, "shop", "till") is None
    assert access.scope_for(Role.OPERATOR, "kitchen", "grill") == YORK
    assert access.scope_for(Role.EDITOR, "kitchen", "grill") == YORK
    assert access.scope_for(Role.EDITOR, "shop", "grill") == Or((TEXAS, YORK))
    assert access.scope_for(Role.EDITOR, "kitchen") is None, "one application is not all of them"
    assert access.scope_for(Role.EDITOR, "kitchen", "fryer") is None
    assert access.scope_for(Role.EDITOR, "") is None, "fleet layers are nobody's part"
    assert not access.scopes


def test_who_is_covered_for_a_part_is_told_that_the_inventory_takes_more() -> None:
    with pytest.raises(Denied) as refusal:
        access_of(ANA, [SHOP]).need(Role.EDITOR)
    assert refusal.value.message == '"ana" has the role editor for a part of the workload only'
    assert refusal.value.hint == (
        "this takes a grant of editor that covers no part; ask an admin for one"
    )
    with pytest.raises(Denied, match='"ana" has not got the role operator'):
        access_of(ANA, [SHOP]).need(Role.OPERATOR)


def test_who_has_a_role_without_coverage_has_it_over_every_part() -> None:
    access = access_of(ANA, [Grant("x", Role.OPERATOR, YORK, subject="ana"), SHOP])
    assert access.scope_for(Role.OPERATOR, "shop", "till") == YORK
    assert access.scope_for(Role.EDITOR, "shop", "till") == Or((TEXAS, YORK))
    assert access.scope_for(Role.EDITOR, "") == access.need(Role.EDITOR) == YORK
    root = access_of(Actor("root", standing=Role.ADMIN), [])
    assert root.scope_for(Role.ADMIN, "shop", "till") == Everything()


def test_one_sees_the_clusters_of_every_grant_and_what_any_of_them_covers() -> None:
    access = access_of(ANA, [SHOP, GRILL])
    assert access.sight == access.need(Role.READER) == Or((TEXAS, YORK))
    assert access.coverage == Coverage(frozenset({"shop"}), frozenset({"grill"}))
    assert not access.sees_all
    everywhere = access_of(ANA, [replace(SHOP, scope=Everything())])
    assert everywhere.sight == Everything()
    assert not everywhere.sees_all
    assert not everywhere.reads_grants


def test_who_reads_all_of_the_workload_wherever_they_read_is_not_covered_for_a_part() -> None:
    both = Grant("both", Role.READER, Or((TEXAS, YORK)), subject="ana")
    for whole in (
        [Grant("t", Role.READER, TEXAS, subject="ana"), Grant("y", Role.READER, YORK, "ana")],
        [both],
        [Grant("all", Role.READER, Everything(), subject="ana")],
    ):
        access = access_of(ANA, [SHOP, *whole])
        assert access.coverage is None, whole
        assert access.scope_for(Role.EDITOR, "shop") == TEXAS
    assert access_of(ANA, [Grant("all", Role.READER, Everything(), subject="ana")]).sees_all


def test_what_is_seen_whole_somewhere_stays_so_beside_what_is_covered_elsewhere() -> None:
    whole = Grant("y", Role.READER, YORK, subject="ana")
    access = access_of(ANA, [SHOP, whole])
    assert access.sight == Or((TEXAS, YORK))
    assert access.coverage == CoveredBesides(frozenset({"shop"}), wholly=YORK)


def test_one_holds_a_role_who_holds_it_over_anything() -> None:
    access = access_of(ANA, [SHOP])
    assert [access.holds(role) for role in Role] == [True, True, False, False]
    assert not access_of(Actor("ben"), [SHOP]).holds(Role.READER)
    assert access_of(Actor("root", standing=Role.ADMIN), []).holds(Role.ADMIN)


def test_keys_differ_where_what_is_covered_does() -> None:
    admin = Grant("x", Role.ADMIN, TEXAS, subject="ana")
    variants = [
        [SHOP],
        [replace(SHOP, namespaces=("bar",))],
        [replace(SHOP, namespaces=(), applications=("shop",))],
        [replace(SHOP, namespaces=("shop", "bar"))],
        [replace(SHOP, scope=YORK)],
        [replace(SHOP, scope=YORK), admin],
        [replace(SHOP, scope=Or((TEXAS, YORK)))],
        [admin],
        [],
    ]
    keys = [access_of(ANA, grants).key for grants in variants]
    assert len(set(keys)) == len(variants)
    assert access_of(ANA, [admin, SHOP]).key == access_of(ANA, [admin]).key
    assert access_of(ANA, [replace(SHOP, role=Role.READER)]).key == keys[0], "readers read alike"


def test_a_follower_whose_coverage_changes_saw_through_another_scope() -> None:
    fleet = Twin.of([SHOP])
    before = reader_scope(ANA, fleet)
    fleet.put(Ref(Kind.GRANT, "shop"), replace(SHOP, namespaces=("bar",)))
    assert reader_scope(ANA, fleet) != before
    fleet.put(Ref(Kind.GRANT, "shop"), replace(SHOP, role=Role.ADMIN))
    assert reader_scope(ANA, fleet) == before
