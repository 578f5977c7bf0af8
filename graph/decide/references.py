"""What others name may not vanish: the one refusal that lists the referrers."""

from __future__ import annotations

from graph.model.errors import Rejected
from graph.model.names import counted
from graph.model.ref import Ref
from graph.model.view import FleetView


def refuse_if_named(view: FleetView, ref: Ref, shown: str) -> None:
    """Refuse when a stored selector names ``ref``; ``shown`` is what people call it."""
    names = sorted(view.mentioned_by(ref))
    if names:
        raise Rejected(
            f"{shown} is named by {counted(len(names), 'saved selector')}",
            hint=f"change {', '.join(f'@{name}' for name in names[:5])}"
            f"{' ...' if len(names) > 5 else ''} first",
            reasons=tuple(f"@{name}" for name in names),
        )
