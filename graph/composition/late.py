"""Late-bound keys: values that differ per cluster and so are kept out of composed ones.

A key may be a dotted path, as ``image.tag``; it leads through maps alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from graph.model.inventory import LabelValue
from graph.model.value_path import value_path
from graph.model.values import Value, Values
from graph.model.workload import CLUSTER_SOURCE, PLACEHOLDER, LateBound


def fill(
    late: LateBound, cluster_name: str, label: Callable[[str], LabelValue | None]
) -> str | None:
    """The source of ``late`` filled in for a cluster.

    None when it has no source, or names a label the cluster has not got.
    """
    if not late.source:
        return None
    words = {CLUSTER_SOURCE: cluster_name}
    for key in set(PLACEHOLDER.findall(late.source)) - {CLUSTER_SOURCE}:
        value = label(key)
        if value is None:
            return None
        words[key] = _text(value)
    return PLACEHOLDER.sub(lambda found: words[found.group(1)], late.source)


def fill_many(
    late: LateBound, names: Sequence[str], labels: Mapping[str, Sequence[LabelValue | None]]
) -> list[str | None]:
    """As ``fill``, for many clusters: their names, and what they have of each label it names."""
    if not late.source:
        return [None] * len(names)
    literals, keys = _split_source(late.source)
    template = "%s".join(text.replace("%", "%%") for text in literals)
    columns = [
        names
        if key == CLUSTER_SOURCE
        else [None if each is None else _text(each) for each in labels[key]]
        for key in keys
    ]
    if not keys:
        return [late.source] * len(names)
    return [None if None in row else template % row for row in zip(*columns, strict=True)]


def _split_source(source: str) -> tuple[list[str], list[str]]:
    """The text between the words in braces, and the words; there is one more text than words."""
    parts = PLACEHOLDER.split(source)
    return parts[::2], parts[1::2]


def split(values: Values, late: Collection[str]) -> tuple[Mapping[str, Value], Mapping[str, Value]]:
    """``values`` without the late-bound keys, and the values it gives those, by key.

    A map that held nothing else goes with them.
    """
    rest: Mapping[str, Value] = values.data
    bound: dict[str, Value] = {}
    for key in late:
        path = value_path(key)
        found = _at(rest, path)
        if found is not None:
            bound[key] = found[0]
            rest = _without(rest, path)
    return rest, bound


def _at(data: Mapping[str, Value], path: tuple[str, ...]) -> tuple[Value] | None:
    first, *below = path
    if first not in data:
        return None
    value = data[first]
    if not below:
        return (value,)
    return _at(value, tuple(below)) if isinstance(value, dict) else None


def _without(data: Mapping[str, Value], path: tuple[str, ...]) -> dict[str, Value]:
    first, *below = path
    kept = dict(data)
    value = kept.pop(first)
    if below and isinstance(value, dict) and (left := _without(value, tuple(below))):
        kept[first] = left
    return kept


def _text(value: LabelValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
