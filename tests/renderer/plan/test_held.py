"""What is held, told to people and found again by cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from graph.effective.portion import Line, Overlay, Overlays, Pointer, Pointers
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.workload import Application, Namespace
from memory_publisher import MemoryPublisher
from planned import FRAGILE, Branch
from renderer.message import Defined
from renderer.paths import HELD
from renderer.plan.held import Held, Waiting
from renderer.plan.sheet import Sheet
from renderer.sandbox.parent import Sandbox

KEY, OTHER = "1f3a9c02d4b5e6f7", "2f3a9c02d4b5e6f7"
STORES = ("york-1", "york-2", "york-3")
WISH = Waiting(KEY, "flux", (), {})


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def overlay(key: str, values: dict[str, Any]) -> Overlays:
    return Overlays((Overlay("pos", key, (), values, "digest", len(STORES)),))


def pointers(key: str, *names: str) -> Pointers:
    kind, reconciler, lines = (
        ClusterKind.KUBERNETES,
        Reconciler.FLUX,
        (Line("pos", "shop", key, {}),),
    )
    return Pointers(tuple(Pointer(name, kind, reconciler, None, (), lines) for name in names))


def test_a_failure_counts_the_clusters_that_run_its_last_good_files_and_those_that_wait(
    sandbox: Sandbox,
) -> None:
    branch = Branch(sandbox)
    defined = Defined((Application("pos", "shop", source=FRAGILE),), (Namespace("shop"),))
    branch.publish([[defined, overlay(KEY, {"a": 1}), pointers(KEY, *STORES)]], fresh=True)
    outcome = branch.publish([[overlay(KEY, {})]], fresh=False)
    assert [(row["overlay"], row["clusters"]) for row in rows(branch)] == [(KEY, 3)]
    assert [each.clusters for each in outcome.held] == [3]
    branch.publish([[overlay(OTHER, {}), pointers(OTHER, "york-1")]], fresh=False)
    assert [(row["overlay"], row["clusters"]) for row in rows(branch)] == [(KEY, 3), (OTHER, 1)]


def rows(branch: Branch) -> list[dict[str, Any]]:
    return orjson.loads(branch.files[HELD])["held"]


class Watched(dict[str, Waiting]):
    """Says how often it was looked into."""

    looks = 0

    def get(self, *args: Any) -> Any:
        self.looks += 1
        return super().get(*args)


def test_only_what_waits_for_a_cluster_is_looked_at_when_that_is_told_of() -> None:
    """However many applications are held: sixty thousand pointers may be told at once."""
    publisher = MemoryPublisher()
    head = publisher.head()
    held = Held(Sheet(head.tree, publisher.begin(head)))
    held.wait("menu", "york-1", WISH)
    held.wait("pos", "york-2", WISH)
    others = held.of("pos").waiting = Watched(held.of("pos").waiting)
    held.move("york-1", "argocd", ("registries",))
    assert held.of("menu").waiting["york-1"] == Waiting(KEY, "argocd", ("registries",), {})
    assert others.looks == 0
