"""Documents by their hash: checked, bounded, and nobody's to change."""

from __future__ import annotations

from hashlib import sha256

import pytest

from api.execution.persisted import ENTRY_BYTES, PersistedQueries, hash_in
from api.refusals import PersistedQueryNotFound, PersistedQueryNotSupported
from graph.model.errors import Invalid


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_a_text_that_was_kept_is_found_by_its_hash():
    queries = PersistedQueries(10, 10_000)
    with pytest.raises(PersistedQueryNotFound):
        queries.text(digest("{ a }"), "")
    assert queries.text(digest("{ a }"), "{ a }") == "{ a }"
    queries.keep(digest("{ a }"), "{ a }")
    assert queries.text(digest("{ a }"), "") == "{ a }"


def test_a_hash_never_stands_for_another_text():
    queries = PersistedQueries(10, 10_000)
    for known in (False, True):
        with pytest.raises(Invalid, match="not that of the query"):
            queries.text(digest("{ a }"), "{ b }")
        if not known:
            queries.keep(digest("{ a }"), "{ a }")
    assert queries.text(digest("{ a }"), "") == "{ a }"


def test_what_is_kept_is_bounded_and_the_one_used_longest_ago_goes_first():
    texts = [f"{{ field{place} }}" for place in range(4)]
    by_count = PersistedQueries(3, 10_000)
    by_bytes = PersistedQueries(100, 3 * (len(texts[0]) + ENTRY_BYTES))
    for queries in (by_count, by_bytes):
        for text in texts[:3]:
            queries.keep(digest(text), text)
        queries.text(digest(texts[0]), "")
        queries.keep(digest(texts[3]), texts[3])
        with pytest.raises(PersistedQueryNotFound):
            queries.text(digest(texts[1]), "")
        assert queries.text(digest(texts[0]), "") == texts[0]
        assert queries.bytes_kept == 3 * (len(texts[0]) + ENTRY_BYTES)
        queries.keep(digest(texts[0]), texts[0])
        assert queries.bytes_kept == 3 * (len(texts[0]) + ENTRY_BYTES)


def test_a_text_larger_than_the_bound_is_not_kept():
    queries = PersistedQueries(10, ENTRY_BYTES + 10)
    queries.keep(digest("{ a }"), "{ a }")
    queries.keep(digest("{ longer }"), "{ longer }" * 10)
    assert queries.text(digest("{ a }"), "") == "{ a }"


@pytest.mark.parametrize("bounds", [(0, 10_000), (10, 0)])
def test_switched_off_it_says_so_and_takes_texts(bounds):
    queries = PersistedQueries(*bounds)
    queries.keep(digest("{ a }"), "{ a }")
    with pytest.raises(PersistedQueryNotSupported):
        queries.text(digest("{ a }"), "")
    assert queries.text(digest("{ a }"), "{ a }") == "{ a }"


def test_the_hash_is_read_from_the_extensions():
    named = {"version": 1, "sha256Hash": digest("{ a }").upper()}
    assert hash_in({"persistedQuery": named}) == digest("{ a }")
    assert hash_in({"clientLibrary": {"name": "x"}}) is None
    assert hash_in({"persistedQuery": None}) is None


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"version": 1},
        {"version": 2, "sha256Hash": digest("")},
        {"sha256Hash": digest("")},
        {"version": 1, "sha256Hash": ""},
        {"version": 1, "sha256Hash": "a" * 63},
        {"version": 1, "sha256Hash": "g" * 64},
        {"version": 1, "sha256Hash": ["a" * 64]},
        "a" * 64,
        [],
        True,
    ],
)
def test_what_is_no_hash_is_refused(named):
    with pytest.raises(Invalid, match="not the hash of a document"):
        hash_in({"persistedQuery": named})
