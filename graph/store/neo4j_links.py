"""What objects name, as relationships in Neo4j.

    (:Application)-[:IN_NAMESPACE]->(:Namespace)     (:Application)-[:DEPENDS_ON]->(:Application)
    (:Assignment|Prohibition)-[:CHOOSES]->(:Namespace|Application)
    (:Layer)-[:CONFIGURES]->(:Application)           none for a fleet layer
    (:Policy)-[:GOVERNS]->(:Namespace)
    (:Grant)-[:COVERS]->(:Namespace|Application)     none when it covers everything
    (any of these and a SavedSelector)-[:NAMES]->(:Group|LabelKey|Cluster|SavedSelector|Namespace)

All but NAMES are the truth and are read back; ``place`` keeps the order they were given in. NAMES
is for people who look: a selector is text, and the text decides.

Pure: this module knows Cypher and no driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from graph.model.access import Grant
from graph.model.change import ref_of
from graph.model.inventory import SavedSelector
from graph.model.ref import Kind, Ref
from graph.model.referring import labels_in, selector_of
from graph.model.selector import mentions
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)

Named = SavedSelector | Grant | Namespace | Application | Assignment | Prohibition | Layer | Policy
"""Objects whose identity is their name and which may name others."""

LABELS: dict[Kind, LiteralString] = {
    Kind.SAVED_SELECTOR: "SavedSelector",
    Kind.GRANT: "Grant",
    Kind.NAMESPACE: "Namespace",
    Kind.APPLICATION: "Application",
    Kind.ASSIGNMENT: "Assignment",
    Kind.PROHIBITION: "Prohibition",
    Kind.LAYER: "Layer",
    Kind.POLICY: "Policy",
}
"""The label of each kind of them."""

_ENDS: dict[Kind, LiteralString] = {
    Kind.GROUP: "Group {number: row[1]}",
    Kind.CLUSTER: "Cluster {number: row[1]}",
    Kind.LABEL_KEY: "LabelKey {name: row[1]}",
    Kind.SAVED_SELECTOR: "SavedSelector {name: row[1]}",
    Kind.NAMESPACE: "Namespace {name: row[1]}",
    Kind.APPLICATION: "Application {name: row[1]}",
}


@dataclass(frozen=True, slots=True)
class Link:
    """A relationship from an object to one it names."""

    type: LiteralString
    to: Ref
    place: int | None = None
    """Among those of its type, where the order is kept."""


def link_steps(objects: Iterable[Named]) -> Iterator[tuple[LiteralString, list[Any]]]:
    """The statements that give ``objects``, which have none, the relationships they should have."""
    links: dict[tuple[Kind, LiteralString, Kind], list[Any]] = {}
    for each in objects:
        kind = ref_of(each).kind
        for link in links_of(each):
            rows = links.setdefault((kind, link.type, link.to.kind), [])
            rows.append([each.name, link.to.key, link.place])
    for (kind, link_type, end), rows in links.items():
        yield _link(LABELS[kind], link_type, _ENDS[end]), rows


def _link(label: LiteralString, link_type: LiteralString, end: LiteralString) -> LiteralString:
    return f"""
UNWIND $rows AS row
MATCH (one:{label} {{name: row[0]}})
MATCH (other:{end})
CREATE (one)-[r:{link_type}]->(other) SET r.place = row[2]
"""


def links_of(entity: Named) -> Iterator[Link]:
    """Every relationship from ``entity``."""
    match entity:
        case Application():
            yield Link("IN_NAMESPACE", Ref(Kind.NAMESPACE, entity.namespace))
            yield from _several("DEPENDS_ON", Kind.APPLICATION, entity.depends_on)
        case Assignment() | Prohibition():
            yield from _chosen(entity.choice)
        case Layer() if entity.application:
            yield Link("CONFIGURES", Ref(Kind.APPLICATION, entity.application))
        case Policy():
            yield from _several("GOVERNS", Kind.NAMESPACE, entity.namespaces)
        case Grant():
            yield from _several("COVERS", Kind.NAMESPACE, entity.namespaces)
            yield from _several("COVERS", Kind.APPLICATION, entity.applications)
        case Layer() | SavedSelector() | Namespace():
            pass
    for ref in sorted(_mentioned(entity), key=str):
        yield Link("NAMES", ref)


def _chosen(choice: Choice) -> Iterator[Link]:
    if choice.namespace:
        yield Link("CHOOSES", Ref(Kind.NAMESPACE, choice.namespace))
    yield from _several("CHOOSES", Kind.APPLICATION, choice.applications)


def _several(link_type: LiteralString, kind: Kind, names: Sequence[str]) -> Iterator[Link]:
    for place, name in enumerate(names):
        yield Link(link_type, Ref(kind, name), place)


def _mentioned(entity: Named) -> set[Ref]:
    """What its selector names, and the label keys that late-bound keys are filled from."""
    selector = selector_of(entity)
    found = set[Ref]() if selector is None else set(mentions(selector))
    if isinstance(entity, Application):
        for late in entity.late_bound:
            found.update(Ref(Kind.LABEL_KEY, key) for key in labels_in(late))
    return found
