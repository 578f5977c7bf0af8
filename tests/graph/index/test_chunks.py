"""The persistent vector under every column of the index."""

from __future__ import annotations

from random import Random

import pytest

from graph.index.chunks import SIZE, Chunks, ChunksDraft, SetsDraft, chunks_of, sets_of
from graph.model.cluster_set import EMPTY, ClusterSet


@pytest.mark.parametrize("size", [0, 1, SIZE - 1, SIZE, SIZE + 1, 3 * SIZE])
def test_a_vector_holds_what_it_was_made_of_and_its_default_elsewhere(size: int) -> None:
    vector = chunks_of(list(range(size)), -1)
    assert vector.first(size) == list(range(size))
    assert vector.first(size + 2 * SIZE) == [*range(size), *[-1] * (2 * SIZE)]
    assert [vector.get(place) for place in (-1, size, size + 10 * SIZE)] == [-1, -1, -1]


def test_versions_share_what_was_not_written_and_nothing_else() -> None:
    first = chunks_of(list(range(4 * SIZE)), -1)
    draft = first.put(SIZE, 7)
    assert draft.put(SIZE + 1, 8) is draft
    second = draft.freeze()
    shared = [one is other for one, other in zip(first.chunks, second.chunks, strict=True)]
    assert shared == [True, False, True, True]
    assert first.first(4 * SIZE) == list(range(4 * SIZE))
    assert (second.get(SIZE), second.get(SIZE + 1)) == (7, 8)


def test_a_sparse_vector_shares_one_chunk_for_its_gaps() -> None:
    draft = ChunksDraft(Chunks[int]([], 0))
    draft.put(100 * SIZE, 1)
    assert len({id(chunk) for chunk in draft.chunks}) == 2
    draft.put(5, 2)
    assert (draft.get(5), draft.get(SIZE + 5), draft.get(100 * SIZE)) == (2, 0, 1)


def test_random_writes_over_many_versions_read_back_from_every_version() -> None:
    rng = Random(4)
    kept: list[tuple[Chunks[int], dict[int, int]]] = [(Chunks([], 0), {})]
    for _ in range(30):
        base, held = rng.choice(kept)
        held = dict(held)
        draft = base
        for _ in range(rng.randint(1, 40)):
            place, value = rng.randrange(6 * SIZE), rng.randrange(1_000)
            held[place] = value
            draft = draft.put(place, value)
        kept.append((draft.freeze(), held))
    for version, held in kept:
        assert version.first(6 * SIZE) == [held.get(place, 0) for place in range(6 * SIZE)]


def test_a_set_is_copied_once_and_a_shared_one_is_never_changed() -> None:
    shared = ClusterSet.of([1])
    base = sets_of([shared, shared])
    draft = SetsDraft(base)
    draft.own(0).add(2)
    assert draft.own(0) is draft.own(0)
    draft.put(1, draft.get(0)).put(0, draft.get(0))
    draft.own(0).add(3)
    assert [set(found) for found in draft.first(2)] == [{1, 2, 3}, {1, 2}]
    assert [set(found) for found in base.first(2)] == [{1}, {1}]
    draft.own(9).add(4)
    assert not EMPTY
