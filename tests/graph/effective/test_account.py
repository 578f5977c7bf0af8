"""What runs on a cluster, told beside what the naive evaluator says."""

from __future__ import annotations

from random import Random

import pytest

from effective_checks import by_name
from graph.composition.stack import digest_of
from graph.effective.account import (
    application_on,
    applications_on,
    asked_of,
    reaching,
    settings_on,
)
from graph.effective.reading import Status
from graph.model.access import Coverage
from graph.model.inventory import Capacity
from graph.model.names import ClusterNumber
from graph.model.ref import Kind
from naive_workload import Naive, Outcome, Standing, text
from told import kitchen, number, reading_of
from twin import Twin
from workload_fleets import random_workloads

FLEETS = {"test": 60, "campaign": 3_000}


def naive_status(outcome: Outcome) -> Status:
    if outcome.effective:
        return Status.EFFECTIVE
    return Status.BLOCKED if outcome.standing is Standing.PLACED else Status(outcome.standing.value)


@pytest.mark.volume
def test_an_account_says_of_every_pair_what_the_naive_evaluator_says(scale: str) -> None:
    told = 0
    for seed in range(FLEETS[scale]):
        twin = Twin.of(random_workloads(Random(seed)))
        reading, naive = reading_of(twin), Naive.of(twin)
        for cluster in map(ClusterNumber, naive.demand):
            found = {each.name: each for each in applications_on(reading, cluster)}
            assert list(found) == sorted(found)
            for name, outcomes in naive.outcomes.items():
                outcome, status = outcomes[cluster], naive_status(outcomes[cluster])
                assert (name in found) == (status is not Status.UNASSIGNED), (seed, name, cluster)
                if name not in found:
                    continue
                account = found[name]
                assert account.status is status, (seed, name, cluster)
                kinds = {each.kind.value for each in account.obstacles()}
                if status is Status.BLOCKED:
                    known = {each.value for each in outcome.reasons}
                    # where layers conflict nothing says what the values are
                    assert kinds - {"schema"} == known - {"schema"}, (seed, name, cluster)
                else:
                    assert bool(kinds) == (status is not Status.EFFECTIVE), (seed, name, cluster)
                values = account.told()
                assert (values is None) == (outcome.standing is not Standing.PLACED)
                if values is not None and not outcome.clashes:
                    assert text(by_name(values.values)) == text(by_name(outcome.values))
                    told += len(values.leaves)
                if values is not None and "conflict" not in kinds:
                    late = {each.key: each.value for each in account.late()}
                    assert {k: v for k, v in late.items() if v is not None} == outcome.late
            assert asked_of(reading, cluster) == naive.demand[cluster]
    assert told > FLEETS[scale] * 10, "hardly a value was compared"


def test_every_value_knows_the_layer_that_gave_it() -> None:
    reading = reading_of(kitchen())
    found = application_on(reading, "grill", number(reading, "austin-1"))
    assert found is not None
    values = found.told()
    assert values is not None
    assert {leaf.key: (leaf.value, leaf.layer) for leaf in values.leaves} == {
        "image.tag": ("2", "grill-tx"),
        "night": (False, ""),
        "menu": (["a"], "grill-large"),
        "fleet.wan.batch": (True, "satellite"),
    }
    (late,) = found.late()
    assert (late.key, late.value, late.layer) == ("host", "austin-1.large", "")


def test_an_application_that_is_not_placed_has_no_values() -> None:
    reading = reading_of(kitchen())
    found = application_on(reading, "advert", number(reading, "austin-2"))
    assert found is not None
    assert (found.status, found.key, found.told(), found.late()) == (
        Status.PROHIBITED,
        None,
        None,
        [],
    )
    assert application_on(reading, "advert", number(reading, "york-1")) is None
    assert application_on(reading, "nobody", number(reading, "york-1")) is None


def test_what_reaches_a_cluster_is_named() -> None:
    reading = reading_of(kitchen())
    austin = number(reading, "austin-2")
    assert reaching(reading, austin, Kind.ASSIGNMENT) == ["kitchens", "signs-tx"]
    assert reaching(reading, austin, Kind.PROHIBITION) == ["no-adverts"]
    assert reaching(reading, austin, Kind.LAYER) == ["grill-tx", "satellite"]


def test_fleet_settings_are_told_with_their_layers() -> None:
    reading = reading_of(kitchen())
    found = settings_on(reading, number(reading, "york-1"))
    assert [(leaf.key, leaf.layer) for leaf in found.leaves] == [
        ("other", "satellite"),
        ("wan.batch", "satellite"),
    ]


def test_who_is_covered_for_a_part_reads_nothing_of_the_rest() -> None:
    covered = Coverage(frozenset({"kitchen"}), frozenset())
    reading = reading_of(kitchen(), "/geo/us/tx", covered)
    austin = number(reading, "austin-1")
    assert [each.name for each in applications_on(reading, austin)] == ["board", "grill"]
    grill = application_on(reading, "grill", austin)
    assert grill is not None
    values = grill.told()
    assert values is not None
    assert values.values == {"image": {"tag": "2"}, "night": False, "menu": ["a"]}
    assert values.digest == digest_of(values.values), "of what is told"
    assert reaching(reading, austin, Kind.LAYER) == ["grill-large", "grill-tx"]
    assert asked_of(reading, austin) == Capacity(110, 220, 0)
    assert asked_of(reading_of(kitchen()), austin) == Capacity(111, 222, 0)
    assert settings_on(reading, austin).leaves == ()
