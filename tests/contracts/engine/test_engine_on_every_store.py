"""What the engine promises on whichever store it stands."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from engines import give, names, ticking
from graph.engine import Engine
from graph.model.access import Role
from graph.model.command import (
    CreateGroup,
    DeclareLabel,
    DeleteGroup,
    GrantAccess,
    Join,
    MoveGroup,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    RevokeAccess,
    UpdateCluster,
)
from graph.model.errors import Conflict, NotFound, Rejected
from graph.model.inventory import LabelType
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from small import SMALL
from stores import ADAPTERS
from twin import same_fleet


@pytest.fixture(params=[pytest.param(each, id=each.name, marks=each.marks) for each in ADAPTERS])
async def store(request, tmp_path):
    opener = await request.param.empty(tmp_path)
    store = await opener()
    yield store
    await store.close()


@pytest.fixture
async def two(store):
    """Two engines on one record, as two processes are."""
    return [await Engine.open(store, now=ticking()) for _ in range(2)]


async def test_forty_writers_through_two_engines_make_gapless_revisions(store, two):
    await give(two[0], *SMALL)
    receipts = await asyncio.gather(
        *(give(two[number % 2], RegisterCluster(f"new-{number:02}")) for number in range(40))
    )
    assert sorted(receipt.revision for receipt in receipts) == list(range(2, 42))
    await asyncio.gather(*(engine.catch_up() for engine in two))
    assert same_fleet(two[0].view, two[1].view) is None
    assert (await two[0].verify()).whole


async def test_of_concurrent_moves_that_would_form_a_cycle_one_is_refused(two):
    await give(two[0], *SMALL, CreateGroup("/geo/ca/bc"))
    results = await asyncio.gather(
        give(two[0], MoveGroup("/geo/us", "/geo/ca")),
        give(two[1], MoveGroup("/geo/ca", "/geo/us")),
        return_exceptions=True,
    )
    refused = [result for result in results if isinstance(result, Exception)]
    assert len(refused) == 1
    assert isinstance(refused[0], Rejected | NotFound)
    await two[1].catch_up()
    assert (await two[1].verify()).whole


async def test_a_stale_expected_revision_is_refused_and_no_revision_burned(two):
    await give(two[0], *SMALL)
    await give(two[1], UpdateCluster("york-1", title="first"), expected=1)
    with pytest.raises(Conflict, match="has changed at revision 2"):
        await give(two[0], UpdateCluster("york-1", title="second"), expected=1)
    receipt = await give(two[0], UpdateCluster("york-1", title="third"))
    assert receipt.revision == 3


async def test_the_same_key_through_two_engines_takes_effect_once(two):
    await give(two[0], *SMALL)
    receipts = await asyncio.gather(
        *(give(each, RegisterCluster("york-2"), key="once") for each in (*two, *two))
    )
    assert len({receipt.cursor for receipt in receipts}) == 1
    assert receipts[0].revision == 2


async def test_a_refusal_leaves_the_key_free_and_another_body_is_refused(two):
    await give(two[0], *SMALL)
    with pytest.raises(Conflict):
        await give(two[0], RegisterCluster("york-1"), key="k")
    receipt = await give(two[0], RegisterCluster("york-2"), key="k")
    with pytest.raises(Conflict, match="used for another batch"):
        await give(two[1], RegisterCluster("york-3"), key="k")
    assert await give(two[1], RegisterCluster("york-2"), key="k") == receipt


async def test_a_batch_that_changed_nothing_keeps_its_receipt_too(two):
    await give(two[0], *SMALL)
    receipt = await give(two[0], Join("york-1", "/geo/us/ny"), key="noop")
    assert (receipt.changed, receipt.revision) == (False, 1)
    await give(two[1], Join("york-1", "/geo/ca"))
    assert await give(two[0], Join("york-1", "/geo/us/ny"), key="noop") == receipt
    assert names(two[1], "/geo/ca") == {"york-1"}


async def test_a_grant_through_one_engine_is_known_to_all_and_to_every_revision(store, two):
    await give(two[0], *SMALL)
    await give(two[0], GrantAccess("mine", Role.EDITOR, "ana", scope="/geo/us/tx or has lanes"))
    await two[1].catch_up()
    assert two[1].view.grant("mine") == two[0].view.grant("mine") is not None
    with pytest.raises(Rejected, match="is named by 1 saved selector and 1 grant"):
        await give(two[1], DeleteGroup("/geo/us/tx", cascade=True))
    await give(two[1], GrantAccess("mine", Role.READER, claim="crew"))
    await give(two[1], RevokeAccess("mine"))
    await two[0].catch_up()
    roles = [(await two[0].as_of(Revision(revision))).grant("mine") for revision in (1, 2, 3, 4)]
    assert [grant and grant.role for grant in roles] == [None, Role.EDITOR, Role.READER, None]
    plan = await two[0].plan_revert(Ref(Kind.GRANT, "mine"), Revision(2))
    await give(two[0], plan.command)
    later = await Engine.open(store)
    assert later.view.grant("mine") == replace(roles[1], changed=Revision(5))
    assert same_fleet(later.view, two[0].view) is None
    assert (await later.verify()).whole


async def test_an_engine_opened_later_shows_the_same_fleet(store, two):
    await give(two[0], *SMALL)
    await give(
        two[0],
        RenameGroup("/geo/us/tx", "texas"),
        MoveGroup("/geo/us/texas", "/geo/ca"),
        RetireCluster("austin-2"),
        DeleteGroup("/devices/grill", cascade=True),
        DeclareLabel("note", LabelType.TEXT),
        UpdateCluster("york-1", labels={"lanes": None, "note": "é ≠ é"}),
    )
    later = await Engine.open(store)
    assert same_fleet(later.view, two[0].view) is None
    assert names(later, "@texas") == {"austin-1"}
    verification = await later.verify()
    assert verification.whole, verification
