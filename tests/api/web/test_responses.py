"""Answers remembered: of the newest view alone, and no more than fit."""

from __future__ import annotations

import pytest

from api.telemetry.metrics import Tallies
from api.web.media import Media
from api.web.responses import ENTRY_BYTES, Response, Responses, etag_of, is_known
from doors import opened
from graph.index.snapshot import Snapshot


@pytest.fixture
async def engine(tmp_path):
    async with opened(tmp_path) as engine:
        yield engine


@pytest.fixture
def view(engine) -> Snapshot:
    return engine.view


@pytest.fixture
async def earlier(engine) -> Snapshot:
    return await engine.as_of(1)


def answer(size: int = 100) -> Response:
    return Response(b"x" * size, b'"tag"', "Name")


def kept(bytes_max: int = 100_000) -> tuple[Responses, Tallies]:
    tallies = Tallies()
    return Responses(bytes_max, tallies), tallies


def test_an_answer_is_found_again_at_the_same_view(view):
    responses, tallies = kept()
    given = answer()
    assert responses.get(view, "key") is None
    responses.keep(view, "key", given, 10)
    assert responses.get(view, "key") is given
    assert responses.get(view, "other") is None
    assert (tallies.responses_hit, tallies.responses_missed) == (1, 2)


def test_a_new_view_forgets_every_answer(view, earlier):
    responses, _ = kept()
    responses.keep(earlier, "key", answer(), 10)
    assert responses.get(view, "key") is None
    responses.keep(view, "other", answer(), 10)
    assert responses.get(earlier, "key") is None
    assert responses.get(view, "key") is None


def test_the_memory_is_bounded_and_forgets_the_oldest(view):
    each = 100 + 10 + ENTRY_BYTES
    responses, _ = kept(8 * each)
    for place in range(9):
        responses.keep(view, place, answer(), 10)
    assert responses.get(view, 0) is None
    assert all(responses.get(view, place) for place in range(1, 9))


def test_the_same_answer_kept_twice_counts_once(view):
    each = 100 + 10 + ENTRY_BYTES
    responses, _ = kept(8 * each)
    for _ in range(20):
        responses.keep(view, "again", answer(), 10)
    for place in range(7):
        responses.keep(view, place, answer(), 10)
    assert responses.get(view, "again") is not None
    assert all(responses.get(view, place) for place in range(7))


def test_an_answer_that_would_push_out_too_many_others_is_not_kept(view):
    responses, _ = kept(8_000)
    responses.keep(view, "small", answer(10), 10)
    responses.keep(view, "large", answer(2_000), 10)
    assert responses.get(view, "large") is None
    assert responses.get(view, "small") is not None


def test_without_room_nothing_is_kept(view):
    responses, _ = kept(0)
    responses.keep(view, "key", answer(0), 0)
    assert responses.get(view, "key") is None


def test_a_tag_is_of_the_answer_and_of_its_form():
    same = {etag_of(Media.JSON, b'{"data":1}') for _ in range(3)}
    others = {etag_of(Media.GRAPHQL, b'{"data":1}'), etag_of(Media.JSON, b'{"data":2}')}
    assert len(same) == 1
    assert len(others) == 2
    assert not same & others
    assert all(each.startswith(b'W/"') and each.endswith(b'"') for each in same | others)


def test_a_tag_is_known_again_whatever_stands_around_it():
    tag, other = etag_of(Media.JSON, b"1"), etag_of(Media.JSON, b"2")
    strong = tag.removeprefix(b"W/")
    for sent in (tag, strong, other + b", " + tag, tag + b"," + other):
        assert is_known(tag, sent)
    for sent in (b"", other, tag[:-1], strong.strip(b'"')):
        assert not is_known(tag, sent)
