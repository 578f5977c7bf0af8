"""Lines that go and lines that stay, told by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graph.composition.problem import Reason
from graph.effective.portion import (
    Blocked,
    Held,
    Line,
    Overlay,
    Overlays,
    Pointer,
    Pointers,
    Removals,
    RemovedLines,
)
from graph.effective.rendition import Cause
from graph.effective.trouble import Trouble
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.workload import Application, Namespace
from planned import Branch, read_lines
from renderer.message import Defined, Message
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox

KEY = "1f3a9c02d4b5e6f7"
STORES = ("york-1", "york-2", "york-3")
POS = Application("pos", "shop")
ANXIOUS = WaveBounds(clusters_max=1, percent_max=1.0)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture
def branch(sandbox: Sandbox) -> Branch:
    """Three stores that run one application, and a worker that holds every loss."""
    made = Branch(sandbox, bounds=ANXIOUS)
    overlay = Overlay("pos", KEY, (), {}, "digest", len(STORES))
    defined = Defined((POS,), (Namespace("shop"),))
    made.publish([[defined, Overlays((overlay,)), pointers(*STORES)]], fresh=True)
    return made


def pointers(*names: str, lines: bool = True) -> Pointers:
    told = (Line("pos", "shop", KEY, {}),) if lines else ()
    kind, reconciler = ClusterKind.KUBERNETES, Reconciler.FLUX
    return Pointers(tuple(Pointer(name, kind, reconciler, None, (), told) for name in names))


def gone(cause: Cause, *names: str) -> RemovedLines:
    return RemovedLines("pos", cause, names)


def say(branch: Branch, *messages: Message, loss: int = 0) -> set[str]:
    """Say it; the stores that have a line then."""
    branch.publish([list(messages)], fresh=False, loss=loss)
    return stores(branch)


def stores(branch: Branch) -> set[str]:
    return {cluster for _, cluster in read_lines(branch.files)}


def test_a_wave_stays_until_it_is_confirmed(branch: Branch) -> None:
    assert say(branch, Removals(lines=(gone(Cause.UNASSIGNED, *STORES),))) == {*STORES}
    branch.confirm("pos")
    assert stores(branch) == set()


def test_a_loss_that_was_agreed_to_is_no_wave(branch: Branch) -> None:
    assert say(branch, Removals(lines=(gone(Cause.UNASSIGNED, *STORES),)), loss=3) == set()


def test_what_is_prohibited_goes_out_of_a_wave(branch: Branch) -> None:
    say(branch, Removals(lines=(gone(Cause.UNASSIGNED, *STORES),)))
    left = say(branch, Removals(lines=(gone(Cause.PROHIBITED, "york-1"),)))
    assert left == {"york-2", "york-3"}


def test_a_name_said_twice_is_prohibited_if_it_was_said_to_be(branch: Branch) -> None:
    removals = gone(Cause.PROHIBITED, *STORES), gone(Cause.RETIRED, *STORES)
    assert say(branch, Removals(STORES, removals), pointers(*STORES, lines=False)) == set()


def test_a_prohibition_uses_up_what_was_agreed_to(branch: Branch) -> None:
    removals = gone(Cause.PROHIBITED, "york-1"), gone(Cause.UNASSIGNED, "york-2", "york-3")
    assert say(branch, Removals(lines=removals), loss=2) == {"york-2", "york-3"}


def test_a_line_that_is_wanted_again_and_blocked_does_not_go_with_its_wave(branch: Branch) -> None:
    say(branch, Removals(lines=(gone(Cause.UNASSIGNED, *STORES),)))
    trouble = Trouble(Reason.CAPACITY, "more is asked of the cluster than it has")
    assert say(branch, Blocked((Held("pos", (trouble,), STORES[:2]),))) == {*STORES}
    branch.confirm("pos")
    assert stores(branch) == {*STORES[:2]}


def test_a_cluster_that_has_the_name_of_a_held_one_keeps_its_lines(branch: Branch) -> None:
    say(branch, Removals(STORES, (gone(Cause.RETIRED, *STORES),)))
    assert say(branch, pointers("york-1")) == {*STORES}
    branch.confirm("pos")
    assert stores(branch) == {"york-1"}
    assert [path for path in branch.files if "york-2" in path] == []
