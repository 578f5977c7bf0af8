"""Lists a part at a time: how many of them, and behind which one they begin.

Clusters and changesets have connections. Lists that stay short are plain: ``first`` says how many
at most, ``after`` names the one to begin behind, and a part shorter than ``first`` is the last.
Whatever is asked for in a number is refused here, everywhere alike.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Protocol, TypeVar

import strawberry

from api.schema.names import Name
from graph.model.errors import Invalid

LISTED = 100
"""What a plain list has where its length is not given."""
LISTED_MAX = 1_000

First = Annotated[
    int,
    strawberry.argument(description="How many at most; a list that is as long as this may go on."),
]
AfterName = Annotated[
    Name | None, strawberry.argument(description="Begin behind this name, there or not.")
]


class Named(Protocol):
    """Something that lists are in order of."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


N = TypeVar("N", bound=Named)
T = TypeVar("T")


def checked_first(first: int, most: int, nouns: str) -> int:
    """``first``, or the one refusal of a length that no list has."""
    if not 0 <= first <= most:
        raise Invalid(
            f"the first {first:,} {nouns}", hint=f"ask for 0 to {most:,}", path=("first",)
        )
    return first


def by_name(items: Sequence[N], first: int, after: str | None, nouns: str) -> Sequence[N]:
    """A part of ``items``, which are in the order of their names."""
    count = checked_first(first, LISTED_MAX, nouns)
    start = 0 if after is None else bisect_right(items, after, key=_name)
    return items[start : start + count]


def some_of(names: Iterable[str], first: int, after: str | None, nouns: str) -> Sequence[str]:
    """A part of ``names``, which are in no particular order."""
    count = checked_first(first, LISTED_MAX, nouns)
    found = sorted(names if after is None else (each for each in names if each > after))
    return found[:count]


def behind(items: Sequence[T], after: str | None, identity: Callable[[T], str]) -> Sequence[T]:
    """What comes behind the one with the id ``after``; refused if there is none."""
    if after is None:
        return items
    for place, each in enumerate(items, start=1):
        if identity(each) == after:
            return items[place:]
    raise Invalid(
        "`after` is none of this list", hint="pass the id of the last one received", path=("after",)
    )


def _name(item: Named) -> str:
    return item.name
