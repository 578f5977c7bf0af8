"""A workload over the sample fleet: namespaces, applications, assignments, layers, as facts.

Shaped after a large retailer: a hundred applications, most of them on most stores, and some
twenty-five layers each: everywhere, a few countries and regions, many states, some cities,
franchisees, device kinds, a ring and single stores. Two applications have a layer for each of a
hundred states and three kinds of device, so that layers multiply.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.fleet import CURSOR
from graph.model.change import Entity
from graph.model.inventory import Capacity
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import Everything, IsCluster, Selector, Under
from graph.model.values import Values
from graph.model.view import FleetView, group_at
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    LateBound,
    Layer,
    Namespace,
    Prohibition,
)
from graph.targeting.parser import parse

NAMESPACES = 12
STATES, CITIES, OWNERS = 250, 3_000, 600
"""The largest groups of each kind have the layers."""
SCHEMA = Values.of(
    {
        "type": "object",
        "required": ["image", "replicas"],
        "properties": {
            "image": {"type": "object", "properties": {"tag": {"type": "string"}}},
            "replicas": {"type": "integer", "minimum": 1, "maximum": 9},
            "logLevel": {"enum": ["debug", "info", "warning"]},
            "tax": {"type": "number", "minimum": 0},
            "features": {"type": "object"},
            "currency": {"type": "string", "maxLength": 3},
        },
    }
)
WHERE = (
    "/geo",
    "/geo/us",
    "size in (large, medium)",
    "/geo/us and lanes >= 1",
    "/devices/camera",
    "/geo and not /geo/us/west",
    "drive-through = true",
    "/delivery/curbside",
    "/planogram",
    "opened >= 2000",
)
"""What most assignments say: the larger part of the fleet."""


def workload(view: FleetView, applications: int, *, seed: int = 0) -> Iterator[Entity]:
    """Everything of a workload over the sample fleet ``view``."""
    random = Random(seed)
    for number in range(NAMESPACES):
        yield Namespace(f"team-{number:02}", cost_center=f"cc-{number}", changed=CURSOR.revision)
    places = _Places(view, random)
    for number in range(applications):
        yield from _application(number, places, random)
    for number, where in enumerate(("/geo/us/west", "/geo/us/south")):
        choice = Choice(applications=(f"app-{number + 2:03}",))
        yield Prohibition(f"law-{number}", choice, parse(where, view), changed=CURSOR.revision)


class _Places:
    """Where layers apply: groups by depth in geo, and elsewhere."""

    def __init__(self, view: FleetView, random: Random) -> None:
        self.view = view
        geo = _levels(view, "/geo")
        self.countries, self.regions = geo[1], geo[2]
        self.states = _largest(view, geo[3], STATES)
        self.cities = _largest(view, geo[4], CITIES)
        self.owners = _largest(view, _levels(view, "/franchise")[1], OWNERS)
        self.devices = _levels(view, "/devices")[2]
        self.rings = [parse(f"ring = {ring}", view) for ring in ("beta", "pilot")]
        self.clusters = random.sample(view.everything().numbers(), min(500, len(view.everything())))


def _levels(view: FleetView, root: str) -> list[list[GroupNumber]]:
    top = group_at(view, root)
    assert top is not None, f"the sample has {root}"
    levels: list[list[GroupNumber]] = [[top]]
    while levels[-1]:
        levels.append([each for at in levels[-1] for each in view.children(at).values()])
    return levels[:-1]


def _largest(view: FleetView, groups: list[GroupNumber], count: int) -> list[GroupNumber]:
    return sorted(groups, key=lambda each: (-len(view.members(each)), each))[:count]


def _application(number: int, places: _Places, random: Random) -> Iterator[Entity]:
    name, namespace = f"app-{number:03}", f"team-{number % NAMESPACES:02}"
    late = (LateBound("host", f"{name}-{{cluster}}.example.com"),) if number % 4 == 0 else ()
    yield Application(
        name,
        namespace,
        labels={"tier": random.choice(("edge", "back"))},
        requests=Capacity(random.choice((3, 5, 10)), random.choice((16, 32, 64))),
        depends_on=(f"app-{number - 1:03}",) if number % 10 == 9 else (),
        values=Values.of(
            {
                "image": {"name": name, "tag": "v1"},
                "replicas": 1,
                "logLevel": "info",
                "features": {"cache": True, "beta": False},
            }
        ),
        schema=SCHEMA,
        late_bound=late,
        changed=CURSOR.revision,
    )
    yield Assignment(
        f"{name}-most",
        Choice(namespace, (name,)),
        parse(WHERE[number % len(WHERE)], places.view),
        changed=CURSOR.revision,
    )
    yield Assignment(
        f"{name}-also",
        Choice(namespace, (name,)),
        Under(random.choice(places.states)),
        changed=CURSOR.revision,
    )
    yield from _layers(number, name, places, random)


def _layers(number: int, name: str, places: _Places, random: Random) -> Iterator[Layer]:
    chosen = _everywhere(places) if number < 2 else _here_and_there(places, random)
    for at, selector in enumerate(chosen):
        yield Layer(
            f"{name}-{at:03}",
            selector,
            Values.of(_values(at, random)),
            name,
            rank=at if _overlaps(selector, places) else 0,
            changed=CURSOR.revision,
        )


def _everywhere(places: _Places) -> Iterator[Selector]:
    """Layers on so many groups that they multiply."""
    yield from map(Under, places.states[:120])
    yield from map(Under, places.devices[:4])


def _here_and_there(places: _Places, random: Random) -> Iterator[Selector]:
    yield Everything()
    for groups, count in (
        (places.countries, 2),
        (places.regions, 4),
        (places.states, 7),
        (places.cities, 1),
        (places.owners, 2),
        (places.devices, 3),
    ):
        yield from map(Under, random.sample(groups, min(count, len(groups))))
    yield random.choice(places.rings)
    for cluster in random.sample(places.clusters, 2):
        yield IsCluster(ClusterNumber(cluster))


def _overlaps(selector: Selector, places: _Places) -> bool:
    """Whether nothing but a rank would order it: a cluster may have several devices."""
    return isinstance(selector, Under) and selector.group in places.devices


def _values(at: int, random: Random) -> dict[str, object]:
    return {
        "tax": random.randint(0, 20) / 100,
        "features": {f"f{at % 5}": bool(at % 2), "beta": bool(at % 3)},
        "logLevel": random.choice(("debug", "info", "warning")),
    }
