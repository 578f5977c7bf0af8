"""How many lines lead where: a directory is published exactly while one does.

Kept beside what is rendered, one file for each application and namespace, so that whoever goes on
knows without reading sixty thousand pointers. The counts follow from the pointers alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from renderer.plan.sheet import Sheet

APPLICATIONS = ".trellis/lines/apps"
NAMESPACES = ".trellis/lines/namespaces"
FLEET = ".trellis/lines/fleet.json"
_WHY = "lines lead elsewhere"


@dataclass(slots=True)
class Count:
    """Lines by where they lead, and by what else must be known to make that again."""

    places: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])
    before: frozenset[tuple[str, ...]] = frozenset()
    """Where lines led at the last commit."""
    by_key: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Of a namespace: what else a key stands for."""
    changed: bool = False
    """Whether it may differ from what is written down."""

    @property
    def total(self) -> int:
        """All lines."""
        return self.places.total()

    def add(self, place: tuple[str, ...], lines: int = 1) -> None:
        """More lines lead to ``place``, or fewer."""
        self.changed = True
        self.places[place] += lines
        if not self.places[place]:
            del self.places[place]


class Lines:
    """Counts by file, read when they are first asked for."""

    def __init__(self, sheet: Sheet, *, fresh: bool) -> None:
        self._sheet = sheet
        self._fresh = fresh
        self._counts: dict[str, Count] = {}
        self.was: dict[str, int] = {}
        """Totals at the last commit."""

    def of_application(self, name: str) -> Count:
        """Lines by reconciler and key."""
        return self._of(f"{APPLICATIONS}/{name}.json")

    def of_namespace(self, name: str) -> Count:
        """Lines by key, reconciler and names of policies."""
        return self._of(f"{NAMESPACES}/{name}.json")

    def of_fleet(self) -> Count:
        """Lines by key of the fleet's own settings."""
        return self._of(FLEET)

    def total_before(self, application: str) -> int:
        """Lines of an application at the last commit."""
        path = f"{APPLICATIONS}/{application}.json"
        self._of(path)
        return self.was[path]

    def expect(self, names: Iterable[str]) -> None:
        """Lines of these applications are asked for next: they are read together."""
        wanted = [f"{APPLICATIONS}/{name}.json" for name in names]
        wanted = [path for path in wanted if path not in self._counts]
        if len(wanted) > 1:
            held = self._sheet.read_many(wanted)
            for path in wanted:
                self._counts[path] = self._read(path, held.get(path))

    def touched(self, directory: str) -> dict[str, Count]:
        """Counts below ``directory`` that were asked for, by name."""
        return {
            path[len(directory) + 1 : -len(".json")]: count
            for path, count in self._counts.items()
            if path.startswith(f"{directory}/")
        }

    def known(self, directory: str) -> list[str]:
        """Names that had lines at the last commit."""
        return [name.removesuffix(".json") for name in self._sheet.names(directory)]

    def save(self) -> None:
        """Write down what was asked for; nothing where no line leads."""
        for path, count in self._counts.items():
            if not count.changed and not self._fresh:
                continue
            if count.places:
                rows = [[*place, lines] for place, lines in sorted(count.places.items())]
                self._sheet.write(path, orjson.dumps(rows) + b"\n", _WHY)
            else:
                self._sheet.remove(path, "no line is left")
            count.before = frozenset(count.places)
            count.changed = False
            self.was[path] = count.total

    def _of(self, path: str) -> Count:
        found = self._counts.get(path)
        if found is None:
            found = self._counts[path] = self._read(path, self._sheet.read(path))
        return found

    def _read(self, path: str, held: bytes | None) -> Count:
        rows: list[list[Any]] = orjson.loads(held) if held else []
        places: dict[tuple[str, ...], int] = {tuple(row[:-1]): row[-1] for row in rows}
        self.was[path] = sum(places.values())
        keys = {place[0]: place for place in places}
        return Count(Counter() if self._fresh else Counter(places), frozenset(places), keys)
