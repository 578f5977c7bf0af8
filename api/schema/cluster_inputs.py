"""Parts of a cluster as they travel inwards: labels, capacity, opening hours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import strawberry

from api.schema.intent import inside
from api.schema.names import LabelValue, Name, label_value
from graph.model import hours, inventory
from graph.model.errors import Invalid
from graph.model.names import quoted

T = TypeVar("T")


@strawberry.input(description="One label of one cluster.")
class LabelInput:
    """A key and a value."""

    key: Name = strawberry.field(description="The label key.")
    value: LabelValue = strawberry.field(description="Its value.")


@strawberry.input(description="A label to set or to remove.")
class LabelUpdate:
    """A key, and a value or null."""

    key: Name = strawberry.field(description="The label key.")
    value: LabelValue | None = strawberry.field(
        default=strawberry.UNSET, description="Its new value; null removes the label."
    )


@strawberry.input(description="What a cluster offers to workloads, or what they take from it.")
class CapacityInput:
    """Processor, memory and storage."""

    cpu_millicores: int = strawberry.field(description="Thousandths of a processor core.")
    memory_mib: float = strawberry.field(description="Memory in whole mebibytes.")
    storage_mib: float = strawberry.field(default=0, description="Storage in whole mebibytes.")


@strawberry.input(description="Open from one time of day to another.")
class OpenIntervalInput:
    """HH:MM to HH:MM."""

    opens: str = strawberry.field(description="HH:MM.")
    closes: str = strawberry.field(description="HH:MM; past midnight when before it opens.")


@strawberry.input(description="A day's opening hours.")
class OpenDayInput:
    """A weekday or a date with its intervals."""

    day: str = strawberry.field(description="A weekday, as monday, or a date, as 2026-12-24.")
    intervals: list[OpenIntervalInput] = strawberry.field(description="None: closed.")


@strawberry.input(description="A week of intervals in the cluster's time zone, with exceptions.")
class OpeningHoursInput:
    """Opening hours."""

    weekly: list[OpenDayInput] = strawberry.field(
        default_factory=list[OpenDayInput], description="By weekday; absent means closed."
    )
    exceptions: list[OpenDayInput] = strawberry.field(
        default_factory=list[OpenDayInput], description="By date."
    )


def labels_of(given: Iterable[LabelInput]) -> dict[str, inventory.LabelValue]:
    """Labels to give to a new cluster."""
    return each_once(((each.key, label_value(each.value)) for each in given), "label", "labels")


def label_updates_of(given: Iterable[LabelUpdate]) -> dict[str, inventory.LabelValue | None]:
    """Labels to set, and those to remove."""
    found = ((each.key, _updated(each, place)) for place, each in enumerate(given))
    return each_once(found, "label", "labels")


def capacity_of(given: CapacityInput, name: str = "capacity") -> inventory.Capacity:
    """A capacity as the core knows it, given as the field ``name``."""
    with inside(name):
        return inventory.Capacity(
            cpu_millicores=given.cpu_millicores,
            memory_mib=_whole(given.memory_mib, "memoryMib"),
            storage_mib=_whole(given.storage_mib, "storageMib"),
        )


def opening_hours_of(given: OpeningHoursInput) -> hours.OpeningHours:
    """Opening hours as the core knows them."""
    with inside("openingHours"):
        return hours.OpeningHours(
            _days(given.weekly, "weekly"), _days(given.exceptions, "exceptions")
        )


def _updated(given: LabelUpdate, place: int) -> inventory.LabelValue | None:
    if given.value is strawberry.UNSET:
        raise Invalid(
            f"label {quoted(given.key)} has no value",
            hint="give a value, or null to remove the label",
        ).at("labels", place)
    return None if given.value is None else label_value(given.value)


def _whole(value: float, name: str) -> int:
    if value != value // 1:
        raise Invalid(f"{value!r} is no whole number", hint="round it").at(name)
    return int(value)


def _days(given: Iterable[OpenDayInput], name: str) -> dict[str, tuple[hours.Interval, ...]]:
    found = (
        (each.day, tuple(hours.Interval(one.opens, one.closes) for one in each.intervals))
        for each in given
    )
    return each_once(found, "day", name)


def each_once(given: Iterable[tuple[str, T]], noun: str, name: str) -> dict[str, T]:
    """A list of keys and values as a mapping; a key given twice has no one meaning."""
    found: dict[str, T] = {}
    for place, (key, value) in enumerate(given):
        if key in found:
            raise Invalid(f"{noun} {quoted(key)} is given twice", hint="give it once").at(
                name, place
            )
        found[key] = value
    return found
