"""Quotas: what the applications of a namespace request together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from at_work import refused, working
from graph.model.command import Command
from graph.model.errors import Rejected
from graph.model.inventory import Capacity
from graph.model.ref import Kind, Ref
from graph.model.workload_command import (
    DefineApplication,
    DefineNamespace,
    DeleteApplication,
    RemoveLayer,
)
from small import give, small


def test_requests_above_the_quota_are_refused_with_the_numbers():
    refusal = refused(
        Rejected, working(), DefineApplication("pos", "shop", requests=Capacity(400, 600))
    )
    assert refusal.message == (
        "the applications of a namespace would request more than its quota: "
        "namespace shop: cpu 1,200 of 1,000 millicores"
    )
    assert refusal.reasons == (
        "namespace shop: cpu 1,200 of 1,000 millicores",
        "namespace shop: memory 1,112 of 1,024 MiB",
    )
    give(working(), DefineApplication("pos", "shop", requests=Capacity(200, 512)))


def test_a_quota_below_the_requests_is_refused_with_the_numbers():
    refusal = refused(Rejected, working(), DefineNamespace("shop", quota=Capacity(799, 512)))
    assert refusal.reasons == ("namespace shop: cpu 800 of 799 millicores",)
    give(working(), DefineNamespace("shop", quota=Capacity(800, 512)))
    give(working(), DefineNamespace("shop"))


@pytest.mark.parametrize("storage", [0, 5])
def test_a_quota_that_says_nothing_of_storage_leaves_it_alone(storage: int):
    fleet = small()
    batch = (
        DefineNamespace("n", quota=Capacity(10, 10, storage)),
        DefineApplication("a", "n", requests=Capacity(10, 10, 6)),
    )
    if storage:
        assert refused(Rejected, fleet, *batch).reasons == ("namespace n: storage 6 of 5 MiB",)
    else:
        assert len(give(fleet, *batch)) == 2


@pytest.mark.parametrize("turned", [False, True])
def test_quotas_are_judged_on_the_net_result_of_the_batch(turned: bool):
    fleet = working()
    raised: list[Command] = [
        DefineNamespace("shop", quota=Capacity(5_000, 5_000)),
        DefineApplication("pos", "shop", requests=Capacity(4_000, 4_000)),
    ]
    give(fleet, *(raised[::-1] if turned else raised))
    lowered: list[Command] = [
        DefineNamespace("shop", quota=Capacity(800, 512)),
        DeleteApplication("pos"),
        RemoveLayer("menu-tx"),
    ]
    give(fleet, *(lowered[::-1] if turned else lowered))
    assert fleet.workload.namespaces["shop"].quota == Capacity(800, 512)


def test_what_is_over_already_may_become_better_and_not_worse():
    fleet = working()
    shop = fleet.workload.namespaces["shop"]
    fleet.put(Ref(Kind.NAMESPACE, "shop"), replace(shop, quota=Capacity(100, 100)))
    give(fleet, DefineApplication("till", "shop", requests=Capacity(300, 256)))
    refused(Rejected, fleet, DefineApplication("till", "shop", requests=Capacity(400, 256)))
    give(fleet, DefineApplication("grill", "kitchen", requests=Capacity(9_999, 9_999)))
