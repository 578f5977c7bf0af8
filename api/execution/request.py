"""A GraphQL request: what a body or a query string asks for, checked before anything is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qs

import orjson

from api.execution.persisted import hash_in
from graph.model.errors import Invalid


class GraphQLRequest(NamedTuple):
    """A document and what goes with it."""

    query: str
    """Its text; empty where a hash stands for it."""
    operation_name: str | None
    variables: Mapping[str, Any]
    digest: str | None = None
    """The hash of the text, where the client sent one; see ``api.execution.persisted``."""


def read_request(body: bytes) -> GraphQLRequest:
    """The request in a JSON body."""
    try:
        sent: Any = orjson.loads(body)
    except (orjson.JSONDecodeError, RecursionError):
        raise Invalid("the body is not JSON", hint='send {"query": "..."}') from None
    data: dict[str, Any] = sent
    if not isinstance(sent, dict):
        raise Invalid(
            "the body is not a JSON object", hint='send one operation, as {"query": "..."}'
        )
    return request_of(data)


def request_of(data: Mapping[str, Any]) -> GraphQLRequest:
    """The request in a decoded object, however it came."""
    extensions: Any = data.get("extensions")
    if extensions is not None and not isinstance(extensions, dict):
        raise Invalid('"extensions" is not an object', hint="leave it out")
    digest = hash_in(cast("dict[str, Any]", extensions)) if extensions else None
    query = data.get("query")
    if query is None and digest is not None:
        query = ""
    if not isinstance(query, str):
        raise Invalid('"query" is not the text of a document', hint='send {"query": "..."}')
    name = data.get("operationName")
    if name is not None and not isinstance(name, str):
        raise Invalid('"operationName" is not text', hint="leave it out, or name an operation")
    given: Any = data.get("variables")
    variables: dict[str, Any] = given or {}
    if given is not None and not isinstance(given, dict):
        raise Invalid('"variables" is not an object', hint="leave it out, or send an object")
    return GraphQLRequest(query, name, variables, digest)


def read_query_string(text: bytes) -> GraphQLRequest:
    """The request in the query string of a GET."""
    try:
        fields = parse_qs(text.decode("ascii"), max_num_fields=10, errors="strict")
    except (ValueError, UnicodeError):
        raise Invalid("the query string cannot be read", hint="percent-encode it") from None
    data: dict[str, Any] = {name: values[0] for name, values in fields.items()}
    for name in ("variables", "extensions"):
        if name in data:
            try:
                data[name] = orjson.loads(data[name])
            except (orjson.JSONDecodeError, RecursionError):
                raise Invalid(f'"{name}" is not JSON', hint="send an object as JSON") from None
    return request_of(data)
