"""Which history an output belongs to: nobody writes over what another history published.

What is published says how far it goes, in a cursor with the identity of its store. Before a worker
goes on from there it asks its source what that cursor is in its own history:

H1  A place in it: the worker goes on from there.
H2  Ahead of it: the source is behind, and the worker waits until it has caught up.
H3  In another history, or too old for anybody to tell: the worker stops and writes nothing.
H4  ``--anew`` gives the output to the worker's own history all the same. The cursor it takes the
    place of is written down beside the output, and a worker whose source holds that cursor stops:
    that one was fenced off. Whoever takes the output back with ``--anew`` lifts that fence.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from graph.model.change import Cursor, Relation
from graph.model.errors import Rejected, TrellisError, Unavailable
from renderer import paths
from renderer.source.port import Source
from renderer.tree import Head, Tree

DISCARDED_MAX = 10
"""Cursors that were discarded and are remembered, the newest ones."""


class OtherHistory(Rejected):
    """What is published belongs to another history than the source's."""


async def check_history(source: Source, head: Head, name: str) -> None:
    """Refuse to go on from ``head`` unless it is of the history of ``source`` (H1 to H4)."""
    if head.cursor is None:
        return
    discarded = _discarded(head.tree)
    located = await source.locate((head.cursor, *discarded), head.commit)
    relation, *fences = located.relations
    for fence, each in zip(discarded, fences, strict=True):
        if each is Relation.CONTAINED:
            raise _fenced(name, fence)
    if relation is not Relation.CONTAINED:
        raise _refusal(name, head.cursor, relation, located.revision)


async def take_over(source: Source, head: Head) -> bytes | None:
    """What is written at ``paths.DISCARDED`` to give ``head`` to this history (H4).

    Empty: the file goes, for every fence is lifted. None: it stays as it is.
    """
    if head.cursor is None:
        return None
    known = _discarded(head.tree)
    asked = (head.cursor, *known)  # the commit vouches for the first one alone
    relations = (await source.locate(asked, head.commit)).relations
    found = dict(zip(asked, relations, strict=True))
    kept = [each for each in (*known, head.cursor) if found[each] is not Relation.CONTAINED]
    if tuple(kept) == known:
        return None
    if not kept:
        return b""
    return orjson.dumps({"discarded": kept[-DISCARDED_MAX:]}, option=orjson.OPT_APPEND_NEWLINE)


def _discarded(tree: Tree) -> Sequence[str]:
    kept = tree.read(paths.DISCARDED)
    return () if kept is None else tuple(orjson.loads(kept)["discarded"])


def _refusal(name: str, cursor: str, relation: Relation, revision: int) -> TrellisError:
    published = Cursor.parse(cursor).revision
    if relation is Relation.AHEAD:
        return Unavailable(
            f"{name} is published up to revision {published:,} and this fleet is at revision"
            f" {revision:,}: nothing is written until the fleet gets there",
            hint="if the fleet was restored from a backup, publish what it has now with --anew",
        )
    if relation is Relation.OTHER:
        return OtherHistory(
            f"{name} was published from another history: its revision {published:,} is not this"
            f" fleet's revision {published:,} (the fleet is at {revision:,})",
            hint="run the worker on the fleet that published it; or give the output to this fleet"
            " with --anew, and the other worker stops",
        )
    return OtherHistory(
        f"{name} was published from revision {published:,}, and this fleet's log no longer reaches"
        " back to it: whether it is of the same history cannot be told",
        hint="if it is, go on with --anew; bringing the archive back answers it too",
    )


def _fenced(name: str, fence: str) -> OtherHistory:
    discarded = Cursor.parse(fence).revision
    return OtherHistory(
        f"{name} was given to another history with --anew, which discarded revision"
        f" {discarded:,} of this fleet",
        hint="stop this worker; or take the output back with --anew, and the other worker stops",
    )
