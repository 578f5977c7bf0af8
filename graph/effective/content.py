"""Whether overlays say the same in two states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graph.composition.stack import Stack
from graph.effective.definition import Definition
from graph.effective.place import rewritten
from graph.effective.refine import Names


def of_other_content(old: Definition, new: Definition, both: Iterable[Names]) -> Iterable[Names]:
    """Those configurations that both definitions have, and whose overlay differs."""
    if old is new:
        return ()
    if _beside_values(old) != _beside_values(new):
        return both
    return of_other_values(old.stack, new.stack, both)


def of_other_values(old: Stack, new: Stack, both: Iterable[Names]) -> Iterator[Names]:
    """Those configurations that both stacks have, and whose composed values differ."""
    changed = rewritten(old, new)
    if changed is not None and not changed:
        return
    for names in both:
        if (changed is None or not changed.isdisjoint(names)) and (
            old.digest(names) != new.digest(names)
        ):
            yield names


def _beside_values(definition: Definition) -> object:
    """What of an application is in every overlay whatever the values are."""
    each = definition.application
    return (each.source, each.namespace, each.owner, each.labels, each.depends_on, each.late_bound)
