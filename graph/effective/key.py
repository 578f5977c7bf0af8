"""The name of a configuration's overlay: who it is for, never what is in it.

Order and content are not in it, so a new value, another precedence or a renamed group rewrites
overlays and moves no cluster from one to another.
"""

from __future__ import annotations

import json
from hashlib import sha256

from graph.composition.numbering import Names

DIGITS = 16
COHORT = ""
"""Clusters that move together; until changes are staged, all of them do."""


def overlay_key(application: str, names: Names, cohort: str = COHORT) -> str:
    """The key of an application's configuration; of the fleet's for an empty name."""
    text = json.dumps([application, cohort, sorted(names)], separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:DIGITS]
