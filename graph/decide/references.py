"""What others name may not vanish: the one refusal that lists the referrers."""

from __future__ import annotations

from graph.model.errors import Rejected
from graph.model.names import counted
from graph.model.ref import Ref
from graph.model.view import FleetView


def refuse_if_named(view: FleetView, ref: Ref, shown: str) -> None:
    """Refuse when a stored selector or a grant names ``ref``; ``shown`` is what people call it."""
    saved, grants = sorted(view.mentioned_by(ref)), sorted(view.granted_by(ref))
    referrers = (*(f"@{name}" for name in saved), *(f"grant {name}" for name in grants))
    if referrers:
        both = ((saved, "saved selector"), (grants, "grant"))
        counts = [counted(len(names), noun) for names, noun in both if names]
        raise Rejected(
            f"{shown} is named by {' and '.join(counts)}",
            hint=f"change {', '.join(referrers[:5])}{' ...' if len(referrers) > 5 else ''} first",
            reasons=referrers,
        )
