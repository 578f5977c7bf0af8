"""S8 and S9: facts are exact, agree with the log, and are read at one revision."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from graph.model.access import Role
from graph.model.inventory import Cluster, LabelKey, LabelType, SavedSelector
from graph.model.names import GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.selector import Everything, HasLabel
from graph.model.values import Values
from graph.model.workload import Application, LateBound, Layer, Namespace
from graph.store.port import Entry, Store
from history import (
    BUSINESS,
    FULL_CLUSTER,
    GRANTS,
    SELECTORS,
    History,
    by_ref,
    cluster,
    exact,
    group,
    replay,
)
from stores import Opener
from workload_samples import FULL_WORKLOAD

AWKWARD = (
    "caf\u00e9",
    "cafe\u0301",
    "CAF\u00c9",
    "Café ",
    " Café",
    "a\u200bb",
    "🏪 emoji",
    "\u0130stanbul \u0131i",
    "\ufb01 ligature",
    "semi;colon 'quote' \"double\" `back`",
    "back\\slash",
    "\U0001f1fa\U0001f1f8",
    "null",
    "true",
    "0",
    "1e3",
)
"""Texts that a store with opinions would change or confuse."""


async def agreed(store: Store) -> dict[Ref, bytes]:
    """The facts, which must be what the whole log leads to."""
    facts = await store.load()
    assert facts.head.horizon.revision == 0
    found = exact(by_ref(facts.entities))
    assert found == exact(await replay(store.changesets(after=facts.head.horizon)))
    return found


async def test_every_kind_of_object_comes_back_as_it_was(history: History) -> None:
    await history.put(*SELECTORS, *GRANTS, FULL_CLUSTER, cluster(0), *FULL_WORKLOAD)
    assert {ref.kind for ref in history.facts} == set(Kind)
    found = by_ref((await history.store.load()).entities)
    assert found == history.facts
    assert exact(found) == exact(history.facts)


async def test_objects_are_changed_and_removed_in_place(history: History) -> None:
    await history.put(*SELECTORS, *GRANTS, FULL_CLUSTER, cluster(0), cluster(1))
    bare = Cluster(FULL_CLUSTER.number, FULL_CLUSTER.name)
    await history.put(bare, gone=[cluster(0), SELECTORS[1]])
    await history.put(FULL_CLUSTER, replace(cluster(1), memberships=(GroupNumber(3),)))
    assert exact(history.facts) == await agreed(history.store)


async def test_a_grant_is_given_changed_and_taken_back(history: History) -> None:
    one, other = GRANTS
    await history.put(one, other, FULL_CLUSTER)
    # every field at once: what is empty now must not be kept from before
    await history.put(replace(other, name=one.name, role=Role.ADMIN, title=""), gone=[other])
    found = by_ref((await history.store.load()).entities)
    assert exact(found) == exact(history.facts) == await agreed(history.store)
    await history.put(gone=[one])
    assert exact(history.facts) == await agreed(history.store)
    await history.put(one)
    assert exact(history.facts) == await agreed(history.store)


async def test_who_a_grant_is_for_is_kept_byte_for_byte(history: History) -> None:
    grants = [replace(GRANTS[0], name=f"g{at}", subject=who) for at, who in enumerate(AWKWARD)]
    claims = [replace(GRANTS[1], name=f"c{at}", claim=who) for at, who in enumerate(AWKWARD)]
    await history.put(*grants, *claims, FULL_CLUSTER)
    assert exact(history.facts) == await agreed(history.store)


async def test_groups_are_renamed_moved_and_removed(history: History) -> None:
    await history.put(group(5, "geo", 1, "ny"), group(6, "geo", 5, "albany"), cluster(0))
    await history.put(group(6, "geo", 2, "austin", "Austin"), group(5, "geo", 0, "canada"))
    await history.put(
        replace(cluster(0), memberships=(GroupNumber(6),)), gone=[group(5, "", 0, "")]
    )
    assert exact(history.facts) == await agreed(history.store)


async def test_a_removed_object_can_come_back(history: History) -> None:
    await history.put(FULL_CLUSTER)
    await history.put(gone=[FULL_CLUSTER])
    assert exact(history.facts) == await agreed(history.store)
    await history.put(FULL_CLUSTER)
    assert exact(history.facts) == await agreed(history.store)


NAMES = ("need_gpu", "ENVIRONMENT", "size", "SIZE", "Size", "example.com/size", "example.com/SIZE")
"""Names as Kubernetes has them; some differ in letter case alone."""


async def test_names_as_kubernetes_has_them_are_kept_byte_for_byte(history: History) -> None:
    keys = [LabelKey(name, LabelType.TEXT) for name in NAMES]
    holders = [replace(cluster(at), labels={name: name}) for at, name in enumerate(NAMES)]
    selectors = [SavedSelector(f"s{at}", HasLabel(name)) for at, name in enumerate(NAMES)]
    layers = [
        Layer(name, Everything(), Values.of({key: name for key in (*NAMES, "app.properties")}))
        for name in ("imdb-1.0.1", "imdb-1.0.10", "imdb-1-0-1")
    ]
    late = tuple(LateBound(rf"a\.b.{at}", f"{{{name}}}") for at, name in enumerate(NAMES))
    shop = (
        Namespace("shop", labels={name: "x" for name in NAMES}),
        Application("pos", "shop", labels=dict.fromkeys(NAMES, "x"), late_bound=late),
    )
    await history.put(*keys, *holders, *selectors, *layers, *shop)
    found = by_ref((await history.store.load()).entities)
    assert exact(found) == exact(history.facts) == await agreed(history.store)
    # one of several that differ in letter case alone goes, and the others stay
    await history.put(replace(holders[3], labels={}), gone=[keys[3], selectors[3], layers[1]])
    assert exact(history.facts) == await agreed(history.store)


async def test_texts_are_kept_byte_for_byte(history: History) -> None:
    await history.put(LabelKey("text", LabelType.TEXT, title=AWKWARD[0], allowed=AWKWARD))
    await history.put(
        *(
            replace(cluster(number, text), labels={"text": text})
            for number, text in enumerate(AWKWARD)
        )
    )
    clusters = [each for each in (await history.store.load()).entities if isinstance(each, Cluster)]
    clusters.sort(key=lambda each: each.number)
    assert [each.title for each in clusters] == list(AWKWARD)
    assert [each.labels["text"] for each in clusters] == list(AWKWARD)
    assert exact(history.facts) == await agreed(history.store)


@pytest.mark.parametrize(
    "value", [0, 1, -1, 2**53, -(2**53), 0.5, -0.1, 1e-300, 123456789.25, True, False, "1", ""]
)
async def test_label_values_keep_value_and_type(history: History, value: float | str) -> None:
    await history.put(replace(cluster(0), labels={"lanes": value}))
    found = by_ref((await history.store.load()).entities)
    assert exact(found) == exact(history.facts)


async def test_facts_log_and_head_are_the_same_after_a_restart(
    history: History, restart: Callable[[], Awaitable[Store]]
) -> None:
    await history.put(*SELECTORS, *GRANTS, FULL_CLUSTER, cluster(0), *FULL_WORKLOAD)
    await history.put(gone=[cluster(0)])
    before = await history.store.load()
    log = [each async for each in history.store.changesets(after=before.head.horizon)]
    store = await restart()
    after = await store.load()
    assert after.head == before.head
    assert by_ref(after.entities) == by_ref(before.entities)
    assert [each async for each in store.changesets(after=after.head.horizon)] == log


async def test_ten_thousand_clusters_fit_in_one_changeset(history: History) -> None:
    await history.put(*(cluster(number, size="large", lanes=number) for number in range(10_000)))
    assert exact(history.facts) == await agreed(history.store)
    await history.put(gone=[cluster(number) for number in range(10_000)])
    assert len((await history.store.load()).entities) == len(BUSINESS)


async def test_readers_see_only_whole_revisions(history: History, open_store: Opener) -> None:
    fleet = range(40)
    await history.put(*(cluster(number, "2") for number in fleet))
    readers = [history.store, await open_store(write=False), await open_store(write=False)]
    seen: list[set[int]] = [set() for _ in readers]
    writing = True

    async def read(position: int) -> None:
        while writing:
            facts = await readers[position].load()
            titles = {each.title for each in facts.entities if isinstance(each, Cluster)}
            assert titles == {str(facts.head.cursor.revision)}
            seen[position].add(facts.head.cursor.revision)

    async def write() -> None:
        nonlocal writing
        try:
            for revision in range(3, 33, 3):
                titles = (str(revision), str(revision + 1), str(revision + 2))
                batches = [[cluster(number, title) for number in fleet] for title in titles]
                await history.commit(*map(Entry, history.changesets(*batches)))
        finally:
            writing = False

    async with asyncio.timeout(60):
        await asyncio.gather(write(), *(read(position) for position in range(len(readers))))
    for reader in readers:
        assert (await reader.head()).cursor == history.cursor
    assert all(revision % 3 == 2 for revisions in seen for revision in revisions)
