"""Leases: an open connection's right to go on, asked for again and again.

A token is believed for one request. Whoever stays has to stay believed: until the token expires or
its key is withdrawn.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from api.caller.identity import Identified, Identity, Peer, Unauthenticated, still_valid
from graph.model.errors import TrellisError

SOONEST_SECONDS = 0.05
"""Least wait between two looks at a token that is about to expire."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who is at the other end of a connection, and how they showed it."""

    identified: Identified
    authorization: str | None
    peer: Peer

    async def over(self, identity: Identity, recheck_seconds: float) -> Unauthenticated:
        """Wait until whoever is there is not believed any more, and say why."""
        while True:
            await asyncio.sleep(self._wait_seconds(recheck_seconds))
            try:
                await identity.identify(self.authorization, self.peer)
            except Unauthenticated as error:
                return error
            except TrellisError:  # the issuer is away: the token is good for as long as it says
                if not still_valid(self.identified, time.time()):
                    return Unauthenticated("the token has expired", hint="connect with a new one")

    def _wait_seconds(self, recheck_seconds: float) -> float:
        expires = self.identified.expires_seconds
        left = recheck_seconds if expires is None else expires - time.time()
        return max(SOONEST_SECONDS, min(recheck_seconds, left))
