"""Changes for programs: field by field, as far as they may be seen."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ADMIN, data
from doors import TEXAN
from engines import give
from graph.model.access import Actor, Role
from graph.model.command import (
    Command,
    CreateGroup,
    DeclareLabel,
    DeleteGroup,
    GrantAccess,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
)
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import Capacity, LabelType

CHANGES = """{ changesets(first: 1) { nodes { changes {
    id name path action fields { name before after } } } } }"""

Fields = dict[str, tuple[Any, Any]]


async def told(engine: Any, *commands: Command, actor: Actor = ADMIN) -> dict[str, Any]:
    """What the last changeset says of each object, by its name."""
    if commands:
        await give(engine, *commands)
    found = await data(engine, CHANGES, actor=actor)
    return {each["name"]: each for each in found["changesets"]["nodes"][0]["changes"]}


def fields(change: dict[str, Any]) -> Fields:
    return {each["name"]: (each["before"], each["after"]) for each in change["fields"]}


async def test_a_cluster_is_told_label_by_label_and_place_by_place(fleet):
    found = await told(
        fleet,
        UpdateCluster("dallas-21", title="Dallas", labels={"size": "large", "lanes": None}),
        Join("dallas-21", "/geo/us/tx/austin"),
        Leave("dallas-21", "/devices/grill"),
    )
    assert fields(found["dallas-21"]) == {
        "title": (None, "Dallas"),
        "groups": (["/devices/grill", "/geo/us/tx/dallas"], ["/geo/us/tx/austin"]),
        "label size": ("small", "large"),
        "label lanes": (10.5, None),
    }
    assert found["dallas-21"]["path"] is None


async def test_what_comes_has_nothing_before_and_what_goes_nothing_after(fleet):
    hours = OpeningHours(weekly={"monday": (Interval("08:00", "22:00"),)})
    new = RegisterCluster(
        "new-1", groups=("/geo/ca",), labels={"size": "small"}, capacity=Capacity(1, 2, 3),
        opening_hours=hours,
    )  # fmt: skip
    found = fields((await told(fleet, new))["new-1"])
    assert found == {
        "name": (None, "new-1"),
        "kind": (None, "KUBERNETES"),
        "reconciler": (None, "FLUX"),
        "groups": (None, ["/geo/ca"]),
        "capacity": (None, {"cpuMillicores": 1, "memoryMib": 2, "storageMib": 3}),
        "openingHours": (
            None,
            {
                "weekly": [{"day": "monday", "intervals": [{"opens": "08:00", "closes": "22:00"}]}],
                "exceptions": [],
            },
        ),
        "label size": (None, "small"),
    }
    back = fields((await told(fleet, RetireCluster("new-1")))["new-1"])
    assert back == {name: (after, before) for name, (before, after) in found.items()}


async def test_a_group_is_told_with_its_path_now_or_before_it_went(fleet):
    moved = (await told(fleet, MoveGroup("/geo/us/ny", "/geo/ca")))["ny"]
    assert moved["path"] == "/geo/ca/ny"
    assert fields(moved) == {"parent": ("/geo/us", "/geo/ca")}
    await give(fleet, CreateGroup("/geo/ca/tmp", title="For now"))
    gone = (await told(fleet, DeleteGroup("/geo/ca/tmp")))["tmp"]
    assert (gone["path"], gone["action"]) == ("/geo/ca/tmp", "REMOVED")
    assert fields(gone)["title"] == ("For now", None)


async def test_selectors_keys_and_grants_are_told_in_their_own_words(fleet):
    found = await told(
        fleet,
        SaveSelector("texas", "/geo/us/tx and lanes >= 2", title="Texas"),
        DeclareLabel("size", LabelType.TEXT, allowed=("small", "large", "huge")),
        GrantAccess("texans", Role.OPERATOR, claim="texas", scope="/geo/us/tx"),
    )
    assert fields(found["texas"]) == {"text": ("/geo/us/tx", "/geo/us/tx and lanes >= 2")}
    assert fields(found["size"]) == {"allowed": (["small", "large"], ["small", "large", "huge"])}
    assert fields(found["texans"]) == {"role": ("EDITOR", "OPERATOR")}


async def test_a_selector_over_a_group_that_is_gone_has_no_text(fleet):
    await give(fleet, CreateGroup("/geo/us/tmp"))
    await give(fleet, SaveSelector("tmp", "/geo/us/tmp"))
    await give(fleet, SaveSelector("tmp", "/geo/us"))
    await give(fleet, DeleteGroup("/geo/us/tmp"))
    query = """{ fleet { savedSelector(name: "tmp") { history {
        change { fields { name before after } } } } } }"""
    history = (await data(fleet, query))["fleet"]["savedSelector"]["history"]
    assert fields(history[0]["change"]) == {"text": (None, "/geo/us")}


@pytest.mark.parametrize("actor", [ADMIN, TEXAN], ids=["all", "a part"])
async def test_no_place_outside_a_scope_is_told(fleet, actor):
    """A cluster that came from outside, and a group that was moved in."""
    await give(fleet, UpdateGroup("/geo/us/tx", title="T"))
    came = await told(fleet, Join("york-03", "/geo/us/tx/austin"), actor=actor)
    groups = fields(came["york-03"])["groups"]
    assert "/geo/us/tx/austin" in groups[1]
    moved = await told(fleet, MoveGroup("/geo/us/ny/newyork", "/geo/us/tx"), actor=actor)
    if actor is ADMIN:
        assert "/geo/us/ny/newyork" in groups[0]
        assert fields(moved["newyork"]) == {"parent": ("/geo/us/ny", "/geo/us/tx")}
    else:
        assert groups[0] is None
        assert "/geo/us/ny" not in str(moved) and "/geo/us/ny" not in str(came)
        assert fields(moved["newyork"])["parent"] == (None, "/geo/us/tx")
