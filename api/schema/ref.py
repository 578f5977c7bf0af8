"""Global ids: every object has one, and keeps it for as long as it lives.

An id begins with the identity the record itself uses, so it survives renames and moves, is the same
in every process, and is never given twice. What follows says which data it stands for, because
clients keep one record for each id:

    cluster:5               the cluster as it is today
    cluster:5@12            the cluster as it was at revision 12, also while that is the newest
    cluster:5@12+0f3c...    the cluster as one preview, made at revision 12, shows it
"""

from __future__ import annotations

import re
from typing import NamedTuple

import strawberry

from graph.model.errors import Invalid
from graph.model.names import Revision, quoted
from graph.model.ref import Kind, Ref

_NUMBERED = (Kind.CLUSTER, Kind.GROUP)
_SUFFIX = re.compile(r"(0|[1-9][0-9]{0,15})(\+[0-9a-f]{16})?", re.ASCII)


ID = (
    "The object's identity, for as long as it exists. Read with asOf, or in a preview, it is"
    " another: one that stands for the object as it is shown there."
)


@strawberry.interface(description="Anything with a global id.")
class Node:
    """The Relay interface."""

    @strawberry.field(description=ID)
    def id(self) -> strawberry.ID:
        """The global id."""
        raise NotImplementedError

    def ref(self) -> Ref:
        """Which object this is."""
        raise NotImplementedError


class Named(NamedTuple):
    """What a global id names."""

    ref: Ref
    """The object."""
    revision: Revision | None = None
    """The revision it is to be read at; None for the newest."""
    in_preview: bool = False
    """Whether it was in a preview, which nobody keeps."""


def ref_from(identity: str) -> Ref:
    """The object a global id names, whatever it is to be read at; refused if it can be none."""
    return named_by(identity).ref


def without_suffix(identity: str) -> str:
    """What comes before the revision in the id of an object or a row."""
    return identity.partition("@")[0]


def named_by(identity: str) -> Named:
    """What a global id names; refused if it can be nothing."""
    own, at, suffix = identity.partition("@")
    ref = _ref(own, identity)
    if not at:
        return Named(ref)
    found = _SUFFIX.fullmatch(suffix)
    if found is None:
        raise _no_id(identity)
    return Named(ref, Revision(int(found[1])), in_preview=found[2] is not None)


def _ref(own: str, identity: str) -> Ref:
    kind, _, key = own.partition(":")
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
