"""Hostile text costs no more than honest text of its length: refusing takes linear time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from graph.model.errors import TrellisError
from graph.targeting.parser import parse
from twin import Twin

LENGTH = 65_000
RATIO_MAX = 10
"""Refusals take less than honest text does; what grows with the square takes a thousand times."""

HOSTILE: dict[str, Callable[[int], str]] = {
    "a word, a comparison, no value": lambda n: "a" * (n - 4) + " = !",
    "a word": lambda n: "a" * n,
    "words": lambda n: "a " * (n // 2),
    "a word and a slash": lambda n: "a" * (n - 2) + "/b",
    "words and slashes": lambda n: "a/" * (n // 2),
    "spaces after a key": lambda n: "size" + " " * (n - 5) + "!",
    "spaces": lambda n: " " * (n - 1) + "!",
    "escaped quotes": lambda n: '"' + '\\"' * (n // 2 - 1),
    "escaped quotes as a value": lambda n: 'size = "' + '\\"' * (n // 2 - 5),
    "backslashes": lambda n: '"' + "\\" * (n - 1),
    "quotes": lambda n: '"' * n,
    "quotes, spaces": lambda n: '" ' * (n // 2),
    "slashes": lambda n: "/" * n,
    "a deep path": lambda n: "/geo" + "/us" * (n // 3 - 2),
    "a long segment": lambda n: "/geo/" + "x" * (n - 5),
    "wildcards": lambda n: "/geo" + "/*" * (n // 2 - 2),
    "comparisons": lambda n: "size " + "=" * (n - 5),
    "signs": lambda n: "!" * n,
    "opening": lambda n: "(" * n,
    "pairs": lambda n: "()" * (n // 2),
    "nots": lambda n: "not " * (n // 4),
    "a long list": lambda n: "size in (" + "a," * (n // 2 - 5),
    "a list of quotes": lambda n: "size in (" + '"a",' * (n // 4 - 4) + '"a',
    "lines": lambda n: "\n" * (n - 1) + "!",
    "a cluster": lambda n: "cluster " + "a" * (n - 8),
    "a number": lambda n: "lanes = " + "1" * (n - 8),
    "half a path": lambda n: "/c/" + "a/" * (n // 2 - 2),
}


def cost(text: str, twin: Twin) -> float:
    """Processor seconds, the least of three: others share this machine."""
    spent: list[float] = []
    for _ in range(3):
        started = time.process_time()
        with pytest.raises(TrellisError):
            parse(text, twin)
        spent.append(time.process_time() - started)
    return min(spent)


def test_refusing_hostile_text_costs_no_more_than_reading_honest_text(twin: Twin) -> None:
    honest = cost(" or ".join(["size = large"] * (LENGTH // 16)), twin)
    costs = {shape: cost(make(LENGTH), twin) / honest for shape, make in HOSTILE.items()}
    assert {shape: ratio for shape, ratio in costs.items() if ratio > RATIO_MAX} == {}


@pytest.mark.parametrize("shape", HOSTILE)
def test_a_refusal_of_long_text_is_short(shape: str, twin: Twin) -> None:
    text = HOSTILE[shape](LENGTH)
    assert LENGTH - 16 <= len(text) <= LENGTH
    with pytest.raises(TrellisError) as refusal:
        parse(text, twin)
    assert len(str(refusal.value)) < 1_000
