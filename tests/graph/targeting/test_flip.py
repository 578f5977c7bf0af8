"""What an explanation proposes, a batch may do: nothing it says is refused afterwards."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from changes import random_fleet, random_selector
from graph.decide.batch import decide_batch
from graph.index.builder import build, edit
from graph.model.change import Cursor, Entity, Numbers
from graph.model.command import Batch, Command, Join, Leave, UpdateCluster
from graph.model.inventory import Cluster, Hierarchy, LabelKey
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.targeting.evaluate import evaluate
from graph.targeting.explain import explain
from graph.targeting.step import JoinGroup, LeaveGroup, RemoveLabel, SetLabel, Step
from twin import Twin, twin_select


def strict(entity: Entity, rng: Random, fleet: list[Entity]) -> Entity:
    """Some hierarchies required, and some keys with only a few of the values in use allowed."""
    if isinstance(entity, Hierarchy):
        return replace(entity, required=rng.random() < 0.7)
    if isinstance(entity, LabelKey) and rng.random() < 0.7:
        clusters = [each for each in fleet if isinstance(each, Cluster)]
        used = {each.labels[entity.name] for each in clusters if entity.name in each.labels}
        return replace(entity, allowed=tuple(sorted(used, key=str)[:2]))
    return entity


def command(step: Step, cluster: str) -> Command:
    match step:
        case JoinGroup(_, path):
            return Join(cluster, path)
        case LeaveGroup(_, path):
            return Leave(cluster, path)
        case SetLabel(key, value):
            return UpdateCluster(cluster, labels={key: value})
        case RemoveLabel(key):
            return UpdateCluster(cluster, labels={key: None})


@pytest.mark.parametrize("seed", range(24))
def test_what_is_proposed_is_accepted_and_flips_the_answer(seed: int) -> None:
    rng = Random(seed)
    fleet = random_fleet(rng, clusters=8)
    entities = [strict(each, rng, fleet) for each in fleet]
    twin = Twin.of(entities)
    groups = len(fleet)
    numbers = Numbers(ClusterNumber(groups), GroupNumber(groups))
    base = build(entities, cursor=Cursor(Revision(1), "0" * 16), numbers=numbers)
    for _ in range(8):
        selector = random_selector(rng, twin, depth=2)
        chosen = twin_select(selector, twin)
        for cluster in twin.clusters():
            proposed = explain(selector, cluster.number, base).nearest
            if proposed is None:
                continue
            draft = edit(base)
            commands = tuple(command(step, cluster.name) for step in proposed)
            decide_batch(Batch(commands, "ana", "try it"), base, draft)
            after = draft.freeze(Cursor(Revision(2), "0" * 16))
            flipped = cluster.number in evaluate(selector, after)
            assert flipped is not (cluster.number in chosen)
