"""Grants: to whom, which role, over which clusters; and what they keep from vanishing."""

from __future__ import annotations

import pytest

from at_work import refused, working
from graph.model.access import Coverage, Grant, Role
from graph.model.command import (
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteHierarchy,
    GrantAccess,
    MoveGroup,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    RevokeAccess,
    UpdateCluster,
    UpdateGroup,
)
from graph.model.errors import (
    Conflict,
    Invalid,
    NotFound,
    Rejected,
    SelectorNotFound,
    TrellisError,
)
from graph.model.inventory import LabelType
from graph.model.names import GroupNumber, Revision
from graph.model.selector import (
    And,
    Everything,
    HasLabel,
    InNamespace,
    Not,
    Or,
    Saved,
    Selector,
    Under,
)
from graph.model.view import group_at
from graph.model.workload_command import DefineApplication, DefineNamespace
from small import give, small
from twin import Twin

TEXAS = GrantAccess("texas", Role.EDITOR, subject="ana", scope="/geo/us/tx", title="Texas")


def place(fleet: Twin, path: str) -> GroupNumber:
    found = group_at(fleet, path)
    assert found is not None
    return found


def granted(fleet: Twin, name: str) -> Grant:
    found = fleet.grant(name)
    assert found is not None
    return found


def test_a_grant_is_what_the_command_says():
    fleet = small()
    give(fleet, TEXAS)
    assert fleet.grants() == [
        Grant(
            name="texas",
            role=Role.EDITOR,
            scope=Under(place(fleet, "/geo/us/tx")),
            subject="ana",
            title="Texas",
            changed=Revision(2),
        )
    ]


def test_a_grant_covers_the_whole_fleet_unless_it_says_less():
    fleet = small()
    give(fleet, GrantAccess("everybody", Role.READER, claim="staff"))
    assert granted(fleet, "everybody").scope == Everything()


def test_a_grant_under_a_known_name_replaces_it_whole():
    fleet = small()
    give(fleet, TEXAS)
    give(fleet, GrantAccess("texas", Role.READER, claim="staff"))
    assert granted(fleet, "texas") == Grant(
        "texas", Role.READER, Everything(), claim="staff", changed=Revision(3)
    )


def test_the_same_grant_again_changes_nothing():
    fleet = small()
    give(fleet, TEXAS)
    assert give(fleet, TEXAS) == ()
    assert fleet.cursor.revision == 2


def test_a_scope_follows_its_group_wherever_it_goes():
    fleet = small()
    give(fleet, TEXAS)
    there = place(fleet, "/geo/us/tx")
    give(fleet, RenameGroup("/geo/us/tx", "texas"), MoveGroup("/geo/us/texas", "/geo/ca"))
    assert granted(fleet, "texas").scope == Under(there)


def test_a_scope_sees_what_the_batch_has_made_before_it():
    fleet = small()
    give(
        fleet,
        CreateGroup("/geo/mx"),
        GrantAccess("mexico", Role.READER, "ana", scope="/geo/mx"),
    )
    assert granted(fleet, "mexico").scope == Under(place(fleet, "/geo/mx"))


# refusals


@pytest.mark.parametrize("name", ["", "Texas", "a_b", "-a", "a" * 64, "a/b"])
def test_what_is_no_name_names_no_grant(name: str):
    with pytest.raises(Invalid, match="is not a grant name"):
        give(small(), GrantAccess(name, Role.READER, "ana"))


@pytest.mark.parametrize(
    ("subject", "claim", "says"),
    [
        ("", "", "no subject and no claim"),
        ("ana", "staff", "both a subject and a claim"),
        ("  ", "", "the subject is blank"),
        ("", "\u2003", "the claim is blank"),
        ("a\nb", "", "the subject holds the character U\\+000A"),
        ("", "\ud800", "the claim holds the character U\\+D800"),
        ("x" * 201, "", "the subject has 201 characters"),
    ],
)
def test_a_grant_is_for_one_readable_subject_or_claim(subject: str, claim: str, says: str):
    with pytest.raises(Invalid, match=says) as refusal:
        give(small(), GrantAccess("texas", Role.READER, subject, claim))
    assert refusal.value.hint
    assert refusal.value.path == ("commands", 0)


