"""What others name may not vanish: the one refusal that lists the referrers."""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.errors import Rejected
from graph.model.names import counted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView


def refuse_if_named(view: FleetView, ref: Ref, shown: str) -> None:
    """Refuse when a stored object names ``ref``; ``shown`` is what people call that."""
    referrers = by_kind(view.referrers(ref))
    if referrers:
        names = tuple(map(called, referrers))
        raise Rejected(
            f"{shown} is named by {_counts(referrers)}",
            hint=f"change {', '.join(names[:5])}{' ...' if len(names) > 5 else ''} first",
            reasons=names,
        )


def called(ref: Ref) -> str:
    """A stored object that is known by name, as people call it: ``@pilot``, ``grant texas``."""
    if ref.kind is Kind.SAVED_SELECTOR:
        return f"@{ref.key}"
    return f"{ref.kind.replace('_', ' ')} {ref.key}"


def by_kind(refs: Iterable[Ref]) -> list[Ref]:
    """``refs`` in the order in which they are listed."""
    return sorted(refs, key=lambda ref: (_ORDER[ref.kind], str(ref.key)))


def _counts(refs: Iterable[Ref]) -> str:
    """``1 saved selector, 6 grants and 2 layers``."""
    found: dict[Kind, int] = {}
    for ref in refs:
        found[ref.kind] = found.get(ref.kind, 0) + 1
    *first, last = (counted(count, kind.replace("_", " ")) for kind, count in found.items())
    return f"{', '.join(first)} and {last}" if first else last


_ORDER = {kind: position for position, kind in enumerate(Kind)}
