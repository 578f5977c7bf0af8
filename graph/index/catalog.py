"""What is known by name and few in number: hierarchies, label keys, saved selectors.

Plain dictionaries, copied at the first write of a draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from graph.model.inventory import Hierarchy, LabelKey, SavedSelector
from graph.model.ref import Ref
from graph.model.selector import mentions

K = TypeVar("K")
V = TypeVar("V")


class Catalog:
    """One version of the named things."""

    __slots__ = ("hierarchies", "label_keys", "mentioned_by", "saved_selectors")

    def __init__(
        self,
        *,
        hierarchies: Mapping[str, Hierarchy],
        label_keys: Mapping[str, LabelKey],
        saved_selectors: Mapping[str, SavedSelector],
        mentioned_by: Mapping[Ref, frozenset[str]],
    ) -> None:
        self.hierarchies = hierarchies
        self.label_keys = label_keys
        self.saved_selectors = saved_selectors
        self.mentioned_by = mentioned_by
        """Names of the saved selectors that name an object directly."""

    @staticmethod
    def of(
        hierarchies: Iterable[Hierarchy] = (),
        label_keys: Iterable[LabelKey] = (),
        saved_selectors: Iterable[SavedSelector] = (),
    ) -> Catalog:
        """A catalog of these."""
        made = CatalogDraft(
            Catalog(hierarchies={}, label_keys={}, saved_selectors={}, mentioned_by={})
        )
        for hierarchy in hierarchies:
            made.put_hierarchy(hierarchy.name, hierarchy)
        for label_key in label_keys:
            made.put_label_key(label_key.name, label_key)
        for saved in saved_selectors:
            made.put_saved_selector(saved.name, saved)
        return made.freeze()


class CatalogDraft(Catalog):
    """The next version, still being made. None as a value takes the thing away."""

    __slots__ = ("_hierarchies", "_label_keys", "_mentioned_by", "_saved_selectors")

    def __init__(self, base: Catalog) -> None:
        # The same dictionaries twice: as every reader sees them, and as ours to change.
        self._hierarchies = dict(base.hierarchies)
        self._label_keys = dict(base.label_keys)
        self._saved_selectors = dict(base.saved_selectors)
        self._mentioned_by = dict(base.mentioned_by)
        super().__init__(
            hierarchies=self._hierarchies,
            label_keys=self._label_keys,
            saved_selectors=self._saved_selectors,
            mentioned_by=self._mentioned_by,
        )

    def freeze(self) -> Catalog:
        """The version that was made."""
        return Catalog(
            hierarchies=self._hierarchies,
            label_keys=self._label_keys,
            saved_selectors=self._saved_selectors,
            mentioned_by=self._mentioned_by,
        )

    def put_hierarchy(self, name: str, hierarchy: Hierarchy | None) -> None:
        """Have this under ``name``."""
        _put(self._hierarchies, name, hierarchy)

    def put_label_key(self, name: str, label_key: LabelKey | None) -> None:
        """Have this under ``name``."""
        _put(self._label_keys, name, label_key)

    def put_saved_selector(self, name: str, saved: SavedSelector | None) -> None:
        """Have this under ``name``, and know what it mentions."""
        was = self._saved_selectors.get(name)
        old = mentions(was.selector) if was is not None else frozenset[Ref]()
        new = mentions(saved.selector) if saved is not None else frozenset[Ref]()
        for ref in old - new:
            left = self._mentioned_by[ref] - {name}
            _put(self._mentioned_by, ref, left or None)
        for ref in new - old:
            self._mentioned_by[ref] = self._mentioned_by.get(ref, frozenset()) | {name}
        _put(self._saved_selectors, name, saved)


def _put(table: dict[K, V], key: K, value: V | None) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
