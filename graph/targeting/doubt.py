"""Logic with a third answer: yes, no, and None where nobody can say."""

from __future__ import annotations

from collections.abc import Iterable


def all_hold(answers: Iterable[bool | None]) -> bool | None:
    """Whether every answer is yes; a single no is enough to deny it."""
    doubt = False
    for answer in answers:
        if answer is False:
            return False
        doubt = doubt or answer is None
    return None if doubt else True


def any_holds(answers: Iterable[bool | None]) -> bool | None:
    """Whether some answer is yes; one that is so is enough."""
    return opposite(all_hold(map(opposite, answers)))


def opposite(answer: bool | None) -> bool | None:
    """No for yes, yes for no, and doubt for doubt."""
    return None if answer is None else not answer
