"""What of the workload is there under a scope and a coverage, on a fleet to hold in the head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import pytest

from graph.model.access import Coverage
from graph.model.change import Change, ref_of
from graph.model.inventory import SavedSelector
from graph.model.ref import Kind, Ref
from graph.model.selector import InNamespace, Not
from graph.model.workload import Assignment, Choice, Policy, Workload
from graph.scoped import ScopedView, readable
from graph.targeting.evaluate import evaluate
from graph.targeting.parser import parse
from graph.targeting.sight import CoveredBesides
from small_workload import small_workload


@dataclass(frozen=True, slots=True)
class Case:
    """A scope, a coverage, and the names of the workload that are there."""

    scope: str
    names: str
    covered: Coverage | None = None


def cover(namespaces: str = "", applications: str = "") -> Coverage:
    return Coverage(frozenset(namespaces.split()), frozenset(applications.split()))


def beside(wholly: str, namespaces: str = "", applications: str = "") -> Coverage:
    part = cover(namespaces, applications)
    through = parse(wholly, small_workload())
    return CoveredBesides(part.namespaces, part.applications, wholly=through)


CASES = [
    Case("all", "agent agents edge law loose menu menu-all menus platform pos quota till till-tx"
         " tills wan"),
    Case("/geo/us/tx", "agent agents law loose platform pos quota till till-tx tills wan"),
    Case("/geo/us/ny", "agent agents edge menu menu-all menus platform pos quota wan"),
    Case("/geo/ca", ""),
    Case("/geo/us", "law loose menu menu-all menus edge pos quota till till-tx tills",
         cover("pos")),
    Case("/geo/us/tx", "edge law loose menu menu-all pos quota till till-tx tills", cover("pos")),
    Case("/geo/us", "law loose pos quota till till-tx tills", cover(applications="till")),
    Case("/geo/us", "camera edge kitchen law loose quota", cover("kitchen")),
    Case("/geo/us", "loose", cover("nobody", "nothing")),
    Case("/geo/ca", "kitchen camera quota", cover("kitchen")),
    Case("/geo/us", "agent agents law loose platform pos quota till till-tx tills wan",
         beside("/geo/us/tx", applications="nothing")),
    Case("/geo/us", "agent agents camera edge kitchen law loose menu menu-all menus platform pos"
         " quota wan", beside("/geo/us/ny", "kitchen")),
    Case("/geo/us", "camera edge kitchen law loose quota", beside("/geo/ca", "kitchen")),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.scope} {case.covered}")
def test_of_the_workload_is_there_what_reaches_a_visible_cluster_and_is_covered(case: Case) -> None:
    twin = small_workload()
    view = ScopedView(twin, parse(case.scope, twin), covered=case.covered)
    assert sorted(names(view.workload)) == sorted(case.names.split())


def names(workload: Workload) -> Iterator[str]:
    for table in fields(Workload):
        yield from getattr(workload, table.name)


def test_what_is_there_names_nothing_that_is_not() -> None:
    twin = small_workload()
    york = ScopedView(twin, parse("/geo/us/ny", twin))
    assert york.workload.policies["quota"] == Policy("quota", ("pos",))
    texas = ScopedView(twin, parse("size = small", twin))
    till, whole = texas.workload.applications["till"], twin.workload.applications["till"]
    host, size = whole.late_bound
    assert till == replace(whole, late_bound=(replace(host, source=""), size))
    law = texas.workload.prohibitions["law"]
    assert law.choice.applications == ("till",)
    assert texas.referrers(Ref(Kind.APPLICATION, "till")) == {
        Ref(Kind.ASSIGNMENT, "tills"),
        Ref(Kind.PROHIBITION, "law"),
        Ref(Kind.LAYER, "till-tx"),
    }
    assert texas.referrers(Ref(Kind.APPLICATION, "camera")) == frozenset()
    both = Assignment("both", Choice("pos", ("menu", "till")), parse("/geo/us/tx", twin))
    twin.put(ref_of(both), both)
    covered = ScopedView(twin, parse("all", twin), covered=cover(applications="till"))
    assert covered.workload.applications["till"].depends_on == ()
    assert covered.workload.assignments["both"].choice.applications == ("till",)


def test_a_namespace_that_is_not_covered_chooses_nothing_under_any_name() -> None:
    twin = small_workload()
    stores = [
        SavedSelector("agents", InNamespace("platform")),
        SavedSelector("others", Not(InNamespace("platform"))),
        SavedSelector("tills", InNamespace("pos")),
    ]
    twin.apply([Change(None, each) for each in stores])
    scope = parse("/geo/us/tx", twin)
    whole, part = ScopedView(twin, scope), ScopedView(twin, scope, covered=cover("pos"))
    assert [each.name for each in whole.saved_selectors()] == ["agents", "texas", "tills"]
    assert [each.name for each in part.saved_selectors()] == ["others", "texas", "tills"]
    assert evaluate(InNamespace("platform"), whole) == whole.everything()
    assert not evaluate(InNamespace("platform"), part)
    assert evaluate(InNamespace("pos"), part) == part.everything()
    assert readable(InNamespace("platform"), whole) and not readable(InNamespace("platform"), part)


def test_nothing_is_looked_at_before_it_is_asked_for() -> None:
    twin = small_workload()
    asked: list[object] = []

    class Watched(ScopedView):
        def _chooses_visible(self, selector: object) -> bool:
            asked.append(selector)
            return True

    view = Watched(twin, parse("/geo/us/tx", twin))
    assert view.workload.namespaces.get("nobody") is None
    assert not asked
    assert ref_of(view.workload.layers["wan"]) == Ref(Kind.LAYER, "wan")
    assert "wan" in view.workload.layers
    assert len(asked) == 1
