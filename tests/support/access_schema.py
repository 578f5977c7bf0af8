"""Documents that read all there is to read, made from the schema: a new field is in them at once.

For every type one: by the shortest way there, each of its fields, and of what those lead to all
that is plain. A document of its own for each keeps one fault from hiding another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Set

from graphql import (
    GraphQLField,
    GraphQLObjectType,
    get_named_type,
    is_abstract_type,
    is_composite_type,
    is_required_argument,
)

from api.schema.schema import GRAPHQL

ARGUMENTS: Mapping[str, str] = {
    "Cluster.label": '(key: "size")',
    "Cluster.place": '(hierarchy: "geo")',
    "Cluster.places": '(hierarchy: "geo")',
    "ClusterWorkload.application": '(name: "{application}")',
    "Application.rollUp": '(by: {{group: "/geo/us"}})',
    "Query.node": '(id: "application:{application}")',
    "Query.nodes": '(ids: ["application:{application}", "namespace:{namespace}", "layer:{layer}"])',
    "Query.preview": '(input: {{reason: "r", commands: [{{unassign: {{name: "{assignment}"}}}}]}})',
    "Query.previewRevert": '(to: 1, scope: {{id: "application:{application}"}})',
    "Query.historyOfGone": '(kind: APPLICATION, name: "{application}")',
    "Query.published": "(revision: 1)",
    "Record.relations": '(cursors: ["1.0123456789abcdef"])',
    "Fleet.application": '(name: "{application}")',
    "Fleet.namespace": '(name: "{namespace}")',
    "Fleet.why": '(application: "{application}", cluster: "{cluster}")',
    "Fleet.compare": '(left: {{cluster: "{cluster}"}}, right: {{text: "{text}"}})',
    "Fleet.capacity": '(by: "/geo/us")',
    "Fleet.chargeback": '(by: "/geo/us")',
    "Fleet.cluster": '(name: "{cluster}")',
    "Fleet.group": '(path: "/geo/us")',
    "Fleet.savedSelector": '(name: "texas")',
    "Fleet.tree": '(root: "/geo")',
    "Fleet.facets": '(by: [{{group: "/geo"}}, {{label: "size"}}])',
    "Fleet.crossTab": '(rows: {{group: "/geo"}}, columns: {{label: "size"}})',
    "Fleet.explain": '(cluster: "{cluster}", where: {{namespace: "{namespace}"}})',
    "Fleet.selector": '(text: "namespace {namespace}")',
    "Fleet.complete": '(text: "namespace ", position: 10)',
    "Fleet.diff": '(from: 0, where: {{text: "{text}"}})',
    "Subscription.clusterSet": '(where: {{text: "all"}})',
    "WorkloadImpact.rollUp": '(by: [{{group: "/geo/us"}}])',
    "ApplicationMove.rollUp": '(by: [{{group: "/geo/us"}}])',
}
"""What fields are asked with that must be asked with something, by type and field."""


def readings(names: Mapping[str, str], without: Set[str] = frozenset()) -> list[str]:
    """The documents, but for the fields called ``without``.

    ``names`` are what they ask for: cluster, application, namespace and so on.
    """
    assert GRAPHQL.query_type is not None
    ways = _ways(GRAPHQL.query_type, without)
    return [f"{{ {way.format_map(_Filled(names))} }}" for way in ways.values() if way]


def streams() -> list[str]:
    """Likewise of all that can be followed."""
    assert GRAPHQL.subscription_type is not None
    ways = _ways(GRAPHQL.subscription_type, frozenset())
    return [f"subscription {{ {way.format_map(_Filled())} }}" for way in ways.values() if way]


class _Filled(dict[str, str]):
    """Names to ask for; whatever is not given is called as nothing is."""

    def __missing__(self, key: str) -> str:
        return f"no-{key}"


def _ways(root: GraphQLObjectType, without: Set[str]) -> dict[str, str]:
    """By type, the way from the root to all its fields, with the names left open."""
    found = {root.name: ""}
    waiting = deque[tuple[GraphQLObjectType, str]]([(root, "{}")])
    while waiting:
        parent, way = waiting.popleft()
        for name, field in parent.fields.items():
            for kind in _objects(field) if name not in without else ():
                if kind.name not in found:
                    step = (
                        f"{_asked(parent, name, field)} {{{{ ... on {kind.name} {{{{ {{}} }}}} }}}}"
                    )
                    longer = way.replace("{}", step)
                    found[kind.name] = longer
                    waiting.append((kind, longer))
    kinds = {kind: GRAPHQL.get_type(kind) for kind in found}
    return {
        kind: found[kind].replace("{}", " ".join(("__typename", *_fields(each, without))))
        for kind, each in kinds.items()
        if isinstance(each, GraphQLObjectType)
    }


def _objects(field: GraphQLField) -> list[GraphQLObjectType]:
    kind = get_named_type(field.type)
    if isinstance(kind, GraphQLObjectType):
        return [kind]
    return list(GRAPHQL.get_possible_types(kind)) if is_abstract_type(kind) else []


def _asked(parent: GraphQLObjectType, name: str, field: GraphQLField) -> str:
    """A field with its arguments, under a name of its own: unions may differ in its type."""
    alias = f"{parent.name.lower()}_{name}"
    if any(map(is_required_argument, field.args.values())):
        return f"{alias}: {name}{ARGUMENTS[f'{parent.name}.{name}']}"
    return f"{alias}: {name}"


def _fields(parent: GraphQLObjectType, without: Set[str]) -> Iterator[str]:
    for name, field in parent.fields.items():
        if name in without:
            continue
        asked = _asked(parent, name, field)
        if not is_composite_type(get_named_type(field.type)):
            yield asked
            continue
        inner = (
            f"... on {kind.name} {{{{ __typename {' '.join(_plain(kind, without))} }}}}"
            for kind in _objects(field)
        )
        yield f"{asked} {{{{ {' '.join(inner)} }}}}"


def _plain(parent: GraphQLObjectType, without: Set[str]) -> Iterator[str]:
    for name, field in parent.fields.items():
        required = name in without or any(map(is_required_argument, field.args.values()))
        if not required and not is_composite_type(get_named_type(field.type)):
            yield _asked(parent, name, field)
