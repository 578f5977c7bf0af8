"""Work that blocks."""

from __future__ import annotations

import asyncio
import threading

import pytest

from renderer.work.thread import Thread


@pytest.fixture
def thread():
    found = Thread()
    yield found
    found.close()


async def test_one_piece_of_work_at_a_time_in_one_thread(thread):
    busy, most, names = 0, 0, set()

    def work(number: int) -> int:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        names.add(threading.current_thread().name)
        busy -= 1
        return number

    assert await asyncio.gather(*(thread.do(work, each) for each in range(20))) == [*range(20)]
    assert most == 1
    assert len(names) == 1


async def test_whoever_is_cancelled_leaves_when_the_work_is_done(thread):
    begun, let_go = threading.Event(), threading.Event()
    done = []

    def work() -> None:
        begun.set()
        let_go.wait(10)
        done.append(True)

    task = asyncio.create_task(thread.do(work))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    await asyncio.sleep(0.02)
    assert not task.done()
    let_go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == [True]


async def test_what_is_raised_is_raised(thread):
    def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await thread.do(work)
