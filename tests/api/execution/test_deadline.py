"""Deadlines: kept by those who wait, and by those who do not."""

from __future__ import annotations

import asyncio
import time

import pytest
import uvloop
from graphql import OperationType

from api.execution.deadline import Deadline, TookTooLong


async def test_what_comes_in_time_is_handed_on() -> None:
    assert await Deadline.after(60, OperationType.QUERY).wait(asyncio.sleep(0, "here")) == "here"


async def test_what_does_not_come_in_time_is_given_up() -> None:
    deadline = Deadline.after(0.02, OperationType.QUERY)
    with pytest.raises(TookTooLong, match=r"longer than 0\.02 s"):
        await deadline.wait(asyncio.sleep(60))
    with pytest.raises(TookTooLong):
        await deadline.wait(asyncio.sleep(60))


async def test_a_timeout_of_the_work_itself_inside_the_deadline_is_too_long_as_well() -> None:
    async def work() -> None:
        raise TimeoutError

    with pytest.raises(TookTooLong):
        await Deadline.after(60, OperationType.QUERY).wait(work())


async def test_of_a_change_it_is_said_that_its_end_is_not_known() -> None:
    with pytest.raises(TookTooLong, match="whether it took effect is not known"):
        Deadline.after(-1, OperationType.MUTATION).check()


def test_time_passes_while_an_event_loop_is_kept_busy() -> None:
    """The clock of the loop that serves stands still meanwhile."""

    async def busy() -> None:
        deadline = Deadline.after(0.02, OperationType.QUERY)
        deadline.check()
        until = time.monotonic() + 0.03
        while time.monotonic() < until:
            pass
        deadline.check()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, pytest.raises(TookTooLong):
        runner.run(busy())
