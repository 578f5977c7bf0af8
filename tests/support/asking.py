"""Asking the schema without a server: a document, variables and somebody who asks."""

from __future__ import annotations

from typing import Any

from api.caller.identity import Identified
from api.context import Context
from api.problems import graphql_error
from api.schema.schema import SCHEMA
from api.settings import ApiSettings
from graph.engine import Engine
from graph.model.access import Actor, Role

ADMIN = Actor("ana", standing=Role.ADMIN)


async def ask(
    engine: Engine,
    document: str,
    variables: dict[str, Any] | None = None,
    *,
    actor: Actor = ADMIN,
    settings: ApiSettings | None = None,
) -> dict[str, Any]:
    """The answer as it would travel: ``data``, and ``errors`` where there are any."""
    context = Context.pin(engine, settings or ApiSettings(), Identified(actor, None))
    found = await SCHEMA.execute(document, variables, context_value=context)
    answer: dict[str, Any] = {"data": found.data}
    if found.errors:
        answer["errors"] = [
            graphql_error(error, error_id_source=lambda: "e1") for error in found.errors
        ]
    return answer


async def data(engine: Engine, document: str, /, *, actor: Actor = ADMIN, **variables: Any) -> Any:
    """The data of an answer that has no errors."""
    answer = await ask(engine, document, variables, actor=actor)
    assert "errors" not in answer, answer["errors"]
    return answer["data"]
