"""The guards of what runs, through the engine: what is refused, what is shown, what goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engines import give, ticking
from graph.decide.revert import Everything
from graph.engine import Engine
from graph.model.command import (
    LOSS_MAX,
    Batch,
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    Join,
    MoveGroup,
    RegisterCluster,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
)
from graph.model.errors import Rejected
from graph.model.inventory import Capacity, LabelType, Mode
from graph.model.names import Revision
from graph.model.workload import Choice, Enforcement, LateBound
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    LiftProhibition,
    OrderHierarchies,
    Prohibit,
    SetLayer,
    SetPolicy,
    Unassign,
)
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore

STORES = 100
FLEET: tuple[Command, ...] = (
    CreateHierarchy("geo", Mode.SINGLE),
    CreateGroup("/geo/us"),
    CreateGroup("/geo/us/tx"),
    CreateGroup("/geo/us/ny"),
    CreateGroup("/geo/ca"),
    DeclareLabel("store", LabelType.TEXT),
    DeclareLabel("gpu", LabelType.BOOLEAN),
    *(
        RegisterCluster(
            f"s{number:03}",
            labels={"store": f"{number:05}", "gpu": number % 2 == 0},
            groups=(("/geo/us/tx",) if number < 60 else ("/geo/us/ny",)),
            capacity=Capacity(1_000, 1_000),
        )
        for number in range(STORES)
    ),
    DefineNamespace("kitchen"),
    DefineApplication("grill", "kitchen", values={"replicas": 1}),
    DefineApplication("fryer", "kitchen"),
)
KITCHEN = Choice("kitchen", ("grill",))


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, now=ticking(), settings=GraphSettings(configurations_max=10))
    await give(engine, *FLEET)
    yield engine
    await engine.close()


def effective(engine: Engine, application: str) -> int:
    return len(engine.state().placements[application].effective)


async def refused(engine: Engine, *commands: Command, loss: int | None = None) -> Rejected:
    """The refusal of a batch, which leaves everything as it was."""
    before = engine.view.cursor
    with pytest.raises(Rejected) as refusal:
        await give(engine, *commands, loss=loss)
    assert engine.view.cursor == before
    preview = await engine.preview(Batch(commands, "ana", "because", expected_loss=loss))
    assert [str(each) for each in preview.refusals][:1] == [str(refusal.value)]
    return refusal.value


async def test_an_assignment_narrowed_by_much_states_its_loss(engine: Engine) -> None:
    await give(engine, Assign("grill-us", KITCHEN, "/geo/us"))
    assert effective(engine, "grill") == STORES
    narrowed = Assign("grill-us", KITCHEN, "/geo/us/tx")
    refusal = await refused(engine, narrowed)
    assert "state expectedLoss 40 to go on, which needs the role operator" in refusal.hint
    assert (
        "loses more than 25 clusters and more than 5 % of its own, or its last" in refusal.message
    )
    assert refusal.loss == 40
    assert refusal.reasons == ("grill loses 40 of 100 clusters (40.0 %)",)
    assert (
        "40 workloads away; 39 were expected" in (await refused(engine, narrowed, loss=39)).message
    )
    receipt = await give(engine, narrowed, loss=40)
    changeset = await engine.changeset(receipt.revision)
    assert (changeset.accepted_loss, effective(engine, "grill")) == (40, 60)


async def test_a_small_loss_goes_without_saying_but_not_against_what_was_said(
    engine: Engine,
) -> None:
    await give(engine, Assign("grill-us", KITCHEN, "/geo/us"))
    out = [RetireCluster(f"s{number:03}") for number in range(20)]
    await refused(engine, *out, loss=19)
    await give(engine, *out)
    assert effective(engine, "grill") == STORES - 20


async def test_the_last_cluster_never_goes_unsaid(engine: Engine) -> None:
    await give(engine, Assign("grill-one", KITCHEN, "cluster s001"))
    refusal = await refused(engine, Unassign("grill-one"))
    assert refusal.reasons == ("grill loses 1 of 1 cluster (100.0 %)",)
    await give(engine, Unassign("grill-one"), loss=1)
    assert effective(engine, "grill") == 0


async def test_moves_and_relabels_and_saved_selectors_take_workloads_away_too(
    engine: Engine,
) -> None:
    await give(
        engine,
        SaveSelector("northern", "/geo/us/ny"),
        Assign("grill-ny", KITCHEN, "@northern"),
        DefineApplication("vision", "kitchen", requires="gpu = true"),
        Assign("vision-tx", Choice("kitchen", ("vision",)), "/geo/us/tx"),
    )
    assert (effective(engine, "grill"), effective(engine, "vision")) == (40, 30)
    moved = await refused(
        engine, MoveGroup("/geo/us/tx", "/geo/ca"), SaveSelector("northern", "/geo/ca")
    )
    assert moved.reasons[0].startswith("grill loses 40 of 40")
    relabelled = [UpdateCluster(f"s{each:03}", labels={"gpu": False}) for each in range(0, 60, 2)]
    assert (await refused(engine, *relabelled)).reasons == (
        "vision loses 30 of 30 clusters (100.0 %)",
    )
    await refused(engine, *(Join(f"s{each:03}", "/geo/ca") for each in range(60, 100)))


async def test_a_prohibition_states_its_loss_and_then_nothing_holds_it_back(
    engine: Engine,
) -> None:
    await give(
        engine, Assign("grill-us", KITCHEN, "/geo/us"), Assign("grill-tx", KITCHEN, "/geo/us/tx")
    )
    law = Prohibit("texan-law", Choice(applications=("grill",)), "/geo/us/tx")
    await refused(engine, law)
    await give(engine, law, loss=60)
    placement = engine.state().placements["grill"]
    assert (len(placement.prohibited), len(placement.effective)) == (60, 40)
    await give(engine, LiftProhibition("texan-law"))
    assert effective(engine, "grill") == STORES


async def test_a_workload_command_blocks_nothing(engine: Engine) -> None:
    schema = {"properties": {"replicas": {"type": "integer", "maximum": 3}}}
    await give(
        engine,
        DefineApplication("grill", "kitchen", values={"replicas": 1}, schema=schema),
        Assign("grill-us", KITCHEN, "/geo/us"),
        Assign("fryer-us", Choice("kitchen", ("fryer",)), "/geo/us"),
    )
    conflict = await refused(
        engine,
        SetLayer("even", "gpu = true", {"replicas": 2}, "grill"),
        SetLayer("texan", "/geo/us/tx and gpu = true", {"replicas": 3}, "grill"),
    )
    assert conflict.reasons == (
        'grill on 30 clusters (s000, s002, s004 and 27 more): layers "even" and "texan" give '
        "replicas different values, and nothing says which is stronger",
    )
    needed = await refused(
        engine,
        DefineApplication("hood", "kitchen"),
        DefineApplication("fryer", "kitchen", depends_on=("hood",)),
    )
    assert "what it depends on is not there (hood)" in needed.reasons[0]
    assert effective(engine, "fryer") == effective(engine, "grill") == STORES


async def test_too_much_for_a_cluster_is_refused_or_only_reported(engine: Engine) -> None:
    hungry = DefineApplication("grill", "kitchen", requests=Capacity(600, 100))
    also = DefineApplication("fryer", "kitchen", requests=Capacity(600, 100))
    everywhere = Assign("all-kitchen", Choice("kitchen"), "/geo/us")
    refusal = await refused(engine, hungry, also, everywhere)
    assert (
        "s000 has 1,000 millicores and 1,000 MiB; 1,200 and 200 are asked of it"
        in (refusal.reasons[0])
    )
    lenient = SetPolicy("pilot", selector="/geo/us", oversubscription=Enforcement.REPORT)
    await give(engine, hungry, also, everywhere, lenient)
    assert effective(engine, "grill") == STORES
    assert len(engine.state().oversubscribed) == STORES


async def test_the_business_may_move_and_what_it_blocks_is_reported(engine: Engine) -> None:
    await give(
        engine,
        DefineApplication(
            "grill",
            "kitchen",
            requests=Capacity(600, 100),
            late_bound=(LateBound("host", "grill-{store}.example.com"),),
        ),
        Assign("grill-us", KITCHEN, "/geo/us"),
    )
    batch = Batch(
        (
            UpdateCluster("s001", labels={"store": None}),
            UpdateCluster("s002", capacity=Capacity(500, 1_000)),
        ),
        "ana",
        "the business moved",
    )
    preview = await engine.preview(batch)
    assert preview.refusals == ()
    (move,) = preview.moves
    assert {reason.value: len(each) for reason, each in move.blocked.items()} == {
        "late_bound": 1,
        "capacity": 1,
    }
    await engine.execute(batch)
    placement = engine.state().placements["grill"]
    assert (len(placement.placed), len(placement.effective)) == (STORES, STORES - 2)


async def test_layers_that_multiply_are_refused_with_what_multiplies(engine: Engine) -> None:
    await give(engine, Assign("grill-us", KITCHEN, "/geo/us"))
    layers = [
        SetLayer(f"grill-{number}", f"cluster s{number:03}", {"host": f"h{number}"}, "grill")
        for number in range(12)
    ]
    refusal = await refused(engine, *layers)
    assert refusal.message == "grill would have 13 distinct configurations, more than 10"
    assert refusal.reasons == ("12 layers on single clusters",)
    assert refusal.hint.endswith("late-bound: host")
    await give(engine, *layers[:9])


async def test_layers_of_the_fleet_that_multiply_are_refused_though_nobody_reads_them(
    engine: Engine,
) -> None:
    layers = [
        SetLayer(f"fleet-{number}", f"cluster s{number:03}", {"proxy": f"p{number}"})
        for number in range(12)
    ]
    refusal = await refused(engine, *layers)
    assert refusal.message == (
        "the fleet's settings would have 13 distinct configurations, more than 10"
    )
    assert refusal.reasons == ("12 layers on single clusters",)
    await give(engine, *layers[:9])


async def test_layers_of_the_fleet_that_newly_conflict_are_refused_though_nobody_reads_them(
    engine: Engine,
) -> None:
    even = SetLayer("even", "gpu = true", {"proxy": "a"})
    texan = SetLayer("texan", "/geo/us/tx and has gpu", {"proxy": "b"})
    await give(engine, even)
    refusal = await refused(engine, texan)
    assert refusal.message == (
        "the batch would make layers of the fleet conflict on 30 clusters "
        "(s000, s002, s004 and 27 more)"
    )
    assert refusal.reasons == (
        'the fleet\'s settings: layers "even" and "texan" give proxy different values, '
        "and nothing says which is stronger",
    )
    await give(engine, texan, SetLayer("even", "gpu = true", {"proxy": "a"}, rank=1))


async def test_layers_of_the_fleet_may_conflict_where_the_business_moves(engine: Engine) -> None:
    await give(
        engine,
        SetLayer("small", "gpu = true", {"proxy": "a"}),
        SetLayer("lonely", "store = lonely", {"proxy": "b"}),
    )
    await give(engine, UpdateCluster("s000", labels={"store": "lonely"}))
    await give(engine, SetLayer("other", "all", {"mirror": "c"}))


async def test_no_more_is_recorded_as_accepted_than_was_lost(engine: Engine) -> None:
    await give(engine, Assign("grill-us", KITCHEN, "/geo/us"))
    for command, lost in (
        (UpdateCluster("s000", title="first"), 0),
        (RetireCluster("s001"), 1),
        (Assign("grill-us", KITCHEN, "/geo/us/tx"), 40),
    ):
        receipt = await give(engine, command, loss=LOSS_MAX)
        assert (await engine.changeset(receipt.revision)).accepted_loss == lost


async def test_a_revert_of_everything_restores_what_ran(engine: Engine) -> None:
    await give(engine, Assign("grill-us", KITCHEN, "/geo/us"))
    before = engine.view.cursor.revision
    ran = {name: each.effective for name, each in engine.state().placements.items()}
    await give(engine, Assign("grill-us", KITCHEN, "/geo/us/tx"), loss=40)
    plan = await engine.plan_revert(Everything(), Revision(before))
    await give(engine, plan.command)
    assert {name: each.effective for name, each in engine.state().placements.items()} == ran


async def test_another_order_of_hierarchies_blocks_nothing_either(engine: Engine) -> None:
    await give(
        engine,
        CreateHierarchy("ring", Mode.SINGLE),
        CreateGroup("/ring/pilot"),
        *(Join(f"s{number:03}", "/ring/pilot") for number in range(3)),
        OrderHierarchies(("geo", "ring")),
        DefineApplication("grill", "kitchen", schema={"required": ["replicas"]}),
        SetLayer("texan", "/geo/us/tx", {"replicas": None}, "grill"),
        SetLayer("pilot", "/ring/pilot", {"replicas": 2}, "grill"),
        Assign("grill-pilot", KITCHEN, "/ring/pilot"),
    )
    assert effective(engine, "grill") == 3
    refusal = await refused(engine, OrderHierarchies(("ring", "geo")))
    assert "grill on 3 clusters (s000, s001, s002)" in refusal.reasons[0]
    assert "replicas" in refusal.reasons[0]
