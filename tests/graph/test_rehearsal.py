"""A draft under a scope: what its author made stays in sight, what is hidden is in the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.change import Change
from graph.model.errors import Denied
from graph.model.workload import Application, Assignment, Choice, Namespace
from graph.rehearsal import Rehearsal
from graph.scoped import ScopedView
from graph.targeting.parser import parse
from small_workload import small_workload


@pytest.fixture
def rehearsal() -> Rehearsal:
    twin = small_workload()
    return Rehearsal(ScopedView(twin, parse("/geo/us/tx", twin)), twin.copy())


def test_what_a_batch_made_is_there_before_it_reaches_anything(rehearsal: Rehearsal) -> None:
    signage, screen = Namespace("signage"), Application("screen", "signage", depends_on=("till",))
    rehearsal.apply([Change(None, signage)])
    rehearsal.apply([Change(None, screen)])
    assert rehearsal.workload.namespaces["signage"] == signage
    assert rehearsal.workload.applications["screen"] == screen
    spread = Assignment("spread", Choice("signage"), parse("/geo/us/ny", rehearsal.base))
    rehearsal.apply([Change(None, spread)])
    assert rehearsal.workload.assignments["spread"] == spread
    rehearsal.apply([Change(spread, None)])
    assert "spread" not in rehearsal.workload.assignments


def test_what_was_in_sight_stays_there_until_the_batch_is_decided(rehearsal: Rehearsal) -> None:
    tills = rehearsal.workload.assignments["tills"]
    away = replace(tills, selector=parse("/geo/us/ny", rehearsal.base))
    rehearsal.apply([Change(tills, away)])
    assert rehearsal.workload.assignments["tills"] == away
    assert "till" in rehearsal.workload.applications


def test_a_name_that_is_taken_where_its_author_cannot_see_ends_the_rehearsal(
    rehearsal: Rehearsal,
) -> None:
    assert "kitchen" not in rehearsal.workload.namespaces
    with pytest.raises(Denied, match="outside your scope"):
        rehearsal.apply([Change(None, Namespace("kitchen"))])
