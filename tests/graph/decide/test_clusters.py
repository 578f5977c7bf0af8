"""Clusters: registered, updated, retired; memberships joined and left."""

from __future__ import annotations

import pytest

from graph.model.command import (
    Join,
    Leave,
    RegisterCluster,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
    UpdateHierarchy,
)
from graph.model.errors import Conflict, Invalid, NotFound, Rejected
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import Capacity, ClusterKind, LabelType, Reconciler
from graph.model.names import check_name
from graph.model.view import path_of
from small import give, small


def cluster(fleet, name):
    return fleet.cluster(fleet.cluster_number(name))


def places(fleet, name):
    return {path_of(fleet, each) for each in cluster(fleet, name).memberships}


def test_a_cluster_is_registered_with_everything_in_one_command():
    fleet = small()
    hours = OpeningHours(
        weekly={"sunday": (Interval("10:00", "02:00"),), "monday": (Interval("06:30", "24:00"),)},
        exceptions={"2026-12-25": (), "2026-12-24": (Interval("06:30", "12:00"),)},
    )
    give(
        fleet,
        RegisterCluster(
            "york-2",
            title="Fifth Avenue",
            labels={"size": "large", "lanes": 3.0, "kiosk": True},
            groups=("/geo/us/ny", "/devices/camera", "/devices/grill"),
            capacity=Capacity(4000, 16384),
            time_zone="America/New_York",
            opening_hours=hours,
            reconciler=Reconciler.ARGOCD,
        ),
        declare=True,
    )
    york = cluster(fleet, "york-2")
    assert york.labels == {"kiosk": True, "lanes": 3, "size": "large"}
    assert places(fleet, "york-2") == {"/geo/us/ny", "/devices/camera", "/devices/grill"}
    assert list(york.opening_hours.weekly) == ["monday", "sunday"]
    assert list(york.opening_hours.exceptions) == ["2026-12-24", "2026-12-25"]
    assert (york.reconciler, york.changed, york.number) == (Reconciler.ARGOCD, 2, 3)
    assert fleet.label_key("kiosk").type is LabelType.BOOLEAN


def test_a_taken_cluster_name_is_refused():
    with pytest.raises(Conflict, match='cluster "york-1" exists'):
        give(small(), RegisterCluster("york-1"))


@pytest.mark.parametrize(
    "name",
    [
        "",
        "York",
        "york_1",
        "-york",
        "york-",
        "y" * 64,
        "york.1",
        "yörk",
        "york\n",
        "york\x00",
        "york\ud800",
        "../york",
    ],
)
def test_a_name_that_is_no_dns_label_is_refused(name):
    with pytest.raises(Invalid, match="is not a cluster name"):
        give(small(), RegisterCluster(name))


def test_the_longest_name_is_63_bytes():
    assert check_name("y" * 63, "cluster") == "y" * 63


@pytest.mark.parametrize("title", ["a\x00b", "a\nb", "a\ud800b", "a" * 201, "a\u2028b"])
def test_a_title_that_could_not_be_kept_or_shown_is_refused(title):
    with pytest.raises(Invalid):
        give(small(), RegisterCluster("york-2", title=title))


def test_the_reconciler_follows_the_kind_and_must_fit_it():
    fleet = small()
    give(fleet, RegisterCluster("host-1", kind=ClusterKind.HOST))
    assert cluster(fleet, "host-1").reconciler is Reconciler.ANSIBLE
    give(fleet, UpdateCluster("host-1", kind=ClusterKind.KUBERNETES))
    assert cluster(fleet, "host-1").reconciler is Reconciler.FLUX
    with pytest.raises(Invalid, match="does not reconcile"):
        give(fleet, UpdateCluster("host-1", reconciler=Reconciler.ANSIBLE))


def test_an_update_touches_only_what_it_states():
    fleet = small()
    before = cluster(fleet, "austin-1")
    give(fleet, UpdateCluster("austin-1", title="Capitol", labels={"lanes": None, "size": "small"}))
    after = cluster(fleet, "austin-1")
    assert after.labels == {"size": "small"}
    assert (after.title, after.memberships) == ("Capitol", before.memberships)