@pytest.mark.parametrize("text", ["@texas", "not @texas", "/geo/ca or (size = large and @texas)"])
def test_a_scope_in_text_names_no_saved_selector_at_any_depth(text: str):
    with pytest.raises(Invalid, match="the scope names the saved selector @texas") as refusal:
        give(small(), GrantAccess("texas", Role.READER, "ana", scope=text))
    assert "write out what @texas selects" in refusal.value.hint


@pytest.mark.parametrize(
    "tree",
    [
        Saved("texas"),
        Not(Saved("texas")),
        Or((HasLabel("size"), And((Everything(), Not(Saved("texas")))))),
    ],
)
def test_a_scope_as_a_tree_names_no_saved_selector_at_any_depth(tree: Selector):
    with pytest.raises(Invalid, match="the scope names the saved selector @texas"):
        give(small(), GrantAccess("texas", Role.READER, "ana", scope=tree))


def test_a_scope_names_what_is_there():
    with pytest.raises(SelectorNotFound, match="usa"):
        give(small(), GrantAccess("usa", Role.READER, "ana", scope="/geo/usa"))
    with pytest.raises(NotFound, match="group:99, which does not exist"):
        give(small(), GrantAccess("usa", Role.READER, "ana", scope=Under(GroupNumber(99))))


@pytest.mark.parametrize("scope", ["namespace shop", InNamespace("shop"), "/geo/ca or /n/shop"])
def test_a_scope_names_no_namespace(scope: str | Selector):
    with pytest.raises(Invalid, match="the scope names the namespace shop") as refusal:
        give(working(), GrantAccess("shops", Role.READER, "ana", scope=scope))
    assert "write out which clusters are meant" in refusal.value.hint


def test_a_grant_may_cover_a_part_of_the_workload():
    fleet = working()
    give(
        fleet,
        GrantAccess(
            "shops",
            Role.EDITOR,
            "ana",
            scope="/geo/us",
            namespaces=("shop", "kitchen"),
            applications=("till", "grill"),
        ),
    )
    grant = granted(fleet, "shops")
    assert grant.namespaces == ("kitchen", "shop")
    assert grant.applications == ("grill", "till")
    assert grant.coverage == Coverage(frozenset(grant.namespaces), frozenset(grant.applications))
    assert granted(small_with(TEXAS), "texas").coverage is None


def small_with(command: GrantAccess) -> Twin:
    fleet = small()
    give(fleet, command)
    return fleet


