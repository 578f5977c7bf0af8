"""Why a pointer is written, in few words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graph.effective.portion import Line as ToldLine
from graph.effective.portion import Overlay, Overlays, Pointers, Removals, RemovedLines
from graph.effective.portion import Pointer as Told
from graph.effective.rendition import Cause
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.workload import Application, Base, Namespace
from planned import STURDY, Branch
from renderer import paths
from renderer.message import Defined, Message
from renderer.plan.pointer import Line, Pointer
from renderer.plan.why import why_listed, why_written
from renderer.sandbox.parent import Sandbox

KEY, OTHER = "1f3a9c02d4b5e6f7", "2f3a9c02d4b5e6f7"


def pointer(**keys: str) -> Pointer:
    lines = {name: Line(f"apps/{name}/overlays/{key}") for name, key in keys.items()}
    return Pointer("york-1", "", {"shop": KEY}, lines)


def test_whose_lines_come_go_and_change_is_said() -> None:
    was, now = pointer(ads=KEY, kds=KEY, pos=KEY), pointer(kds=OTHER, menu=KEY, pos=KEY)
    assert why_written(was, now) == "menu comes; ads goes; kds changes"


def test_of_many_the_first_are_named_and_the_others_counted() -> None:
    now = pointer(**{f"app-{each}": KEY for each in range(70)})
    assert why_written(None, now) == "app-0, app-1, app-10 and 67 more come"


def test_what_is_no_line_is_said_too() -> None:
    was = pointer(pos=KEY)
    assert why_written(was, Pointer("york-1", KEY, was.namespaces, was.lines)) == (
        "it has other settings of the fleet"
    )
    assert why_written(was, Pointer("york-1", "", {"shop": OTHER}, was.lines)) == (
        "its namespaces change"
    )


def test_a_shard_is_written_for_one_of_its_hosts_and_more() -> None:
    assert why_listed({"till-2": "pos goes", "till-1": "pos comes"}) == (
        "till-1: pos comes; and 1 more host"
    )


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def told(kind: ClusterKind, name: str, *applications: str) -> Pointers:
    lines = tuple(ToldLine(each, "shop", KEY, {}) for each in applications)
    return Pointers((Told(name, kind, Reconciler.FLUX, None, (), lines),))


def test_a_plan_says_for_which_applications_each_pointer_is_written_or_goes(
    sandbox: Sandbox,
) -> None:
    branch = Branch(sandbox)
    branch.own({"apps/till/role/tasks/main.yaml": b"[]\n"})
    applications = (
        Application("menu", "shop", source=STURDY),
        Application("pos", "shop", source=STURDY),
        Application("till", "shop", source=Base("role"), reconcilers=(Reconciler.ANSIBLE,)),
    )
    overlays = Overlays(
        tuple(Overlay(each.name, KEY, (), {}, "digest", 1) for each in applications)
    )

    def say(*messages: Message) -> dict[str, str]:
        return branch.publish([[overlays, *messages]], fresh=False).why

    branch.publish([[Defined(applications, (Namespace("shop"),))]], fresh=True)
    file = f"{paths.pointer('york-1')}/{paths.KUSTOMIZATION}"
    assert say(told(ClusterKind.KUBERNETES, "york-1", "pos"))[file] == "pos comes"
    assert say(told(ClusterKind.KUBERNETES, "york-1", "menu"))[file] == "menu comes"
    say(told(ClusterKind.KUBERNETES, "york-2", "menu", "pos"))  # the last one would be held
    gone = tuple(RemovedLines(each, Cause.RETIRED, ("york-1",)) for each in ("menu", "pos"))
    assert say(Removals(("york-1",), gone))[paths.pointer("york-1")] == (
        "york-1 is gone; menu, pos go with it"
    )
    shard = paths.inventory("bar-1")
    assert say(told(ClusterKind.HOST, "bar-1", "till"))[shard] == "bar-1: till comes"
