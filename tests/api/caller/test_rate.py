"""A burst at once, a rate on average, and a bounded memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.caller.rate import CALLERS_MAX, Rates
from api.settings import ApiSettings


def rates(per_second: float, burst: int) -> Rates:
    return Rates(ApiSettings(requests_per_second=per_second, requests_burst=burst))


def test_a_burst_is_served_and_the_next_one_waits() -> None:
    limit = rates(2, 5)
    assert [limit.take("ann", 0.0) for _ in range(5)] == [None] * 5
    assert limit.take("ann", 0.0) == pytest.approx(0.5, abs=1e-5)
    assert limit.take("ann", 0.25) == pytest.approx(0.25, abs=1e-5)
    assert limit.take("ann", 0.5) is None
    assert limit.take("ann", 0.5) == pytest.approx(0.5, abs=1e-5)


def test_one_caller_does_not_use_up_what_another_has() -> None:
    limit = rates(1, 1)
    assert limit.take("ann", 0.0) is None
    assert limit.take("ann", 0.0) is not None
    assert limit.take("bob", 0.0) is None


def test_who_was_quiet_has_a_whole_burst_and_no_more() -> None:
    limit = rates(10, 3)
    assert limit.take("ann", 0.0) is None
    assert [limit.take("ann", 1_000.0) is None for _ in range(4)] == [True, True, True, False]


def test_callers_are_forgotten_when_there_are_too_many_the_quietest_first() -> None:
    limit = rates(0.001, 1)
    for number in range(CALLERS_MAX):
        assert limit.take(f"caller{number}", 0.0) is None
    assert limit.take("caller0", 0.0) is not None
    assert limit.take("one more", 0.0) is None
    assert limit.take("caller1", 0.0) is None, "forgotten, and so it begins anew"
    assert limit.take("caller0", 0.0) is not None, "it has asked since, and is remembered"


@given(st.lists(st.floats(0, 10), max_size=60), st.integers(1, 8), st.floats(0.5, 20))
def test_no_one_is_served_more_than_burst_and_rate_allow(
    waits: list[float], burst: int, per_second: float
) -> None:
    limit = rates(per_second, burst)
    now, served = 0.0, list[float]()
    for wait in waits:
        now += wait
        if limit.take("ann", now) is None:
            served.append(now)
    for first in range(len(served)):
        for last in range(first, len(served)):
            span = served[last] - served[first]
            assert last - first + 1 <= burst + per_second * (span + 1e-5) + 1e-6
