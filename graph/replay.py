"""The log read again from the start, to see that its chain is whole and leads to the facts.

With the archive, or before any compaction, the replay begins at the first revision and must
explain every fact. Where the beginning is missing it begins at the horizon, and can only speak for
what was written since.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph.model.change import Change, Changeset, Entity, ref_of
from graph.model.errors import Invalid, Unavailable
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.store.archive import archives, read_archive
from graph.store.codec import encode_body, seal
from graph.store.port import Facts


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was compared, over how much, and the first difference if there is one."""

    check: str
    compared: int
    difference: str = ""


class Replay:
    """What the changesets followed so far have made, and the first thing wrong with them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._whole = facts.head.horizon.revision == 0
        self._last: dict[Ref, Entity | None] = {}
        self._revision = facts.head.horizon.revision
        self._chain = facts.head.horizon_chain
        self._count = 0
        self._broken = ""
        self._differs = ""
        self._archive: Finding | None = None

    def follow_archive(self, directory: Path) -> None:
        """Everything compaction took out of the log, from the first revision to the horizon."""
        check, count = "the archive leads up to the log", 0
        try:
            for archive in archives(directory, self._facts.head.horizon):
                for changeset in read_archive(archive.path):
                    count += 1
                    self._take(changeset, whole=True)
        except (Invalid, Unavailable) as error:
            self._last.clear()
            self._archive = Finding(check, count, error.message)
            return
        self._whole = True
        self._archive = Finding(check, count)

    def follow(self, changeset: Changeset) -> None:
        """The next changeset of the log."""
        self._count += 1
        self._broken = self._broken or self._misplaced(changeset)
        self._chain, self._revision = changeset.chain, changeset.revision
        self._take(changeset, whole=self._whole)

    def findings(self) -> list[Finding]:
        """The verdicts, once everything up to the head was followed."""
        head = self._facts.head.cursor
        if not self._broken and self._revision != head.revision:
            self._broken = f"the log ends at revision {self._revision:,}, the head is {head}"
        found = [
            Finding("the chain of changesets is whole", self._count, self._broken),
            Finding(
                "the facts are what the log says"
                if self._whole
                else "the facts written since the horizon are what the log says",
                len(self._facts.entities),
                self._differs or self._unexplained(),
            ),
        ]
        return found if self._archive is None else [self._archive, *found]

    def _misplaced(self, changeset: Changeset) -> str:
        if changeset.revision != self._revision + 1:
            return f"revision {changeset.revision:,} follows revision {self._revision:,}"
        if seal(self._chain, encode_body(changeset)) != changeset.chain:
            return f"revision {changeset.revision:,} does not hash to its place in the chain"
        return ""

    def _take(self, changeset: Changeset, *, whole: bool) -> None:
        for change in changeset.changes:
            if not self._differs:
                self._differs = self._unlike(change, changeset.revision, whole=whole)
            self._last[change.ref] = change.after

    def _unlike(self, change: Change, revision: Revision, *, whole: bool) -> str:
        ref = change.ref
        if (whole or ref in self._last) and self._last.get(ref) != change.before:
            return f"{ref} before revision {revision:,} is not what the log had made it"
        return ""

    def _unexplained(self) -> str:
        stored = {ref_of(entity): entity for entity in self._facts.entities}
        for ref, state in self._last.items():
            if stored.get(ref) != state:
                return f"{ref} is not what the log has made it"
        if self._whole:
            for ref in stored:
                if ref not in self._last:
                    return f"{ref} is in no changeset"
        return ""
