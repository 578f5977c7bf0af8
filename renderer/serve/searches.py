"""Digests that are looked for: a bound on whoever asks, and no second search for what is not there.

A digest that is not at hand may be any overlay's, so all of its application are gone through.
Whoever shows a token for one cluster may ask for any digest, and must not keep others waiting by
asking for digests nobody has:

F1  When all of an application was gone through without finding a digest, its digests are known, and
    at that commit no other one is looked for.
F2  Those who show the same token have a few digests looked for at a time, and are refused beyond.
    Waiting for a search that is under way counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Hashable
from contextlib import contextmanager

from graph.model.errors import Rejected
from renderer.artifact.kept import Kept

KNOWN_BYTES_MAX = 32 * 1024 * 1024
DIGEST_BYTES = 184
"""What a digest takes in a set, about."""


class Searches:
    """What is being looked for, and what was found to be all there is."""

    def __init__(self, at_a_time_max: int) -> None:
        self._at_a_time_max = at_a_time_max
        self._under_way = Counter[Hashable]()
        self._commit = ""
        self._known = _nothing_known()

    def is_absent(self, commit: str, name: tuple[str, str], digest: str) -> bool:
        """Whether it is known that nothing of ``name`` has that digest."""
        known = self._known.get(name) if commit == self._commit else None
        return known is not None and digest not in known

    def went_through(self, commit: str, name: tuple[str, str], digests: set[str]) -> None:
        """These are all there are; names with none are not kept, as anybody can invent them."""
        if commit != self._commit:
            self._commit, self._known = commit, _nothing_known()
        if digests:
            self._known.put(name, frozenset(digests))

    @contextmanager
    def asked_by(self, asker: Hashable | None) -> Generator[None]:
        """A search, while the body runs; refused where ``asker`` has too many. None is unbound."""
        if asker is None:
            yield
            return
        if self._under_way[asker] >= self._at_a_time_max:
            raise Rejected("too many digests are looked for with this token", hint="wait a little")
        self._under_way[asker] += 1
        try:
            yield
        finally:
            self._under_way[asker] -= 1
            if not self._under_way[asker]:
                del self._under_way[asker]


def _nothing_known() -> Kept[tuple[str, str], frozenset[str]]:
    return Kept(KNOWN_BYTES_MAX, lambda it: len(it) * DIGEST_BYTES)
