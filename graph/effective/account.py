"""What runs on one cluster, and what is said of it; as far as its reader may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graph.composition.numbering import Names
from graph.effective.configuration import LateValue, Told, configuration_on, late_told, told
from graph.effective.definition import Definition
from graph.effective.key import overlay_key
from graph.effective.machines import RESOURCES
from graph.effective.obstacle import Obstacle, obstacles
from graph.effective.reading import Reading, Status
from graph.model.inventory import Capacity
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref

REACHING = (Kind.ASSIGNMENT, Kind.PROHIBITION, Kind.LAYER, Kind.POLICY)
"""What reaches clusters by a selector."""


@dataclass(frozen=True, slots=True)
class ApplicationOn:
    """One application and one cluster. What is dear is worked out when asked."""

    reading: Reading
    definition: Definition
    cluster: ClusterNumber
    status: Status

    @property
    def name(self) -> str:
        """The application."""
        return self.definition.application.name

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.definition.application.namespace

    @property
    def is_placed(self) -> bool:
        """Whether it has a configuration there."""
        return self.status in (Status.EFFECTIVE, Status.BLOCKED)

    @property
    def key(self) -> str | None:
        """The name of its overlay there; None where it has none."""
        return overlay_key(self.name, self._names()) if self.is_placed else None

    def told(self) -> Told | None:
        """Its values there; None where it has none."""
        if not self.is_placed:
            return None
        return told(self.definition.stack, self._names(), self.reading)

    def late(self) -> list[LateValue]:
        """Its late-bound values there."""
        if not self.is_placed:
            return []
        return list(late_told(self.definition, self.cluster, self.reading))

    def obstacles(self) -> list[Obstacle]:
        """What is in its way."""
        return obstacles(self.definition, self.cluster, self.reading)

    def _names(self) -> Names:
        names = configuration_on(self.definition, self.cluster, self.reading)
        return self.reading.layers(names)


def applications_on(reading: Reading, cluster: ClusterNumber) -> Iterator[ApplicationOn]:
    """Every application that is assigned to a cluster, by name."""
    placements = reading.state.placements
    found = [name for name, each in placements.items() if cluster in each.assigned]
    for name in sorted(found):
        each = application_on(reading, name, cluster)
        if each is not None:
            yield each


def applications_off(reading: Reading, cluster: ClusterNumber) -> Iterator[ApplicationOn]:
    """Every application that is not assigned to a cluster, by name."""
    for definition in reading.definitions():
        if reading.status(definition.application.name, cluster) is Status.UNASSIGNED:
            yield ApplicationOn(reading, definition, cluster, Status.UNASSIGNED)


def application_on(reading: Reading, name: str, cluster: ClusterNumber) -> ApplicationOn | None:
    """One application on a cluster; None if it is not assigned there, or not there to be seen."""
    definition = reading.definition(name)
    status = reading.status(name, cluster)
    if definition is None or status is Status.UNASSIGNED:
        return None
    return ApplicationOn(reading, definition, cluster, status)


def settings_on(reading: Reading, cluster: ClusterNumber) -> Told:
    """The fleet's own settings on a cluster."""
    fleet = reading.state.fleet
    names = [
        layer.name for layer in fleet.keyed if reading.reaches(Ref(Kind.LAYER, layer.name), cluster)
    ]
    return told(fleet, names, reading)


def asked_of(reading: Reading, cluster: ClusterNumber) -> Capacity:
    """What is asked of a cluster, by those applications that may be seen."""
    tallies = reading.asked()
    return Capacity(*(tallies[resource].at(cluster) for resource in RESOURCES))


def reaching(reading: Reading, cluster: ClusterNumber, kind: Kind) -> list[str]:
    """The objects of one kind that reach a cluster, by name."""
    found = reading.state.reach.reaching(kind, cluster)
    return sorted(str(ref.key) for ref in reading.shown(found))
