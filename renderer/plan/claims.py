"""Which objects each application brings to a cluster, so that no two bring the same one.

Two applications with the same object make a pointer that plain kustomize cannot build, and under
Flux and Argo CD they take turns at it. So a line waits while another application on the same
cluster has one of its objects, and an overlay that would take another one's object is held. Who was
there first stays. Applications that share an object and never meet are left alone.

What every overlay brings is written down in ``.trellis/objects``. Only where two applications
share something are the lines of clusters looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import orjson

from renderer import paths
from renderer.failure import Failure
from renderer.overlay.overlays import Address
from renderer.plan.catalogue import Catalogue
from renderer.plan.lines import Lines
from renderer.plan.pointer import Line, read_pointer
from renderer.plan.sheet import Sheet

Objects = frozenset[tuple[str, str, str, str]]
"""Namespace, group, kind and name of each; the namespace is empty outside of any."""
_ROOT = ".trellis/objects"
_SHARING = ".trellis/sharing.json"
_WHY = "applications bring other objects"
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


class Claims:
    """What applications bring, as the next commit will have it."""

    def __init__(self, sheet: Sheet, catalogue: Catalogue, lines: Lines, *, fresh: bool) -> None:
        self._sheet, self._catalogue, self._lines, self._fresh = sheet, catalogue, lines, fresh
        self._of: dict[str, dict[str, Objects]] = {}
        """By key, by application, as far as it was asked for."""
        self._unions: dict[str, Objects] = {}
        self._last: dict[str, tuple[frozenset[Address], Objects]] = {}
        self._changed: set[str] = set()
        self._sharing: dict[str, set[str]] | None = None
        self._stale = fresh
        """Whether sharing may be other than what was written down: then all are read."""

    def refusal(self, application: str, key: str, objects: frozenset[Address]) -> Failure | None:
        """Why an overlay may not bring these: another application of its clusters does."""
        new = self._placed(application, objects)
        if not new:
            return None
        for other in self._others(application, new):
            taken = new & self._union(other)
            had = self._claims(application).get(key, frozenset())
            if taken <= had and application < other:
                continue  # both have it already: the first by name goes on
            meeting = self._meeting(application, key, other, taken)
            if meeting:
                _, _, kind, name = min(taken)
                return Failure(
                    f"{kind}/{name} is brought by application {other} too, which is also on"
                    f" {meeting}",
                    "give it another name, or assign the two to different clusters",
                )
        return None

    def claim(self, application: str, key: str, objects: frozenset[Address]) -> None:
        """An overlay brings these from now on."""
        claims = self._claims(application)
        new = self._placed(application, objects)
        before = claims.get(key)
        if before == new:
            return
        self._changed.add(application)
        union = self._union(application)
        claims[key] = new
        if before or not new <= union:
            self._look_again(application)

    def sharing(self) -> Mapping[str, set[str]]:
        """Applications that bring an object which others bring too, and who these are."""
        if self._sharing is None:
            self._sharing = self._work_out() if self._stale else self._written()
        return self._sharing

    def clash(self, application: str, key: str, lines: Mapping[str, Line]) -> str:
        """Why a line has to wait beside ``lines``: who has what already; empty where nobody has."""
        mine = self._claims(application).get(key, frozenset())
        for other in sorted(self.sharing().get(application, ())):
            line = lines.get(other)
            if line is None:
                continue
            taken = mine & self._claims(other).get(line.key, frozenset())
            if taken:
                _, _, kind, name = min(taken)
                return f"{kind}/{name} is brought by application {other} too, on the same cluster"
        return ""

    def save(self) -> None:
        """Write down what changed; what is published no more is forgotten."""
        names = {*self._changed, *(self._sheet.names(_ROOT) if self._fresh else ())}
        for name in sorted(each.removesuffix(".json") for each in names):
            self._save(name)
        sharing = self.sharing()
        written = {name: sorted(others) for name, others in sorted(sharing.items())}
        if written:
            content = orjson.dumps(written, option=_SORTED)
            if self._fresh or self._sheet.read(_SHARING) != content:
                self._sheet.write(_SHARING, content, _WHY)
        else:
            self._sheet.remove(_SHARING, "no two applications bring the same object")
        self._changed.clear()
        self._stale = False

    def forget(self, application: str, keys: Iterable[str]) -> None:
        """Overlays are gone."""
        claims = self._claims(application)
        for key in keys:
            if gone := claims.pop(key, None):
                self._changed.add(application)
                self._unions.pop(application, None)
                if not gone <= self._union(application):
                    self._look_again(application)

    def _look_again(self, application: str) -> None:
        """It brings other objects than before, taken together."""
        self._stale, self._sharing = True, None
        self._unions.pop(application, None)

    def _save(self, name: str) -> None:
        claims = self._claims(name)
        if self._fresh:  # else whatever goes was forgotten when it went
            published = set(self._sheet.names(f"apps/{name}/overlays"))
            claims = {key: objects for key, objects in claims.items() if key in published}
        groups: dict[Objects, list[str]] = defaultdict(list)
        for key, objects in sorted(claims.items()):
            if objects:
                groups[objects].append(key)
        path = f"{_ROOT}/{name}.json"
        if not groups:
            self._sheet.remove(path, _WHY)
            return
        rows = [{"keys": keys, "objects": sorted(objects)} for objects, keys in groups.items()]
        content = orjson.dumps(sorted(rows, key=lambda row: row["keys"]), option=_SORTED)
        if self._fresh or self._sheet.read(path) != content:
            self._sheet.write(path, content, _WHY)

    def _claims(self, application: str) -> dict[str, Objects]:
        if application not in self._of:
            kept = self._sheet.read(f"{_ROOT}/{application}.json")
            self._of[application] = {
                key: frozenset(map(tuple, row["objects"]))
                for row in (orjson.loads(kept) if kept else ())
                for key in row["keys"]
            }
        return self._of[application]

    def _union(self, application: str) -> Objects:
        if application not in self._unions:
            claims = set(self._claims(application).values())
            self._unions[application] = frozenset().union(*claims)
        return self._unions[application]

    def _placed(self, application: str, objects: frozenset[Address]) -> Objects:
        """Objects with the namespace they are in; overlays of one application bring the same."""
        last = self._last.get(application)
        if last is None or last[0] != objects:
            defined = self._catalogue.application(application)
            outside = set(defined.cluster_scoped)
            placed = frozenset(
                ("" if f"{kind}/{name}" in outside else defined.namespace, group, kind, name)
                for group, kind, name in objects
            )
            last = self._last[application] = (objects, placed)
        return last[1]

    def _known(self) -> set[str]:
        written = {each.removesuffix(".json") for each in self._sheet.names(_ROOT)}
        return written | self._of.keys()

    def _others(self, application: str, objects: Objects) -> list[str]:
        """Applications that bring one of these; asked of all only where something is new."""
        if objects <= self._union(application):
            return sorted(self.sharing().get(application, ()))
        others = self._known() - {application}
        return sorted(each for each in others if objects & self._union(each))

    def _written(self) -> dict[str, set[str]]:
        kept = self._sheet.read(_SHARING)
        found: dict[str, list[str]] = orjson.loads(kept) if kept else {}
        return {name: set(others) for name, others in found.items()}

    def _work_out(self) -> dict[str, set[str]]:
        owners: dict[tuple[str, str, str, str], set[str]] = defaultdict(set)
        for name in self._known():
            for each in self._union(name):
                owners[each].add(name)
        found: dict[str, set[str]] = defaultdict(set)
        for names in owners.values():
            for name in names if len(names) > 1 else ():
                found[name] |= names - {name}
        return dict(found)

    def _meeting(self, application: str, key: str, other: str, taken: Objects) -> str:
        """A cluster on which an overlay and another application that brings ``taken`` meet."""
        if not any(each == key for _, each in self._lines.of_application(application).places):
            return ""
        needle = f"/apps/{application}/".encode()
        for shard in self._sheet.names("clusters"):
            files = [
                f"clusters/{shard}/{each}/{paths.KUSTOMIZATION}"
                for each in self._sheet.names(f"clusters/{shard}")
            ]
            for path, content in self._sheet.read_many(files).items():
                if needle not in content:
                    continue
                cluster = path.split("/")[2]
                lines = read_pointer(cluster, content).lines
                mine, theirs = lines.get(application), lines.get(other)
                if mine is None or theirs is None or mine.key != key:
                    continue
                if taken & self._claims(other).get(theirs.key, frozenset()):
                    return cluster
        return ""
