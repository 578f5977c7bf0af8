"""Lines that stay while their cluster changes to a reconciler that cannot be told of them yet."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
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
from graph.model.workload import Application, LateBound, Namespace
from planned import STURDY, Branch
from renderer.message import Defined, Message
from renderer.paths import HELD
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings

KEY, OTHER = "1f3a9c02d4b5e6f7", "2f3a9c02d4b5e6f7"
STORES = ("york-1", "york-2", "york-3")
NAMES = ("menu", "pos")
READABLE = {
    "formats/mine/format.yaml": b"{}\n",
    "formats/mine/it.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\n",
}
BROKEN = {"formats/mine/format.yaml": b"nonsense: {}\n"}
BLOCKED = Blocked((Held("pos", (Trouble(Reason.CAPACITY, "too much"),), STORES),))
UNASSIGNED = Removals(lines=(RemovedLines("pos", Cause.UNASSIGNED, STORES),))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture
def branch(sandbox: Sandbox) -> Branch:
    """Three stores on Flux, two applications, and a format of plain kustomize that is broken."""
    settings = FormatSettings(own_formats="kustomize=formats/mine")
    bounds = WaveBounds(clusters_max=1, percent_max=1.0)
    made = Branch(sandbox, bounds=bounds, settings=settings)
    made.own(BROKEN)
    late = LateBound("store")
    applications = tuple(
        Application(name, "shop", source=STURDY, late_bound=(late,)) for name in NAMES
    )
    overlays = Overlays(tuple(overlay(name, KEY) for name in NAMES))
    made.publish(
        [[Defined(applications, (Namespace("shop"),)), overlays, told(Reconciler.FLUX, *NAMES)]],
        fresh=True,
    )
    assert lines(made) == dict.fromkeys(NAMES, f"sync/flux/{KEY}")
    return made


def overlay(name: str, key: str) -> Overlay:
    return Overlay(name, key, (), {}, "digest", len(STORES))


def told(
    reconciler: Reconciler, *names: str, key: str = KEY, kind: ClusterKind = ClusterKind.KUBERNETES
) -> Pointers:
    """Every store on a reconciler, with lines of some applications."""
    given = tuple(Line(name, "shop", key, {"store": "00042"}) for name in names)
    return Pointers(tuple(Pointer(each, kind, reconciler, None, (), given) for each in STORES))


def say(branch: Branch, *messages: Message) -> dict[str, str]:
    branch.publish([list(messages)], fresh=False)
    return lines(branch)


def lines(branch: Branch) -> dict[str, str]:
    """Where lines lead, by application; the same at every store."""
    found: dict[str, set[str]] = {}
    for path, content in branch.files.items():
        if path.startswith("clusters/"):
            for line in content.decode().splitlines():
                if line.startswith("- ../../../apps/"):
                    _, name, leads_to = line.removeprefix("- ../../../").split("/", 2)
                    found.setdefault(name, set()).add(leads_to)
    assert all(len(each) == 1 for each in found.values()), found
    return {name: each.pop() for name, each in found.items()}


def held(branch: Branch, name: str) -> dict[str, object]:
    found = branch.files.get(f".trellis/held/apps/{name}.json", b"{}")
    return {what: each for what, each in orjson.loads(found).items() if each}


def test_a_blocked_line_stays_and_comes_in_its_own_words_when_their_format_is_mended(
    branch: Branch,
) -> None:
    say(branch, BLOCKED)
    assert say(branch, told(Reconciler.KUSTOMIZE, "menu")) == dict.fromkeys(
        NAMES, f"sync/flux/{KEY}"
    )
    branch.own(READABLE)
    branch.retry()
    assert lines(branch) == dict.fromkeys(NAMES, f"sync/kustomize/{KEY}")
    assert held(branch, "pos").keys() == {"blocked"}
    assert held(branch, "menu") == {}
    assert [path for path in branch.files if "/sync/flux/" in path] == []


def test_a_line_of_a_wave_stays_in_the_words_it_had_until_it_is_confirmed(branch: Branch) -> None:
    say(branch, UNASSIGNED)
    assert say(branch, told(Reconciler.KUSTOMIZE, "menu"))["pos"] == f"sync/flux/{KEY}"
    branch.confirm("pos")
    assert lines(branch).keys() == {"menu"}
    branch.own(READABLE)
    branch.retry()
    assert lines(branch) == {"menu": f"sync/kustomize/{KEY}"}


def test_a_wave_that_begins_as_the_reconciler_changes_is_held_too(branch: Branch) -> None:
    found = say(branch, UNASSIGNED, told(Reconciler.KUSTOMIZE, "menu"))
    assert found == dict.fromkeys(NAMES, f"sync/flux/{KEY}")
    assert held(branch, "pos").keys() == {"wave", "failed", "foreign"}


def test_a_line_that_stays_so_is_told_of_with_the_format_it_waits_for(branch: Branch) -> None:
    say(branch, BLOCKED)
    say(branch, told(Reconciler.KUSTOMIZE, "menu"))
    rows = orjson.loads(branch.files[HELD])["held"]
    assert rows[0]["application"] == "", "the format is told of once, whoever wants it"
    failed = [row for row in rows[1:] if row["reason"] == "failed"]
    assert [(row["application"], row["overlay"], row["clusters"]) for row in failed] == [
        ("menu", f"kustomize/{KEY}", len(STORES)),
        ("pos", f"kustomize/{KEY}", len(STORES)),
    ]


def test_a_format_that_is_tried_again_in_vain_is_held_since_it_first_was(branch: Branch) -> None:
    say(branch, told(Reconciler.KUSTOMIZE, *NAMES))
    say(branch)
    before = dict(branch.files)
    branch.retry()
    assert branch.files == before


def test_what_is_prohibited_goes_in_whatever_words(branch: Branch) -> None:
    say(branch, BLOCKED)
    say(branch, told(Reconciler.KUSTOMIZE, "menu"))
    gone = RemovedLines("pos", Cause.PROHIBITED, STORES)
    assert say(branch, Removals(lines=(gone,))).keys() == {"menu"}
    assert held(branch, "pos") == {}


def test_a_line_that_waited_and_is_blocked_now_comes_as_it_was(branch: Branch) -> None:
    """It is the line that stays: not the overlay it waited for, which is wanted no more."""
    say(branch, Overlays((overlay("pos", OTHER),)), told(Reconciler.KUSTOMIZE, "pos", key=OTHER))
    assert say(branch, BLOCKED)["pos"] == f"sync/flux/{KEY}"
    branch.own(READABLE)
    branch.retry()
    assert lines(branch)["pos"] == f"sync/kustomize/{KEY}"


def test_a_cluster_that_goes_back_has_its_lines_in_the_words_they_are_in(branch: Branch) -> None:
    say(branch, BLOCKED)
    before = dict(branch.files)
    say(branch, told(Reconciler.KUSTOMIZE, "menu"))
    say(branch, told(Reconciler.FLUX, "menu"))
    assert branch.files == before


def test_what_a_broken_format_told_already_does_not_wait_for_it(branch: Branch) -> None:
    branch.own(READABLE)
    say(branch, told(Reconciler.KUSTOMIZE, *NAMES))
    branch.own(BROKEN)
    found = say(branch, told(Reconciler.KUSTOMIZE, *NAMES))
    assert found == dict.fromkeys(NAMES, f"sync/kustomize/{KEY}")
    assert held(branch, "pos").keys() == {"failed"}


def test_a_line_of_what_is_no_role_does_not_follow_its_cluster_into_an_inventory(
    branch: Branch,
) -> None:
    say(branch, UNASSIGNED)
    say(branch, told(Reconciler.ANSIBLE, kind=ClusterKind.HOST))
    assert lines(branch) == {}
    assert held(branch, "pos") == {}
