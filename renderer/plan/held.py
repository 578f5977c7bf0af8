"""What is not published as it should be, why, and since when; and what is needed to go on.

Six things can be held, each of one application and none of them anybody else's business:

- *blocked*: the core says that it cannot run there as defined; the line stays.
- *failed*: an overlay does not render; its last good files stay, and it is tried again.
- *broken*: a published overlay does not build any more, for its owners have pushed something else.
- *waiting*: a line wants an overlay that never rendered; the line before stays.
- *foreign*: a line stays though its cluster has another reconciler, which cannot be told of it.
- *wave*: more lines would go at once than anybody agreed to; they stay until that is confirmed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson

from graph.effective.rendition import FLEET
from graph.model.names import counted
from graph.model.publication import HeldBack
from graph.model.values import Value
from renderer import paths
from renderer.failure import Failure
from renderer.plan.lines import Lines
from renderer.plan.sheet import Sheet

_ROOT = ".trellis/held"
_NAMESPACES = ".trellis/held/namespaces.json"
_WHY = "what is held has changed"

Reasons = tuple[tuple[str, str], ...]
"""Kinds of reason and what is wrong."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An overlay that does not render, with all that is needed to try again."""

    layers: tuple[str, ...]
    values: Mapping[str, Value]
    failure: Failure
    since: int = 0
    """The revision at which it began; nought until the step has one."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A published overlay that does not build on what its owners have pushed."""

    failure: Failure
    since: int = 0
    """The revision at which it began; nought until the step has one."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A line as it is to be, once the reconciler can be told of its overlay."""

    key: str
    reconciler: str
    policies: tuple[str, ...]
    late: Mapping[str, Value]
    why: str = ""
    """What else it waits for: another application has one of its objects there."""
    since: int = 0
    """The revision at which that began; nought until the step has one."""


@dataclass(slots=True)
class Holding:
    """What is held of one application."""

    blocked: dict[str, tuple[Reasons, int]] = field(default_factory=dict[str, tuple[Reasons, int]])
    """By cluster; since which revision."""
    failed: dict[str, Failed] = field(default_factory=dict[str, Failed])
    """By key; of what tells a reconciler by reconciler/key."""
    broken: dict[str, Broken] = field(default_factory=dict[str, Broken])
    """By key; of the fleet, by the reconciler whose format cannot be read."""
    waiting: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    """By cluster."""
    foreign: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    """By cluster: lines in the words of the reconciler it had, as they are in those it has."""
    wave: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Cause by cluster; since which revision."""
    undefined: bool = False
    """Its definition is gone and is kept for the lines that are left."""

    def __bool__(self) -> bool:
        held = self.blocked or self.failed or self.waiting or self.foreign or self.wave
        return bool(held) or bool(self.broken) or self.undefined

    def settle(self, cluster: str) -> None:
        """There is a new line, or none: whatever was held about it is over."""
        self.blocked.pop(cluster, None)
        self.waiting.pop(cluster, None)
        self.foreign.pop(cluster, None)
        self.wave.pop(cluster, None)

    def lose(self, cluster: str) -> None:
        """A line is gone, so there is nothing left to hold; what may come instead is untouched."""
        self.foreign.pop(cluster, None)
        self.wave.pop(cluster, None)

    def fulfilled(self, cluster: str, wish: Waiting) -> None:
        """A line is as ``wish`` said: whatever is still wished of it, its words are no others'."""
        self.foreign.pop(cluster, None)
        if self.waiting.get(cluster) is wish:
            del self.waiting[cluster]

    def forget(self, clusters: Iterable[str]) -> None:
        """Lines are said to go: they neither wait nor are blocked any more."""
        for cluster in clusters if self.blocked or self.waiting else ():
            self.blocked.pop(cluster, None)
            self.waiting.pop(cluster, None)

    def date(self, revision: int) -> None:
        """What is new began at ``revision``."""
        for key, each in self.failed.items():
            if not each.since:
                self.failed[key] = replace(each, since=revision)
        for key, found in self.broken.items():
            if not found.since:
                self.broken[key] = replace(found, since=revision)
        for cluster, wish in self.waiting.items():
            if wish.why and not wish.since:
                self.waiting[cluster] = replace(wish, since=revision)
        self.blocked = {name: (why, at or revision) for name, (why, at) in self.blocked.items()}
        self.wave = {name: (why, at or revision) for name, (why, at) in self.wave.items()}

    def break_down(self, failures: Mapping[str, Failure]) -> None:
        """These do not build any more, and no others; what broke before broke then."""
        before, self.broken = self.broken, {}
        for key, failure in sorted(failures.items()):
            was = before.get(key)
            same = was is not None and was.failure == failure
            self.broken[key] = was if was is not None and same else Broken(failure)

    def _told_broken(self, application: str, concerned: Counter[str]) -> Iterator[dict[str, Any]]:
        """One row for everything that one push broke, and for what waits for the same."""
        groups: dict[Failure, list[str]] = defaultdict(list)
        for key, each in sorted(self.broken.items()):
            groups[each.failure].append(key)
        for failure, keys in groups.items():
            since = min(self.broken[key].since for key in keys)
            waiting = {key for key, each in self.failed.items() if each.failure == failure}
            clusters = sum(concerned[key] for key in waiting.union(keys))
            row = _row(application, "failed", failure.message, clusters, since)
            yield row | {name: value for name, value in asdict(failure).items() if value}

    def told(self, application: str, lines: Lines) -> Iterator[dict[str, Any]]:
        """For people: what is held, by reason."""
        concerned = self._concerned(application, lines)
        yield from self._told_broken(application, concerned)
        broken = {each.failure for each in self.broken.values()}
        for place, each in sorted(self.failed.items()):
            if each.failure in broken:
                continue
            row = _row(application, "failed", each.failure.message, concerned[place], each.since)
            failure = {name: value for name, value in asdict(each.failure).items() if value}
            yield row | {"overlay": place} | failure
        taken = Counter((wish.why, wish.since) for wish in self.waiting.values() if wish.why)
        for (why, since), clusters in sorted(taken.items()):
            hint = "give it another name, or assign the two to different clusters"
            yield _row(application, "failed", why, clusters, since) | {"hint": hint}
        groups: dict[tuple[Reasons, int], int] = defaultdict(int)
        for held in self.blocked.values():
            groups[held] += 1
        for (reasons, since), clusters in sorted(groups.items()):
            message = "; ".join(message for _, message in reasons)
            yield _row(application, "blocked", message, clusters, since)
        if self.wave:
            since = min(since for _, since in self.wave.values())
            message = (
                f"{counted(len(self.wave), 'line')} would go at once and nobody agreed to that"
            )
            hint = f"look why, then confirm with trellis render --confirm {application}"
            yield _row(application, "wave", message, len(self.wave), since) | {"hint": hint}

    def _concerned(self, application: str, lines: Lines) -> Counter[str]:
        """Clusters that run the last good files of what failed, or wait for it."""
        found: Counter[str] = Counter()
        if not application or not (self.failed or self.broken):
            return found
        for (reconciler, key), count in lines.of_application(application).places.items():
            found[key] += count
            found[f"{reconciler}/{key}"] += count
        for cluster in self.waiting.keys() | self.foreign.keys():
            wish, kept = self.waiting.get(cluster), self.foreign.get(cluster)
            if wish is not None and (kept is None or kept.key != wish.key):
                found[wish.key] += 1
            found.update({f"{each.reconciler}/{each.key}" for each in (wish, kept) if each})
        return found


