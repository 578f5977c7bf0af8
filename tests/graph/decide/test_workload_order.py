"""Independent commands mean the same in whatever order a batch has them."""

from __future__ import annotations

from random import Random

import pytest

from at_work import working
from graph.decide.batch import decide_batch
from graph.model.change import Change
from graph.model.command import Batch, Command, Join, SaveSelector, UpdateCluster
from graph.model.errors import Rejected, TrellisError
from graph.model.inventory import Capacity
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    LiftProhibition,
    Prohibit,
    RemoveLayer,
    SetLayer,
    SetPolicy,
    Unassign,
)
from twin import Twin

CASES = {"test": 300, "campaign": 20_000}


class Teller:
    """Batches of commands of which none names what another makes or takes away."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    def batch(self) -> list[Command]:
        pick = self.chance.choice
        size = Capacity(pick((0, 100, 400)), pick((0, 200)))
        quota = Capacity(pick((700, 900, 2_000)), pick((600, 4_000)))
        label = pick(({}, {"team": "x"}))
        where = ("/geo/us", "@texas", "size = large", "cluster york-1", "namespace kitchen", "all")
        candidates: list[Command] = [
            DefineNamespace("shop", quota=quota, labels=label),
            DefineApplication("till", "shop", requests=size, labels=label),
            DefineApplication(
                "menu", "shop", requests=size, late_bound=pick(((), (LateBound("a", "{size}"),)))
            ),
            DefineNamespace("bar", labels=pick(({}, {"team": "x"}))),
            DefineApplication("fryer", "kitchen", requires=pick((None, "has lanes")), labels=label),
            SetPolicy("teams", pick((("shop",), ("kitchen", "shop"))), required_labels=("team",)),
            SetPolicy("large", selector=pick(where[:2]), quota_max=Capacity(800, 2_000)),
            pick((Assign("shop-us", Choice("shop"), pick(where)), Unassign("shop-us"))),
            Assign("more", Choice("shop", labels=label), pick(where)),
            pick((Prohibit("no-till", Choice("shop"), pick(where)), LiftProhibition("no-till"))),
            pick((SetLayer("menu-tx", pick(where), {"lanes": 1}, "menu"), RemoveLayer("menu-tx"))),
            SetLayer("till-new", pick(where), {"a": 1}, "till"),
            SetLayer("proxies", pick(where), {"proxy": {"a": 1}}),
            SaveSelector("own", pick(where)),
            Join("york-1", pick(("/geo/ca", "/geo/us/tx"))),
            UpdateCluster("austin-2", labels={"lanes": pick((1, 2))}),
        ]
        return self.chance.sample(candidates, self.chance.randint(2, 8))


Outcome = tuple[tuple[Change, ...], Twin] | tuple[type[TrellisError], frozenset[str]]


def outcome(fleet: Twin, commands: list[Command]) -> Outcome:
    draft = fleet.copy()
    try:
        return decide_batch(Batch(tuple(commands), "ana", "because"), fleet, draft), draft
    except Rejected as refusal:
        return type(refusal), frozenset(refusal.reasons)


@pytest.mark.volume
def test_the_order_of_independent_commands_does_not_matter(scale: str):
    fleet = working()
    allowed = refused = 0
    for seed in range(CASES[scale]):
        chance = Random(seed)
        commands = Teller(chance).batch()
        first = outcome(fleet, commands)
        allowed += isinstance(first[1], Twin)
        refused += not isinstance(first[1], Twin)
        for _ in range(3):
            chance.shuffle(commands)
            other = outcome(fleet, commands)
            assert other == first, f"seed {seed}: {commands}"
    assert allowed > CASES[scale] // 20, allowed
    assert refused > CASES[scale] // 20, refused
