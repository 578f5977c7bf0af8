"""The log read backwards, on any store: a stretch of headers or of whole changesets at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from graph.model.change import Changeset, ChangesetHeader
from graph.model.names import Revision
from graph.store.port import Store

HEADERS_A_READ = 256
"""Headers read at once, when many are wanted."""

CHANGES_A_READ = 1_000
"""Changesets are read together up to so many changes; a larger one is read alone."""

_GROWTH = 4
"""The first read is short, since few may be wanted; each is so many times as long as the last."""


async def headers_back(
    store: Store, newest: Revision, *, first: int = 1
) -> AsyncGenerator[ChangesetHeader]:
    """Headers from ``newest`` back to where the log begins; the first read is ``first`` long."""
    horizon = (await store.head()).horizon.revision
    at, length = newest, min(first, HEADERS_A_READ)
    while at > horizon:
        found = await store.headers(at, length)
        for header in reversed(found):
            yield header
        at = Revision(found[0].revision - 1)
        length = min(_GROWTH * length, HEADERS_A_READ)


async def changesets_back(
    store: Store, newest: Revision, *, first: int = 1
) -> AsyncGenerator[Changeset]:
    """Changesets from ``newest`` back to where the log begins, likewise."""
    horizon = (await store.head()).horizon
    at, length = newest, min(first, HEADERS_A_READ)
    while at > horizon.revision:
        headers = await store.headers(at, length + 1)
        start, changes = len(headers), 0
        while start > 0 and (start == len(headers) or changes < CHANGES_A_READ):
            start -= 1
            changes += headers[start].change_count
        start = max(start, len(headers) - length)
        found: list[Changeset] = []
        if start == len(headers) - 1:
            found.append(await store.changeset(at))
        else:
            after = headers[start - 1].cursor if start else horizon
            async for changeset in store.changesets(after=after):
                found.append(changeset)
                if changeset.revision == at:
                    break
        for changeset in reversed(found):
            yield changeset
        at = Revision(found[0].revision - 1)
        length = min(_GROWTH * length, HEADERS_A_READ)
