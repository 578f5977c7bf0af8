"""The small fleet with a workload small enough to hold in the head."""

from __future__ import annotations

from graph.model.change import Change, Entity
from graph.model.selector import Selector
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from graph.targeting.parser import parse
from small import small
from twin import Twin

VALUES = Values.of({"a": 1})


def small_workload() -> Twin:
    """In Texas till, which needs agent; in New York menu; agent everywhere; camera nowhere."""
    twin = small()

    def on(text: str) -> Selector:
        return parse(text, twin)

    late = (LateBound("host", "{cluster}-{lanes}"), LateBound("size", "{size}"))
    workload: list[Entity] = [
        *(Namespace(name) for name in ("pos", "platform", "kitchen")),
        Application("agent", "platform"),
        Application("till", "pos", depends_on=("agent",), late_bound=late),
        Application("menu", "pos", labels={"tier": "edge"}),
        Application("camera", "kitchen", labels={"tier": "edge"}),
        Assignment("tills", Choice("pos", ("till",)), on("/geo/us/tx")),
        Assignment("menus", Choice("pos", labels={"tier": "edge"}), on("/geo/us/ny")),
        Assignment("agents", Choice("platform"), on("all")),
        Assignment("nowhere", Choice("kitchen"), on("/geo/ca")),
        Prohibition("law", Choice("", ("till", "camera")), on("/geo/us")),
        Prohibition("edge", Choice(labels={"tier": "edge"}), on("all")),
        Layer("till-tx", on("/geo/us/tx"), VALUES, "till"),
        Layer("menu-all", on("all"), VALUES, "menu"),
        Layer("wan", on("/geo/us"), VALUES),
        Policy("loose", (), on("size = large")),
        Policy("quota", ("pos", "kitchen")),
    ]
    twin.apply([Change(None, each) for each in workload])
    return twin
