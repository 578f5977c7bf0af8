"""What was said about a cluster becomes its pointer, and is counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from graph.effective.portion import Line as ToldLine
from graph.effective.portion import Pointer as Told
from graph.effective.rendition import FLEET
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.values import Value
from renderer.flow import flow, ordered
from renderer.formats.port import Format
from renderer.plan.binder import Binder
from renderer.plan.claims import Claims
from renderer.plan.directories import Books, Directories
from renderer.plan.held import Waiting
from renderer.plan.pointer import Line, Pointer

Place = tuple[str, ...]


class Placing:
    """Makes pointers of one step."""

    def __init__(
        self,
        formats: Mapping[str, Format],
        directories: Directories,
        books: Books,
        claims: Claims,
        *,
        fresh: bool,
    ) -> None:
        self._formats, self._directories, self._fresh = formats, directories, fresh
        self._catalogue, self._lines, self._held = books.catalogue, books.lines, books.held
        self._claims = claims
        self._plain: dict[str, dict[tuple[str, str], Line]] = defaultdict(dict)
        """Lines without late-bound values, by application and key, by reconciler."""
        self._binders: dict[tuple[str, str], Binder] = {}
        self._homes: dict[str, str] = {}
        """The namespace of each application."""
        self._tally: Counter[str] = Counter()
        """Of a snapshot: how many lines lead where, until it is complete."""

    def is_host(self, told: Told) -> bool:
        """Whether it is listed in an inventory and has no pointer of its own."""
        return told.kind is ClusterKind.HOST or told.reconciler is Reconciler.ANSIBLE

    def place(self, was: Pointer | None, told: Told | None, *, keep_rest: bool = False) -> Pointer:
        """The pointer as it should be, but for lines that go; with the rest of them or not."""
        if told is None:
            assert was is not None, "something is known about it"
            return Pointer(was.cluster, was.fleet, dict(was.namespaces), dict(was.lines))
        words = self._words(told)
        foreign = self._held.move(told.cluster, words.name, told.policies)
        before = {} if was is None else was.lines
        beside = before
        if not keep_rest:
            beside = {each[0]: before[each[0]] for each in told.lines if each[0] in before}
        lines = self._told_lines(told, words, before, beside)
        kept = {name: line for name, line in before.items() if name not in lines}
        if not keep_rest:
            kept = {each[0]: kept[each[0]] for each in told.lines if each[0] in kept}
        if was is not None and kept:
            crossed = self.is_host(told) == bool(was.namespaces)  # hosts have none
            lines |= self._kept(kept, told, foreign, crossed=crossed)
        fleet = told.fleet or ("" if was is None else was.fleet)
        if told.fleet and FLEET in self._held:
            self._held.of(FLEET).settle(told.cluster)
        pointer = Pointer(told.cluster, fleet, {}, lines)
        if not self.is_host(told):
            pointer.namespaces = self._namespaces(lines, words.name, told.policies)
        return pointer

    def _told_lines(
        self, told: Told, words: Format, before: Mapping[str, Line], beside: Mapping[str, Line]
    ) -> dict[str, Line]:
        """Lines that were told and need not wait, ``beside`` those that stay."""
        plain, held = self._plain[words.name], self._held
        sharing = self._claims.sharing()
        lines: dict[str, Line] = {}
        for line in told.lines:
            name, _, key, late = line
            known = None if name in held or name in sharing else plain.get((name, key))
            if known is None:
                shares = name in sharing
                why = self._claims.clash(name, key, {**beside, **lines}) if shares else ""
                made = self._line(told, words, line, before.get(name), why)
            else:
                made = self._bound(words, name, known, late) if late else known
            if made is not None:
                lines[name] = made
        return lines

    def fulfil(self, was: Pointer, wishes: Mapping[str, Waiting]) -> Pointer:
        """The pointer with lines that had to wait."""
        pointer = Pointer(was.cluster, was.fleet, dict(was.namespaces), dict(was.lines))
        for application, wish in wishes.items():
            words = self._formats[wish.reconciler]
            pointer.lines[application] = self._made(words, application, wish.key, wish.late)
            namespace = self._catalogue.application(application).namespace
            if namespace not in pointer.namespaces and wish.reconciler != Reconciler.ANSIBLE:
                key = self._directories.namespace_key(namespace, words.name, wish.policies)
                pointer.namespaces[namespace] = key
                self._places(namespace)[key] = (key, words.name, *wish.policies)
        return pointer

    def free(self, was: Pointer, wishes: Mapping[str, Waiting]) -> dict[str, Waiting]:
        """Lines that had to wait and need not any more: nobody else has their objects."""
        found: dict[str, Waiting] = {}
        lines = dict(was.lines)
        for application, wish in sorted(wishes.items()):
            words = self._formats[wish.reconciler]
            if why := self._claims.clash(application, wish.key, lines):
                self._held.wait(application, was.cluster, replace(wish, why=why))
                continue
            found[application] = wish
            lines[application] = Line(words.leads_to(application, wish.key))
        return found

    def tidy(self, pointer: Pointer) -> None:
        """Namespaces of which nothing is left go."""
        needed = {self._home(name) for name in pointer.lines}
        for name in pointer.namespaces.keys() - needed:
            del pointer.namespaces[name]

    def count(self, was: Pointer | None, now: Pointer | None) -> None:
        """Count the lines of a pointer; of a snapshot, what was before does not count."""
        if self._fresh:
            if now is not None:
                self._tally.update([line[0] for line in now.lines.values()])
            was = None
        else:
            self._count_lines(was.lines if was else {}, now.lines if now else {})
        self._count_namespaces(was, now)
        had, has = was.fleet if was else "", now.fleet if now else ""
        if had != has:
            for key, change in ((had, -1), (has, 1)):
                if key:
                    self._lines.of_fleet().add((key,), change)

    def count_tally(self) -> None:
        """A snapshot is complete: its lines are counted."""
        for directory, lines in self._tally.items():
            line = Line(directory)
            self._lines.of_application(line.application).add((line.reconciler, line.key), lines)
        self._tally.clear()

    def _count_lines(self, old: Mapping[str, Line], new: Mapping[str, Line]) -> None:
        none = Line("")
        come = [name for name, line in new.items() if old.get(name, none)[0] != line[0]]
        gone = [name for name, line in old.items() if new.get(name, none)[0] != line[0]]
        self._lines.expect(dict.fromkeys((*come, *gone)))
        for name in come:
            self._lines.of_application(name).add((new[name].reconciler, new[name].key))
        for name in gone:
            self._lines.of_application(name).add((old[name].reconciler, old[name].key), -1)

    def _count_namespaces(self, before: Pointer | None, now: Pointer | None) -> None:
        old = {} if before is None else before.namespaces
        new = {} if now is None else now.namespaces
        for name, key in new.items():
            if old.get(name) != key:
                self._lines.of_namespace(name).add(self._places(name)[key])
        for name, key in old.items():
            if new.get(name) != key:
                self._lines.of_namespace(name).add(self._places(name)[key], -1)

    def _places(self, namespace: str) -> dict[str, Place]:
        """What every key of a namespace stands for."""
        return self._lines.of_namespace(namespace).by_key

    def _words(self, told: Told) -> Format:
        host = self.is_host(told)
        return self._formats[Reconciler.ANSIBLE if host else told.reconciler]

    def _line(
        self, told: Told, words: Format, line: ToldLine, before: Line | None, why: str
    ) -> Line | None:
        """A line, or None where it has to wait; it is held no more, or from now on."""
        name, _, key, late = line
        made = before
        if self._directories.is_ready(name, words.name, key) and not why:
            made = self._made(words, name, key, late)
        else:
            wish = Waiting(key, words.name, told.policies, ordered(late), why)
            if before is None or not _is_as(wish, before, words.leads_to(name, key)):
                self._held.wait(name, told.cluster, wish)
                return None
        if name in self._held:
            self._held.of(name).settle(told.cluster)
        return made

    def _made(self, words: Format, name: str, key: str, late: Mapping[str, Value]) -> Line:
        plain = self._plain[words.name]
        known = plain.get((name, key))
        if known is None:
            known = plain[name, key] = Line(words.leads_to(name, key))
        return self._bound(words, name, known, late) if late else known

    def _bound(self, words: Format, name: str, known: Line, late: Mapping[str, Value]) -> Line:
        """A line with late-bound values."""
        if len(late) > 1 or any(isinstance(value, dict | list) for value in late.values()):
            late = ordered(late)
        return self._binder(words, name).line(known[0], late)

    def _binder(self, words: Format, name: str) -> Binder:
        found = self._binders.get((words.name, name))
        if found is None:
            found = Binder(words, self._catalogue.application(name))
            self._binders[words.name, name] = found
        return found

    def _kept(
        self, lines: Mapping[str, Line], told: Told, foreign: Collection[str], *, crossed: bool
    ) -> dict[str, Line]:
        """Lines that stay, in the words of the cluster's reconciler.

        Where that is another one now and cannot be told of a line, the line stays as it is until it
        can: whoever reads the pointer would take away what is no longer in it. No line stays so on
        a cluster that is a host now, or the other way: what one reads says nothing to the other.
        """
        words = self._words(told)
        if not crossed and not foreign and _leads(words, *next(iter(lines.items()))):
            return dict(lines)  # but for foreign ones, all of a pointer are in the same words
        found: dict[str, Line] = {}
        for name, line in lines.items():
            if name in foreign:
                self._held.of(name).foreign.pop(told.cluster, None)
            if not crossed and _leads(words, name, line):
                found[name] = line
            elif self._directories.is_ready(name, words.name, line.key):
                found[name] = self._made(words, name, line.key, line.late_values)
            elif not crossed:
                found[name] = line
                wish = Waiting(line.key, words.name, told.policies, line.late_values)
                self._held.keep_foreign(name, told.cluster, wish)
            elif name in self._held:
                self._held.of(name).lose(told.cluster)
        return found

    def _namespaces(
        self, lines: Mapping[str, Line], reconciler: str, policies: tuple[str, ...]
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in {self._home(application) for application in lines}:
            key = self._directories.namespace_key(name, reconciler, policies)
            found[name] = key
            self._places(name)[key] = (key, reconciler, *policies)
        return found

    def _home(self, application: str) -> str:
        """The namespace an application is in."""
        found = self._homes.get(application)
        if found is None:
            found = self._homes[application] = self._catalogue.application(application).namespace
        return found


def _leads(words: Format, name: str, line: Line) -> bool:
    """Whether a line leads where these words lead."""
    return line.directory == words.leads_to(name, line.key)


def _is_as(wish: Waiting, line: Line, directory: str) -> bool:
    """Whether a line leads where it is wished to already, and says the same."""
    return line.directory == directory and flow(line.late_values) == flow(wish.late)