def _row(application: str, reason: str, message: str, clusters: int, since: int) -> dict[str, Any]:
    return {
        "application": application,
        "reason": reason,
        "message": message,
        "clusters": clusters,
        "since": since,
    }


def _reported(row: Mapping[str, Any]) -> HeldBack:
    """A row as the API, the log and the commit tell it: with the place, where there is one."""
    place = f"{row['file']}, line {row['line']}" if row.get("line") else row.get("file", "")
    message = f"{row['message']} ({place})" if place else row["message"]
    return HeldBack(row["application"], row["reason"], message, row["clusters"], row["since"])


class Held:
    """What is held, by application; read when it is first asked for."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        names = sheet.names(f"{_ROOT}/apps")
        self._of: dict[str, Holding] = {}
        self._wishing: dict[str, set[str]] = defaultdict(set)
        """Applications that wait at a cluster or are foreign there, or were: to find them by it."""
        self._waited: dict[tuple[str, str], Waiting] = {}
        """What waited before everything was told anew."""
        for name in names:
            self._load(name.removesuffix(".json"))
        if sheet.read(_path(FLEET)) is not None:
            self._load(FLEET)
        kept = sheet.read(_NAMESPACES)
        self.namespaces: set[str] = set(orjson.loads(kept)) if kept else set()
        """Namespaces whose definition is gone and is kept for the lines that are left."""

    def wished(self) -> dict[str, set[str]]:
        """Keys of overlays that lines wait for, by application."""
        return {
            name: {wish.key for wish in holding.waiting.values()}
            for name, holding in self._of.items()
            if holding.waiting
        }

    def __contains__(self, application: str) -> bool:
        return application in self._of

    def of(self, application: str) -> Holding:
        """What is held of an application."""
        return self._of.setdefault(application, Holding())

    def drop(self, application: str) -> None:
        """An application is gone, and whatever was held of it."""
        self._of[application] = Holding()

    def wait(self, application: str, cluster: str, wish: Waiting) -> None:
        """A line has to wait; whatever else was held about it is over."""
        holding = self.of(application)
        was = holding.waiting.get(cluster) or self._waited.get((application, cluster))
        holding.settle(cluster)
        since = was.since if was is not None and was.why == wish.why else 0
        holding.waiting[cluster] = replace(wish, since=since)
        self._wishing[cluster].add(application)

    def tell_anew(self, application: str) -> None:
        """Everything is told again: what is blocked, and what waits and since when."""
        holding = self.of(application)
        self._waited.update(
            ((application, cluster), wish) for cluster, wish in holding.waiting.items()
        )
        holding.blocked.clear()
        holding.waiting.clear()

    def keep_foreign(self, application: str, cluster: str, wish: Waiting) -> None:
        """A line stays in other words than its cluster's, until it can be as ``wish`` says."""
        self.of(application).foreign[cluster] = wish
        self._wishing[cluster].add(application)

    def move(self, cluster: str, reconciler: str, policies: tuple[str, ...]) -> set[str]:
        """A cluster is told of: what waits for it is written as that says.

        Applications whose line there is foreign.
        """
        foreign: set[str] = set()
        for application in self._wishing.get(cluster, ()):
            holding = self._of[application]
            wish = holding.waiting.get(cluster)
            if wish is not None:
                wish = replace(wish, reconciler=reconciler, policies=policies)
                holding.waiting[cluster] = wish
            if cluster in holding.foreign:
                foreign.add(application)
        return foreign

    def applications(self) -> list[str]:
        """Those of which something is held."""
        return sorted(name for name, holding in self._of.items() if holding)

    def save(self, revision: int, lines: Lines) -> tuple[HeldBack, ...]:
        """Write everything down; what is new began at ``revision``. What there is to report."""
        for name, holding in self._of.items():
            holding.date(revision)
            if holding:
                self._sheet.write(_path(name), orjson.dumps(_written(holding)) + b"\n", _WHY)
            else:
                self._sheet.remove(_path(name), "nothing is held any more")
        if self.namespaces:
            self._sheet.write(_NAMESPACES, orjson.dumps(sorted(self.namespaces)) + b"\n", _WHY)
        else:
            self._sheet.remove(_NAMESPACES, "nothing is held any more")
        style = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        rows = [row for name in sorted(self._of) for row in self._of[name].told(name, lines)]
        self._sheet.write(paths.HELD, orjson.dumps({"held": rows}, option=style), _WHY)
        return tuple(map(_reported, rows))

    def _load(self, name: str) -> None:
        content = self._sheet.read(_path(name))
        assert content is not None, "it was listed"
        self._of[name] = found = _read(orjson.loads(content))
        for cluster in (*found.waiting, *found.foreign):
            self._wishing[cluster].add(name)


