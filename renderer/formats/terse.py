"""Data in few characters: flow YAML, in which text is quoted only where it has to be.

Around every late-bound value of every cluster stand words of Trellis's own: names, kinds, paths.
Of JSON inside JSON half would be quotes and backslashes. So text is written in one of two ways:

- A word is plain: it begins with a letter or a slash, goes on with letters, digits and ``_./-``,
  and is none of the few that some reader takes for a boolean or for nothing. No reader of YAML, old
  or new, can take that for a number, a date or structure.
- Any other text is in single quotes, between which nothing is special but the quote itself, and
  that is doubled. Text inside text is quoted again, and comes out of each level as it went in.

It is for text of one line that YAML carries as it is: names, paths, and what ``flow`` has written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from renderer.flow import NO_TEXT

Said = str | Sequence["Said"] | Mapping[str, "Said"]
"""Text, and lists and maps of it: nothing that a reader could round."""

_WORD = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*", re.ASCII)


def terse(said: Said) -> str:
    """``said`` on one line, keys in their order."""
    if isinstance(said, str):
        return said if _is_word(said) else "'" + said.replace("'", "''") + "'"
    if isinstance(said, Mapping):
        fields = (f"{terse(name)}: {terse(each)}" for name, each in said.items())
        return f"{{{', '.join(fields)}}}"
    return f"[{', '.join(map(terse, said))}]"


def _is_word(text: str) -> bool:
    return _WORD.fullmatch(text) is not None and text.lower() not in NO_TEXT
