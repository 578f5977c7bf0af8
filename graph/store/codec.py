"""The record's bytes: every entity, selector tree and changeset as JSON, and the chain over them.

Both adapters, the archive and every later version of this program must read what is written here,
so the form is spelled out by hand, object by object, and depends on no class:

- Equal values have equal bytes: keys are sorted, and a field that has its default is left out.
- What is left out reads as the default, so a field can be added without rewriting old records.
- A moment is UTC with milliseconds; text is any Unicode, byte for byte as given.

The chain of a changeset is a hash over the chain before it and its own body. The first link is made
of the store's own id, so no two stores have a history in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from json import JSONDecoder

import orjson

from graph.model.change import Change, Changeset, Entity
from graph.model.errors import Invalid
from graph.model.hours import OpeningHours
from graph.model.names import Revision
from graph.model.ref import Kind
from graph.model.selector import Selector
from graph.model.workload import (
    Application,
    Assignment,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    SecretReference,
    Source,
)
from graph.store.inventory_codec import (
    hours_json,
    inventory_json,
    read_cluster,
    read_grant,
    read_group,
    read_hierarchy,
    read_hours,
    read_label_key,
    read_saved_selector,
)
from graph.store.selector_codec import Json, read_selector, selector_json
from graph.store.workload_codec import (
    late_bound_json,
    read_application,
    read_assignment,
    read_late_bound,
    read_layer,
    read_namespace,
    read_policy,
    read_prohibition,
    read_secret,
    read_source,
    secret_json,
    source_json,
    workload_json,
)

_CHANGES = ',"changes":['
"""Where the changes of a body begin: within a string the quotes would be escaped."""
_ONE_VALUE = JSONDecoder()
"""Reads one value out of many, which orjson does not."""
_BROKEN = (ValueError, LookupError, TypeError, AttributeError, Invalid)
"""What reading bytes that are not ours runs into."""


def encode_entity(entity: Entity) -> bytes:
    """The canonical bytes of ``entity``. Its kind is not in them."""
    return _dump(_entity_json(entity))


def decode_entity(kind: Kind, data: bytes) -> Entity:
    """The inverse of ``encode_entity``."""
    try:
        return _READERS[kind](orjson.loads(data))
    except _BROKEN as error:
        raise _unreadable(f"a {kind}") from error


def encode_body(changeset: Changeset) -> bytes:
    """The canonical bytes of ``changeset`` without its chain: what the chain is made over."""
    changes = [
        [change.ref.kind.value, _fragment(change.before), _fragment(change.after)]
        for change in changeset.changes
    ]
    body: dict[str, Json] = {
        "actor": changeset.actor,
        "at": encode_moment(changeset.at),
        "changes": changes,
        "reason": changeset.reason,
        "revision": changeset.revision,
    }
    if changeset.accepted_loss:
        body["accepted_loss"] = changeset.accepted_loss
    if changeset.on_behalf_of:
        body["on_behalf_of"] = changeset.on_behalf_of
    return _dump(body)


def decode_body(body: bytes, chain: str) -> Changeset:
    """The inverse of ``encode_body``, sealed with ``chain``."""
    try:
        data = orjson.loads(body)
        return Changeset(
            revision=Revision(data["revision"]),
            at=decode_moment(data["at"]),
            actor=data["actor"],
            reason=data["reason"],
            changes=tuple(_change(*change) for change in data["changes"]),
            accepted_loss=data.get("accepted_loss", 0),
            on_behalf_of=data.get("on_behalf_of", ""),
            chain=chain,
        )
    except _BROKEN as error:
        raise _unreadable("a changeset") from error


def decode_changes(body: bytes) -> Iterator[Change]:
    """The changes in ``body``, each read when it is asked for: to stop early saves the rest."""
    try:
        text = body.decode()
        at = text.index(_CHANGES) + len(_CHANGES)
        while text[at] != "]":
            change, at = _ONE_VALUE.raw_decode(text, at)
            yield _change(*change)
            at += text[at] == ","
    except _BROKEN as error:
        raise _unreadable("a changeset") from error


def count_changes(body: bytes) -> tuple[int, int]:
    """How many changes are in ``body``, and how many of them are of grants."""
    try:
        kinds = [kind for kind, _, _ in orjson.loads(body)["changes"]]
    except _BROKEN as error:
        raise _unreadable("a changeset") from error
    return len(kinds), kinds.count(Kind.GRANT.value)


def genesis(store_id: str) -> str:
    """The chain of revision 0."""
    return sha256(b"trellis\n" + store_id.encode()).hexdigest()


def seal(previous_chain: str, body: bytes) -> str:
    """The chain of the changeset with ``body`` that follows ``previous_chain``."""
    return sha256(previous_chain.encode() + b"\n" + body).hexdigest()


def encode_selector(selector: Selector) -> bytes:
    """The canonical bytes of a selector tree."""
    return _dump(selector_json(selector))


def decode_selector(data: bytes) -> Selector:
    """The inverse of ``encode_selector``."""
    try:
        return read_selector(orjson.loads(data))
    except _BROKEN as error:
        raise _unreadable("a selector") from error


def encode_hours(hours: OpeningHours) -> bytes:
    """The canonical bytes of opening hours."""
    return _dump(hours_json(hours))


def decode_hours(data: bytes) -> OpeningHours:
    """The inverse of ``encode_hours``."""
    try:
        return read_hours(*orjson.loads(data))
    except _BROKEN as error:
        raise _unreadable("opening hours") from error


def encode_source(source: Source) -> bytes:
    """The canonical bytes of an application's source."""
    return _dump(source_json(source))


