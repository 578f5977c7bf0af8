"""A renderer on the wire: it knows nothing but messages, and keeps what a step completes.

Whoever breaks its connection at any point and resumes at the place it completed last should hold
what a fresh snapshot gives. It is told whatever the house tells in process; see ``renderers``.
"""

from __future__ import annotations

import random
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from graph.engine import Engine
from graph.model.command import (
    Command,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RetireCluster,
    UpdateCluster,
)
from graph.model.inventory import Capacity, Reconciler
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    LiftProhibition,
    Prohibit,
    RemoveLayer,
    RemovePolicy,
    SetLayer,
    SetPolicy,
    Unassign,
)
from renderers import model_of

RENDERING = """
subscription Rendering($after: Cursor) {
  rendering(after: $after) {
    __typename
    ... on RenderingRemovals {
      cursor clusters droppedSettings
      lines { application cause clusters }
      droppedOverlays { application key }
      droppedDefinitions { kind name }
    }
    ... on RenderingDefinitions {
      cursor
      applications { name changed }
      namespaces { name changed }
      policies { name changed }
    }
    ... on RenderingSettings { cursor settings { key layers values digest clusters } }
    ... on RenderingOverlays { cursor overlays { application key layers values digest clusters } }
    ... on RenderingPointers {
      cursor
      pointers {
        cluster kind reconciler settings policies
        lines { application namespace key lateBound }
      }
    }
    ... on RenderingBlocked {
      cursor
      blocked { application reasons { reason message } clusters }
    }
    ... on RenderingComplete { cursor revision acceptedLoss }
    ... on ResyncRequired { message hint head }
  }
}
"""


@dataclass
class Held:
    """What a renderer holds, as it was told."""

    overlays: dict[Any, Any] = field(default_factory=dict)
    facts: dict[Any, Any] = field(default_factory=dict)
    lines: dict[Any, Any] = field(default_factory=dict)
    blocked: dict[Any, Any] = field(default_factory=dict)
    definitions: dict[Any, Any] = field(default_factory=dict)

    def forget(self, application: str, cluster: str) -> None:
        self.lines.pop((application, cluster), None)
        self.blocked.pop((application, cluster), None)


class WireRenderer:
    """Holds a whole rendering."""

    query = RENDERING

    def __init__(self) -> None:
        self.cursor: str | None = None
        self.held = Held()
        self.completed: list[int] = []
        self.loss = 0
        self.heard: Counter[str] = Counter()
        """Kinds of message, causes of removals and reasons of what is blocked."""
        self.current = False
        """Whether the last message completed a step."""
        self._staged = Held()

    @property
    def variables(self) -> dict[str, Any]:
        """What to subscribe with."""
        return {"after": self.cursor}

    def begin(self) -> None:
        """A new connection: what was not completed is forgotten."""
        self._staged = deepcopy(self.held) if self.cursor is not None else Held()
        self.current = False

    def take(self, message: dict[str, Any]) -> None:
        """Believe one message."""
        kind = message["__typename"]
        assert kind != "ResyncRequired", message
        self.current = kind == "RenderingComplete"
        self.heard[kind] += 1
        self.heard.update(each["cause"] for each in message.get("lines", ()))
        self.heard.update(
            reason["reason"] for each in message.get("blocked", ()) for reason in each["reasons"]
        )
        if not self.current:
            assert message["cursor"] == self.cursor, "a step is begun where the last one ended"
            _TAKE[kind](self._staged, message)
            return
        if self.completed:
            assert message["revision"] >= self.completed[-1], "history goes forward"
            if message["revision"] == self.completed[-1]:
                assert self._staged == self.held, "nothing is said twice"
                assert not message["acceptedLoss"]
                return
        self.cursor = message["cursor"]
        self.completed.append(message["revision"])
        self.loss += message["acceptedLoss"]
        self.held = deepcopy(self._staged)


def _removals(held: Held, message: dict[str, Any]) -> None:
    for each in message["lines"]:
        for cluster in each["clusters"]:
            held.forget(each["application"], cluster)
    for cluster in message["clusters"]:
        del held.facts[cluster]
        held.forget("", cluster)
        assert not [pair for pair in (*held.lines, *held.blocked) if pair[1] == cluster]
    for each in message["droppedOverlays"]:
        del held.overlays[each["application"], each["key"]]
    for key in message["droppedSettings"]:
        del held.overlays["", key]
    for each in message["droppedDefinitions"]:
        del held.definitions[each["kind"].lower(), each["name"]]


def _definitions(held: Held, message: dict[str, Any]) -> None:
    for kind in ("application", "namespace", "policy"):
        plural = "policies" if kind == "policy" else f"{kind}s"
        for each in message[plural]:
            held.definitions[kind, each["name"]] = each["changed"]


def _settings(held: Held, message: dict[str, Any]) -> None:
    for each in message["settings"]:
        held.overlays["", each["key"]] = (tuple(each["layers"]), each["digest"])


def _overlays(held: Held, message: dict[str, Any]) -> None:
    for each in message["overlays"]:
        held.overlays[each["application"], each["key"]] = (tuple(each["layers"]), each["digest"])


def _pointers(held: Held, message: dict[str, Any]) -> None:
    for each in message["pointers"]:
        name = each["cluster"]
        policies = tuple(each["policies"])
        held.facts[name] = (each["kind"].lower(), each["reconciler"].lower(), policies)
        if each["settings"] is not None:
            held.forget("", name)
            held.lines["", name] = each["settings"]
        for line in each["lines"]:
            held.forget(line["application"], name)
            told = (line["namespace"], line["key"], line["lateBound"])
            held.lines[line["application"], name] = told


