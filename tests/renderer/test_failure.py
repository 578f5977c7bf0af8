from __future__ import annotations

import pytest

from graph.model.errors import Invalid, Rejected, TrellisError, Unavailable
from renderer.failure import Failure, Unrenderable, failure_of


def test_what_cannot_be_rendered_is_held_as_it_was_told() -> None:
    told = Failure("gone", "push it", "a.yaml", 3)
    assert failure_of(Unrenderable(told)) is told


@pytest.mark.parametrize("kind", [Invalid, Rejected])
def test_what_can_never_succeed_is_held_with_its_hint(kind: type[TrellisError]) -> None:
    assert failure_of(kind("wrong", hint="do right")) == Failure("wrong", "do right")


def test_what_may_succeed_later_is_nobody_s_fault_and_not_held() -> None:
    error = Unavailable("not now")
    with pytest.raises(Unavailable) as raised:
        failure_of(error)
    assert raised.value is error
