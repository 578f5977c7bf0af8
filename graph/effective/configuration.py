"""The distinct configurations of an application, and where every value of one comes from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from graph.composition.late import fill
from graph.composition.merge import items_by_name, leaves
from graph.composition.numbering import Names
from graph.composition.problem import Path
from graph.composition.stack import OWN, Stack, digest_of
from graph.effective.definition import Definition
from graph.effective.key import overlay_key
from graph.effective.late import given, strongest
from graph.effective.reading import Reading
from graph.model.cluster_set import ClusterSet
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref
from graph.model.value_path import written_path
from graph.model.values import Value


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of a configuration."""

    path: Path
    value: Value
    layer: str
    """The layer that gave it; ``OWN`` for the application itself."""

    @property
    def key(self) -> str:
        """Its path as people write it."""
        return written_path(self.path)


@dataclass(frozen=True, slots=True)
class Told:
    """The values of a configuration, as far as they may be told."""

    values: Mapping[str, Value]
    leaves: tuple[Leaf, ...]
    digest: str
    """Of the values that are told: the same for the same ones."""


@dataclass(frozen=True, slots=True)
class LateValue:
    """A late-bound key on one cluster."""

    key: str
    value: Value
    """None where it has no value."""
    layer: str
    """The layer that gave it; empty where its source did, or nothing."""
    source: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """One distinct configuration of an application."""

    key: str
    """The name of its overlay."""
    names: Names
    """The layers that make it, of those that may be named."""
    clusters: ClusterSet


def configurations(reading: Reading, name: str) -> list[Configuration]:
    """The configurations of an application, those of most clusters first."""
    found = [
        Configuration(overlay_key(name, names), names, clusters)
        for names, clusters in reading.placement(name).configurations.items()
    ]
    return sorted(found, key=lambda each: (-len(each.clusters), each.key))


def configuration_on(definition: Definition, cluster: ClusterNumber, reading: Reading) -> Names:
    """The layers that make the configuration of a cluster on which the application is placed."""
    reached = reading.state.reach.layers
    return frozenset(name for name in definition.layers if cluster in reached[name])


def layers_of(definition: Definition, names: Names, reading: Reading) -> list[str]:
    """The layers of a configuration that may be named, weakest first."""
    named = (name for name in definition.layers if name in names)
    return [name for name in named if reading.shows(Ref(Kind.LAYER, name))]


def told(stack: Stack, names: Collection[str], reading: Reading) -> Told:
    """The values of a configuration with the layer of each.

    A value that a hidden layer gave is not there.
    """
    composed = stack.compose(names)
    hidden = {
        layer
        for layer in set(composed.origins.values())
        if layer != OWN and not reading.shows(Ref(Kind.LAYER, layer))
    }
    found = tuple(
        Leaf(path, value, composed.origins[path])
        for path, value in leaves(composed.values)
        if composed.origins[path] not in hidden
    )
    if not hidden:
        return Told(composed.values, found, stack.digest(names))
    gone = {path for path, layer in composed.origins.items() if layer in hidden}
    values = dict(_without(composed.values, (), gone))
    return Told(values, found, digest_of(values))


def late_told(
    definition: Definition, cluster: ClusterNumber, reading: Reading
) -> Iterator[LateValue]:
    """The late-bound keys of an application with their values on one cluster.

    A source that names a label which is hidden is not told: no cluster in sight has that label.
    """
    view = reading.view
    for late in view.workload.applications[definition.application.name].late_bound:
        layer = strongest(late, definition.stack, cluster, reading.state.reach)
        if layer is None:
            value = fill(late, view.cluster_name(cluster), lambda key: view.label(cluster, key))
            yield LateValue(late.key, value, "", late.source)
        elif reading.shows(Ref(Kind.LAYER, layer.name)):
            yield LateValue(late.key, given(layer, late), layer.name, late.source)


def _without(
    values: Mapping[str, Value], path: Path, gone: Collection[Path]
) -> Iterator[tuple[str, Value]]:
    """``values`` without some leaves, and without what held nothing else."""
    for key, value in values.items():
        here = (*path, key)
        if here in gone:
            continue
        kept: Value = value
        if isinstance(value, dict):
            kept = dict(_without(value, here, gone))
        elif isinstance(value, list) and (items := items_by_name(value)) is not None:
            parts = (dict(_without(each, (*here, name), gone)) for name, each in items.items())
            kept = [part for part in parts if part]
        if kept or not value:
            yield key, kept
