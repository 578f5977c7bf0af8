"""How one map of values lies over another.

Maps merge. Lists whose items are maps, each with a ``name`` of its own, merge by name: known items
where they were, new ones after them. Any other list replaces what was there, the empty one too.
Null removes a key. Nothing here changes what it is given; results share parts with it.

A leaf is what is not taken apart: text, numbers, true and false, null, other lists, and a map with
nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graph.composition.problem import Path
from graph.model.values import Value

Map = Mapping[str, Value]
NamedItems = dict[str, dict[str, Value]]

NAME = "name"
"""The key by which the items of a list are told apart."""


def merge(weak: Map, strong: Map) -> dict[str, Value]:
    """``strong`` over ``weak``. Of ``strong``, what is null is gone from the result."""
    merged = dict(weak)
    for key, value in strong.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            under = merged.get(key)
            merged[key] = merge(under if isinstance(under, dict) else {}, value)
        elif isinstance(value, list) and value and (items := items_by_name(value)) is not None:
            under = merged.get(key)
            merged[key] = _merge_items(under if isinstance(under, list) else [], items)
        else:
            merged[key] = value
    return merged


def items_by_name(items: list[Value]) -> NamedItems | None:
    """The items of a list that merges by name; None for any other list."""
    found: NamedItems = {}
    for item in items:
        if not isinstance(item, dict):
            return None
        name = item.get(NAME)
        if not isinstance(name, str) or name in found:
            return None
        found[name] = item
    return found or None


def leaves(values: Map) -> list[tuple[Path, Value]]:
    """Every leaf with its path."""
    found: list[tuple[Path, Value]] = []
    _collect(values, (), found, None)
    return found


def paths(values: Map) -> list[Path]:
    """The paths of every leaf and of every map and list above them."""
    found: list[tuple[Path, Value]] = []
    inner: list[Path] = []
    _collect(values, (), found, inner)
    return inner + [path for path, _ in found]


def differing(one: Map, other: Map, path: Path = ()) -> Iterator[Path]:
    """The leaves to which two maps give different values.

    What only one of them mentions is none; a leaf of one where the other has leaves below it is.
    """
    if one.keys().isdisjoint(other.keys()):
        return
    for key in sorted(one.keys() & other.keys()):
        yield from _differing(one[key], other[key], (*path, key))


def same(one: Value, other: Value) -> bool:
    """Whether two values are written alike: true is not 1, and 1 is not 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def _merge_items(under: list[Value], over: NamedItems) -> list[Value]:
    merged = dict(items_by_name(under) or {})
    for name, item in over.items():
        merged[name] = merge(merged.get(name, {}), item)
    return list(merged.values())


def _parts(value: Value) -> Map | None:
    """What a value is taken apart into; None for a leaf."""
    if isinstance(value, dict):
        return value or None
    return items_by_name(value) if isinstance(value, list) else None


def _collect(
    values: Map, path: Path, found: list[tuple[Path, Value]], inner: list[Path] | None
) -> None:
    for key, value in values.items():
        here = (*path, key)
        below = _parts(value)
        if below is None:
            found.append((here, value))
            continue
        if inner is not None:
            inner.append(here)
        _collect(below, here, found, inner)


def _differing(one: Value, other: Value, path: Path) -> Iterator[Path]:
    if isinstance(one, dict) and isinstance(other, dict):
        yield from differing(one, other, path)
        return
    if isinstance(one, list) and isinstance(other, list):
        items, others = items_by_name(one), items_by_name(other)
        if items is not None and others is not None:
            for name in sorted(items.keys() & others.keys()):
                yield from differing(items[name], others[name], (*path, name))
            return
    if not same(one, other):
        yield path