def decode_source(data: bytes) -> Source:
    """The inverse of ``encode_source``."""
    try:
        return read_source(orjson.loads(data))
    except _BROKEN as error:
        raise _unreadable("a source") from error


def encode_late_bound(late_bound: Sequence[LateBound]) -> bytes:
    """The canonical bytes of an application's late-bound keys."""
    return _dump([late_bound_json(each) for each in late_bound])


def decode_late_bound(data: bytes) -> tuple[LateBound, ...]:
    """The inverse of ``encode_late_bound``."""
    try:
        return tuple(map(read_late_bound, orjson.loads(data)))
    except _BROKEN as error:
        raise _unreadable("late-bound keys") from error


def encode_secrets(secrets: Sequence[SecretReference]) -> bytes:
    """The canonical bytes of a namespace's references to secrets."""
    return _dump([secret_json(each) for each in secrets])


def decode_secrets(data: bytes) -> tuple[SecretReference, ...]:
    """The inverse of ``encode_secrets``."""
    try:
        return tuple(map(read_secret, orjson.loads(data)))
    except _BROKEN as error:
        raise _unreadable("secrets") from error


def encode_moment(at: datetime) -> str:
    """``2026-11-01T00:00:00.000Z``: as text it sorts as time does."""
    if at.tzinfo is None:
        raise Invalid(f"the moment {at.isoformat()} has no time zone", hint="give UTC")
    try:
        utc = at.astimezone(UTC)
    except OverflowError:  # its own zone takes it past the first or the last year
        raise Invalid(
            f"the moment {at.isoformat()} is outside the calendar",
            hint="give a year between 1 and 9999, in UTC too",
        ) from None
    return utc.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def decode_moment(text: str) -> datetime:
    """The inverse of ``encode_moment``."""
    return datetime.fromisoformat(text)


def _dump(value: Json) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise Invalid(
            f"this cannot be written to the record: {error}",
            hint="use valid Unicode, numbers below 2**63 and less nesting",
        ) from error


def _unreadable(what: str) -> Invalid:
    return Invalid(
        f"the record holds {what} that this version cannot read",
        hint="upgrade trellis, or restore a backup if the record was damaged",
    )


# entities


def _entity_json(entity: Entity) -> dict[str, Json]:
    match entity:
        case Namespace() | Application() | Assignment() | Prohibition() | Layer() | Policy():
            return workload_json(entity)
        case _:
            return inventory_json(entity)


_READERS: dict[Kind, Callable[[Json], Entity]] = {
    Kind.HIERARCHY: read_hierarchy,
    Kind.LABEL_KEY: read_label_key,
    Kind.GROUP: read_group,
    Kind.CLUSTER: read_cluster,
    Kind.SAVED_SELECTOR: read_saved_selector,
    Kind.GRANT: read_grant,
    Kind.NAMESPACE: read_namespace,
    Kind.APPLICATION: read_application,
    Kind.ASSIGNMENT: read_assignment,
    Kind.PROHIBITION: read_prohibition,
    Kind.LAYER: read_layer,
    Kind.POLICY: read_policy,
}


# changes


def _fragment(entity: Entity | None) -> orjson.Fragment | None:
    return None if entity is None else orjson.Fragment(encode_entity(entity))


def _change(kind: Json, before: Json, after: Json) -> Change:
    read = _READERS[Kind(kind)]
    return Change(
        before=None if before is None else read(before),
        after=None if after is None else read(after),
    )
