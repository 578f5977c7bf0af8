"""The fleet of ``access_cases`` behind a real door, and everybody's token."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from access_cases import COST_MAX, COVERED, HIDDEN, PEOPLE, Person, hidden_fleet, leaks
from api.settings import AuthSettings
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.names import Revision
from graph.model.publication import HeldBack, Report
from issuer import AUDIENCE, issuing
from small_door import SmallDoor, small_door

# httpx looks for it, in vain, four times a request; told once that it is not there it is quicker
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type] # how one says so


@dataclass(frozen=True)
class House:
    """A served fleet and everybody's token."""

    door: SmallDoor
    client: httpx.AsyncClient
    tokens: Mapping[str, str]

    @property
    def engine(self) -> Engine:
        return self.door.engine

    def as_(self, person: Person) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[person.name]}"}

    async def post(
        self, person: Person, query: str, variables: Mapping[str, Any]
    ) -> httpx.Response:
        """What one person is told over HTTP; if anything is hidden from them, no hidden name."""
        body = {"query": query, "variables": variables}
        answer = await self.client.post("/graphql", json=body, headers=self.as_(person))
        assert answer.status_code in (200, 403), answer.text
        check(person, json.dumps(body), f"{answer.headers} {answer.text}")
        return answer

    async def ask(self, person: Person, query: str, variables: Mapping[str, Any]) -> Any:
        """The content of what they are told."""
        return (await self.post(person, query, variables)).json()


def check(person: Person, asked: str, said: str) -> None:
    """Nothing hidden is said that was not asked with."""
    if person.hides:
        found = leaks(asked, said)
        assert not found, f"{person.name} asked {asked} and was told {found}: {said}"


@asynccontextmanager
async def opened_house(directory: Path, **settings: Any) -> AsyncIterator[House]:
    """The fleet behind a real door, with an issuer of tokens; ``settings`` are the engine's."""
    with issuing(directory) as issuer:
        auth = AuthSettings(
            issuer=issuer.url,
            audience=AUDIENCE,
            ca_file=str(issuer.ca_file),
            first_admins="first",
        )
        tokens = {
            each.name: issuer.token(sub=each.name, groups=sorted(each.actor.claims))
            for each in (*PEOPLE, *COVERED)
        }
        async with (
            hidden_fleet(directory, **settings) as engine,
            small_door(engine, auth=auth, cost_max=COST_MAX, requests_burst=10**6) as door,
            httpx.AsyncClient(base_url=door.url, timeout=30, trust_env=False) as client,
        ):
            held = HeldBack(f"{HIDDEN}-till", "failed", f"{HIDDEN}-till: no", 1, Revision(1))
            report = Report("main", engine.view.cursor, "c0ffee", (held,))
            await engine.report_published(report, Actor(f"{HIDDEN}-hand", standing=Role.ADMIN))
            yield House(door, client, tokens)
