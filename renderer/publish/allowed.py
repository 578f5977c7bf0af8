"""What may be written at all: owned paths of plain names, checked at the last moment."""

from __future__ import annotations

import re

from graph.model.errors import Invalid
from graph.model.names import quoted
from renderer.paths import is_owned

PATH_LENGTH_MAX = 1_000

_NAME = r"(?!\.git(?:/|\Z))(?!\.+(?:/|\Z))[a-z0-9._-]{0,127}[a-z0-9_-]"
_PATH = re.compile(rf"{_NAME}(?:/{_NAME})*", re.ASCII | re.IGNORECASE)


def allowed(path: str) -> str:
    """``path`` if the worker may write it."""
    if len(path) > PATH_LENGTH_MAX or not _PATH.fullmatch(path):
        raise Invalid(
            f"{quoted(path)} cannot be a path of a published file",
            hint="use letters, digits, dots and dashes between slashes, and nothing that leads out",
        )
    if not is_owned(path):
        raise Invalid(
            f"{quoted(path)} does not belong to the worker",
            hint="it writes apps/*/overlays, apps/*/sync, fleet, namespaces, clusters, ansible "
            "and .trellis",
        )
    return path
