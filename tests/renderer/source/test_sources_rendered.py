"""Whichever way a fleet is followed, the output is the same, and what from-scratch gives."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from engines import give
from graph.model.change import Cursor
from graph.model.errors import TrellisError
from outputs import Output
from renderer.settings import SourceSettings
from renderer.source.engine import EngineSource
from renderer.source.socket import SocketSource
from small_door import small_door, small_engine
from wire_renderers import WORKLOAD, WorkloadWriter

STEPS = 12


@pytest.mark.parametrize("seed", range(3))
async def test_both_sources_lead_to_the_same_files(tmp_path, seed):
    async with small_engine(tmp_path) as engine, small_door(engine) as door:
        await give(engine, *WORKLOAD)
        writer = WorkloadWriter(seed)
        with ExitStack() as stack:
            here = Output(EngineSource(engine), stack)
            there = Output(SocketSource(SourceSettings(url=door.ws_url)), stack)
            for number in range(STEPS):
                published = [await each.errands.once() for each in (here, there)]
                assert here.files.files == there.files.files
                assert published[0].complete == published[1].complete
                assert (await (here, there)[number % 2].errands.verify()).whole
                for _ in range(1 + number % 3):
                    try:
                        await give(engine, *writer.commands(engine), loss=1_000)
                    except TrellisError:  # the fleet may refuse a batch
                        continue
        assert len(here.files.log) > 3, "something was published"
        (kept,) = await engine.publications()
        assert kept.cursor == Cursor.parse(published[1].complete.cursor)
