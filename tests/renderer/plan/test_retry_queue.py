from __future__ import annotations

from collections import Counter
from itertools import pairwise

from renderer.plan.retry_queue import RetryQueue

NAMES = {f"app-{number:02}" for number in range(20)}


def test_one_application_is_tried_in_a_round_and_its_pauses_double_up_to_a_bound() -> None:
    queue = RetryQueue(rounds_max=8)
    tried = [queue.next({"app"}) for _ in range(60)]
    rounds = [number for number, name in enumerate(tried) if name]
    pauses = [later - sooner for sooner, later in pairwise(rounds)]
    assert pauses[:5] == [2, 3, 5, 9, 9]
    assert set(pauses[3:]) == {9}


def test_many_take_turns_and_none_is_forgotten() -> None:
    queue = RetryQueue()
    tried = Counter(queue.next(NAMES) for _ in range(100))
    assert set(NAMES) <= tried.keys()
    assert max(tried[name] for name in NAMES) <= 6, "each waits longer every time"


def test_what_was_stopped_while_others_waited_comes_first_and_once() -> None:
    queue = RetryQueue()
    for _ in range(len(NAMES)):
        queue.next(NAMES)
    queue.stopped("app-07")
    queue.stopped("app-03")
    queue.stopped("app-07")
    assert queue.pending
    assert [queue.next(NAMES), queue.next(NAMES)] == ["app-07", "app-03"]
    assert not queue.pending


def test_what_is_not_held_any_more_is_not_tried() -> None:
    queue = RetryQueue()
    queue.stopped("gone")
    assert queue.next(set()) is None
    assert not queue.pending
