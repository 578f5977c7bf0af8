"""Three teams on one cluster: each changes its own part, and finds out nothing of the others'."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from access_operations import PREVIEW, REVERT, mutation
from access_schema import readings
from access_shared import (
    NOBODYS,
    TEAMS,
    TEXAS,
    actor,
    as_editor,
    as_operator,
    found_shared,
    leaks,
)
from api.settings import AuthSettings
from command_inputs import input_of, name_of
from engines import give, ticking
from graph.decide.revert import Everything
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import Batch, Command
from graph.model.errors import Denied, NotFound, Rejected, TrellisError
from graph.model.inventory import Capacity
from graph.model.names import Revision
from graph.model.workload import Choice
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    LiftProhibition,
    Prohibit,
    SetLayer,
    Unassign,
)
from graph.store.embedded import EmbeddedStore
from issuer import AUDIENCE, issuing
from secrets_fleet import said
from small_door import small_door

PAIRS = [*product(TEAMS, TEAMS)]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, now=ticking())
    await found_shared(engine)
    yield engine
    await engine.close()


async def do(engine: Engine, team: str, *commands: Command, loss: int | None = None) -> None:
    batch = Batch(commands, team, "because", expected_loss=loss)
    await engine.execute(batch, actor(team))


async def refusal(engine: Engine, team: str, *commands: Command) -> TrellisError:
    """What a team is refused with, by preview and by execute; it tells nothing of the others."""
    before = engine.view.cursor
    told: list[TrellisError] = []
    batch = Batch(commands, team, "because")
    for way in (engine.preview, engine.execute):
        with pytest.raises(TrellisError) as error:
            await way(batch, actor(team))
        told.append(error.value)
    assert said(told[0]) == said(told[1])
    assert not leaks(team, repr(commands), said(told[0])), said(told[0])
    assert engine.view.cursor == before
    return told[0]


async def undo(engine: Engine) -> None:
    plan = await engine.plan_revert(Everything(), Revision(5))
    await engine.execute(Batch((plan.command,), "test", "undone"))


def may(team: str, owner: str, command: str) -> bool:
    return team == owner and (command in as_editor(owner) or TEAMS[team][0] is Role.OPERATOR)


@pytest.mark.parametrize(("team", "owner"), PAIRS)
async def test_each_changes_its_own_part_and_no_other(
    engine: Engine, team: str, owner: str
) -> None:
    for name, command in {**as_editor(owner), **as_operator(owner)}.items():
        if may(team, owner, name):
            await do(engine, team, command)
            await undo(engine)
        else:
            error = await refusal(engine, team, command)
            assert isinstance(error, Denied | NotFound), f"{name}: {error}"


@pytest.mark.parametrize("team", TEAMS)
async def test_none_has_a_right_over_what_all_share(engine: Engine, team: str) -> None:
    for name, command in NOBODYS.items():
        error = await refusal(engine, team, command)
        assert isinstance(error, Denied | NotFound | Rejected), f"{name}: {error}"
        assert not isinstance(error, Rejected) or name == "delete a namespace", name


async def test_none_reaches_beyond_its_clusters(engine: Engine) -> None:
    for selector in ("all", "/geo/us/ny", "size = large", "/geo/us", "cluster york-1"):
        mine = Choice("fran-space", ("fran-app",))
        for command in (
            Assign("fran-more", mine, selector),
            SetLayer("fran-more", selector, {"key": "x"}, "fran-app"),
        ):
            assert isinstance(await refusal(engine, "fran", command), Denied | NotFound)
        prohibit = Prohibit("maker-more", Choice("maker-space"), selector)
        assert isinstance(await refusal(engine, "maker", prohibit), Denied | NotFound)


async def test_an_application_that_runs_elsewhere_too_is_not_theirs_to_change(
    engine: Engine,
) -> None:
    """Its definition concerns every cluster it is assigned to."""
    york = Assign("corp-for-fran", Choice("fran-space", ("fran-app",)), "/geo/us/ny")
    await give(engine, york)
    error = await refusal(engine, "fran", as_editor("fran")["redefine"])
    assert error.message == "this would touch something outside your scope"
    await do(engine, "fran", as_editor("fran")["set a layer"])


async def test_what_depends_on_ones_own_is_not_taken_away_with_it(engine: Engine) -> None:
    """A prohibition takes away what depends on it too, and that takes a role over both."""
    large = f"{TEXAS} and size = large"
    await give(
        engine,
        DefineApplication("corp-needs", "corp-space", depends_on=("maker-app",)),
        Assign("corp-needs", Choice("corp-space", ("corp-needs",)), large),
    )
    veto = Prohibit("maker-more", Choice("maker-space", ("maker-app",)), large)
    error = await refusal(engine, "maker", veto)
    assert error.message == "this would touch something outside your scope"
    boss = Actor("boss", standing=Role.OPERATOR)
    await engine.execute(Batch((veto,), "boss", "because", expected_loss=2), boss)
    error = await refusal(engine, "maker", LiftProhibition("maker-more"))
    assert error.message == "this would touch something outside your scope"


async def test_a_name_one_does_not_see_is_not_taken_out_of_ones_own(engine: Engine) -> None:
    needing = DefineApplication("fran-app", "fran-space", depends_on=("corp-app",))
    await give(engine, needing)
    error = await refusal(engine, "fran", as_editor("fran")["redefine"])
    assert error.message == (
        "application fran-app names something you do not see, which this would take out of it"
    )
    error = await refusal(engine, "fran", needing)
    assert isinstance(error, NotFound)
    await do(engine, "fran", as_editor("fran")["set a layer"])


async def test_a_loss_is_accepted_by_an_operator_of_what_is_lost(engine: Engine) -> None:
    leave = (Unassign("maker-once"), Unassign("maker-again"))
    error = await refusal_of_loss(engine, "maker", *leave)
    assert error.reasons == ("maker-app loses 1 of 1 cluster (100.0 %)",)
    await do(engine, "maker", *leave, loss=1)
    theirs = (Unassign("fran-once"), Unassign("fran-again"))
    with pytest.raises(Denied, match='needs the role operator, which "fran-ana" has not got'):
        await do(engine, "fran", *theirs, loss=1)


async def refusal_of_loss(engine: Engine, team: str, *commands: Command) -> Rejected:
    preview = await engine.preview(Batch(commands, team, "because"), actor(team))
    with pytest.raises(Rejected) as error:
        await do(engine, team, *commands)
    assert said(error.value) == said(preview.refusals[0])
    assert not leaks(team, repr(commands), said(error.value))
    return error.value


async def test_too_much_is_told_without_what_the_others_ask_for(engine: Engine) -> None:
    """Together they ask for more than the cluster has: each is told of its own alone."""
    big = DefineApplication("corp-app", "corp-space", requests=Capacity(3_800, 100))
    await give(engine, big)
    more = DefineApplication("fran-app", "fran-space", requests=Capacity(200, 100))
    error = await refusal_of_loss(engine, "fran", more)
    assert error.message == "the batch would block 3 applications"
    assert error.reasons[0] == "fran-app on 1 cluster (austin-1): more is asked than there is"
    assert error.reasons[-1] == "2 applications you do not see"


# through the door


@pytest.fixture
async def doors(engine: Engine, tmp_path: Path) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """A client for every team, over a real port."""
    with issuing(tmp_path) as issuer:
        auth = AuthSettings(issuer=issuer.url, audience=AUDIENCE, ca_file=str(issuer.ca_file))
        async with small_door(engine, auth=auth, cost_max=10**15, requests_burst=10**6) as door:
            clients = {
                team: httpx.AsyncClient(
                    base_url=door.url,
                    headers={"authorization": f"Bearer {issuer.token(sub=actor(team).name)}"},
                    trust_env=False,
                    timeout=30,
                )
                for team in TEAMS
            }
            try:
                yield clients
            finally:
                for client in clients.values():
                    await client.aclose()


async def ask(client: httpx.AsyncClient, team: str, query: str, **variables: Any) -> Any:
    """What a team is told; nothing of the others is in it."""
    body = {"query": query, "variables": variables}
    answer = await client.post("/graphql", json=body)
    found = leaks(team, json.dumps(body), answer.text)
    assert not found, f"{team} is told {found} by {query}"
    return answer.json()


@pytest.mark.parametrize("team", TEAMS)
async def test_nothing_that_can_be_read_tells_of_the_others(
    doors: dict[str, httpx.AsyncClient], team: str
) -> None:
    answered = 0
    names = {
        "cluster": "austin-1",
        "text": TEXAS,
        "application": f"{team}-app",
        "namespace": f"{team}-space",
        "assignment": f"{team}-again",
        "layer": f"{team}-layer",
    }
    for query in readings(names):
        told = await ask(doors[team], team, query)
        answered += bool(told.get("data"))
    assert answered > 20


@pytest.mark.parametrize(("team", "owner"), PAIRS)
async def test_each_changes_its_own_part_through_the_door(
    engine: Engine, doors: dict[str, httpx.AsyncClient], team: str, owner: str
) -> None:
    for name, command in {**as_editor(owner), **as_operator(owner)}.items():
        given = input_of(command, engine.view)
        batch = {"reason": "r", "commands": [{name_of(command): given}]}
        looked = (await ask(doors[team], team, PREVIEW, input=batch))["data"]["preview"]
        told = await ask(doors[team], team, mutation(name_of(command)), input=given)
        (result,) = told["data"].values()
        if may(team, owner, name):
            kinds = (looked["__typename"], result["__typename"])
            assert kinds == ("Preview", "Applied"), f"{name}: {result}"
            await undo(engine)
        else:
            assert result["__typename"] in ("Denied", "NotFound"), f"{name}: {result}"
            assert looked["__typename"] == result["__typename"]


@pytest.mark.parametrize("team", TEAMS)
async def test_none_has_a_right_over_what_all_share_through_the_door(
    engine: Engine, doors: dict[str, httpx.AsyncClient], team: str
) -> None:
    head = engine.view.cursor
    for name, command in NOBODYS.items():
        given = input_of(command, engine.view)
        told = await ask(doors[team], team, mutation(name_of(command)), input=given)
        if told["data"] is None:
            assert told["errors"][0]["extensions"]["code"] == "DENIED", name
        else:
            (result,) = told["data"].values()
            assert result["__typename"] in ("Denied", "NotFound", "Rejected"), f"{name}: {result}"
    assert engine.view.cursor == head


async def test_a_part_is_taken_back_by_whoever_owns_it(
    engine: Engine, doors: dict[str, httpx.AsyncClient]
) -> None:
    for team in TEAMS:
        await do(engine, team, as_editor(team)["redefine"])
    for team, owner in sorted(PAIRS, key=lambda pair: pair[0] == pair[1]):
        head = engine.view.cursor
        scope = {"id": f"application:{owner}-app"}
        told = (await ask(doors[team], team, REVERT, to=5, scope=scope))["data"]["revert"]
        assert told["__typename"] == "Applied", f"{team}, {owner}: {told}"
        # to whoever does not see it, it never was: there is nothing to take back
        assert (engine.view.cursor == head) is (team != owner)
    for team in TEAMS:
        values = engine.view.workload.applications[f"{team}-app"].values.data
        assert values == {"key": f"{team}-value"}
