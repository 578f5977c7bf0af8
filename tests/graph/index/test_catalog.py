"""Who names what, while thousands of objects name one."""

from __future__ import annotations

from graph.index.catalog import Catalog, CatalogDraft
from graph.model.names import GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.selector import Under
from graph.model.values import Values
from graph.model.workload import Layer

TEXAS = Ref(Kind.GROUP, 1)


def layers(count: int) -> list[Layer]:
    values = Values.of({"a": 1})
    return [Layer(f"layer-{n}", Under(GroupNumber(1)), values) for n in range(count)]


def test_a_load_that_names_one_group_grows_one_set_in_place() -> None:
    draft = CatalogDraft(Catalog.of())
    first, *others = layers(2_500)
    draft.put(None, first)
    growing = draft._naming[TEXAS]
    for layer in others:
        draft.put(None, layer)
        assert draft._naming[TEXAS] is growing, "another set for every object takes their square"
    assert len(draft.named_by(TEXAS)) == 2_500
    assert draft.freeze().referrers == Catalog.of([first, *others]).referrers


def test_tables_that_are_not_written_are_shared_with_the_version_before() -> None:
    before = Catalog.of(layers(3))
    draft = CatalogDraft(before)
    draft.put(before.workload.layers["layer-0"], None)
    after = draft.freeze()
    assert after.workload.applications is before.workload.applications
    assert after.hierarchies is before.hierarchies
    assert (len(before.workload.layers), len(after.workload.layers)) == (3, 2)
    assert (len(before.named_by(TEXAS)), len(after.named_by(TEXAS))) == (3, 2)


def test_a_thing_that_nothing_names_any_more_is_not_remembered() -> None:
    before = Catalog.of(layers(1))
    draft = CatalogDraft(before)
    draft.put(before.workload.layers["layer-0"], None)
    assert draft.freeze().referrers == {}
