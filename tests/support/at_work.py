"""The small fleet at work: a small workload given by commands, and a way to see it refuse."""

from __future__ import annotations

from typing import TypeVar

import pytest

from graph.model.command import Command
from graph.model.errors import TrellisError
from graph.model.inventory import Capacity
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    SetLayer,
    SetPolicy,
)
from small import give, small
from twin import Twin, same_fleet

E = TypeVar("E", bound=TrellisError)

SCHEMA = {
    "type": "object",
    "properties": {"lanes": {"type": "integer"}, "image": {"type": "object"}},
}

WORKLOAD: tuple[Command, ...] = (
    DefineNamespace("shop", labels={"team": "retail"}, quota=Capacity(1_000, 1_024)),
    DefineNamespace("kitchen", labels={"team": "food"}),
    DefineApplication("till", "shop", labels={"tier": "front"}, requests=Capacity(400, 256)),
    DefineApplication(
        "menu",
        "shop",
        depends_on=("till",),
        requires="has lanes",
        requests=Capacity(400, 256),
        schema=SCHEMA,
        late_bound=(LateBound("host", "{cluster}-{size}.example"),),
        reads=("telemetry",),
    ),
    DefineApplication("grill", "kitchen"),
    Assign("shop-us", Choice("shop"), "/geo/us"),
    Assign("grill-tx", Choice("kitchen", ("grill",)), "@texas"),
    Prohibit("no-till", Choice(applications=("till",)), "cluster york-1"),
    SetLayer("menu-tx", "/geo/us/tx", {"lanes": 2}, "menu"),
    SetLayer("telemetry-all", "all", {"telemetry": {"logs": True}}),
    SetPolicy("images", namespaces=("shop",), registries=("registry.example",)),
)


def working() -> Twin:
    """The small fleet at revision 2, at work."""
    fleet = small()
    give(fleet, *WORKLOAD)
    return fleet


def refused(kind: type[E], fleet: Twin, *commands: Command) -> E:
    """The refusal of a batch, which must be of this kind and leave the fleet as it is."""
    before = fleet.copy()
    with pytest.raises(kind) as refusal:
        give(fleet, *commands)
    assert same_fleet(fleet, before) is None
    assert refusal.value.hint, "a refusal says what to do next"
    return refusal.value
