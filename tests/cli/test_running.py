"""Interrupts: wherever they fall, nothing is told but that there was one."""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import Future

import pytest

from cli.running import interrupted_at_once, run


class Interrupting(Future[None]):
    """Is interrupted when it is asked how it ended: while the loop fills in an answer."""

    def exception(self, timeout: float | None = None) -> BaseException | None:
        signal.raise_signal(signal.SIGINT)
        return super().exception(timeout)


def test_an_interrupt_while_an_answer_arrives_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    cleaned: list[str] = []

    async def work() -> None:
        answer = Interrupting()
        asyncio.get_running_loop().call_later(0.01, answer.set_result, None)
        try:
            await asyncio.wrap_future(answer)
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            cleaned.append("cleaned up")

    with pytest.raises(KeyboardInterrupt):
        run(work())
    assert cleaned == ["cleaned up"]
    assert caplog.text == ""


def test_a_second_interrupt_does_not_wait_for_the_loop() -> None:
    async def work() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("it goes on")

    with pytest.raises(KeyboardInterrupt):
        run(work())


def test_what_waits_outside_of_the_loop_is_ended_by_the_first_interrupt() -> None:
    async def work() -> None:
        with interrupted_at_once():
            os.kill(os.getpid(), signal.SIGINT)
            raise AssertionError("it goes on")

    with pytest.raises(KeyboardInterrupt):
        run(work())


def test_the_interrupts_of_others_are_left_to_them() -> None:
    async def work() -> int:
        return 7

    before = signal.getsignal(signal.SIGINT)
    assert run(work()) == 7
    assert signal.getsignal(signal.SIGINT) is before


def test_whoever_is_started_not_to_be_interrupted_is_not() -> None:
    async def work() -> int:
        with interrupted_at_once():
            signal.raise_signal(signal.SIGINT)
        return 7

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run(work()) == 7
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_cancellation_that_is_no_interrupt_stays_one() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run(work())
