"""Frozen values as JSON and back, for the few that a snapshot file keeps whole.

A closed list of classes: nothing else is ever made from a file. ``SHAPE`` tells apart programs
whose classes differ, so that a file is never read with fields that have moved.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import Field
from enum import Enum
from typing import Any, ClassVar, Protocol, cast

from graph.model.access import Grant, Role
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import (
    Capacity,
    Cluster,
    ClusterKind,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    Mode,
    Reconciler,
    SavedSelector,
)
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Only,
    Or,
    Saved,
    Under,
)
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Assignment,
    Base,
    Binding,
    BindingKind,
    Choice,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    SecretProvider,
    SecretReference,
    Template,
)

Plain = None | str | int | float | list["Plain"] | dict[str, "Plain"]


class Record(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


_ENUMS: dict[str, type[Enum]] = {
    kind.__name__: kind
    for kind in (
        *(Mode, LabelType, ClusterKind, Reconciler, Comparison, Role),
        *(BindingKind, Enforcement, SecretProvider),
    )
}
_RECORDS: dict[str, type[Record]] = {
    kind.__name__: kind
    for kind in (
        *(Hierarchy, LabelKey, SavedSelector, Grant, Capacity, OpeningHours, Interval),
        *(Everything, Under, Only, Matching, LabelIs, LabelIn, HasLabel, IsCluster, Saved),
        *(InNamespace, And, Or, Not, Except),
        *(Namespace, Application, Assignment, Prohibition, Layer, Policy, Choice),
        *(Base, Binding, Component, Template, FieldTarget, LateBound, SecretReference),
    )
}
_MAPPING = "{}"
_VALUES = Values.__name__


def _shape() -> int:
    kinds: list[type[Record]] = [*_RECORDS.values(), Values, Group, Cluster]
    lines = [f"{kind.__name__} {' '.join(kind.__dataclass_fields__)}" for kind in kinds]
    return zlib.crc32("\n".join(lines).encode())


SHAPE = _shape()


def to_plain(value: object) -> Plain:
    """``value`` as lists, dictionaries of one entry, and what JSON has itself."""
    if isinstance(value, Enum):
        return {type(value).__name__: value.value}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple):
        return [to_plain(each) for each in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {_MAPPING: [to_plain(pair) for pair in pairs]}
    if isinstance(value, Values):
        return {_VALUES: value.text}
    name = type(value).__name__
    return {name: [to_plain(getattr(value, each)) for each in _RECORDS[name].__dataclass_fields__]}


def from_plain(plain: Plain) -> Any:
    """The inverse of ``to_plain``."""
    if isinstance(plain, list):
        return tuple(map(from_plain, plain))
    if not isinstance(plain, dict):
        return plain
    ((name, content),) = plain.items()
    if name in _ENUMS:
        return _ENUMS[name](content)
    if name == _VALUES:
        return Values.read(cast(str, content))
    parts: tuple[Any, ...] = from_plain(content)
    return dict(parts) if name == _MAPPING else _RECORDS[name](*parts)
