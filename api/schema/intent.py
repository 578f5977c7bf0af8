"""What every command has in common as it travels: a way to the command of the core.

A field that creates something has the core's default, and cannot be null. A field that changes
something may be left out, which leaves the thing as it is; null means "remove", and is refused
where there is nothing to remove.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from types import TracebackType
from typing import Any, Protocol, TypeVar

import strawberry

from graph.access import Access
from graph.model.access import Role
from graph.model.command import UNSET, Command, Maybe
from graph.model.errors import Invalid, TrellisError

T = TypeVar("T")
R = TypeVar("R")
E = TypeVar("E", bound=Enum)


class Intent(Protocol):
    """An input that stands for one command."""

    def command(self) -> Command:
        """The command of the core."""
        ...


class Inside:
    """A place of the input: whatever is refused within is refused there."""

    __slots__ = ("_steps",)

    def __init__(self, steps: tuple[str | int, ...]) -> None:
        self._steps = steps

    def __enter__(self) -> None:
        """Nothing is refused yet."""

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Say where."""
        if isinstance(error, TrellisError):
            error.at(*self._steps)


def inside(*steps: str | int) -> Inside:
    """Whatever is refused here is refused at this place of the input."""
    return Inside(steps)


def refuse_stranger(access: Access, role: Role) -> None:
    """Refuse whoever has ``role`` over nothing at all, before more is read; the core does the rest.

    Over a part of the workload is over something.
    """
    if not access.holds(role):
        access.need(role)


def description_of(kind: type) -> str:
    """What the schema says about an input type; the mutation of that name says the same."""
    definition: Any = vars(kind)["__strawberry_definition__"]
    text: str = definition.description
    return text


def kept(value: T | None, name: str) -> T | Maybe:
    """A field of an update that cannot be removed."""
    if value is strawberry.UNSET:
        return UNSET
    if value is None:
        raise Invalid(f"{name} cannot be null", hint="leave it out to keep it, or give a value").at(
            name
        )
    return value


def choice(kind: type[E], value: Enum) -> E:
    """A member of a closed list as the core knows it."""
    return kind(value.value)


def kept_choice(kind: type[E], value: Enum | None, name: str) -> E | Maybe:
    """As ``kept``, for a closed list of the core."""
    found = kept(value, name)
    return found if found is UNSET else choice(kind, found)


def removable(value: T | None, read: Callable[[T], R]) -> R | Maybe | None:
    """A field of an update that null removes."""
    if value is strawberry.UNSET:
        return UNSET
    return None if value is None else read(value)
