"""The proof of S9: record, facts and index say the same, and the chain is whole.

Each check recomputes its side from the other's data and names the first difference. Nothing is
repaired here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from graph.index.builder import build
from graph.index.file import read_snapshot
from graph.model.change import Change, Changeset, Cursor, ref_of
from graph.model.errors import Invalid, Unavailable
from graph.model.inventory import Entity
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.model.selector import mentions
from graph.model.view import FleetView, subtree
from graph.store.archive import archives, read_archive
from graph.store.codec import encode_body, seal
from graph.store.port import Facts, Head, Store


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was compared, over how much, and the first difference if there is one."""

    check: str
    compared: int
    difference: str = ""


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
    view_at: Callable[[Revision], Awaitable[FleetView]],
    *,
    snapshot_file: Path | None,
    archive: Path | None,
    progress: Callable[[str], None],
) -> Verification:
    """Every check there is something to check for, at the store's head as it is now."""
    progress("reading every fact")
    facts = await store.load()
    head = facts.head
    progress("recomputing the chain")
    findings = await verify_log(facts, store.changesets(after=head.horizon))
    progress("rebuilding the index")
    rebuilt = await asyncio.to_thread(
        build, facts.entities, cursor=head.cursor, numbers=head.numbers
    )
    progress("comparing the index")
    view = await view_at(head.cursor.revision)
    findings.append(await asyncio.to_thread(verify_index, view, rebuilt))
    if archive is not None and head.horizon.revision > 0:
        progress("reading the archive")
        findings.append(await asyncio.to_thread(verify_archive, archive, head))
    if snapshot_file is not None:
        findings.extend(await asyncio.to_thread(verify_file, snapshot_file))
    return Verification(head.cursor, tuple(findings))


async def verify_log(facts: Facts, changesets: AsyncIterator[Changeset]) -> list[Finding]:
    """The chain from the horizon to the head, and the facts against the log's last word on each."""
    chain, revision = facts.head.horizon_chain, facts.head.horizon.revision
    whole = revision == 0
    last: dict[Ref, Entity | None] = {}
    chained = replayed = ""
    count = 0
    async for changeset in changesets:
        if changeset.revision > facts.head.cursor.revision:
            break
        count += 1
        chained = chained or _chain_difference(changeset, chain, revision)
        chain, revision = changeset.chain, changeset.revision
        for change in changeset.changes:
            replayed = replayed or _before_difference(change, last, changeset, whole=whole)
            last[change.ref] = change.after
    if not chained and revision != facts.head.cursor.revision:
        chained = f"the log ends at revision {revision:,}, the head is {facts.head.cursor}"
    replayed = replayed or _facts_difference(last, facts, whole=whole)
    return [
        Finding("the chain of changesets is whole", count, chained),
        Finding("the facts are what the log says", len(facts.entities), replayed),
    ]


def verify_archive(directory: Path, head: Head) -> Finding:
    """The archive from the first revision to the horizon, changeset by changeset."""
    check, count, revision = "the archive leads up to the log", 0, Revision(0)
    last = ""
    try:
        for archive in archives(directory):
            for changeset in read_archive(archive.path):
                if changeset.revision > head.horizon.revision:
                    break
                count, revision, last = count + 1, changeset.revision, changeset.chain
    except Invalid as error:
        return Finding(check, count, error.message)
    if last != head.horizon_chain:
        return Finding(check, count, f"it ends at revision {revision:,}, not at {head.horizon}")
    return Finding(check, count)


def verify_file(path: Path) -> list[Finding]:
    """The snapshot file, if there is one: it must be whole even though it is only a copy."""
    if not path.exists():
        return []
    check = "the snapshot file can be read"
    try:
        read_snapshot(path)
    except (Invalid, Unavailable) as error:
        return [Finding(check, 1, f"{error.message}; {error.hint}")]
    return [Finding(check, 1)]


def verify_index(index: FleetView, rebuilt: FleetView) -> Finding:
    """The index in use against one built from the facts alone."""
    check, compared = "the index is what the facts say", 0
    for part, differences in _index_checks(index, rebuilt):
        for what, same in differences:
            compared += 1
            if not same:
                return Finding(check, compared, f"{part}: {what}")
    return Finding(check, compared)


def _chain_difference(changeset: Changeset, previous: str, revision: Revision) -> str:
    if changeset.revision != revision + 1:
        return f"revision {changeset.revision:,} follows revision {revision:,}"
    if seal(previous, encode_body(changeset)) != changeset.chain:
        return f"revision {changeset.revision:,} does not hash to its place in the chain"
    return ""


def _before_difference(
    change: Change, last: dict[Ref, Entity | None], changeset: Changeset, *, whole: bool
) -> str:
    ref = change.ref
    known = ref in last or whole
    if known and last.get(ref) != change.before:
        return f"{ref} before revision {changeset.revision:,} is not what the log had made it"
    return ""


def _facts_difference(last: dict[Ref, Entity | None], facts: Facts, *, whole: bool) -> str:
    stored = {ref_of(entity): entity for entity in facts.entities}
    for ref, state in last.items():
        if stored.get(ref) != state:
            return f"{ref} is not what the log has made it"
    if whole:
        for ref in stored:
            if ref not in last:
                return f"{ref} is in no changeset"
    return ""


_Checks = tuple[str, Iterable[tuple[str, bool]]]


def _index_checks(index: FleetView, other: FleetView) -> Iterable[_Checks]:
    yield "place in history", [(f"{index.cursor}", index.cursor == other.cursor)]
    yield "next free numbers", [(f"{index.numbers}", index.numbers == other.numbers)]
    yield "fleet", [("everything", index.everything() == other.everything())]
    yield "hierarchies", [("all", list(index.hierarchies()) == list(other.hierarchies()))]
    yield "label keys", [("all", list(index.label_keys()) == list(other.label_keys()))]
    yield "saved selectors", _same_saved(index, other)
    yield "groups", _same_groups(index, other)
    yield "labels", _same_labels(index, other)
    yield "clusters", _same_clusters(index, other)
    yield "names", [("order", list(index.names_after("")) == list(other.names_after("")))]


def _same_saved(index: FleetView, other: FleetView) -> Iterable[tuple[str, bool]]:
    yield "all", list(index.saved_selectors()) == list(other.saved_selectors())
    for saved in other.saved_selectors():
        for ref in mentions(saved.selector):
            yield f"who names {ref}", index.mentioned_by(ref) == other.mentioned_by(ref)


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
