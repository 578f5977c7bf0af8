"""What is known by name and few in number: hierarchies, label keys, saved selectors, grants.

Plain dictionaries, copied at the first write of a draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from graph.model.access import Grant
from graph.model.inventory import Hierarchy, LabelKey, SavedSelector
from graph.model.ref import Ref
from graph.model.selector import Selector, mentions

K = TypeVar("K")
V = TypeVar("V")
Namers = Mapping[Ref, frozenset[str]]
"""Who names an object directly."""


class Catalog:
    """One version of the named things."""

    __slots__ = (
        "granted_by",
        "grants",
        "hierarchies",
        "label_keys",
        "mentioned_by",
        "saved_selectors",
    )

    def __init__(
        self,
        *,
        hierarchies: Mapping[str, Hierarchy],
        label_keys: Mapping[str, LabelKey],
        saved_selectors: Mapping[str, SavedSelector],
        mentioned_by: Namers,
        grants: Mapping[str, Grant],
        granted_by: Namers,
    ) -> None:
        self.hierarchies = hierarchies
        self.label_keys = label_keys
        self.saved_selectors = saved_selectors
        self.mentioned_by = mentioned_by
        """Names of the saved selectors that name an object directly."""
        self.grants = grants
        self.granted_by = granted_by
        """Names of the grants whose scope names an object directly."""

    @staticmethod
    def of(
        hierarchies: Iterable[Hierarchy] = (),
        label_keys: Iterable[LabelKey] = (),
        saved_selectors: Iterable[SavedSelector] = (),
        grants: Iterable[Grant] = (),
    ) -> Catalog:
        """A catalog of these."""
        made = CatalogDraft(_EMPTY)
        for hierarchy in hierarchies:
            made.put_hierarchy(hierarchy.name, hierarchy)
        for label_key in label_keys:
            made.put_label_key(label_key.name, label_key)
        for saved in saved_selectors:
            made.put_saved_selector(saved.name, saved)
        for grant in grants:
            made.put_grant(grant.name, grant)
        return made.freeze()


_EMPTY = Catalog(
    hierarchies={}, label_keys={}, saved_selectors={}, mentioned_by={}, grants={}, granted_by={}
)


class CatalogDraft(Catalog):
    """The next version, still being made. None as a value takes the thing away."""

    __slots__ = (
        "_granted_by",
        "_grants",
        "_hierarchies",
        "_label_keys",
        "_mentioned_by",
        "_saved_selectors",
    )

    def __init__(self, base: Catalog) -> None:
        # The same dictionaries twice: as every reader sees them, and as ours to change.
        self._hierarchies = dict(base.hierarchies)
        self._label_keys = dict(base.label_keys)
        self._saved_selectors = dict(base.saved_selectors)
        self._mentioned_by = dict(base.mentioned_by)
        self._grants = dict(base.grants)
        self._granted_by = dict(base.granted_by)
        super().__init__(
            hierarchies=self._hierarchies,
            label_keys=self._label_keys,
            saved_selectors=self._saved_selectors,
            mentioned_by=self._mentioned_by,
            grants=self._grants,
            granted_by=self._granted_by,
        )

    def freeze(self) -> Catalog:
        """The version that was made."""
        return Catalog(
            hierarchies=self._hierarchies,
            label_keys=self._label_keys,
            saved_selectors=self._saved_selectors,
            mentioned_by=self._mentioned_by,
            grants=self._grants,
            granted_by=self._granted_by,
        )

    def put_hierarchy(self, name: str, hierarchy: Hierarchy | None) -> None:
        """Have this under ``name``."""
        _put(self._hierarchies, name, hierarchy)

    def put_label_key(self, name: str, label_key: LabelKey | None) -> None:
        """Have this under ``name``."""
        _put(self._label_keys, name, label_key)

    def put_saved_selector(self, name: str, saved: SavedSelector | None) -> None:
        """Have this under ``name``, and know what it mentions."""
        if (was := self._saved_selectors.get(name)) is not None:
            _unname(self._mentioned_by, name, was.selector)
        if saved is not None:
            _name(self._mentioned_by, name, saved.selector)
        _put(self._saved_selectors, name, saved)

    def put_grant(self, name: str, grant: Grant | None) -> None:
        """Have this under ``name``, and know what its scope mentions."""
        if (was := self._grants.get(name)) is not None:
            _unname(self._granted_by, name, was.scope)
        if grant is not None:
            _name(self._granted_by, name, grant.scope)
        _put(self._grants, name, grant)


def _name(namers: dict[Ref, frozenset[str]], name: str, selector: Selector) -> None:
    for ref in mentions(selector):
        namers[ref] = namers.get(ref, frozenset()) | {name}


def _unname(namers: dict[Ref, frozenset[str]], name: str, selector: Selector) -> None:
    for ref in mentions(selector):
        _put(namers, ref, namers[ref] - {name} or None)


def _put(table: dict[K, V], key: K, value: V | None) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
