"""GraphQL over HTTP, audited by the specification's own suite."""

from __future__ import annotations

import pytest

from serving import copy_store, serve

BY_GET = {"5A70", "D6D5", "6A70"}
"""What a server MAY do with GET, and ours does unless that is switched off."""


@pytest.fixture(scope="module")
def closed_to_get(sample, tmp_path_factory):
    store = copy_store(sample, tmp_path_factory.mktemp("no-get"))
    with serve(store, {"TRELLIS_API_GET_QUERIES": "false"}) as serving:
        yield serving


def test_every_audit_of_graphql_over_http_passes(node, server):
    found = node("audit.mjs", server.graphql)
    assert len(found) == 61
    assert [each for each in found if each["status"] != "ok"] == []


def test_with_get_switched_off_only_queries_by_get_are_missing_which_is_allowed(
    node, closed_to_get
):
    found = node("audit.mjs", closed_to_get.graphql)
    missing = [each for each in found if each["status"] != "ok"]
    assert {each["id"] for each in missing} == BY_GET
    assert all(each["name"].startswith("MAY ") for each in missing)
