"""What the command prints, as if somebody called ana had run it: pages show that name."""

from __future__ import annotations

from cli.signing import local_author

ANA = "local:ana"


def as_ana(text: str) -> str:
    """``text`` with the local user's name replaced, so that it reads the same on every machine."""
    return text.replace(local_author().name, ANA)
