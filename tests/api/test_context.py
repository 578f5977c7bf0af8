"""What a request works with: who asks, and one view for all of its answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.caller.identity import Identified
from api.context import Context
from api.settings import ApiSettings
from doors import ADMIN, STRANGER, TEXAN, context, opened
from engines import give
from graph.engine import Engine
from graph.model.access import Role
from graph.model.command import GrantAccess, RetireCluster, RevokeAccess, UpdateCluster
from graph.model.errors import Denied, Invalid
from graph.model.names import Revision
from graph.scoped import ScopedView


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with opened(tmp_path) as found:
        yield found


async def test_whoever_sees_all_works_with_the_newest_view_itself(engine: Engine) -> None:
    found = context(engine)
    assert found.actor is ADMIN
    assert found.seen is found.view is engine.view


async def test_whoever_sees_a_part_works_with_that_part(engine: Engine) -> None:
    found = context(engine, TEXAN)
    assert isinstance(found.seen, ScopedView)
    assert found.seen.base is found.view
    assert len(found.seen.everything()) == engine.count("/geo/us/tx")


async def test_whoever_sees_nothing_gets_no_further(engine: Engine) -> None:
    with pytest.raises(Denied, match='"sid" has not got the role reader'):
        context(engine, STRANGER)


async def test_a_request_keeps_its_view_and_its_access_whatever_happens(engine: Engine) -> None:
    found = context(engine, TEXAN)
    before = len(found.seen.everything())
    await give(engine, RetireCluster("austin-00"), RevokeAccess("texans"), RevokeAccess("tess-too"))
    assert len(found.seen.everything()) == before
    assert found.view.cursor.revision == 2
    with pytest.raises(Denied):
        context(engine, TEXAN)


async def test_an_earlier_view_is_read_under_the_access_of_now(engine: Engine) -> None:
    await give(engine, GrantAccess("texans", Role.READER, claim="texas", scope="/geo/ca"))
    await give(engine, RevokeAccess("tess-too"))
    found = context(engine, TEXAN)
    then = await found.at(await engine.as_of(Revision(1)))
    assert isinstance(then, ScopedView)
    assert then.cluster_number("austin-00") is None
    assert then.everything() == engine.resolve("/geo/ca", await engine.as_of(Revision(1)))


async def test_a_request_reads_few_earlier_revisions_each_of_them_once(engine: Engine) -> None:
    for place in range(4):
        await give(engine, UpdateCluster("austin-00", title=f"at {place}"))
    found = Context.pin(engine, ApiSettings(as_of_max=2), Identified(TEXAN, None))
    one, two, three = [await engine.as_of(Revision(number)) for number in (1, 2, 3)]
    first = await found.at(one)
    assert await found.at(two) is not first
    assert await found.at(one) is first
    with pytest.raises(Invalid, match="more than 2 earlier revisions"):
        await found.at(three)
