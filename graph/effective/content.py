"""Whether overlays say the same in two states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graph.composition.numbering import Names
from graph.composition.stack import Stack
from graph.effective.definition import Definition


def of_other_content(old: Definition, new: Definition, both: Iterable[Names]) -> Iterable[Names]:
    """Those configurations that both definitions have, and whose overlay differs."""
    if old is new:
        return ()
    if _beside_values(old) != _beside_values(new):
        return both
    return of_other_values(old.stack, new.stack, both)


def of_other_values(old: Stack, new: Stack, both: Iterable[Names]) -> Iterator[Names]:
    """Those configurations that both stacks have, and whose composed values differ."""
    changed = new.rewritten_here(old)
    if changed is not None and not changed:
        return
    for names in both:
        if changed is not None and (changed.isdisjoint(names) or new.composes_alike(old, names)):
            continue
        if old.digest(names) != new.digest(names):
            yield names


def _beside_values(definition: Definition) -> object:
    """What of an application is in every overlay whatever the values are."""
    each = definition.application
    return (
        each.source,
        each.namespace,
        each.owner,
        each.labels,
        each.depends_on,
        each.late_bound,
        each.cluster_scoped,
    )
