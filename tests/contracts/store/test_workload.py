"""S8 and S9 for the workload: definitions are exact, whatever is in them and in whatever order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.change import Entity
from graph.model.inventory import Hierarchy, Mode
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.model.selector import Everything
from graph.model.values import Values
from graph.model.workload import Application, Assignment, Choice, Layer
from graph.store.port import Entry
from history import FULL_CLUSTER, SELECTORS, History, by_ref, exact, replay
from workload_samples import (
    AWKWARD_VALUES,
    COVERED,
    DRAWER,
    FULL_WORKLOAD,
    KITCHEN,
    LAYERS,
    MENU,
    POLICIES,
    POS,
    TEXAS,
    TILL,
)


@pytest.fixture
async def workload(history: History) -> History:
    """The small business with its whole workload, put down in one changeset."""
    await history.put(*SELECTORS, FULL_CLUSTER, *FULL_WORKLOAD)
    return history


async def check(history: History) -> None:
    """The facts are what was written, and what the log leads to."""
    facts = await history.store.load()
    found = exact(by_ref(facts.entities))
    assert found == exact(history.facts)
    assert found == exact(await replay(history.store.changesets(after=facts.head.horizon)))


async def fact(history: History, ref: Ref) -> Entity:
    return by_ref((await history.store.load()).entities)[ref]


async def test_every_definition_comes_back_as_it_was(workload: History) -> None:
    await check(workload)
    assert await fact(workload, Ref(Kind.APPLICATION, "till")) == replace(
        TILL, changed=workload.cursor.revision
    )


async def test_facts_are_listed_by_kind_and_name(workload: History) -> None:
    order = list(Kind)
    found = list(by_ref((await workload.store.load()).entities))
    assert found == sorted(found, key=lambda ref: (order.index(ref.kind), _sortable(ref)))
    assert {ref.kind for ref in found} == set(Kind)


def _sortable(ref: Ref) -> str:
    return f"{ref.key:09d}" if isinstance(ref.key, int) else ref.key


async def test_values_keep_every_type(workload: History) -> None:
    layer = await fact(workload, Ref(Kind.LAYER, "till-texas"))
    assert isinstance(layer, Layer)
    assert layer.values.text == AWKWARD_VALUES.text
    (one, same, true) = (layer.values.data[key] for key in ("one", "one and a bit", "true"))
    assert [type(value) for value in (one, same, true)] == [int, float, bool]
    await workload.put(replace(LAYERS[0], values=Values.of({"one": 1.0})))
    await workload.put(replace(LAYERS[0], values=Values.of({"one": 1})))
    layer = await fact(workload, Ref(Kind.LAYER, "till-texas"))
    assert isinstance(layer, Layer)
    assert layer.values.text == '{"one":1}'


async def test_no_schema_is_not_an_empty_one(workload: History) -> None:
    menu = await fact(workload, Ref(Kind.APPLICATION, "menu"))
    drawer = await fact(workload, Ref(Kind.APPLICATION, "drawer"))
    assert isinstance(menu, Application)
    assert isinstance(drawer, Application)
    assert (menu.schema, drawer.schema) == (Values(), None)


async def test_what_a_definition_no_longer_says_is_forgotten(workload: History) -> None:
    bare = (
        replace(POS, title="", owners=(), cost_center="", labels={}, quota=None, limits=None),
        Application("till", "pos"),
        Application("menu", "kitchen"),
        Assignment("tills", Choice("pos"), Everything()),
        Layer("till-texas", Everything(), Values(), "till"),
        replace(POLICIES[0], namespaces=(), quota_max=None, required_labels=(), registries=()),
        replace(COVERED[0], applications=()),
        replace(COVERED[1], namespaces=()),
    )
    await workload.put(*bare)
    await check(workload)
    await workload.put(*FULL_WORKLOAD)
    await check(workload)


async def test_names_keep_the_order_they_were_given_in(workload: History) -> None:
    for turned in (("till", "menu", "drawer"), ("drawer", "till", "menu"), ("menu", "till")):
        await workload.put(
            replace(COVERED[0], applications=turned),
            Assignment("tills", Choice("pos", turned), TEXAS),
            replace(POLICIES[0], namespaces=("kitchen", "pos")),
        )
        await check(workload)


async def test_an_application_goes_once_nothing_names_it(workload: History) -> None:
    await workload.put(replace(TILL, depends_on=("drawer",)), replace(MENU, depends_on=("till",)))
    await check(workload)
    alone = Assignment("tills", Choice("pos", ("till",)), TEXAS)
    await workload.put(replace(TILL, depends_on=()), alone, gone=[DRAWER])
    await check(workload)
    assert Ref(Kind.APPLICATION, "drawer") not in workload.facts


async def test_definitions_go_and_come_back(workload: History) -> None:
    await workload.put(gone=FULL_WORKLOAD)
    await check(workload)
    assert {ref.kind for ref in workload.facts}.isdisjoint({Kind.NAMESPACE, Kind.LAYER})
    await workload.put(*FULL_WORKLOAD[::-1])
    await check(workload)


async def test_a_name_is_freed_and_taken_in_one_commit(workload: History) -> None:
    """Each changeset of a group is as if it were alone."""
    gone = workload.changeset(gone=[LAYERS[2]])
    made = replace(LAYERS[2], selector=TEXAS, application="menu", changed=Revision(4))
    again = workload.changesets([], [made])[1]
    again = replace(again, changes=(replace(again.changes[0], before=None),))
    await workload.commit(Entry(gone), Entry(again))
    await check(workload)


async def test_hierarchies_keep_their_order(history: History) -> None:
    await history.put(
        Hierarchy("geo", Mode.SINGLE, required=True, title="Geography", precedence=1),
        Hierarchy("devices", Mode.MANY, precedence=-7),
    )
    await check(history)
    await history.put(Hierarchy("geo", Mode.SINGLE), Hierarchy("devices", Mode.MANY, precedence=1))
    await check(history)


async def test_who_a_changeset_was_made_for_is_kept(history: History) -> None:
    await history.commit(Entry(replace(history.changeset(KITCHEN), on_behalf_of="ann")))
    await history.put(POS)
    assert (await history.store.changeset(Revision(2))).on_behalf_of == "ann"
    assert (await history.store.changeset(Revision(3))).on_behalf_of == ""
    await check(history)


async def test_the_loss_that_was_accepted_is_kept(history: History) -> None:
    accepted = replace(history.changeset(KITCHEN), accepted_loss=4_100)
    await history.commit(Entry(accepted))
    await history.put(POS)
    assert (await history.store.changeset(Revision(2))).accepted_loss == 4_100
    assert (await history.store.changeset(Revision(3))).accepted_loss == 0
    await check(history)
