"""Why an application is on a cluster, and why not."""

from __future__ import annotations

from random import Random

import pytest

from graph.effective.explain import Why, clauses, why
from graph.effective.reading import Reading, Status
from graph.model.access import Coverage
from graph.model.command import Join, MoveGroup, SaveSelector, UpdateCluster
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref
from graph.model.workload import Choice
from graph.model.workload_command import Assign, DefineNamespace, Prohibit, SetLayer
from naive_workload import Naive
from told import kitchen, number, reading_of
from twin import Twin
from workload_fleets import random_workloads

FLEETS = {"test": 40, "campaign": 2_000}


def asked(reading: Reading, application: str, cluster: str) -> Why:
    definition = reading.definition(application)
    assert definition is not None
    return why(definition, number(reading, cluster), reading)


def test_an_application_is_there_because_an_assignment_chooses_the_cluster() -> None:
    reading = reading_of(kitchen())
    found = asked(reading, "grill", "austin-1")
    assert found.status is Status.EFFECTIVE
    assert found.summary == 'yes: assignment "kitchens" chooses it and 1 more'
    assert [(str(each.ref.key), each.holds) for each in found.assignments] == [
        ("kitchens", True),
        ("more-grills", True),
    ]
    told = clauses(found.assignments[1], found.cluster, reading)
    assert told is not None and (told.holds, told.reason.text) == (True, "size = large")
    assert found.requires is not None and found.requires.holds
    assert found.reconciler_fits and found.prohibitions == ()


def test_an_application_that_nothing_assigns_is_told_with_all_that_might() -> None:
    reading = reading_of(kitchen())
    found = asked(reading, "advert", "york-1")
    assert (found.status, found.summary) == (
        Status.UNASSIGNED,
        "no: its one assignment does not choose it",
    )
    told = clauses(found.assignments[0], found.cluster, reading)
    assert told is not None and not told.holds
    assert told.reason.parts[0].fact == "it is in /geo/us/ny"


def test_why_not_begins_with_what_is_in_the_way() -> None:
    reading = reading_of(kitchen())
    assert asked(reading, "advert", "austin-2").summary == (
        'no, prohibited: prohibition "no-adverts" takes it'
    )
    found = asked(reading, "board", "york-1")
    assert found.summary == "no, blocked: it needs grill, which is lacking"
    assert [(each.application, each.status) for each in found.dependencies] == [
        ("grill", Status.LACKING)
    ]
    assert asked(reading, "player", "austin-1").reconciler_fits is False


def test_a_prohibition_on_what_it_needs_is_told_with_the_way_there() -> None:
    law = Prohibit("law", Choice("", ("grill",)), "size = large")
    reading = reading_of(kitchen(law))
    (through,) = asked(reading, "board", "austin-1").prohibitions
    assert (str(through.ref), through.holds, through.through) == (
        "prohibition:law",
        True,
        "grill",
    )
    (elsewhere,) = asked(reading, "board", "york-1").prohibitions
    assert elsewhere.holds is False


CHANGES = {
    "the assignment": (Assign("kitchens", Choice("kitchen"), "/geo"), "assignment:kitchens"),
    "a layer": (SetLayer("grill-tx", "/geo/us/tx", {"night": True}, "grill"), "layer:grill-tx"),
    "the cluster": (UpdateCluster("austin-1", title="First"), "cluster:0"),
    "a group above it": (MoveGroup("/geo/us/tx/austin", "/geo/us"), "group:3"),
}


@pytest.mark.parametrize(("command", "ref"), CHANGES.values(), ids=CHANGES)
def test_the_answer_names_what_changed_last_of_all_it_rests_on(command, ref) -> None:
    twin = kitchen(command, Join("york-1", "/devices/grill"))
    reading = reading_of(twin)
    assert str(asked(reading, "grill", "austin-1").newest) == ref


def test_what_a_saved_selector_says_counts_and_what_nothing_names_does_not() -> None:
    saved = SaveSelector("texas", "/geo/us/tx and size = large")
    reading = reading_of(kitchen(saved))
    assert str(asked(reading, "advert", "austin-1").newest) == "saved_selector:texas"
    aside = reading_of(kitchen(DefineNamespace("aside")))
    assert asked(aside, "advert", "austin-1").newest.kind is not Kind.NAMESPACE


def test_a_selector_that_names_what_is_hidden_is_not_explained() -> None:
    both = Assign("both", Choice("signs", ("advert",)), "/geo/us/tx or /geo/us/ny")
    reading = reading_of(kitchen(both), "/geo/us/tx")
    found = asked(reading, "advert", "austin-1")
    told = {str(each.ref.key): clauses(each, found.cluster, reading) for each in found.assignments}
    assert told["both"] is None and told["signs-tx"] is not None
    assert all(each.holds for each in found.assignments)


def test_who_is_covered_for_a_part_reads_nothing_of_what_it_needs() -> None:
    covered = Coverage(frozenset(), frozenset({"board"}))
    law = Prohibit("law", Choice("", ("grill",)), "size = large")
    reading = reading_of(kitchen(law), "/geo/us/tx", covered)
    found = asked(reading, "board", "austin-1")
    assert found.summary == "no, prohibited: a prohibition you do not see takes it"
    assert (found.prohibitions, found.dependencies) == ((), ())
    assert found.newest != Ref(Kind.PROHIBITION, "law")


@pytest.mark.volume
def test_an_answer_holds_together_for_every_pair(scale: str) -> None:
    pairs = 0
    for seed in range(FLEETS[scale]):
        twin = Twin.of(random_workloads(Random(seed)))
        reading, naive = reading_of(twin), Naive.of(twin)
        for name, outcomes in naive.outcomes.items():
            for cluster in map(ClusterNumber, outcomes):
                found = why(reading.state.definitions[name], cluster, reading)
                chosen = any(each.holds for each in found.assignments)
                assert chosen == (found.status is not Status.UNASSIGNED), (seed, name, cluster)
                assert found.summary.startswith("yes" if found.status is Status.EFFECTIVE else "no")
                vetoed = chosen and any(each.holds for each in found.prohibitions)
                assert vetoed == (found.status is Status.PROHIBITED), (seed, name, cluster)
                for each in found.assignments:
                    told = clauses(each, cluster, reading)
                    assert told is not None and told.holds == each.holds, (seed, each, cluster)
                pairs += 1
    assert pairs > FLEETS[scale]
