"""Layers by what they lie on, against what they say."""

from __future__ import annotations

from random import Random

from effective_checks import advanced, snapshot_of
from graph.effective.anchors import Anchors
from graph.model.names import Revision
from graph.model.selector import Everything, Under
from graph.model.workload import Layer
from twin import Twin
from workload_fleets import random_workload_changes, random_workloads


def test_layers_lie_on_their_groups_while_the_workload_changes() -> None:
    found_some = 0
    for seed in range(40):
        random = Random(seed)
        twin = Twin.of(random_workloads(random))
        view = snapshot_of(twin)
        anchors = Anchors.of(view.workload.layers.values())
        for step in range(6):
            layers = view.workload.layers.values()
            found = {name: group for group, each in anchors.groups.items() for _, name in each}
            assert found == {
                layer.name: layer.selector.group
                for layer in layers
                if isinstance(layer.selector, Under)
            }
            assert anchors.free == {
                layer.name for layer in layers if not isinstance(layer.selector, Under | Everything)
            }
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
