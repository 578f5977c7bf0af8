"""Layers found from the clusters, against what the layers say they reach."""

from __future__ import annotations

from random import Random

from effective_checks import advanced, snapshot_of
from graph.effective.anchors import Anchors, is_anchored
from graph.effective.lens import Few
from graph.model.cluster_set import ClusterSet
from graph.model.names import Revision
from graph.model.workload import Layer
from graph.targeting.evaluate import evaluate
from twin import Twin
from workload_fleets import random_workload_changes, random_workloads


def test_a_cluster_finds_the_layers_that_reach_it() -> None:
    found_some = 0
    for seed in range(40):
        random = Random(seed)
        twin = Twin.of(random_workloads(random))
        view = snapshot_of(twin)
        anchors = Anchors.of(view.workload.layers.values())
        for step in range(6):
            numbers = view.everything().numbers()
            few = Few(ClusterSet.of(random.sample(numbers, min(len(numbers), 1 + step % 5))))
            found = {
                (application, name): bits
                for application, each in anchors.reaching(few, view).items()
                for name, bits in each
            }
            expected = {
                (layer.application, layer.name): bits
                for layer in view.workload.layers.values()
                if is_anchored(layer) and (bits := few.cut(evaluate(layer.selector, view)))
            }
            assert found == expected, f"seed {seed}, step {step}"
            found_some += len(found)
            changes = random_workload_changes(random, twin, Revision(step + 2), operations_max=6)
            twin.apply(changes)
            view = advanced(view, changes)
            anchors = anchors.after(changes)
            assert anchors == Anchors.of(view.workload.layers.values()), f"seed {seed}, {step}"
    assert found_some > 100


def test_a_layer_with_other_values_lies_where_it_did() -> None:
    twin = Twin.of(random_workloads(Random(0)))
    layers = list(snapshot_of(twin).workload.layers.values())
    assert layers and all(isinstance(each, Layer) for each in layers)
    anchors = Anchors.of(layers)
    assert anchors.after([]) is anchors
