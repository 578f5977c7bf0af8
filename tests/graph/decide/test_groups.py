"""Groups: created, titled, renamed, moved, deleted."""

from __future__ import annotations

import pytest

from graph.model.command import (
    CreateGroup,
    DeleteGroup,
    MoveGroup,
    RenameGroup,
    SaveSelector,
    UpdateGroup,
)
from graph.model.errors import Conflict, Invalid, NotFound, Rejected
from graph.model.names import GROUP_DEPTH_MAX
from graph.model.view import group_at, path_of
from graph.targeting.syntax import to_text
from small import give, small


def names_in(fleet, path):
    return {fleet.cluster_name(number) for number in fleet.members(group_at(fleet, path))}


def test_a_group_is_created_below_a_group_that_exists():
    fleet = small()
    give(fleet, CreateGroup("/geo/us/tx/dallas", title="Dallas"))
    group = fleet.group(group_at(fleet, "/geo/us/tx/dallas"))
    assert (group.title, group.hierarchy, group.changed) == ("Dallas", "geo", 2)


def test_a_group_without_a_parent_is_refused_and_says_what_to_create_first():
    with pytest.raises(NotFound, match='no group "ohio" in /geo/us') as refusal:
        give(small(), CreateGroup("/geo/us/ohio/akron"))
    assert refusal.value.hint == "create /geo/us/ohio first"
    assert refusal.value.path == ("commands", 0, "path")


def test_an_unknown_hierarchy_offers_the_nearest():
    with pytest.raises(NotFound) as refusal:
        give(small(), CreateGroup("/gio/us"))
    assert refusal.value.hint == "did you mean geo?"


def test_a_taken_name_is_refused():
    with pytest.raises(Conflict, match="has a group"):
        give(small(), CreateGroup("/geo/us/tx"))


def test_a_root_is_not_created_as_a_group():
    with pytest.raises(Invalid, match="root of a hierarchy"):
        give(small(), CreateGroup("/stores"))


def test_a_title_is_changed_alone():
    fleet = small()
    (change,) = give(fleet, UpdateGroup("/geo/us/tx", title="Texas"))
    assert (change.before.title, change.after.title) == ("", "Texas")


def test_a_rename_is_one_change_whatever_is_below_and_a_stored_selector_follows():
    fleet = small()
    (change,) = give(fleet, RenameGroup("/geo/us/tx", "texas"))
    assert change.before.number == change.after.number
    assert names_in(fleet, "/geo/us/texas/austin") == {"austin-1", "austin-2"}
    assert to_text(fleet.saved_selector("texas").selector, fleet) == "/geo/us/texas"


def test_a_move_takes_the_whole_subtree_and_a_stored_selector_follows():
    fleet = small()
    (change,) = give(fleet, MoveGroup("/geo/us/tx", "/geo/ca"))
    assert change.before.number == change.after.number
    assert names_in(fleet, "/geo/ca") == {"austin-1", "austin-2"}
    assert names_in(fleet, "/geo/us") == {"york-1"}
    assert to_text(fleet.saved_selector("texas").selector, fleet) == "/geo/ca/tx"


def test_a_move_below_itself_would_form_a_cycle_and_is_refused():
    for parent in ("/geo/us/tx", "/geo/us/tx/austin"):
        with pytest.raises(Rejected, match="cycle"):
            give(small(), MoveGroup("/geo/us/tx", parent))


def test_moves_that_form_a_cycle_only_together_are_refused():
    with pytest.raises(Rejected, match="cycle") as refusal:
        give(small(), MoveGroup("/geo/ca", "/geo/us/ny"), MoveGroup("/geo/us", "/geo/us/ny/ca"))
    assert refusal.value.path == ("commands", 1)


def test_parent_and_child_may_change_places_in_one_batch():
    fleet = small()
    give(fleet, MoveGroup("/geo/us/tx", "/geo"), MoveGroup("/geo/us", "/geo/tx"))
    assert path_of(fleet, group_at(fleet, "/geo/tx/us/ny")) == "/geo/tx/us/ny"
    assert names_in(fleet, "/geo/tx") == {"austin-1", "austin-2", "york-1"}
    assert names_in(fleet, "/geo/tx/us") == {"york-1"}


def test_siblings_may_swap_names_in_one_batch():
    fleet = small()
    before = group_at(fleet, "/geo/us/tx")
    give(
        fleet,
        RenameGroup("/geo/us/tx", "aside"),
        RenameGroup("/geo/us/ny", "tx"),
        RenameGroup("/geo/us/aside", "ny"),
    )
    assert group_at(fleet, "/geo/us/ny") == before


def test_a_group_does_not_leave_its_hierarchy():
    with pytest.raises(Invalid, match="cannot leave its hierarchy"):
        give(small(), MoveGroup("/geo/us/tx", "/devices/grill"))


@pytest.mark.parametrize(
    "command", [RenameGroup("/geo", "earth"), MoveGroup("/geo", "/geo/us"), DeleteGroup("/geo")]
)
def test_a_root_is_neither_renamed_moved_nor_deleted(command):
    with pytest.raises(Invalid, match="root of its hierarchy"):
        give(small(), command)


def test_a_move_that_would_make_a_path_too_deep_is_refused():
    fleet = small()
    path = "/geo/ca"
    chain = []
    for level in range(GROUP_DEPTH_MAX - 2):
        path = f"{path}/l{level}"
        chain.append(CreateGroup(path))
    give(fleet, *chain)
    with pytest.raises(Invalid, match="33 levels"):
        give(fleet, MoveGroup("/geo/ca", "/geo/us"))


def test_an_empty_group_is_deleted():
    fleet = small()
    give(fleet, DeleteGroup("/geo/ca"))
    assert group_at(fleet, "/geo/ca") is None


def test_a_group_that_holds_something_is_deleted_only_with_cascade():
    fleet = small()
    with pytest.raises(Rejected, match="holds 1 group and 2 clusters") as refusal:
        give(fleet, DeleteGroup("/geo/us/tx"))
    assert "cascade" in refusal.value.hint


def test_cascade_deletes_the_subtree_and_the_memberships_and_keeps_the_clusters():
    fleet = small()
    give(fleet, DeleteGroup("/devices/grill", cascade=True))
    assert group_at(fleet, "/devices/grill") is None
    austin = fleet.cluster(fleet.cluster_number("austin-1"))
    assert [path_of(fleet, each) for each in austin.memberships] == ["/geo/us/tx/austin"]


def test_deleting_what_a_stored_selector_names_is_refused_with_the_referrers():
    fleet = small()
    give(fleet, SaveSelector("austin", "only /geo/us/tx/austin"))
    with pytest.raises(Rejected, match="is named by 1 saved selector") as refusal:
        give(fleet, DeleteGroup("/geo/us", cascade=True))
    assert refusal.value.reasons in (("@texas",), ("@austin",))


def test_a_deleted_number_is_never_given_again():
    fleet = small()
    give(fleet, CreateGroup("/geo/us/last"))
    last = group_at(fleet, "/geo/us/last")
    give(fleet, DeleteGroup("/geo/us/last"))
    give(fleet, CreateGroup("/geo/us/last"))
    assert group_at(fleet, "/geo/us/last") == last + 1
