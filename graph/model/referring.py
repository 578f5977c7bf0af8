"""What an object names, and which may therefore not vanish under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graph.model.access import Grant
from graph.model.change import Entity
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, SavedSelector
from graph.model.ref import Kind, Ref
from graph.model.selector import Selector, mentions
from graph.model.workload import (
    CLUSTER_SOURCE,
    PLACEHOLDER,
    Application,
    Assignment,
    Choice,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)


def named_in(entity: Entity) -> frozenset[Ref]:
    """The objects ``entity`` names itself. Clusters and groups are known by what they are in."""
    return frozenset(_named_in(entity))


def selector_of(entity: Entity) -> Selector | None:
    """The selector an object holds."""
    match entity:
        case SavedSelector() | Assignment() | Prohibition() | Layer() | Policy():
            return entity.selector
        case Grant():
            return entity.scope
        case Application():
            return entity.requires
        case _:
            return None


def labels_in(late: LateBound) -> tuple[str, ...]:
    """The label keys a late-bound key takes its value from."""
    return tuple(each for each in PLACEHOLDER.findall(late.source) if each != CLUSTER_SOURCE)


def _named_in(entity: Entity) -> Iterator[Ref]:
    selector = selector_of(entity)
    if selector is not None:
        yield from mentions(selector)
    match entity:
        case Application():
            yield Ref(Kind.NAMESPACE, entity.namespace)
            yield from _applications(entity.depends_on)
            for late in entity.late_bound:
                yield from (Ref(Kind.LABEL_KEY, key) for key in labels_in(late))
        case Assignment() | Prohibition():
            yield from _chosen(entity.choice)
        case Layer() if entity.application:
            yield Ref(Kind.APPLICATION, entity.application)
        case Policy() | Grant():
            yield from (Ref(Kind.NAMESPACE, name) for name in entity.namespaces)
            if isinstance(entity, Grant):
                yield from _applications(entity.applications)
        case Layer() | SavedSelector() | Namespace() | Cluster() | Group() | Hierarchy():
            pass
        case LabelKey():
            pass


def _chosen(choice: Choice) -> Iterator[Ref]:
    if choice.namespace:
        yield Ref(Kind.NAMESPACE, choice.namespace)
    yield from _applications(choice.applications)


def _applications(names: Iterable[str]) -> Iterator[Ref]:
    return (Ref(Kind.APPLICATION, name) for name in names)
