"""The index against the facts: a workload or a reference that differs is found and named."""

from __future__ import annotations

from dataclasses import replace

from graph.index.builder import build
from graph.index.snapshot import Snapshot
from graph.model.change import ref_of
from graph.model.ref import Kind, Ref
from graph.model.values import Values
from graph.verify import verify_index
from small_workload import small_workload
from twin import START, Twin


def built(twin: Twin) -> Snapshot:
    return build(twin.entities(), cursor=START, numbers=twin.numbers)


def test_two_indexes_of_the_same_facts_do_not_differ() -> None:
    finding = verify_index(built(small_workload()), built(small_workload()))
    assert finding.difference == ""
    assert finding.compared > 40


def test_a_value_that_differs_is_found_though_python_finds_it_equal() -> None:
    one, other = small_workload(), small_workload()
    layer = other.workload.layers["wan"]
    other.put(ref_of(layer), replace(layer, values=Values.of({"a": True})))
    assert verify_index(built(one), built(other)).difference == "workload: layers"


def test_a_reference_that_was_lost_is_found() -> None:
    index = built(small_workload())
    pos = Ref(Kind.NAMESPACE, "pos")
    kept = {ref: names for ref, names in index.catalog.referrers.items() if ref != pos}
    index.catalog.referrers = kept
    found = verify_index(index, built(small_workload()))
    assert found.difference == "references: who names namespace:pos"
