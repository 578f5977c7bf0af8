"""A small fleet that a reader can hold in mind, for every test of the selector language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from graph.model.change import Entity, ref_of
from graph.model.inventory import (
    Cluster,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    LabelValue,
    Mode,
    SavedSelector,
)
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.workload import Assignment, Choice, Namespace
from graph.targeting.evaluate import evaluate
from graph.targeting.parser import parse
from twin import Twin

HIERARCHIES = {
    "delivery": Mode.MANY,
    "devices": Mode.MANY,
    "franchise": Mode.SINGLE,
    "geo": Mode.SINGLE,
    "marketing": Mode.MANY,
    "planogram": Mode.SINGLE,
}

LABELS = {
    "cluster": LabelType.TEXT,
    "drive-through": LabelType.BOOLEAN,
    "lanes": LabelType.NUMBER,
    "size": LabelType.TEXT,
    "state": LabelType.TEXT,
    "store": LabelType.TEXT,
    "type": LabelType.TEXT,
}


@dataclass(slots=True)
class Fleet:
    """Facts as they are made up; groups come into being with the first path that needs them."""

    entities: list[Entity] = field(default_factory=list[Entity])
    groups: dict[str, GroupNumber] = field(default_factory=dict[str, GroupNumber])
    clusters: int = 0

    def group(self, path: str) -> GroupNumber:
        if path not in self.groups:
            above, _, name = path.rpartition("/")
            parent = self.group(above) if above else None
            number = GroupNumber(len(self.groups))
            self.groups[path] = number
            self.entities.append(Group(number, path.split("/")[1], parent, name))
        return self.groups[path]

    def cluster(self, name: str, labels: dict[str, LabelValue], *paths: str) -> None:
        memberships = tuple(sorted(self.group(path) for path in paths))
        number = ClusterNumber(self.clusters)
        self.clusters += 1
        self.entities.append(Cluster(number, name, labels=labels, memberships=memberships))


@pytest.fixture
def twin() -> Twin:
    fleet = Fleet()
    for name, mode in HIERARCHIES.items():
        fleet.entities.append(Hierarchy(name, mode))
        fleet.group(f"/{name}")
    fleet.entities += [LabelKey(name, type) for name, type in LABELS.items()]
    fleet.cluster(
        "ny-1",
        {"size": "large", "lanes": 3, "state": "ny", "store": "2301", "drive-through": True},
        "/geo/us/northeast/ny",
        "/franchise/master041/fr07",
        "/devices/grill/acme/acme3000",
    )
    fleet.cluster(
        "ny-2",
        {"size": "large", "lanes": 2, "state": "ny", "store": "2302", "cluster": "blue"},
        "/geo/us/northeast/ny",
        "/franchise/corporate",
        "/devices/grill/acme/acme3001",
        "/devices/fryer",
    )
    fleet.cluster(
        "ma-1",
        {"size": "small", "lanes": 1.5, "type": "corp", "drive-through": False},
        "/geo/us/northeast/ma",
        "/franchise/corporate",
    )
    fleet.cluster("or-1", {"size": "large", "state": "or"}, "/geo/us/west/or", "/devices/fryer")
    fleet.cluster("us-hq", {"size": "small"}, "/geo/us")
    fleet.cluster("2", {})
    return Twin.of(fleet.entities)


@pytest.fixture
def chosen(twin: Twin) -> Callable[[str], set[str]]:
    """The names of the clusters a selector chooses."""

    def names(text: str) -> set[str]:
        return {twin.cluster_name(each) for each in evaluate(parse(text, twin), twin)}

    return names


@pytest.fixture
def save(twin: Twin) -> Callable[[str, str], None]:
    """Save a selector under a name."""

    def put(name: str, text: str) -> None:
        saved = SavedSelector(name, parse(text, twin))
        twin.put(ref_of(saved), saved)

    return put


@pytest.fixture
def assign(twin: Twin) -> Callable[..., None]:
    """Make a namespace, with assignments by name if any are given."""

    def put(namespace: str, **texts: str) -> None:
        own = Namespace(namespace)
        twin.put(ref_of(own), own)
        for name, text in texts.items():
            assignment = Assignment(name, Choice(namespace), parse(text, twin))
            twin.put(ref_of(assignment), assignment)

    return put