def _path(application: str) -> str:
    return f"{_ROOT}/apps/{application}.json" if application else f"{_ROOT}/fleet.json"


def _written(holding: Holding) -> dict[str, Any]:
    return {
        "blocked": [
            {"reasons": reasons, "since": since, "clusters": clusters}
            for (reasons, since), clusters in sorted(_grouped(holding.blocked.items()).items())
        ],
        "failed": {key: asdict(each) for key, each in sorted(holding.failed.items())},
        "broken": {key: asdict(each) for key, each in sorted(holding.broken.items())},
        "waiting": {name: asdict(each) for name, each in sorted(holding.waiting.items())},
        "foreign": {name: asdict(each) for name, each in sorted(holding.foreign.items())},
        "wave": [
            {"cause": cause, "since": since, "clusters": clusters}
            for (cause, since), clusters in sorted(_grouped(holding.wave.items()).items())
        ],
        "undefined": holding.undefined,
    }


def _grouped(held: Iterable[tuple[str, Any]]) -> dict[Any, list[str]]:
    found: dict[Any, list[str]] = defaultdict(list)
    for cluster, what in sorted(held):
        found[what].append(cluster)
    return found


def _read(held: dict[str, Any]) -> Holding:
    found = Holding(undefined=held["undefined"])
    for each in held["blocked"]:
        reasons = tuple((kind, message) for kind, message in each["reasons"])
        found.blocked.update(dict.fromkeys(each["clusters"], (reasons, each["since"])))
    for key, each in held["failed"].items():
        failure = Failure(**each["failure"])
        found.failed[key] = Failed(tuple(each["layers"]), each["values"], failure, each["since"])
    for key, each in held.get("broken", {}).items():
        found.broken[key] = Broken(Failure(**each["failure"]), each["since"])
    found.waiting = {cluster: _wish(each) for cluster, each in held["waiting"].items()}
    found.foreign = {cluster: _wish(each) for cluster, each in held.get("foreign", {}).items()}
    for each in held["wave"]:
        found.wave.update(dict.fromkeys(each["clusters"], (each["cause"], each["since"])))
    return found


def _wish(held: dict[str, Any]) -> Waiting:
    wish = Waiting(held["key"], held["reconciler"], tuple(held["policies"]), held["late"])
    return replace(wish, why=held.get("why", ""), since=held.get("since", 0))