def _blocked(held: Held, message: dict[str, Any]) -> None:
    for each in message["blocked"]:
        for name in each["clusters"]:
            pair = each["application"] or "", name
            held.lines.pop(pair, None)  # kept where it is; a fresh snapshot does not know of it
            held.blocked[pair] = {reason["reason"].lower() for reason in each["reasons"]}


_TAKE = {
    "RenderingRemovals": _removals,
    "RenderingDefinitions": _definitions,
    "RenderingSettings": _settings,
    "RenderingOverlays": _overlays,
    "RenderingPointers": _pointers,
    "RenderingBlocked": _blocked,
}


def should_hold(engine: Engine) -> Held:
    """What the newest state says, as it would have been told."""
    told = model_of(engine.state())
    return Held(
        {pair: (layers, digest) for pair, (layers, digest, _) in told["overlays"].items()},
        {name: (str(kind), str(rec), names) for name, (kind, rec, names) in told["facts"].items()},
        {pair: line[:3] if pair[0] else line for pair, line in told["lines"].items()},
        {pair: {str(each) for each in reasons} for pair, reasons in told["blocked"].items()},
        {(str(ref.kind), str(ref.key)): int(at) for ref, at in told["definitions"].items()},
    )


WORKLOAD: tuple[Command, ...] = (
    UpdateCluster("york-1", labels={"size": "large"}),
    DefineNamespace("kitchen"),
    DefineNamespace("signs"),
    DefineApplication(
        "grill",
        "kitchen",
        requests=Capacity(500, 512),
        values={"tag": "1", "lanes": 1},
        schema={"properties": {"lanes": {"type": "integer", "maximum": 3}}},
        late_bound=(LateBound("host", "{cluster}-{size}.example.com"),),
        reads=("telemetry",),
    ),
    DefineApplication("board", "kitchen", depends_on=("grill",)),
    DefineApplication("player", "signs", requires="has size", values={"volume": 1}),
    Assign("kitchen-us", Choice("kitchen"), "/geo/us"),
    Assign("signs-all", Choice("signs"), "all"),
    SetLayer("grill-tx", "/geo/us/tx", {"lanes": 2}, "grill"),
    SetLayer("telemetry-all", "all", {"telemetry": {"traces": True}}),
    SetLayer("telemetry-tx", "/geo/us/tx", {"telemetry": {"traces": False}}),
    SetPolicy("images", selector="/geo/us", registries=("registry.example.com",)),
)
"""What runs on the small fleet: something of everything that rendering cares for."""


class WorkloadWriter:
    """Commands at random, on the small fleet and what runs on it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0

    def commands(self, engine: Engine) -> list[Command]:
        """A batch; the fleet may refuse it."""
        self._count += 1
        make = self._of_inventory if self._random.random() < 0.5 else self._of_workload
        view = engine.view
        clusters = sorted(view.cluster_name(each) for each in view.everything())
        return make(clusters)

    def _of_inventory(self, clusters: list[str]) -> list[Command]:
        pick = self._random.choice
        cluster = pick(clusters)
        match self._random.randrange(8):
            case 0:
                return [self._register(f"new-{self._count}")]
            case 1:
                return [RetireCluster(cluster)] if len(clusters) > 3 else []
            case 2:  # the name passes on to another
                return [RetireCluster(cluster), self._register(cluster)]
            case 3 | 4:
                return [UpdateCluster(cluster, labels={"size": pick(["small", "large", None])})]
            case 5:
                capacity = pick([None, Capacity(100, 100), Capacity(4000, 4096)])
                return [UpdateCluster(cluster, capacity=capacity, reconciler=pick([*Reconciler]))]
            case 6:
                path = pick(["/geo/us/tx", "/geo/ca/tx"])
                return [MoveGroup(path, "/geo/ca" if path.startswith("/geo/us") else "/geo/us")]
            case _:
                make = pick([Join, Leave])
                return [make(cluster, pick(["/devices/grill", "/devices/camera"]))]

    def _register(self, name: str) -> RegisterCluster:
        pick = self._random.choice
        groups = (pick(["/geo/us/tx/austin", "/geo/us/ny", "/geo/ca"]), "/devices/grill")
        return RegisterCluster(name, labels=pick([{}, {"size": "large"}]), groups=groups)

    def _of_workload(self, clusters: list[str]) -> list[Command]:
        pick = self._random.choice
        number = self._random.randrange(5)
        match self._random.randrange(8):
            case 0:
                where = pick(
                    ["/geo/us", "/geo/us/ny", "/devices/grill", f"cluster {pick(clusters)}"]
                )
                return [SetLayer(f"grill-{number}", where, {"lanes": number, "tag": "2"}, "grill")]
            case 1:
                where = pick(["/geo/ca", "/geo/us", "/devices/camera", "/devices/grill"])
                return [SetLayer(f"fleet-{number}", where, {"telemetry": {"traces": number}})]
            case 2:
                return [RemoveLayer(pick([f"grill-{number}", f"fleet-{number}"]))]
            case 3:
                where = pick(["/geo/us/tx", "size = large", "/devices/camera"])
                return [Prohibit("law", Choice("", ("grill",)), where)]
            case 4:
                return [LiftProhibition("law")]
            case 5:
                where = pick(["/geo/us", "/geo", "size = small"])
                return [Assign("more", Choice("kitchen"), where)]
            case 6:
                return [pick([Unassign("more"), RemovePolicy("images"), WORKLOAD[-1]])]
            case _:
                values = {"volume": number}
                return [DefineApplication("player", "signs", requires="has size", values=values)]
