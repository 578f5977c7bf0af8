"""What is certain of names at another time."""

from __future__ import annotations

from graph.model.inventory import Cluster
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import HasLabel, InNamespace, Not, Saved, Selector
from graph.targeting.certain import Known, Line, certain
from graph.targeting.meaning import Meaning, Named

STORE = Cluster(ClusterNumber(1), "ny-1", labels={"lanes": 3})
HERE, GONE = HasLabel("lanes"), HasLabel("size")


def known(meanings: dict[Named, tuple[Selector, ...]]) -> Known:
    def meaning(name: Named) -> Meaning | None:
        return Meaning(name, meanings[name], ()) if name in meanings else None

    return Known(lambda number: Line((GroupNumber(number),), (), whole=False), meaning)


def test_a_saved_selector_means_what_is_known_of_it() -> None:
    told = known({Saved("a"): (HERE,), Saved("b"): (GONE,)})
    assert certain(Saved("a"), STORE, told) is True
    assert certain(Saved("b"), STORE, told) is False
    assert certain(Saved("c"), STORE, told) is None


def test_a_namespace_surely_had_what_is_known_and_perhaps_more() -> None:
    told = known({InNamespace("pos"): (GONE, HERE), InNamespace("grill"): (GONE,)})
    assert certain(InNamespace("pos"), STORE, told) is True
    assert certain(Not(InNamespace("pos")), STORE, told) is False
    assert certain(InNamespace("grill"), STORE, told) is None
    assert certain(Not(InNamespace("grill")), STORE, told) is None
    assert certain(InNamespace("other"), STORE, told) is None


def test_a_chain_of_names_may_be_longer_than_python_recurses() -> None:
    meanings: dict[Named, tuple[Selector, ...]] = {Saved("s0"): (HERE,)}
    for level in range(3_000):
        meanings[Saved(f"s{level + 1}")] = (Not(Saved(f"s{level}")),)
    assert certain(Saved("s3000"), STORE, known(meanings)) is True
    assert certain(Saved("s2999"), STORE, known(meanings)) is False
