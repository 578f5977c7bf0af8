"""Grants folded into scopes, and the role each command needs."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from graph.access import ROLES, access_of, role_for
from graph.model.access import Actor, Grant, Role
from graph.model.change import Change
from graph.model.command import Command, Revert
from graph.model.errors import Denied
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, LabelType, Mode
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.selector import Everything, HasLabel, Or, Under

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
    assert {role for role in ROLES.values()} == {Role.EDITOR, Role.ADMIN}


def test_a_revert_needs_the_strongest_role_its_changes_need() -> None:
    cluster = Change(None, Cluster(ClusterNumber(0), "c"))
    group = Change(Group(GroupNumber(0), "geo", None, "geo"), None)
    key = Change(None, LabelKey("size", LabelType.TEXT))
    hierarchy = Change(Hierarchy("geo", Mode.SINGLE), None)
    grant = Change(None, Grant("g", Role.READER, TEXAS, subject="ana"))

    def needed(*changes: Change) -> Role:
        return role_for(Revert(Revision(1), "", Revision(2), changes))

    assert needed() is Role.EDITOR
    assert needed(cluster, group) is Role.EDITOR
    for change in (key, hierarchy, grant):
        assert needed(cluster, change) is Role.ADMIN
