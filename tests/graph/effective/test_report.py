"""Capacity and charge-back, beside sums over every cluster."""

from __future__ import annotations

from random import Random

import pytest

from graph.effective.report import capacity_report, chargeback
from graph.model.access import Coverage
from graph.model.inventory import Capacity
from graph.model.names import GroupNumber
from graph.model.view import group_at, path_of
from naive_workload import Naive, total
from told import TOO_SMALL, kitchen, reading_of
from twin import Twin
from workload_fleets import random_workloads

FLEETS = {"test": 60, "campaign": 3_000}


def group(reading, path: str) -> GroupNumber:
    found = group_at(reading.view, path)
    assert found is not None
    return found


def test_capacity_is_told_for_a_group_and_those_below() -> None:
    reading = reading_of(kitchen(TOO_SMALL))
    whole, new_york, texas = capacity_report(reading, group(reading, "/geo/us"))
    assert (whole.path, whole.clusters, whole.stated, whole.over) == ("/geo/us", 3, 1, 1)
    assert whole.asked == Capacity(131, 262, 0)
    assert whole.offered == Capacity(50, 4_096, 0)
    assert (new_york.path, new_york.asked, new_york.over) == ("/geo/us/ny", Capacity(10, 20, 0), 0)
    assert (texas.path, texas.asked, texas.over) == ("/geo/us/tx", Capacity(121, 242, 0), 1)


def test_charge_back_is_told_by_cost_centre_namespace_and_group() -> None:
    reading = reading_of(kitchen())
    rows = [
        (row.cost_center, row.namespace, row.path, row.clusters, row.requested)
        for row in chargeback(reading, group(reading, "/geo/us"))
    ]
    assert rows == [
        ("", "signs", "/geo/us/tx", 1, Capacity(1, 2, 0)),
        ("4711", "kitchen", "/geo/us/tx", 1, Capacity(110, 220, 0)),
    ]


def test_who_is_covered_for_a_part_is_told_what_that_part_takes() -> None:
    covered = Coverage(frozenset({"signs"}), frozenset())
    reading = reading_of(kitchen(TOO_SMALL), "/geo/us/tx", covered)
    whole, texas = capacity_report(reading, group(reading, "/geo/us"))
    assert (whole.clusters, whole.asked, texas.asked) == (2, Capacity(1, 2, 0), Capacity(1, 2, 0))
    rows = list(chargeback(reading, group(reading, "/geo/us")))
    assert [row.namespace for row in rows] == []  # advert is blocked there: too much is asked


@pytest.mark.volume
def test_reports_are_the_sums_over_clusters(scale: str) -> None:
    rows = 0
    for seed in range(FLEETS[scale]):
        twin = Twin.of(random_workloads(Random(seed)))
        reading, naive = reading_of(twin), Naive.of(twin)
        for each in twin.groups():
            for row in capacity_report(reading, each.number):
                members = set(twin.members(row.group))
                assert row.clusters == len(members)
                assert row.asked == total(naive.demand[number] for number in members)
                assert row.over == len(naive.oversubscribed & members)
                offers = [twin.cluster(number).capacity for number in members]
                assert row.offered == total(offers), (seed, row)
                assert row.stated == sum(offer is not None for offer in offers)
            told = list(chargeback(reading, each.number))
            places = sorted(path_of(twin, child) for child in twin.children(each.number).values())
            assert {row.path for row in told} <= set(places)
            for row in told:
                members = set(twin.members(group(reading, row.path)))
                inside = [
                    application
                    for application in twin.workload.applications.values()
                    if application.namespace == row.namespace
                ]
                on = {one.name: naive.effective(one.name) & members for one in inside}
                assert row.clusters == len(set().union(*on.values()))
                requests = [one.requests for one in inside for _ in on[one.name]]
                assert row.requested == total(requests), (seed, row)
            rows += len(told)
    assert rows > FLEETS[scale], "hardly anything was charged"
