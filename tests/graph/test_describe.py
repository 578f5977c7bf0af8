from __future__ import annotations

from dataclasses import replace

from graph.describe import describe
from graph.model.access import Grant, Role
from graph.model.change import Change, Entity
from graph.model.inventory import Capacity, Cluster, SavedSelector
from graph.model.names import GroupNumber
from graph.model.selector import Everything, HasLabel, Under
from graph.model.values import Values
from graph.model.view import group_at
from graph.model.workload import (
    Application,
    Assignment,
    Base,
    Choice,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    Template,
)
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


def test_the_workload_is_told_in_its_own_words() -> None:
    view = small()
    number = group_at(view, "/geo/us/tx")
    assert number is not None
    texas = Under(number)
    spread = Assignment("spread", Choice("pos", ("till", "menu"), {"tier": "edge"}), texas)
    law = Prohibition("law", Choice(applications=("till",)), texas)
    layer = Layer("texas", texas, Values.of({"lanes": 2}), "till")
    told: list[tuple[Entity, list[str], str]] = [
        (Namespace("pos"), [], "defined, deleted"),
        (Application("till", "pos"), ["in namespace pos"], "defined, deleted"),
        (
            spread,
            ['till, menu of namespace pos with tier = "edge" on /geo/us/tx'],
            "assigned, unassigned",
        ),
        (law, ["till on /geo/us/tx"], "prohibited, lifted"),
        (replace(law, choice=Choice()), ["every application on /geo/us/tx"], "prohibited, lifted"),
        (layer, ['{"lanes":2} for application till on /geo/us/tx'], "set, removed"),
        (
            replace(layer, application=""),
            ['{"lanes":2} for the fleet on /geo/us/tx'],
            "set, removed",
        ),
        (Policy("quota", ("pos", "menu")), ["for namespace pos, menu"], "set, removed"),
        (Policy("quota", (), texas), ["for /geo/us/tx"], "set, removed"),
    ]
    for entity, lines, words in told:
        made, gone = words.split(", ")
        assert describe(Change(None, entity), view) == [made, *lines]
        assert describe(Change(entity, None), view) == [gone]


def test_a_redefined_application_tells_each_difference() -> None:
    before = Application("till", "pos", labels={"tier": "edge"}, source=Base("base/v1"))
    after = replace(
        before,
        labels={"tier": "core", "team": "a"},
        requires=HasLabel("lanes"),
        depends_on=("agent", "menu"),
        requests=Capacity(1_500, 2_048),
        source=Template({"till.yaml": ""}),
        values=Values.of({"a": True}),
        late_bound=(LateBound("host", "pos-{cluster}"), LateBound("id")),
    )
    assert describe(Change(before, after), small()) == [
        'labels: tier = "edge" -> team = "a", tier = "core"',
        "requires: none -> has lanes",
        "depends on: none -> agent, menu",
        "requests: none -> 1,500 millicores, 2,048 MiB",
        "source: base base/v1 with 0 bindings -> template of till.yaml",
        'values: {} -> {"a":true}',
        'late bound: none -> host from "pos-{cluster}", id from layers',
    ]
