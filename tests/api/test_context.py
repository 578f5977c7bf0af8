"""What a request works with: who asks, and one view for all of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.caller.identity import Identified
from api.context import Context
from api.settings import ApiSettings
from doors import ADMIN, STRANGER, TEXAN, context, fleet, opened
from engines import NOON, give, ticking
from graph.engine import Engine
from graph.model.access import Role
from graph.model.change import Changeset
from graph.model.command import GrantAccess, RetireCluster, RevokeAccess, UpdateCluster
from graph.model.errors import Denied, Invalid
from graph.model.names import Revision
from graph.scoped import ScopedView
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore


class Watched(EmbeddedStore):
    """Tells which changesets were read."""

    read: set[Revision]

    async def changeset(self, revision: Revision) -> Changeset:
        """Remember that it was."""
        self.read.add(revision)
        return await super().changeset(revision)


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
    then = await found.at(Revision(1))
    assert isinstance(then, ScopedView)
    assert then.cluster_number("austin-00") is None
    assert then.everything() == engine.resolve("/geo/ca", await engine.as_of(Revision(1)))


async def test_a_request_reads_few_earlier_revisions_each_of_them_once(engine: Engine) -> None:
    for place in range(4):
        await give(engine, UpdateCluster("austin-00", title=f"at {place}"))
    found = Context.pin(engine, ApiSettings(as_of_max=2), Identified(TEXAN, None))
    first = await found.at(Revision(1))
    assert await found.at(Revision(2)) is not first
    assert await found.at(Revision(1)) is first
    with pytest.raises(Invalid, match="more than 2 earlier revisions"):
        await found.at(Revision(3))


async def test_the_newest_revision_is_no_earlier_one(engine: Engine) -> None:
    found = Context.pin(engine, ApiSettings(as_of_max=1), Identified(TEXAN, None))
    assert await found.at(Revision(2)) is found.seen
    await found.at(Revision(1))
    assert await found.at(Revision(2)) is found.seen
    await give(engine, UpdateCluster("austin-00", title="later"))
    assert await found.at(Revision(2)) is found.seen, "newest when the request began"


async def test_what_is_one_too_many_is_not_even_read(tmp_path: Path) -> None:
    """The store, from which earlier revisions are reconstructed, is not asked for it."""
    store = await Watched.open(tmp_path / "fleet.db", write=True, create=True)
    assert isinstance(store, Watched)
    store.read = set()
    forgetful = GraphSettings(snapshots_kept_max=1, snapshots_kept_seconds=0)
    engine = await Engine.open(store, settings=forgetful, now=ticking())
    try:
        await give(engine, *fleet())
        for place in range(8):
            await give(engine, UpdateCluster("austin-00", title=f"at {place}"))
        found = Context.pin(engine, ApiSettings(as_of_max=1), Identified(ADMIN, None))
        asked = [found.at(Revision(number)) for number in (5, 4, 3)]
        read, *refused = await asyncio.gather(*asked, return_exceptions=True)
        assert not isinstance(read, BaseException) and read.cursor.revision == 5
        assert all(isinstance(each, Invalid) for each in refused)
        assert min(store.read) >= 5, "none of the earlier ones"
        with pytest.raises(Invalid, match="more than 1 earlier revisions"):
            await found.at(NOON)
    finally:
        await engine.close()


async def test_trees_share_the_rows_a_request_may_have(engine: Engine) -> None:
    found = Context.pin(engine, ApiSettings(tree_rows_max=10), Identified(TEXAN, None))
    found.count_tree_rows(6)
    found.count_tree_rows(4)
    with pytest.raises(Invalid, match="more than 10 rows"):
        found.count_tree_rows(1)
    found.begin()
    found.count_tree_rows(10)
