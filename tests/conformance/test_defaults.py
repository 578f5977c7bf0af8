"""Clients with their defaults: urql by GET, and Apollo's automatic persisted queries."""

from __future__ import annotations

import pytest

CLIENTS = ["urql", "urql persisted", "apollo", "apollo persisted", "apollo persisted by GET"]
NOT_FOUND = "PersistedQueryNotFound"


@pytest.fixture(scope="module")
def found(node, server):
    return node("defaults.mjs", server.graphql)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_as_it_comes_is_answered(found, client):
    first, second, changed = found[client]["results"]
    assert first["fleet"]["clusters"]["totalCount"] > 0
    assert second == first
    assert changed["declareLabel"]["__typename"] == "Applied"


def test_hashes_go_by_get_where_the_client_is_told_so(found):
    sent = [
        (each["method"], each["query"]) for each in found["apollo persisted by GET"]["requests"]
    ]
    assert sent[2] == ("GET", "")
    assert sent[-1] == ("POST", "sent")


def test_urql_asks_by_get_and_changes_by_post(found):
    sent = [(each["method"], each["status"]) for each in found["urql"]["requests"]]
    assert sent == [("GET", 200), ("GET", 200), ("POST", 200)]


@pytest.mark.parametrize("client", [each for each in CLIENTS if "persisted" in each])
def test_a_document_is_sent_once_and_then_by_its_hash_alone(found, client):
    requests = found[client]["requests"]
    assert {each["status"] for each in requests} == {200}
    sent = [(each["query"], each["error"]) for each in requests]
    once = [("", NOT_FOUND), ("sent", "")]
    assert sent == [*once, ("", ""), *once]
