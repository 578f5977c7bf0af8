"""What an author may do to what runs, and what they are told of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import fields
from pathlib import Path

import pytest

from access_shared import TEXAS, actor, found_shared
from engines import give, ticking
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import (
    Batch,
    Command,
    GrantAccess,
    Join,
    RegisterCluster,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
)
from graph.model.errors import Denied, Rejected, TrellisError
from graph.model.inventory import Capacity
from graph.model.workload import Choice
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    LiftProhibition,
    Prohibit,
    SetLayer,
    Unassign,
)
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from secrets_fleet import said

ED, OP = Actor("ed"), Actor("op")
EDITOR, OPERATOR = Actor("e", standing=Role.EDITOR), Actor("o", standing=Role.OPERATOR)


@pytest.fixture
def settings() -> GraphSettings:
    return GraphSettings()


@pytest.fixture
async def engine(tmp_path: Path, settings: GraphSettings) -> AsyncIterator[Engine]:
    """Three teams on a cluster; Ed edits all that is in Texas, Op operates it."""
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, now=ticking(), settings=settings)
    await found_shared(engine)
    await give(
        engine,
        GrantAccess("eds", Role.EDITOR, subject="ed", scope=TEXAS),
        GrantAccess("ops", Role.OPERATOR, subject="op", scope=TEXAS),
    )
    yield engine
    await engine.close()


async def do(engine: Engine, who: Actor, *commands: Command, loss: int | None = None) -> None:
    await engine.execute(Batch(commands, who.name, "because", expected_loss=loss), who)


async def denied(engine: Engine, who: Actor, *commands: Command) -> str:
    """What somebody is denied with, by preview and by execute alike."""
    batch = Batch(commands, who.name, "because")
    told: list[TrellisError] = []
    for way in (engine.preview, engine.execute):
        with pytest.raises(Denied) as error:
            await way(batch, who)
        told.append(error.value)
    assert said(told[0]) == said(told[1])
    return told[0].message


async def guarded(engine: Engine, who: Actor, *commands: Command) -> Rejected:
    """What a guard says, by preview and by execute alike."""
    preview = await engine.preview(Batch(commands, who.name, "because"), who)
    with pytest.raises(Rejected) as error:
        await do(engine, who, *commands)
    assert said(error.value) == said(preview.refusals[0])
    return error.value


# leaving a prohibition

LEAVES = "something would leave prohibition corp-veto"
LARGE = UpdateCluster("austin-2", labels={"size": "large"})


async def test_a_cluster_leaves_a_prohibition_by_an_operators_hand(engine: Engine) -> None:
    for who in (ED, EDITOR):
        assert await denied(engine, who, LARGE) == LEAVES
        assert await denied(engine, who, UpdateCluster("austin-1", title="x"), LARGE) == LEAVES
    await do(engine, OP, LARGE)


async def test_a_cluster_that_moves_away_leaves_it_too(engine: Engine) -> None:
    assert await denied(engine, EDITOR, Join("austin-2", "/geo/us/ny")) == LEAVES
    await do(engine, OPERATOR, Join("austin-2", "/geo/us/ny"))


async def test_a_cluster_that_is_retired_is_not_let_go(engine: Engine) -> None:
    await do(engine, ED, RetireCluster("austin-2"))


@pytest.mark.parametrize("who", [ED, EDITOR], ids=["ed", "editor"])
async def test_a_cluster_that_is_registered_anew_in_one_batch_is_the_same_one(
    engine: Engine, who: Actor
) -> None:
    retire = RetireCluster("austin-2")
    large = RegisterCluster("austin-2", labels={"size": "large"}, groups=(TEXAS,))
    assert await denied(engine, who, retire, large) == LEAVES
    other = RegisterCluster("austin-3", labels={"size": "large"}, groups=(TEXAS,))
    await engine.preview(Batch((retire, other), who.name, "because"), who)
    small = RegisterCluster("austin-2", labels={"size": "small"}, groups=(TEXAS,))
    await do(engine, who, retire, small)
    await do(engine, OP, retire, large)


async def test_other_changes_of_such_a_cluster_are_an_editors(engine: Engine) -> None:
    await do(engine, ED, UpdateCluster("austin-2", title="Second"))


async def test_it_is_left_too_where_what_it_names_changes(engine: Engine) -> None:
    await give(
        engine,
        SaveSelector("pilot", TEXAS),
        Prohibit("by-name", Choice("corp-space", ("corp-app",)), "@pilot"),
        Prohibit("by-space", Choice("corp-space", ("corp-spare",)), "namespace fran-space"),
    )
    smaller = SaveSelector("pilot", f"{TEXAS} and size = small")
    assert await denied(engine, ED, smaller) == "something would leave prohibition by-name"
    await do(engine, OP, smaller)
    mine = Choice("fran-space", ("fran-app",))
    narrower = (Assign(f"fran-{each}", mine, "cluster austin-1") for each in ("once", "again"))
    told = await denied(engine, actor("fran"), *narrower)
    assert told == "something would leave a prohibition you do not see"


async def test_an_application_leaves_one_by_an_operators_hand(engine: Engine) -> None:
    await give(engine, Prohibit("by-label", Choice(labels={"team": "fran"}), "size = small"))
    plain = DefineApplication("fran-app", "fran-space")
    told = await denied(engine, actor("fran"), plain)
    assert told == "something would leave prohibition by-label"
    assert await denied(engine, EDITOR, plain) == "something would leave prohibition by-label"
    await do(engine, OPERATOR, plain)


async def test_a_grant_for_a_part_elsewhere_takes_nothing_away(engine: Engine) -> None:
    def names() -> set[str]:
        workload = engine.seen(engine.access(ED)).workload
        return {name for table in fields(workload) for name in getattr(workload, table.name)}

    layer = SetLayer("one", "cluster austin-1", {"key": "one"}, "corp-app")
    batch = Batch((layer,), ED.name, "because")
    before, could = names(), await engine.preview(batch, ED)
    assert {"corp-app", "corp-fleet", "corp-policy", "maker-veto"} <= before
    await give(engine, GrantAccess("more", Role.READER, subject="ed", namespaces=("fran-space",)))
    assert before <= names()
    assert (await engine.preview(batch, ED)).changes[0].ref == could.changes[0].ref
    assert await denied(engine, ED, LARGE) == LEAVES
    await do(engine, ED, layer)


# what guards tell


@pytest.mark.parametrize("settings", [GraphSettings(lost_clusters_max=0)])
async def test_a_loss_is_told_in_clusters_one_sees(engine: Engine) -> None:
    leave = (Unassign("corp-once"), Unassign("corp-again"))
    assert (await guarded(engine, ED, *leave)).reasons == (
        "corp-app loses 1 of 1 cluster (100.0 %)",
    )
    assert (await guarded(engine, OPERATOR, *leave)).reasons == (
        "corp-app loses 1 of 2 clusters (50.0 %)",
    )


async def test_a_stated_loss_takes_an_operator_of_those_clusters(engine: Engine) -> None:
    await give(engine, GrantAccess("eds", Role.EDITOR, subject="op", scope="/geo/us"))
    with pytest.raises(Denied) as error:
        await do(engine, OP, Unassign("corp-york"), loss=1)
    assert error.value.message == (
        "application corp-app would change where you have not got the role operator for it"
    )
    await do(engine, OP, Unassign("corp-once"), Unassign("corp-again"), loss=1)


@pytest.mark.parametrize("settings", [GraphSettings(lost_clusters_max=0)])
async def test_what_is_lost_is_named_though_a_further_grant_covers_a_part(engine: Engine) -> None:
    part = GrantAccess("more", Role.READER, subject="ed", namespaces=("fran-space",))
    await give(engine, part)
    error = await guarded(engine, ED, RetireCluster("austin-1"))
    assert sorted(error.reasons) == [
        "corp-app loses 1 of 2 clusters (50.0 %)",
        "fran-app loses 1 of 1 cluster (100.0 %)",
        "maker-app loses 1 of 1 cluster (100.0 %)",
    ]
    assert "takes 3 workloads away" in error.message


async def test_what_others_ask_of_a_cluster_is_not_told(engine: Engine) -> None:
    more = DefineApplication(
        "fran-app", "fran-space", labels={"team": "fran"}, requests=Capacity(3_900, 100)
    )
    error = await guarded(engine, actor("fran"), more)
    assert error.reasons == (
        "fran-app on 1 cluster (austin-1): more is asked than there is",
        "2 applications you do not see",
    )
    assert "4,100" in (await guarded(engine, ED, more)).reasons[0]


@pytest.mark.parametrize("settings", [GraphSettings(configurations_max=2)])
async def test_too_many_configurations_are_told_by_layers_one_sees(engine: Engine) -> None:
    await give(
        engine,
        LiftProhibition("corp-veto"),
        SetLayer("ny-only", "/geo/us/ny", {"secret": 1}, "corp-app"),
    )
    one = SetLayer("one", "cluster austin-1", {"key": "one"}, "corp-app")
    error = await guarded(engine, ED, one)
    assert error.message == ("corp-app would have too many distinct configurations, more than 2")
    assert error.reasons == ("1 layer on groups of /geo", "1 layer on single clusters")
    error = await guarded(engine, OPERATOR, one)
    assert error.message == "corp-app would have 3 distinct configurations, more than 2"
    assert error.reasons == ("2 layers on groups of /geo", "1 layer on single clusters")


async def test_values_of_layers_one_does_not_see_are_not_told(engine: Engine) -> None:
    proxy = {"properties": {"fleet": {"properties": {"proxy": {"type": "integer"}}}}}
    reading = DefineApplication(
        "fran-app", "fran-space", labels={"team": "fran"}, schema=proxy, reads=("proxy",)
    )
    error = await guarded(engine, actor("fran"), reading)
    assert error.reasons == (
        "fran-app on 1 cluster (austin-1): "
        "its values break its schema with those of a layer you do not see",
    )
    assert "corp-proxy" in (await guarded(engine, EDITOR, reading)).reasons[0]
