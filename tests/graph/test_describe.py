from __future__ import annotations

from dataclasses import replace

from graph.describe import describe
from graph.model.access import Grant, Role
from graph.model.change import Change
from graph.model.inventory import Cluster, SavedSelector
from graph.model.names import GroupNumber
from graph.model.selector import Everything, Under
from graph.model.view import group_at
from small import small


def cluster_of(name: str) -> Cluster:
    view = small()
    number = view.cluster_number(name)
    assert number is not None
    found = view.cluster(number)
    assert found is not None
    return found


def test_a_new_cluster_tells_where_it_is_and_what_it_has() -> None:
    assert describe(Change(None, cluster_of("austin-2")), small()) == [
        "registered",
        "joined /geo/us/tx/austin",
        'size = "small"',
    ]


def test_a_retired_cluster_is_one_word() -> None:
    assert describe(Change(cluster_of("austin-2"), None), small()) == ["retired"]


def test_a_changed_cluster_tells_each_difference() -> None:
    before = cluster_of("austin-1")
    york = group_at(small(), "/geo/us/ny")
    austin = group_at(small(), "/geo/us/tx/austin")
    assert york is not None
    kept = {york, *before.memberships} - {austin}
    after = replace(
        before,
        title="First",
        labels={"size": "small", "open": True},
        memberships=tuple(sorted(kept)),
    )
    assert describe(Change(before, after), small()) == [
        'title: none -> "First"',
        "lanes removed (was 2)",
        "open = true",
        'size: "large" -> "small"',
        "left /geo/us/tx/austin",
        "joined /geo/us/ny",
    ]


def test_a_moved_group_names_both_parents() -> None:
    view = small()
    number = group_at(view, "/geo/us/tx")
    canada = group_at(view, "/geo/ca")
    assert number is not None
    group = view.group(number)
    assert group is not None
    moved = replace(group, parent=canada, name="texas")
    assert describe(Change(group, moved), view) == [
        "moved from /geo/us to /geo/ca",
        'renamed "tx" -> "texas"',
    ]


def test_a_grant_tells_to_whom_it_gives_what() -> None:
    view = small()
    texas = view.saved_selector("texas")
    assert texas is not None
    grant = Grant("texas", Role.READER, texas.selector, subject="ana")
    crew = replace(grant, role=Role.EDITOR, subject="", claim="night-crew", scope=Everything())
    assert describe(Change(None, grant), view) == [
        "granted",
        'reader to subject "ana" over /geo/us/tx',
    ]
    assert describe(Change(None, crew), view)[1] == 'editor to claim "night-crew" over all'
    assert describe(Change(grant, crew), view) == [
        'role: "reader" -> "editor"',
        "scope: /geo/us/tx -> all",
        'subject: "ana" -> none',
        'claim: none -> "night-crew"',
    ]
    assert describe(Change(grant, None), view) == ["revoked"]


def test_what_names_a_deleted_group_is_still_told() -> None:
    view = small()
    gone = GroupNumber(10_000)
    before = SavedSelector("x", Under(gone))
    texas = view.saved_selector("texas")
    assert texas is not None
    assert describe(Change(before, texas), view)[-1] == (
        "a selector over groups since deleted -> /geo/us/tx"
    )
    cluster = cluster_of("york-1")
    left = replace(cluster, memberships=(*cluster.memberships, gone))
    assert describe(Change(left, cluster), view) == ["left group 10,000, since deleted"]
