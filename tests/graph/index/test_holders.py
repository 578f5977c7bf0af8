"""A value's clusters: none, one kept as a bare number, or several kept as a set."""

from __future__ import annotations

from array import array
from random import Random

from graph.index.holders import Holders, HoldersDraft, holders_of
from graph.model.cluster_set import ClusterSet
from graph.model.names import ClusterNumber


def test_a_single_holder_takes_no_set() -> None:
    holders = holders_of([array("I", [7]), ClusterSet.of([8]), array("I", [1, 2])])
    assert [holders.entries.get(code) for code in range(2)] == [7, 8]
    assert [set(holders.get(code)) for code in range(4)] == [{7}, {8}, {1, 2}, set()]
    assert holders.in_use == 3


def test_cluster_number_0_is_a_holder_like_any_other() -> None:
    draft = HoldersDraft(holders_of([]))
    draft.add(0, ClusterNumber(0))
    assert (set(draft.get(0)), draft.in_use) == ({0}, 1)
    draft.add(0, ClusterNumber(5))
    draft.discard(0, ClusterNumber(0))
    assert (set(draft.get(0)), draft.in_use) == ({5}, 1)
    draft.discard(0, ClusterNumber(5))
    assert (set(draft.get(0)), draft.in_use) == (set(), 0)


def test_random_gains_and_losses_are_right_in_every_version() -> None:
    rng = Random(9)
    held: list[set[int]] = [set() for _ in range(12)]
    kept: list[tuple[Holders, list[set[int]]]] = []
    version = holders_of([])
    for _ in range(200):
        draft = HoldersDraft(version)
        for _ in range(rng.randint(1, 12)):
            code, cluster = rng.randrange(12), ClusterNumber(rng.randrange(4))
            if cluster in held[code]:
                draft.discard(code, cluster)
                held[code].discard(cluster)
            else:
                draft.add(code, cluster)
                held[code].add(cluster)
            assert set(draft.get(code)) == held[code]
        version = draft.freeze()
        kept.append((version, [set(each) for each in held]))
    for earlier, wanted in kept:
        assert [set(earlier.get(code)) for code in range(12)] == wanted
        assert earlier.in_use == sum(map(bool, wanted))
