"""What is known by name and few in number: hierarchies, label keys, selectors, grants, workload.

Plain dictionaries, each copied at its first write in a draft. Beside them, who names what: an
object that is named may not vanish, and one that is named by thousands is no dearer for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from graph.model.access import Grant
from graph.model.change import ref_of
from graph.model.inventory import Hierarchy, LabelKey, SavedSelector
from graph.model.ref import Ref
from graph.model.referring import named_in
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    Workload,
)

Named = (
    Hierarchy
    | LabelKey
    | SavedSelector
    | Grant
    | Namespace
    | Application
    | Assignment
    | Prohibition
    | Layer
    | Policy
)
"""What a catalog holds."""

OWN: Mapping[type[Named], str] = {
    Hierarchy: "hierarchies",
    LabelKey: "label_keys",
    SavedSelector: "saved_selectors",
    Grant: "grants",
}
"""The tables of a catalog itself, by what is in them."""
OF_WORKLOAD: Mapping[type[Named], str] = {
    Namespace: "namespaces",
    Application: "applications",
    Assignment: "assignments",
    Prohibition: "prohibitions",
    Layer: "layers",
    Policy: "policies",
}
"""The tables of its workload."""

Referrers = Mapping[Ref, frozenset[Ref]]
"""Who names an object directly."""


class Catalog:
    """One version of the named things."""

    __slots__ = (
        "grants",
        "hierarchies",
        "label_keys",
        "referrers",
        "saved_selectors",
        "workload",
    )

    def __init__(
        self,
        *,
        hierarchies: Mapping[str, Hierarchy],
        label_keys: Mapping[str, LabelKey],
        saved_selectors: Mapping[str, SavedSelector],
        grants: Mapping[str, Grant],
        workload: Workload,
        referrers: Referrers,
    ) -> None:
        self.hierarchies = hierarchies
        self.label_keys = label_keys
        self.saved_selectors = saved_selectors
        self.grants = grants
        self.workload = workload
        self.referrers = referrers

    @staticmethod
    def of(entities: Iterable[Named] = ()) -> Catalog:
        """A catalog of these."""
        made = CatalogDraft(_EMPTY)
        for entity in entities:
            made.put(None, entity)
        return made.freeze()

    def entities(self) -> Iterable[Named]:
        """Everything in it."""
        for field in OWN.values():
            yield from getattr(self, field).values()
        for field in OF_WORKLOAD.values():
            yield from getattr(self.workload, field).values()

    def named_by(self, ref: Ref) -> frozenset[Ref]:
        """The objects that name this one directly."""
        return self.referrers.get(ref, frozenset())


_EMPTY = Catalog(
    hierarchies={}, label_keys={}, saved_selectors={}, grants={}, workload=Workload(), referrers={}
)


class CatalogDraft(Catalog):
    """The next version, still being made."""

    __slots__ = ("_mine", "_naming")

    def __init__(self, base: Catalog) -> None:
        super().__init__(
            hierarchies=base.hierarchies,
            label_keys=base.label_keys,
            saved_selectors=base.saved_selectors,
            grants=base.grants,
            workload=base.workload,
            referrers=base.referrers,
        )
        # The tables that are ours to change, and who names what as far as that has changed: sets
        # that grow in place, or a load of objects that all name one would take its square.
        self._mine: dict[type[Named], dict[str, Any]] = {}
        self._naming: dict[Ref, set[Ref]] = {}

    def freeze(self) -> Catalog:
        """The version that was made."""
        referrers = dict(self.referrers)
        for ref, naming in self._naming.items():
            if naming:
                referrers[ref] = frozenset(naming)
            else:
                referrers.pop(ref, None)
        return Catalog(
            hierarchies=self.hierarchies,
            label_keys=self.label_keys,
            saved_selectors=self.saved_selectors,
            grants=self.grants,
            workload=self.workload,
            referrers=referrers if self._naming else self.referrers,
        )

    def named_by(self, ref: Ref) -> frozenset[Ref]:
        """The objects that name this one directly, as of now."""
        naming = self._naming.get(ref)
        return super().named_by(ref) if naming is None else frozenset(naming)

    def put(self, before: Named | None, after: Named | None) -> None:
        """Have ``after`` where ``before`` was; None is absence."""
        entity = before if after is None else after
        assert entity is not None, "a change has a before or an after"
        table = self._table(type(entity))
        self._rename(ref_of(entity), table.get(entity.name), after)
        if after is None:
            table.pop(entity.name, None)
        else:
            table[entity.name] = after

    def _table(self, kind: type[Named]) -> dict[str, Any]:
        mine = self._mine.get(kind)
        if mine is None:
            mine = self._mine[kind] = self._taken_over(kind)
        return mine

    def _taken_over(self, kind: type[Named]) -> dict[str, Any]:
        """A copy of the table, in its place."""
        field = OWN.get(kind)
        if field is not None:
            copy = dict(cast(Mapping[str, Any], getattr(self, field)))
            setattr(self, field, copy)
        else:
            field = OF_WORKLOAD[kind]
            copy = dict(cast(Mapping[str, Any], getattr(self.workload, field)))
            self.workload = replace(self.workload, **{field: copy})
        return copy

    def _rename(self, ref: Ref, before: Named | None, after: Named | None) -> None:
        was = frozenset[Ref]() if before is None else named_in(before)
        now = frozenset[Ref]() if after is None else named_in(after)
        for named in was - now:
            self._referrers_of(named).discard(ref)
        for named in now - was:
            self._referrers_of(named).add(ref)

    def _referrers_of(self, ref: Ref) -> set[Ref]:
        naming = self._naming.get(ref)
        if naming is None:
            naming = self._naming[ref] = set(self.referrers.get(ref, ()))
        return naming
