"""Objects without names that are hidden: never wider than they were."""

from __future__ import annotations

from random import Random

from changes import random_fleet
from graph.model.ref import Kind, Ref
from graph.model.referring import named_in
from graph.model.selector import Everything
from graph.model.workload import Assignment, Choice, Policy
from graph.targeting.trim import OfWorkload, dispensable, without


def test_what_is_left_names_nothing_hidden_and_all_else_as_before() -> None:
    trimmed = 0
    for seed in range(150):
        rng = Random(seed)
        for entity in random_fleet(rng):
            if not isinstance(entity, OfWorkload):
                continue
            named = dispensable(entity)
            assert named <= named_in(entity)
            hidden = {ref for ref in named if rng.random() < 0.5}
            left = without(entity, hidden)
            if left is not None:
                assert dispensable(left) == named - hidden
                assert without(entity, set[Ref]()) == entity
                trimmed += left != entity
    assert trimmed > 50


def test_what_would_be_about_everything_without_a_name_is_gone() -> None:
    till = Ref(Kind.APPLICATION, "till")
    spread = Assignment("spread", Choice("pos", ("till",)), Everything())
    assert without(spread, {till}) is None
    assert without(Policy("quota", ("pos",)), {Ref(Kind.NAMESPACE, "pos")}) is None
