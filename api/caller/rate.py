"""How many requests a caller may send: a burst at once, and a rate on average.

Each caller has one number, the time at which everything it has sent would have been due at its
rate. A request is early by how far that time lies ahead; a burst's worth of earliness is allowed.
"""

from __future__ import annotations

from api.settings import ApiSettings

CALLERS_MAX = 10_000
"""Callers remembered. The one forgotten first has been quiet for longest."""

REFUSAL_SECONDS = 0.05
"""How long a caller who sends too much waits to be told: refusing a flood costs others time too."""

ROUNDING_SECONDS = 1e-6
"""What sums of floating-point seconds may be off by."""


class Rates:
    """The rate of each caller."""

    def __init__(self, settings: ApiSettings) -> None:
        self._interval_seconds = 1 / settings.requests_per_second
        burst_seconds = (settings.requests_burst - 1) * self._interval_seconds
        self._early_seconds_max = burst_seconds + ROUNDING_SECONDS
        self._due: dict[str, float] = {}

    def take(self, caller: str, now: float) -> float | None:
        """Count a request at ``now``, in seconds of any clock that never goes back.

        None if it may be served, else the seconds to wait before the next one; a request that is
        refused does not count.
        """
        due = self._due.pop(caller, now)
        early_seconds = due - now
        if early_seconds > self._early_seconds_max:
            self._due[caller] = due
            return early_seconds - self._early_seconds_max
        if len(self._due) >= CALLERS_MAX:
            del self._due[next(iter(self._due))]
        self._due[caller] = (due if early_seconds > 0 else now) + self._interval_seconds
        return None
