"""What owners' pushes broke: published overlays that do not build any more.

A base is used by its path, so whoever pushes one changes what is published without a worker. Every
application whose files, or whose base's files elsewhere, differ from what the newest commit of a
worker had is looked at again, and no other one. That commit had looked at all before it: so what is
broken is found again after a restart, from what is published alone.

Of an application that breaks, the owner's files are kept as they were before, below
``.trellis/last-good``: artifacts and bundles are made of those until the owner has mended it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import orjson

from graph.effective.rendition import FLEET
from renderer import paths
from renderer.failure import Failure
from renderer.formats.own import Broken
from renderer.formats.port import Format
from renderer.overlay.overlays import Overlays
from renderer.overlay.owners import files_below
from renderer.plan.catalogue import Catalogue
from renderer.plan.held import Held
from renderer.plan.lines import APPLICATIONS, Lines
from renderer.plan.sheet import Sheet
from renderer.tree import Tree

_WHY = "its owner pushed something that does not build"
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


class Breakage:
    """What is broken in one step."""

    def __init__(
        self,
        sheet: Sheet,
        overlays: Overlays,
        formats: Mapping[str, Format],
        books: tuple[Catalogue, Lines, Held],
        before: Tree | None,
        *,
        fresh: bool,
    ) -> None:
        self._sheet, self._overlays, self._formats = sheet, overlays, formats
        self._catalogue, self._lines, self._held = books
        self._before = before
        self._fresh = fresh
        self._doubted: set[str] = set()
        self._failures: dict[str, dict[str, Failure]] = {}
        """Of what is published, by key, by application; each is looked at once."""
        self._rendered: dict[str, set[str]] = defaultdict(set)
        """Keys of overlays that were made in this step, and therefore build."""

    def push(self, pushed: Collection[str] | None) -> set[str]:
        """Owners pushed these paths, or any: the applications that may build no more, or again."""
        if pushed is None:
            self._doubted.update(self._lines.known(APPLICATIONS), self._held.applications())
        else:
            names = (path.split("/") for path in pushed)
            self._doubted.update(parts[1] for parts in names if parts[0] == "apps" and parts[1:])
            self._doubted.update(self._borrowers(pushed) if pushed else ())
        self._doubted = {each for each in self._doubted if self._catalogue.applications.get(each)}
        return set(self._doubted)

    def doubt(self, application: str) -> None:
        """Something was seen of it that does not build."""
        self._doubted.add(application)

    def made(self, application: str, key: str) -> None:
        """An overlay was made in this step, of what owners have now."""
        self._rendered[application].add(key)

    def is_broken(self, application: str, key: str) -> bool:
        """Whether no line may lead to an overlay, though it is published."""
        if key in self._rendered.get(application, ()) or not self._is_doubted(application):
            return False
        return key in self._found(application)

    def settle(self, looked_at: Iterable[str]) -> None:
        """Hold what is broken, let go of what is not, and keep what was good."""
        names = self._to_settle()
        for name in names:
            places = {key for _, key in self._lines.of_application(name).places}
            places -= self._rendered.get(name, set())
            found = self._found(name) if places else {}
            failures = {key: failure for key, failure in found.items() if key in places}
            if failures or name in self._held:
                self._held.of(name).break_down(failures)
            self._keep_good(name, broken=bool(failures))
        unreadable = {
            str(name): replace(
                words.failure, message=f"the format of {name}: {words.failure.message}"
            )
            for name, words in self._formats.items()
            if isinstance(words, Broken)
        }
        if unreadable or FLEET in self._held:
            self._held.of(FLEET).break_down(unreadable)
        self._note_borrowed({*names, *looked_at})

    def _is_doubted(self, name: str) -> bool:
        if self._fresh or name in self._doubted:
            return True
        return name in self._held and bool(self._held.of(name).broken)

    def _to_settle(self) -> list[str]:
        found = {*self._doubted, *self._sheet.names(paths.LAST_GOOD)}
        found.update(each for each in self._held.applications() if self._held.of(each).broken)
        if self._fresh:
            found.update(self._lines.known(APPLICATIONS))
        return sorted(found - {FLEET})

    def _found(self, name: str) -> dict[str, Failure]:
        if name not in self._failures:
            self._failures[name] = self._examine(name, self._sheet.tree)
        return self._failures[name]

    def _examine(self, name: str, tree: Tree) -> dict[str, Failure]:
        application = self._catalogue.applications.get(name)
        if application is None:
            return {}
        namespace = self._catalogue.namespace(application.namespace)
        written: dict[str, bytes] = {}
        for key in filter(paths.is_key, self._sheet.names(f"apps/{name}/overlays")):
            if key not in self._rendered.get(name, ()):
                content = self._sheet.read(f"{paths.overlay(name, key)}/{paths.KUSTOMIZATION}")
                written |= {} if content is None else {key: content}
        return self._overlays.examine(application, namespace, written, tree) if written else {}

    def _keep_good(self, name: str, *, broken: bool) -> None:
        directory = f"{paths.LAST_GOOD}/{name}"
        if not broken:
            self._sheet.remove(directory, "it builds again")
        if not broken or self._before is None or self._sheet.names(directory):
            return
        if not self._examine(name, self._before):
            for path, content in files_below(f"apps/{name}", self._before).items():
                kept = path.removeprefix(f"apps/{name}/")
                self._sheet.write(f"{directory}/{kept}", content, _WHY)

    def _borrowers(self, pushed: Collection[str]) -> Iterator[str]:
        for name, borrowed in self._borrowed().items():
            if any(_meet(each, path) for each in borrowed for path in pushed):
                yield name

    def _borrowed(self) -> dict[str, list[str]]:
        kept = self._sheet.read(paths.BORROWED)
        found: dict[str, list[str]] = orjson.loads(kept) if kept else {}
        return found

    def _note_borrowed(self, names: Iterable[str]) -> None:
        """Paths elsewhere that a base is made of: whoever pushes those touches the application."""
        before = {} if self._fresh else self._borrowed()
        after = dict(before)
        for name in names:
            application = self._catalogue.applications.get(name)
            has_lines = application and self._lines.of_application(name).places
            found = (
                self._overlays.looked_at(application, self._sheet.tree)
                if application and has_lines
                else ()
            )
            after.pop(name, None)
            if found:
                after[name] = _outermost(found)
        if after and (self._fresh or after != before):
            content = orjson.dumps(after, option=_SORTED)
            self._sheet.write(paths.BORROWED, content, "bases use files of others")
        elif not after:
            self._sheet.remove(paths.BORROWED, "no base uses files of others")


def _outermost(found: Iterable[str]) -> list[str]:
    """Paths without those below another one."""
    kept: list[str] = []
    for path in sorted(found):
        if not kept or not path.startswith(f"{kept[-1]}/"):
            kept.append(path)
    return kept


def _meet(one: str, other: str) -> bool:
    """Whether one path is the other, or is above or below it."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
