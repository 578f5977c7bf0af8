"""The proof of S9: record, facts and index say the same, and the chain is whole.

Each check recomputes its side from the other's data and names the first difference. Nothing is
repaired here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields, replace
from pathlib import Path

from graph.checkpoints import Checkpoint
from graph.index.builder import build, edit
from graph.index.file import read_snapshot
from graph.index.snapshot import Snapshot
from graph.model.change import Changeset, Cursor, Entity, ref_of
from graph.model.errors import Invalid, NotFound, Unavailable
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.model.referring import named_in
from graph.model.view import FleetView, subtree
from graph.model.workload import Workload
from graph.replay import Finding, Replay
from graph.store.backwards import changesets_back
from graph.store.port import Head, Store


@dataclass(frozen=True, slots=True)
class Verification:
    """Every check of one run."""

    cursor: Cursor
    findings: tuple[Finding, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing differs."""
        return not any(finding.difference for finding in self.findings)


async def verify(
    store: Store,
    view_at: Callable[[Revision], Awaitable[Snapshot]],
    *,
    snapshot_file: Path | None,
    archive: Path | None,
    checkpoints: Sequence[Checkpoint],
    progress: Callable[[str], None],
) -> Verification:
    """Every check there is something to check for, at the store's head as it is now."""
    progress("reading every fact")
    facts = await store.load()
    head = facts.head
    replay = Replay(facts)
    if archive is not None and head.horizon.revision > 0:
        progress("reading the archive")
        await asyncio.to_thread(replay.follow_archive, archive)
    progress("recomputing the chain")
    async for changeset in store.changesets(after=head.horizon):
        if changeset.revision > head.cursor.revision:
            break
        replay.follow(changeset)
    findings = replay.findings()
    progress("rebuilding the index")
    rebuilt = await asyncio.to_thread(
        build, facts.entities, cursor=head.cursor, numbers=head.numbers
    )
    progress("comparing the index")
    view = await view_at(head.cursor.revision)
    findings.append(await asyncio.to_thread(verify_index, view, rebuilt))
    if snapshot_file is not None:
        findings.extend(await _verify_file(snapshot_file, view_at, head))
    if checkpoints:
        progress("undoing the log to compare the checkpoints")
        findings.append(await _verify_checkpoints(store, checkpoints, view))
    return Verification(head.cursor, tuple(findings))


async def _verify_file(
    path: Path, view_at: Callable[[Revision], Awaitable[Snapshot]], head: Head
) -> list[Finding]:
    """The snapshot file: whole, and what the fleet was, if it is of this history at all."""
    check = "the snapshot file is what the fleet was"
    try:
        filed = await asyncio.to_thread(read_snapshot, path)
    except NotFound:
        return []
    except (Invalid, Unavailable) as error:
        return [Finding(check, 1, f"{error.message}; {error.hint}")]
    if not head.horizon.revision <= filed.cursor.revision <= head.cursor.revision:
        return []  # too old to compare, and too old to be used
    then = await view_at(filed.cursor.revision)
    if then.cursor != filed.cursor:
        return []  # of another history: a start passes it over
    finding = await asyncio.to_thread(verify_index, filed, then, numbers=False)
    return [replace(finding, check=check)]


async def _verify_checkpoints(
    store: Store, checkpoints: Sequence[Checkpoint], view: Snapshot
) -> Finding:
    """Every checkpoint against the newest view with the log undone, and with no other checkpoint.

    Those of another history are passed over, as they are by whoever reads an earlier revision.
    """
    check, compared = "the checkpoints are what the fleet was", 0
    wanted = {each.cursor: each for each in checkpoints}
    oldest = checkpoints[0].cursor.revision
    async with aclosing(changesets_back(store, view.cursor.revision)) as changesets:
        async for changeset in changesets:
            if changeset.cursor in wanted:
                view = edit(view).freeze(changeset.cursor)
                compared += 1
                path = wanted[changeset.cursor].path
                if difference := await asyncio.to_thread(_unlike_checkpoint, path, view):
                    return Finding(check, compared, difference)
            if changeset.revision <= oldest:
                break
            view = await asyncio.to_thread(_undone, view, changeset)
    return Finding(check, compared)


