"""Configurations by their bits, and one object for each."""

from __future__ import annotations

from random import Random

from graph.composition import numbering as module
from graph.composition.numbering import Numbering


def code(numbering: Numbering, names: str) -> int:
    return sum(numbering.bits[name] for name in names)


def test_a_configuration_is_the_bits_of_its_layers_and_one_object():
    numbering = Numbering("abc")
    names = frozenset("ac")
    assert numbering.own(names) is names
    assert numbering.named[code(numbering, "ac")] is names
    assert numbering.own(frozenset("ca")) is names
    assert numbering.named[0] == frozenset()
    assert numbering.named[code(numbering, "ac") ^ code(numbering, "ab")] == frozenset("bc")


def test_bits_keep_their_meaning_when_layers_come():
    numbering = Numbering("ab")
    both = numbering.own(frozenset("ab"))
    more = numbering.covering("bcd")
    assert numbering.covering("ba") is numbering
    assert more.named[code(numbering, "ab")] is both
    assert more.named[code(more, "ad")] == frozenset("ad")
    assert "c" not in numbering.bits, "who holds the former one sees nothing of it"


def test_two_that_go_on_from_one_do_not_meet():
    start = Numbering("a")
    one, other = start.covering("ab"), start.covering("ac")
    assert one.bits["b"] == other.bits["c"]
    assert one.named[code(one, "ab")] == frozenset("ab")
    assert other.named[code(other, "ac")] == frozenset("ac")


def test_bits_of_layers_that_are_gone_are_used_again_in_time():
    numbering = Numbering("a")
    widest = 0
    for turn in range(500):
        layers = ["a", f"layer-{turn}"]
        numbering = numbering.renewed(layers)
        widest = max(widest, len(numbering.bits))
        assert numbering.named[sum(numbering.bits[each] for each in layers)] == {*layers}
    assert module.SPARE_BITS < widest <= module.SPARE_BITS + 6


def test_no_more_is_remembered_than_is_of_use(monkeypatch):
    monkeypatch.setattr(module, "REMEMBERED_MAX", 20)
    layers = [f"layer-{at}" for at in range(8)]
    numbering, random = Numbering(layers), Random(1)
    for _ in range(300):
        names = frozenset(random.sample(layers, random.randint(0, 8)))
        found = numbering.named[sum(numbering.bits[each] for each in names)]
        assert found == names == numbering.own(names)
        assert len(numbering.named) <= 20
