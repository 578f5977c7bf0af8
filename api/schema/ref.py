"""Global ids: every object has one, and keeps it for as long as it lives.

An id is the identity the record itself uses, so it survives renames and moves, is the same in
every process, and is never given twice.
"""

from __future__ import annotations

import strawberry

from graph.model.errors import Invalid
from graph.model.names import quoted
from graph.model.ref import Kind, Ref

_NUMBERED = (Kind.CLUSTER, Kind.GROUP)


@strawberry.interface(description="Anything with a global id.")
class Node:
    """The Relay interface."""

    @strawberry.field(description="The object's identity, for as long as it exists.")
    def id(self) -> strawberry.ID:
        """The global id."""
        return strawberry.ID(str(self.ref()))

    def ref(self) -> Ref:
        """Which object this is."""
        raise NotImplementedError


def ref_from(identity: str) -> Ref:
    """The object a global id names; refused if it can be none."""
    kind, _, key = identity.partition(":")
    try:
        found = Kind(kind)
    except ValueError:
        raise _no_id(identity) from None
    if found not in _NUMBERED:
        if not key:
            raise _no_id(identity)
        return Ref(found, key)
    if not (key.isascii() and key.isdigit() and len(key) <= 10 and str(int(key)) == key):
        raise _no_id(identity)
    return Ref(found, int(key))


def _no_id(identity: str) -> Invalid:
    return Invalid(
        f"{quoted(identity[:80])} is no id", hint="pass an id exactly as it was received"
    )
