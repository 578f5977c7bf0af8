"""Opening hours as they travel."""

from __future__ import annotations

from collections.abc import Mapping

import strawberry

from graph.model import hours as core


@strawberry.type(description="Open from one time of day to another.")
class OpenInterval:
    """HH:MM to HH:MM."""

    opens: str = strawberry.field(description="HH:MM.")
    closes: str = strawberry.field(description="HH:MM; past midnight when before it opens.")


@strawberry.type(description="A day's opening hours.")
class OpenDay:
    """A weekday or a date with its intervals."""

    day: str = strawberry.field(description="A weekday, or a date that differs.")
    intervals: list[OpenInterval] = strawberry.field(description="None: closed.")


@strawberry.type(description="A week of intervals in the cluster's time zone, with exceptions.")
class OpeningHours:
    """Opening hours."""

    weekly: list[OpenDay] = strawberry.field(description="By weekday; absent means closed.")
    exceptions: list[OpenDay] = strawberry.field(description="By date.")


def opening_hours_of(hours: core.OpeningHours) -> OpeningHours:
    """Opening hours of the core as they travel."""
    return OpeningHours(weekly=_days(hours.weekly), exceptions=_days(hours.exceptions))


def _days(days: Mapping[str, tuple[core.Interval, ...]]) -> list[OpenDay]:
    return [
        OpenDay(day=day, intervals=[OpenInterval(opens=i.opens, closes=i.closes) for i in found])
        for day, found in days.items()
    ]
