"""Opening hours: a week of intervals in the cluster's own time zone, with exceptions by date."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files

from graph.model.errors import Invalid
from graph.model.names import did_you_mean, nearest, quoted

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
INTERVALS_A_DAY_MAX = 8
EXCEPTIONS_MAX = 366

_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00", re.ASCII)


@dataclass(frozen=True, slots=True)
class Interval:
    """``HH:MM`` to ``HH:MM``; past midnight when it closes before it opens."""

    opens: str
    closes: str


@dataclass(frozen=True, slots=True)
class OpeningHours:
    """Intervals per weekday (absent means closed), and dates that differ (empty means closed)."""

    weekly: Mapping[str, tuple[Interval, ...]] = field(
        default_factory=dict[str, tuple[Interval, ...]]
    )
    exceptions: Mapping[str, tuple[Interval, ...]] = field(
        default_factory=dict[str, tuple[Interval, ...]]
    )


def check_opening_hours(hours: OpeningHours) -> OpeningHours:
    """Return ``hours`` with days and dates in order, or refuse what is no time of day."""
    for day, intervals in hours.weekly.items():
        if day not in WEEKDAYS:
            raise Invalid(f"{quoted(day)} is not a weekday", hint=f"use {', '.join(WEEKDAYS)}")
        _check_intervals(intervals, day)
    if len(hours.exceptions) > EXCEPTIONS_MAX:
        raise Invalid(
            f"{len(hours.exceptions):,} exceptions to the weekly hours",
            hint=f"keep at most {EXCEPTIONS_MAX}",
        )
    for day, intervals in hours.exceptions.items():
        try:
            if date.fromisoformat(day).isoformat() != day:
                raise ValueError
        except ValueError:
            raise Invalid(f"{quoted(day)} is not a date", hint="write 2026-12-24") from None
        _check_intervals(intervals, day)
    weekly = {day: hours.weekly[day] for day in WEEKDAYS if day in hours.weekly}
    return OpeningHours(weekly=weekly, exceptions=dict(sorted(hours.exceptions.items())))


def check_time_zone(name: str) -> str:
    """Return ``name`` if it is a time zone of the IANA database (or empty)."""
    if name and name not in _time_zones():
        close = nearest(name, _time_zones())
        raise Invalid(
            f"{quoted(name)} is not a time zone",
            hint=did_you_mean(close) or "write America/Chicago",
        )
    return name


def _check_intervals(intervals: tuple[Interval, ...], day: str) -> None:
    if len(intervals) > INTERVALS_A_DAY_MAX:
        raise Invalid(
            f"{len(intervals)} opening intervals on {day}",
            hint=f"use at most {INTERVALS_A_DAY_MAX} a day",
        )
    for interval in intervals:
        for value in (interval.opens, interval.closes):
            if not _TIME.fullmatch(value):
                raise Invalid(
                    f"{quoted(value)} on {day} is not a time of day", hint="write 06:30 or 24:00"
                )
        if interval.opens in (interval.closes, "24:00"):
            raise Invalid(
                f"the interval {interval.opens} to {interval.closes} on {day} is empty",
                hint="write 00:00 to 24:00 for a whole day",
            )


@cache
def _time_zones() -> frozenset[str]:
    return frozenset(files("tzdata").joinpath("zones").read_text("utf-8").split())
