"""What is in the way of an application, in words."""

from __future__ import annotations

from graph.effective.configuration import late_told
from graph.effective.obstacle import obstacles
from graph.effective.reading import Reading
from graph.model.access import Coverage
from graph.model.command import UpdateCluster
from graph.model.workload import Choice
from graph.model.workload_command import Prohibit, SetLayer
from told import TOO_SMALL, kitchen, number, reading_of


def told(reading: Reading, application: str, cluster: str) -> list[tuple[str, str, list[str]]]:
    definition = reading.state.definitions[application]
    found = obstacles(definition, number(reading, cluster), reading)
    return [(each.kind.value, each.message, [str(ref) for ref in each.about]) for each in found]


def test_nothing_is_in_the_way_where_it_is_effective_or_not_assigned() -> None:
    reading = reading_of(kitchen())
    assert told(reading, "grill", "austin-1") == []
    assert told(reading, "advert", "york-1") == []


def test_the_clauses_of_a_requirement_that_do_not_hold_are_told() -> None:
    reading = reading_of(kitchen())
    ((kind, message, about),) = told(reading, "grill", "austin-2")
    assert (kind, about) == ("requires", ["application:grill"])
    assert message == (
        "it requires /devices/grill (it is in no group of /devices); "
        "has lanes (it has no label lanes)"
    )
    ((_, message, _),) = told(reading, "grill", "york-1")
    assert message == "it requires /devices/grill (it is in /devices/camera)"


def test_a_reconciler_it_does_not_know_is_told() -> None:
    reading = reading_of(kitchen())
    ((kind, message, _),) = told(reading, "player", "austin-1")
    assert (kind, message) == (
        "reconciler",
        "it runs under argocd, and the cluster has flux",
    )


def test_a_prohibition_is_told_and_one_that_comes_through_a_dependency() -> None:
    law = Prohibit("law", Choice("", ("grill",)), "/geo/us/tx")
    reading = reading_of(kitchen(law))
    assert told(reading, "grill", "austin-1") == [
        ("prohibition", 'prohibition "law" takes it', ["prohibition:law"])
    ]
    assert told(reading, "board", "austin-1") == [
        (
            "prohibition",
            'it needs grill, which prohibition "law" takes',
            ["prohibition:law", "application:grill"],
        )
    ]


def test_a_dependency_that_is_not_there_is_told_with_how_it_stands() -> None:
    reading = reading_of(kitchen())
    assert told(reading, "board", "austin-2") == [
        ("dependency", "it needs grill, which is lacking", ["application:grill"])
    ]


def test_a_cluster_that_is_too_small_is_told_in_numbers() -> None:
    reading = reading_of(kitchen(TOO_SMALL))
    found = dict((kind, message) for kind, message, _ in told(reading, "grill", "austin-1"))
    assert found == {
        "capacity": "more is asked of the cluster than it has: 111 of 50 millicores",
    }
    assert {kind for kind, _, _ in told(reading, "board", "austin-1")} == {
        "capacity",
        "dependency",
    }


def test_layers_that_contradict_each_other_are_both_told() -> None:
    other = SetLayer("grill-lanes", "has lanes", {"menu": ["b"]}, "grill")
    reading = reading_of(kitchen(other))
    ((kind, message, about),) = told(reading, "grill", "austin-1")
    assert kind == "conflict" and "menu" in message
    assert sorted(about) == ["layer:grill-lanes", "layer:grill-large"]


def test_late_bound_keys_are_told_without_a_value_and_with_two() -> None:
    no_size = kitchen(UpdateCluster("austin-1", labels={"size": None}))
    ((kind, message, about),) = told(reading_of(no_size), "grill", "austin-1")
    assert (kind, about) == ("late_bound", ["cluster:0"])
    assert message == (
        "host has no value: no layer sets it here, and the cluster has no label size"
    )
    two = kitchen(
        SetLayer("one-host", "has lanes", {"host": "a"}, "grill"),
        SetLayer("two-hosts", "size = large", {"host": "b"}, "grill"),
    )
    ((kind, message, about),) = told(reading_of(two), "grill", "austin-1")
    assert (kind, sorted(about)) == ("conflict", ["layer:one-host", "layer:two-hosts"])
    assert "host" in message and "nothing says which is stronger" in message


def test_who_does_not_see_what_is_in_the_way_reads_that_something_is() -> None:
    covered = Coverage(frozenset(), frozenset({"board"}))
    law = Prohibit("law", Choice("", ("grill",)), "/geo/us/tx")
    assert told(reading_of(kitchen(law), "/geo/us/tx", covered), "board", "austin-1") == [
        ("prohibition", "a prohibition you do not see takes it", [])
    ]
    assert told(reading_of(kitchen(), "/geo/us/tx", covered), "board", "austin-2") == [
        ("dependency", "it needs something that is not there", [])
    ]
    small = reading_of(kitchen(TOO_SMALL), "/geo/us/tx", covered)
    assert ("capacity", "more is asked of the cluster than it has", ["cluster:0"]) in told(
        small, "board", "austin-1"
    )


def test_a_label_one_does_not_see_is_not_named_by_what_takes_it() -> None:
    twin = kitchen(UpdateCluster("austin-1", labels={"size": None}))
    reading = reading_of(twin, "cluster austin-1")
    assert reading.view.label_key("size") is None
    late = list(late_told(reading.state.definitions["grill"], number(reading, "austin-1"), reading))
    assert [(each.key, each.value, each.source) for each in late] == [("host", None, "")]
    ((kind, message, about),) = told(reading, "grill", "austin-1")
    assert (kind, about) == ("late_bound", ["cluster:0"])
    assert message == (
        "host has no value: no layer sets it here, and it takes a label you do not see"
    )


def test_layers_one_does_not_see_are_not_named_by_a_late_bound_key_they_tear() -> None:
    twin = kitchen(
        SetLayer("seen", "has lanes", {"host": "a"}, "grill"),
        SetLayer("hidden-1", "namespace signs", {"host": "b"}, "grill"),
        SetLayer("hidden-2", "namespace signs", {"host": "c"}, "grill"),
    )
    covered = Coverage(frozenset({"kitchen"}), frozenset())
    unseen = "the values do not fit together with a layer you do not see"
    found = told(reading_of(twin, "/geo/us/tx", covered), "grill", "austin-1")
    assert sorted(found) == [
        ("conflict", unseen, []),
        ("conflict", unseen, ["layer:seen"]),
    ], "nor is it told how many there are"