@pytest.mark.parametrize(
    ("command", "kind", "says"),
    [
        (GrantAccess("g", Role.EDITOR, "ana", namespaces=("shp",)), NotFound, 'called "shp"'),
        (GrantAccess("g", Role.EDITOR, "ana", applications=("tll",)), NotFound, 'called "tll"'),
        (
            GrantAccess("g", Role.EDITOR, "ana", namespaces=("shop", "shop")),
            Invalid,
            'the namespaces list "shop" twice',
        ),
        (
            GrantAccess("g", Role.EDITOR, "ana", applications=("till", "till")),
            Invalid,
            'the applications list "till" twice',
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_grant_covers_what_is_there(command: GrantAccess, kind: type[TrellisError], says: str):
    assert says in refused(kind, working(), command).message


def test_what_a_grant_covers_has_changed_since():
    fleet = working()
    give(
        fleet,
        DefineNamespace("kitchen", title="Kitchen"),
        DefineApplication("till", "shop", title="Till"),
    )
    for command in (
        GrantAccess("g", Role.EDITOR, "ana", namespaces=("kitchen",)),
        GrantAccess("g", Role.EDITOR, "ana", applications=("till",)),
    ):
        with pytest.raises(Conflict, match="has changed at revision 3"):
            give(fleet, command, expected=2)


def test_a_title_is_readable():
    with pytest.raises(Invalid, match="the title"):
        give(small(), GrantAccess("texas", Role.READER, "ana", title="a\tb"))


# taking it back


def test_a_revoked_grant_is_gone():
    fleet = small()
    give(fleet, TEXAS)
    give(fleet, RevokeAccess("texas"))
    assert fleet.grants() == []


def test_an_unknown_grant_is_not_found_and_the_nearest_is_named():
    fleet = small()
    give(fleet, TEXAS)
    with pytest.raises(NotFound, match='no grant called "texs"') as refusal:
        give(fleet, RevokeAccess("texs"))
    assert refusal.value.hint == "did you mean texas?"
    with pytest.raises(NotFound) as refusal:
        give(small(), RevokeAccess("texas"))
    assert refusal.value.hint


# what a grant names stays


def test_what_a_scope_names_cannot_vanish_and_the_grant_is_listed():
    fleet = small()
    give(
        fleet,
        CreateHierarchy("ring"),
        DeclareLabel("zone", LabelType.TEXT),
        GrantAccess("austin", Role.READER, "ana", scope="/geo/us/tx/austin or cluster york-1"),
        GrantAccess("rings", Role.READER, "ana", scope="/ring or has zone"),
    )
    for command, shown, grant in (
        (RetireCluster("york-1"), 'cluster "york-1"', "austin"),
        (DeleteGroup("/geo/us/tx/austin", cascade=True), "/geo/us/tx/austin", "austin"),
        (RemoveLabel("zone"), 'label "zone"', "rings"),
        (DeleteHierarchy("ring"), "/ring", "rings"),
    ):
        with pytest.raises(Rejected) as refusal:
            give(fleet, command)
        assert refusal.value.message == f"{shown} is named by 1 grant"
        assert refusal.value.reasons == (f"grant {grant}",)
        assert refusal.value.hint == f"change grant {grant} first"


def test_saved_selectors_and_grants_are_listed_together():
    fleet = small()
    names = [f"g{number}" for number in range(6)]
    give(fleet, *(GrantAccess(name, Role.READER, "ana", scope="/geo/us/tx") for name in names))
    with pytest.raises(Rejected) as refusal:
        give(fleet, DeleteGroup("/geo/us/tx", cascade=True))
    assert refusal.value.message == "/geo/us/tx is named by 1 saved selector and 6 grants"
    assert refusal.value.reasons == ("@texas", *(f"grant {name}" for name in names))
    assert refusal.value.hint == ("change @texas, grant g0, grant g1, grant g2, grant g3 ... first")


def test_a_batch_may_revoke_a_grant_and_delete_what_it_named():
    fleet = small()
    give(fleet, GrantAccess("flagship", Role.READER, "ana", scope="cluster york-1"))
    give(fleet, RevokeAccess("flagship"), RetireCluster("york-1"))
    assert fleet.cluster_number("york-1") is None


# expected revisions


@pytest.mark.parametrize(
    "command",
    [
        GrantAccess("texas", Role.READER, "ana", scope="/geo/ca"),
        RevokeAccess("texas"),
        GrantAccess("new", Role.READER, "ana", scope="/geo/us/ny"),
        GrantAccess("new", Role.READER, "ana", scope="cluster austin-2"),
    ],
    ids=str,
)
def test_a_grant_or_what_its_scope_names_has_changed_since(command: GrantAccess | RevokeAccess):
    fleet = small()
    give(fleet, TEXAS, UpdateCluster("austin-2", title="Second"), UpdateGroup("/geo/us", "States"))
    with pytest.raises(Conflict, match="has changed at revision 2"):
        give(fleet, command, expected=1)
    give(fleet, GrantAccess("new", Role.READER, "ana", scope="/geo/ca"), expected=1)
    assert fleet.cursor.revision == 3