def test_capacity_and_hours_are_removed_by_none_and_kept_by_silence():
    fleet = small()
    give(fleet, UpdateCluster("austin-1", capacity=Capacity(1, 1), opening_hours=OpeningHours()))
    give(fleet, UpdateCluster("austin-1", capacity=None))
    assert cluster(fleet, "austin-1").capacity is None
    assert cluster(fleet, "austin-1").opening_hours == OpeningHours()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (UpdateCluster("york-1", time_zone="America/New_Yrok"), "is not a time zone"),
        (UpdateCluster("york-1", labels={"lanes": "two"}), "is a number"),
        (UpdateCluster("york-1", labels={"size": "huge"}), "not an allowed value"),
        (UpdateCluster("york-1", labels={"lanes": float("inf")}), "out of range"),
        (UpdateCluster("york-1", labels={"lanes": 2**60}), "out of range"),
        (UpdateCluster("york-1", labels={"../lanes": 1}), "is not a label key"),
        (UpdateCluster("york-1", labels={"size": "a\x00"}), "U+0000"),
        (UpdateCluster("york-1", capacity=Capacity(-1, 0)), "capacity"),
        (
            UpdateCluster("york-1", opening_hours=OpeningHours(weekly={"someday": ()})),
            "not a weekday",
        ),
        (
            UpdateCluster(
                "york-1", opening_hours=OpeningHours(weekly={"monday": (Interval("6", "7"),)})
            ),
            "not a time of day",
        ),
        (
            UpdateCluster("york-1", opening_hours=OpeningHours(exceptions={"2026-13-01": ()})),
            "not a date",
        ),
    ],
)
def test_a_field_that_makes_no_sense_is_refused_and_nothing_changes(command, says):
    fleet = small()
    before = cluster(fleet, "york-1")
    with pytest.raises(Invalid) as refusal:
        give(fleet, command)
    assert says in refusal.value.message
    assert refusal.value.hint
    assert cluster(fleet, "york-1") == before


def test_in_a_single_hierarchy_join_replaces_the_place():
    fleet = small()
    give(fleet, Join("york-1", "/geo/ca"))
    assert places(fleet, "york-1") == {"/geo/ca", "/devices/camera"}


def test_in_a_many_hierarchy_join_adds_also_a_group_and_its_ancestor():
    fleet = small()
    give(fleet, Join("york-1", "/devices/grill"), Join("york-1", "/devices/grill/acme3000"))
    assert places(fleet, "york-1") == {
        "/geo/us/ny",
        "/devices/camera",
        "/devices/grill",
        "/devices/grill/acme3000",
    }


def test_two_places_in_a_single_hierarchy_are_refused_at_registration():
    with pytest.raises(Invalid, match="two places in /geo, which allows one"):
        give(small(), RegisterCluster("york-2", groups=("/geo/us/ny", "/geo/ca")))


def test_joining_where_one_is_changes_nothing():
    assert give(small(), Join("york-1", "/geo/us/ny")) == ()


def test_leave_ends_a_direct_membership_and_keeps_the_others():
    fleet = small()
    give(fleet, Leave("austin-1", "/devices/grill"))
    assert places(fleet, "austin-1") == {"/geo/us/tx/austin", "/devices/grill/acme3000"}


def test_leaving_where_one_is_not_directly_says_where_one_is():
    with pytest.raises(NotFound) as refusal:
        give(small(), Leave("austin-2", "/geo/us/tx"))
    assert refusal.value.hint == "it is in /geo/us/tx/austin"


def test_a_retired_cluster_is_gone_and_its_number_is_never_given_again():
    fleet = small()
    give(fleet, RetireCluster("york-1"))
    assert fleet.cluster_number("york-1") is None
    give(fleet, RegisterCluster("york-1"))
    assert fleet.cluster_number("york-1") == 3


def test_retiring_what_a_stored_selector_names_is_refused_with_the_referrers():
    fleet = small()
    give(fleet, SaveSelector("flagship", "cluster york-1"))
    with pytest.raises(Rejected) as refusal:
        give(fleet, RetireCluster("york-1"))
    assert refusal.value.reasons == ("@flagship",)


def test_an_unknown_cluster_offers_the_nearest():
    with pytest.raises(NotFound) as refusal:
        give(small(), RetireCluster("austin-3"))
    assert refusal.value.hint == "did you mean austin-2 or austin-1?"


def test_a_required_hierarchy_may_be_joined_later_in_the_same_batch_but_not_left_out():
    fleet = small()
    give(fleet, UpdateHierarchy("geo", required=True))
    give(fleet, RegisterCluster("york-2"), Join("york-2", "/geo/us/ny"))
    with pytest.raises(Rejected, match="would break the standard: every cluster is in /geo"):
        give(fleet, RegisterCluster("york-3"))
    with pytest.raises(Rejected, match="would break the standard"):
        give(fleet, Leave("york-2", "/geo/us/ny"))
