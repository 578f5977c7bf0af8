"""Definitions as they were told, kept beside what is rendered so that nobody has to ask again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from graph.model.workload import Application, Namespace, Policy
from renderer.definition import (
    application_json,
    application_of,
    namespace_json,
    namespace_of,
    policy_json,
    policy_of,
)
from renderer.plan.sheet import Sheet
from renderer.tree import Tree

_ROOT = ".trellis/definitions"
T = TypeVar("T", bound=Application | Namespace | Policy)


class Memory:
    """Definitions as they were read, kept from step to step while nothing in a directory differs.

    It holds nothing that the tree does not say.
    """

    def __init__(self) -> None:
        self._read: dict[str, tuple[str | None, dict[str, Any]]] = {}

    def of(self, directory: str, tree: Tree) -> dict[str, Any]:
        """What was read of a directory as it is in ``tree``, by name; to be added to."""
        identity = tree.identity(directory)
        held = self._read.get(directory)
        if held is None or held[0] != identity:
            held = self._read[directory] = (identity, {})
        return held[1]


class Shelf(Generic[T]):
    """Definitions of one kind, by name."""

    def __init__(
        self,
        sheet: Sheet,
        kind: str,
        write: Callable[[T], bytes],
        read: Callable[[bytes], T],
        *,
        fresh: bool,
        memory: Memory,
    ) -> None:
        self._sheet = sheet
        self._directory = f"{_ROOT}/{kind}"
        self._write = write
        self._read = read
        self._fresh = fresh
        self._told: set[str] = set()
        self._published: dict[str, T | None] = memory.of(self._directory, sheet.tree)
        self._known: dict[str, T | None] = {}
        self.changed: dict[str, T | None] = {}
        """Those that were told to be otherwise, as they were before."""

    def get(self, name: str) -> T | None:
        """A definition; None where there is none."""
        if name in self._known:
            return self._known[name]
        if name not in self._published:
            held = self._sheet.tree.read(self._path(name))
            self._published[name] = None if held is None else self._read(held)
        return self._published[name]

    def names(self) -> list[str]:
        """All there are."""
        return [each.removesuffix(".json") for each in self._sheet.names(self._directory)]

    def all(self) -> Iterable[T]:
        """Every definition, by name."""
        for name in self.names():
            found = self.get(name)
            assert found is not None, f"{name} is on the shelf"
            yield found

    def put(self, told: T) -> None:
        """Keep a definition, new or instead of another."""
        before = self.get(told.name)
        self._told.add(told.name)
        if before == told and not self._fresh:
            return
        self.changed.setdefault(told.name, before)
        self._known[told.name] = told
        self._sheet.write(self._path(told.name), self._write(told), f"{told.name} was defined")

    def told(self, name: str) -> bool:
        """Whether it was told of, be it as it was before."""
        return name in self._told

    def drop(self, name: str) -> None:
        """Forget a definition."""
        before = self.get(name)
        if before is not None:
            self.changed.setdefault(name, before)
            self._known[name] = None
            self._sheet.remove(self._path(name), f"{name} is no longer defined")

    def _path(self, name: str) -> str:
        return f"{self._directory}/{name}.json"


class Catalogue:
    """Everything that is defined."""

    def __init__(self, sheet: Sheet, *, fresh: bool, memory: Memory) -> None:
        self.applications = Shelf[Application](
            sheet, "applications", application_json, application_of, fresh=fresh, memory=memory
        )
        self.namespaces = Shelf[Namespace](
            sheet, "namespaces", namespace_json, namespace_of, fresh=fresh, memory=memory
        )
        self.policies = Shelf[Policy](
            sheet, "policies", policy_json, policy_of, fresh=fresh, memory=memory
        )

    def application(self, name: str) -> Application:
        """An application of which there is a line."""
        found = self.applications.get(name)
        assert found is not None, f"{name} has a line, so it was defined"
        return found

    def namespace(self, name: str) -> Namespace:
        """The namespace of an application."""
        return self.namespaces.get(name) or Namespace(name)

    def policies_of(self, namespace: str, reaching: Iterable[str]) -> tuple[Policy, ...]:
        """Policies attached to a namespace, and those of a cluster's that reach it, by name."""
        names = set(reaching)
        return tuple(
            each
            for each in self.policies.all()
            if each.name in names or namespace in each.namespaces
        )

    def depth(self, name: str) -> int:
        """How many applications have to be there one after the other before this one is."""
        found = self.applications.get(name)
        if found is None or not found.depends_on:
            return 0
        return 1 + max(self.depth(each) for each in found.depends_on)

    def inside(self, namespaces: Mapping[str, object]) -> set[str]:
        """Applications of some namespaces."""
        everyone = self.applications.all() if namespaces else ()
        return {each.name for each in everyone if each.namespace in namespaces}

    def leaning_on(self, names: Iterable[str]) -> set[str]:
        """Applications that depend on some of ``names``, at whatever distance."""
        found = set(names)
        everyone = list(self.applications.all())
        grown = True
        while grown:
            more = {each.name for each in everyone if not found.isdisjoint(each.depends_on)}
            grown = not more <= found
            found |= more
        return found
