"""What was published: how far it goes, where it is, and what is held back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeldBack:
    """An application of which something is not published as it should be."""

    application: str
    """Empty: the fleet's own settings."""
    reason: str
    """``failed`` (an overlay does not render), ``blocked``, or ``wave`` (too much would go)."""
    message: str
    clusters: int
    since: int
    """The revision at which it began."""


@dataclass(frozen=True, slots=True)
class Publication:
    """What a worker has brought out."""

    name: str
    """Which output: several workers may publish several branches."""
    cursor: str
    commit: str
    held: tuple[HeldBack, ...] = ()