def _undone(view: Snapshot, changeset: Changeset) -> Snapshot:
    draft = edit(view)
    draft.apply([each.undone() for each in changeset.changes])
    return draft.freeze(changeset.cursor)


def _unlike_checkpoint(path: Path, then: Snapshot) -> str:
    try:
        found = verify_index(read_snapshot(path), then, numbers=False).difference
    except NotFound:
        return ""
    except (Invalid, Unavailable) as error:
        return f"{error.message}; {error.hint}"
    return f"{path}: {found}" if found else ""


def verify_index(index: FleetView, rebuilt: FleetView, *, numbers: bool = True) -> Finding:
    """The index in use against one built from the facts alone.

    An earlier view that was reconstructed knows today's free ``numbers`` and not those of then.
    """
    check, compared = "the index is what the facts say", 0
    if numbers and index.numbers != rebuilt.numbers:
        return Finding(check, 1, f"next free numbers: {index.numbers}, not {rebuilt.numbers}")
    for part, differences in _index_checks(index, rebuilt):
        for what, same in differences:
            compared += 1
            if not same:
                return Finding(check, compared, f"{part}: {what}")
    return Finding(check, compared)


_Checks = tuple[str, Iterable[tuple[str, bool]]]


def _index_checks(index: FleetView, other: FleetView) -> Iterable[_Checks]:
    yield "place in history", [(f"{index.cursor}", index.cursor == other.cursor)]
    yield "fleet", [("everything", index.everything() == other.everything())]
    yield "hierarchies", [("all", list(index.hierarchies()) == list(other.hierarchies()))]
    yield "label keys", [("all", list(index.label_keys()) == list(other.label_keys()))]
    saved = list(index.saved_selectors()) == list(other.saved_selectors())
    yield "saved selectors", [("all", saved)]
    yield "grants", [("all", list(index.grants()) == list(other.grants()))]
    yield "workload", _same_workload(index.workload, other.workload)
    yield "references", _same_references(index, other)
    yield "groups", _same_groups(index, other)
    yield "labels", _same_labels(index, other)
    yield "clusters", _same_clusters(index, other)
    yield "names", [("order", list(index.names_after("")) == list(other.names_after("")))]


def _same_workload(index: Workload, other: Workload) -> Iterable[tuple[str, bool]]:
    for table in fields(Workload):
        mine, theirs = getattr(index, table.name), getattr(other, table.name)
        yield table.name, dict(mine) == dict(theirs)


def _same_references(index: FleetView, other: FleetView) -> Iterable[tuple[str, bool]]:
    """Against what the objects themselves say, which no index has been made of."""
    named: dict[Ref, set[Ref]] = {}
    for entity in _naming(other):
        for ref in named_in(entity):
            named.setdefault(ref, set()).add(ref_of(entity))
    for ref, names in named.items():
        yield f"who names {ref}", index.referrers(ref) == frozenset(names)


def _naming(view: FleetView) -> Iterator[Entity]:
    yield from view.saved_selectors()
    yield from view.grants()
    for table in fields(Workload):
        yield from getattr(view.workload, table.name).values()


def _same_groups(index: FleetView, other: FleetView) -> Iterable[tuple[str, bool]]:
    for hierarchy in other.hierarchies():
        root = other.root(hierarchy.name)
        yield f"root of /{hierarchy.name}", index.root(hierarchy.name) == root
        if root is None:
            continue
        for number in subtree(other, root):
            yield f"group {number}", index.group(number) == other.group(number)
            yield f"children of group {number}", index.children(number) == other.children(number)
            yield f"members of group {number}", index.members(number) == other.members(number)
            mine, theirs = index.direct_members(number), other.direct_members(number)
            yield f"direct members of group {number}", mine == theirs


def _same_labels(index: FleetView, other: FleetView) -> Iterable[tuple[str, bool]]:
    for key in other.label_keys():
        yield f"has {key.name}", index.labelled(key.name) == other.labelled(key.name)
        mine, theirs = dict(index.label_values(key.name)), dict(other.label_values(key.name))
        yield f"values of {key.name}", mine == theirs


def _same_clusters(index: FleetView, other: FleetView) -> Iterable[tuple[str, bool]]:
    for number in other.everything():
        yield f"cluster {number}", index.cluster(number) == other.cluster(number)
