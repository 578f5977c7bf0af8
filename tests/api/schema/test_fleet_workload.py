"""Where reading of the workload begins: one by name, lists, and what narrows them."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ask, data
from doors import TEXAN


async def listed(engine: Any, query: str) -> list[str]:
    found = await data(engine, f"{{ fleet {{ it: {query} {{ name }} }} }}")
    return [each["name"] for each in found["fleet"]["it"]]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("applications", ["grill", "grill-board", "player"]),
        ('applications(namespace: "kitchen")', ["grill", "grill-board"]),
        ('applications(label: {key: "tier", value: "iron"})', ["grill-board", "player"]),
        (
            'applications(namespace: "kitchen", label: {key: "tier", value: "iron"})',
            ["grill-board"],
        ),
        ('applications(namespace: "kitchen", first: 1, after: "grill")', ["grill-board"]),
        ('applications(label: {key: "tier", value: "tin"})', []),
        ("namespaces", ["kitchen", "signs"]),
        ("assignments", ["kitchen-gold", "kitchen-us", "player-ny"]),
        ("prohibitions", ["no-gold", "no-signs"]),
        ("layers", ["grill-ny", "grill-tx", "telemetry"]),
        ('layers(application: "grill")', ["grill-ny", "grill-tx"]),
        ('layers(application: "player")', []),
        ('layers(application: "")', ["telemetry"]),
        ("policies", ["gold", "small"]),
    ],
)
async def test_a_list_holds_what_is_asked_for_by_name(fleet, query, wanted):
    assert await listed(fleet, query) == wanted


async def test_one_is_found_by_its_name_or_is_null(fleet):
    query = """{ fleet { application(name: "grill") { name } namespace(name: "kitchen") { name }
        none: application(name: "nobody") { name } no: namespace(name: "nowhere") { name } } }"""
    assert (await data(fleet, query))["fleet"] == {
        "application": {"name": "grill"},
        "namespace": {"name": "kitchen"},
        "none": None,
        "no": None,
    }


@pytest.mark.parametrize(
    ("query", "message", "place", "hint"),
    [
        ('applications(namespace: "kitchn")', 'no namespace called "kitchn"', "namespace",
         "did you mean kitchen"),
        ('layers(application: "gril")', 'no application called "gril"', "application",
         "did you mean grill"),
    ],
)  # fmt: skip
async def test_a_name_that_is_not_there_is_refused_with_the_nearest(
    fleet, query, message, place, hint
):
    answer = await ask(fleet, f"{{ fleet {{ revision {query} {{ name }} }} }}")
    (error,) = answer["errors"]
    assert error["message"] == message
    assert (error["extensions"]["code"], error["extensions"]["path"]) == ("NOT_FOUND", [place])
    assert hint in error["extensions"]["hint"]
    assert answer["data"]["fleet"]["revision"] == 2


async def test_a_hidden_name_is_refused_as_one_that_is_not_there(fleet):
    for query in ('applications(namespace: "{}")', 'layers(application: "{}")'):
        hidden = "signs" if "namespace" in query else "player"
        told = [
            await ask(fleet, f"{{ fleet {{ {query.format(name)} {{ name }} }} }}", actor=TEXAN)
            for name in (hidden, "zz")
        ]
        assert str(told[0]).replace(hidden, "zz") == str(told[1])
        assert told[0]["errors"][0]["extensions"]["code"] == "NOT_FOUND"
