from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from graph.model.errors import Unavailable
from graph.store.availability import Availability


class Server:
    """Answers probes, or not."""

    def __init__(self) -> None:
        self.probes = 0
        self.fault: Exception | None = None
        self.asked = asyncio.Event()

    async def probe(self) -> None:
        self.probes += 1
        self.asked.set()
        if self.fault is not None:
            raise self.fault

    async def probed_again(self) -> None:
        self.asked.clear()
        await self.asked.wait()


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def availability(server: Server) -> AsyncIterator[Availability]:
    made = Availability(server.probe, probe_seconds=0.001)
    yield made
    await made.close()


async def test_a_server_that_was_never_lost_is_not_probed(
    server: Server, availability: Availability
) -> None:
    availability.check()
    assert await availability.is_back(within_seconds=0)
    assert server.probes == 0


async def test_callers_are_refused_until_a_probe_succeeds(
    server: Server, availability: Availability
) -> None:
    server.fault = Unavailable("connection refused")
    availability.lost(Unavailable("the connection was cut"))
    with pytest.raises(Unavailable, match="the store has been away for 1 s: the connection was c"):
        availability.check()
    await server.probed_again()
    await server.probed_again()
    with pytest.raises(Unavailable, match="away for 1 s: connection refused") as refusal:
        availability.check()
    assert "it had no effect" in refusal.value.hint and "every 0.001 s" in refusal.value.hint
    server.fault = None
    assert await availability.is_back(within_seconds=60)
    availability.check()


async def test_an_outage_has_one_prober_however_many_lost_the_server(
    server: Server, availability: Availability
) -> None:
    for _ in range(10):
        availability.lost(Unavailable("cut"))
    assert await availability.is_back(within_seconds=60)
    assert server.probes == 1


async def test_a_wait_for_the_end_of_an_outage_is_bounded(
    server: Server, availability: Availability
) -> None:
    server.fault = Unavailable("refused")
    availability.lost(Unavailable("cut"))
    assert not await availability.is_back(within_seconds=0.01)


async def test_a_fault_of_the_probe_is_logged_and_does_not_end_the_probing(
    server: Server, availability: Availability, caplog: pytest.LogCaptureFixture
) -> None:
    server.fault = RuntimeError("ours")
    availability.lost(Unavailable("cut"))
    await server.probed_again()
    await server.probed_again()
    assert "a probe of the store failed" in caplog.text
    server.fault = None
    assert await availability.is_back(within_seconds=60)


async def test_a_closed_one_probes_no_more(server: Server) -> None:
    made = Availability(server.probe, probe_seconds=0.001)
    server.fault = Unavailable("refused")
    made.lost(Unavailable("cut"))
    await server.probed_again()
    await made.close()
    before = server.probes
    await asyncio.sleep(0.01)
    assert server.probes == before
