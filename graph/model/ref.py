"""Which object: the kinds of thing the record keeps, and the identity of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kinds of object in the record, in the order a changeset lists them."""

    HIERARCHY = "hierarchy"
    LABEL_KEY = "label_key"
    GROUP = "group"
    CLUSTER = "cluster"
    SAVED_SELECTOR = "saved_selector"
    GRANT = "grant"
    NAMESPACE = "namespace"
    APPLICATION = "application"
    ASSIGNMENT = "assignment"
    PROHIBITION = "prohibition"
    LAYER = "layer"
    POLICY = "policy"


WORKLOAD = frozenset(
    {
        Kind.NAMESPACE,
        Kind.APPLICATION,
        Kind.ASSIGNMENT,
        Kind.PROHIBITION,
        Kind.LAYER,
        Kind.POLICY,
    }
)
"""The kinds of object that say what runs where."""


@dataclass(frozen=True, slots=True)
class Ref:
    """The identity of an object: its kind, and its name or number."""

    kind: Kind
    key: str | int

    def __hash__(self) -> int:
        return hash(self.key)  # looked up all the time, and few kinds share a key

    def __str__(self) -> str:
        return f"{self.kind}:{self.key}"
