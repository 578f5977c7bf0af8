"""The one table: every refusal has its status, its code and its shape, and faults say nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig

from api.caller.identity import Unauthenticated
from api.problems import (
    MESSAGE_LENGTH_MAX,
    TooLarge,
    TooMany,
    extensions_of,
    graphql_error,
    headers_of,
    refusal,
    status_of,
)
from api.schema import errors as wire
from api.schema.failure import failure_of
from api.schema.names import SCALARS, Name, Revision
from graph.model import errors as core
from graph.model.errors import Span, TrellisError

SECRET = "bolt://neo4j:hunter2@db.internal:7687"


def kinds(root: type[TrellisError] = TrellisError) -> Iterator[type[TrellisError]]:
    for kind in root.__subclasses__():
        yield kind
        yield from kinds(kind)


def made(kind: type[TrellisError]) -> TrellisError:
    if issubclass(kind, core.SelectorInvalid | core.SelectorNotFound):
        return kind("wrong", text="/gio", span=Span(2, 3), hint="right")
    return kind("wrong", hint="right")


IN_THE_CORE = [kind for kind in kinds() if kind.__module__ == core.__name__]


@strawberry.type
class Query:
    """Fields that end in every way."""

    @strawberry.field
    def refused(self) -> int:
        raise core.NotFound("no such thing", hint="look elsewhere").at("commands", 3)

    @strawberry.field
    def broken(self) -> int:
        raise RuntimeError(f"cannot connect to {SECRET}")

    @strawberry.field
    def echo(self, name: Name | None = None, revision: Revision | None = None) -> bool:
        return name is None or revision is None


SCHEMA = strawberry.Schema(query=Query, config=StrawberryConfig(scalar_map=SCALARS))


def errors_of(document: str, variables: dict[str, object] | None = None) -> list[GraphQLError]:
    return SCHEMA.execute_sync(document, variables).errors or []


# statuses


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (core.Invalid, 400),
        (core.SelectorInvalid, 400),
        (TooLarge, 413),
        (core.NotFound, 404),
        (core.SelectorNotFound, 404),
        (core.RevisionExpired, 410),
        (core.Conflict, 409),
        (core.ResyncRequired, 409),
        (core.Denied, 403),
        (Unauthenticated, 401),
        (core.Rejected, 422),
        (core.Unavailable, 503),
        (TooMany, 429),
    ],
)
def test_a_request_refused_as_a_whole_has_a_status(kind, status):
    assert status_of(made(kind)) == status


def test_every_refusal_has_a_status_and_a_fault_is_ours():
    assert len(list(kinds())) > len(IN_THE_CORE) > 5
    assert not [kind for kind in kinds() if status_of(kind.__new__(kind)) == 500]
    assert status_of(RuntimeError()) == 500


def test_the_headers_say_how_to_ask_and_when_to_ask_again():
    assert headers_of(made(Unauthenticated)) == {"www-authenticate": "Bearer"}
    assert headers_of(TooMany("slow down", retry_seconds=1.2)) == {"retry-after": "2"}
    assert headers_of(TooMany("slow down", retry_seconds=0.0)) == {"retry-after": "1"}
    assert headers_of(made(core.Denied)) == {}


# typed results


@pytest.mark.parametrize("kind", IN_THE_CORE, ids=lambda kind: kind.__name__)
def test_every_refusal_of_the_core_is_a_member_of_a_result(kind):
    found = failure_of(made(kind).at("commands", 3, "group"), 7)
    names = {each.__name__ for each in kind.__mro__}
    assert type(found).__name__ in names, "the member is called as its branch of the tree"
    assert (found.code, found.message, found.hint) == (kind.code, "wrong", "right")
    assert found.path == ["commands", "3", "group"]


def test_the_path_has_the_names_that_the_input_has():
    missing = core.NotFound("wrong").at("commands", 0, "choice", "applications", 1)
    assert failure_of(missing, 7).path == ["commands", "0", "applications", "1"]
    late = core.Invalid("wrong").at("late_bound", 1, "source")
    assert failure_of(late, 7).path == ["lateBound", "1", "source"]
    assert extensions_of(late)["path"] == ["lateBound", "1", "source"]


def test_a_member_carries_what_its_branch_knows_more():
    missing = core.SelectorNotFound("wrong", text="/gio", span=Span(2, 3), nearest=["geo"])
    selector = failure_of(missing, 7).selector
    assert (selector.column, selector.length, selector.nearest) == (2, 3, ["geo"])
    assert failure_of(made(core.Invalid), 7).selector is None
    assert failure_of(made(core.Conflict), 7).revision == 7
    assert failure_of(core.Rejected("no", reasons=["a", "b"]), 7).reasons == ["a", "b"]


def test_what_is_in_no_branch_of_the_table_is_not_dressed_up_as_one():
    with pytest.raises(TrellisError):
        failure_of(TrellisError("what is this?"), 7)


def test_every_field_of_every_failure_is_described():
    for kind in (wire.Failure, *wire.Refusal.__args__):
        definition = kind.__strawberry_definition__
        assert definition.description
        assert all(field.description for field in definition.fields), kind


# errors of GraphQL


def test_a_refusal_in_a_field_keeps_its_words_its_code_and_its_place():
    (error,) = errors_of("{ refused }")
    assert graphql_error(error) == {
        "message": "no such thing",
        "locations": [{"line": 1, "column": 3}],
        "path": ["refused"],
        "extensions": {
            "code": "NOT_FOUND",
            "hint": "look elsewhere",
            "path": ["commands", "3"],
        },
    }


def test_a_selector_error_points_at_its_column():
    missing = core.SelectorNotFound("wrong", text="/gio", span=Span(2, 3), nearest=["geo"])
    found = graphql_error(GraphQLError("wrong", original_error=missing))["extensions"]
    assert found == {
        "code": "SELECTOR_NOT_FOUND", "hint": "", "column": 2, "length": 3, "nearest": ["geo"],
    }  # fmt: skip
    rejected = core.Rejected("no", reasons=["a"])
    assert graphql_error(GraphQLError("no", original_error=rejected))["extensions"] == {
        "code": "REJECTED", "hint": "", "reasons": ["a"],
    }  # fmt: skip


def test_a_request_refused_before_its_document_is_read_has_the_same_shape():
    assert refusal(TooLarge("2 MiB", hint="send less")) == {
        "message": "2 MiB",
        "extensions": {"code": "TOO_LARGE", "hint": "send less"},
    }


@pytest.mark.parametrize(
    "document", ["{", "{ nothing }", "{ echo(name: 5, revision: }", "query ($a: What) { refused }"]
)
def test_what_graphql_refuses_passes_in_its_own_words(document):
    found = [graphql_error(error) for error in errors_of(document)]
    assert found and all(each["extensions"] == {"code": "BAD_REQUEST"} for each in found)
    assert all(each["message"] and each["locations"] for each in found)


@pytest.mark.parametrize(
    ("document", "variables"),
    [
        ("{ echo(revision: -5) }", None),
        ("query ($revision: Revision!) { echo(revision: $revision) }", {"revision": -5}),
    ],
)
def test_a_value_a_scalar_refuses_says_which_and_why(document, variables):
    (error,) = errors_of(document, variables)
    found = graphql_error(error)
    assert found["message"].endswith('"-5" is no revision'), found
    assert "hint:" not in found["message"]
    assert found["extensions"] == {"code": "INVALID", "hint": "send a whole number, 0 or more"}


def test_what_was_sent_is_not_sent_back_at_length():
    document = "query ($name: Name!) { echo(name: $name) }"
    for value in ([{"x": "y" * 100_000}], "y" * 100_000):
        (error,) = errors_of(document, {"name": value})
        assert len(graphql_error(error)["message"]) <= MESSAGE_LENGTH_MAX + 200


def test_a_fault_is_masked_with_an_id_and_logged_once_with_its_trace(caplog):
    (error,) = errors_of("{ broken }")
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        found = graphql_error(error, error_id_source=lambda: "e-17")
    assert found == {
        "message": "something went wrong",
        "locations": [{"line": 1, "column": 3}],
        "path": ["broken"],
        "extensions": {"code": "INTERNAL", "errorId": "e-17"},
    }
    (line,) = caplog.records
    assert line.getMessage() == "error e-17 at broken"
    assert line.exc_info is not None and isinstance(line.exc_info[1], RuntimeError)


def test_every_fault_has_an_id_of_its_own():
    faults = [GraphQLError("x", original_error=ValueError(SECRET)) for _ in range(100)]
    ids = {graphql_error(fault)["extensions"]["errorId"] for fault in faults}
    assert len(ids) == 100
