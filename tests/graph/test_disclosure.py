"""What of the past may be seen: never more than was in sight, and the same in every process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from changes import random_changes, random_coverage, random_fleet, random_scope
from engines import NOON, ticking
from graph.access import Access, access_of
from graph.disclosure import STRETCH, Disclosure, at_revision, disclosed
from graph.engine import Engine
from graph.index.builder import build, edit
from graph.index.snapshot import Snapshot
from graph.model.access import Coverage, Grant, Role
from graph.model.change import Change, Changeset, Cursor, Entity, Numbers, net, ref_of
from graph.model.command import (
    Batch,
    DeclareLabel,
    MoveGroup,
    RegisterCluster,
    RenameGroup,
    UpdateCluster,
    UpdateGroup,
)
from graph.model.inventory import LabelKey, LabelType, SavedSelector
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.model.selector import Everything, InNamespace, IsCluster
from graph.model.view import group_at
from graph.model.workload import Choice
from graph.record import LogEntry
from graph.scoped import ScopedView
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from graph.store.port import Entry
from graph.targeting.parser import parse
from graph.targeting.trim import OfWorkload, dispensable, without
from secrets_fleet import ANA, BOSS, SECRETS, do
from small_workload import small_workload
from twin import START, Twin

STORIES = {"test": 40, "campaign": 6_000}
CHANGESETS_A_STORY = 25
SCOPES_A_STORY = 4


# random histories


@pytest.mark.volume
@pytest.mark.timeout(6 * 3600)
def test_what_is_shown_later_was_in_sight_at_the_time(scale: str) -> None:
    tally = Counter[str]()
    for seed in range(STORIES[scale]):
        rng = Random(seed)
        views, log, twin = history(rng)
        for _ in range(SCOPES_A_STORY):
            scope = random_scope(rng, twin, depth=rng.choice((1, 2, 3)))
            covered = random_coverage(rng) if rng.random() < 0.4 else None
            if not isinstance(scope, Everything):
                what = f"seed {seed}, {scope}, {covered}"
                compare(
                    what,
                    rng,
                    [ScopedView(each, scope, covered=covered) for each in views],
                    log,
                    tally,
                )
    print(tally)
    assert tally["live"] > tally["exact"] * 0.99, "what has just happened is told as it was"
    assert tally["later"] > tally["asked"] // 3, "what was in sight is mostly told later too"
    assert tally["later"] < tally["asked"], "nothing was ever in doubt"
    assert tally["workload later"] > tally["workload"] // 2 > 50, "hardly any workload was told"


def history(rng: Random) -> tuple[list[Snapshot], list[Changeset], Twin]:
    """Views of every revision, the changesets between them, and the last of them as a twin."""
    twin = Twin()
    views = [build((), cursor=START, numbers=Numbers())]
    log: list[Changeset] = []
    changes = first_changes(rng)
    while len(log) < CHANGESETS_A_STORY:
        revision = len(log) + 1
        twin.apply(changes)
        views.append(edit_of(views[-1], changes, revision))
        chain = f"{revision:016x}"
        log.append(Changeset(Revision(revision), NOON, "a", "r", changes, chain=chain))
        changes = ()
        while not changes:
            changes = net(random_changes(rng, twin, Revision(revision + 1)))
    return views, log, twin


def first_changes(rng: Random) -> tuple[Change, ...]:
    fleet = [each for each in random_fleet(rng) if not isinstance(each, Grant)]
    return net(Change(None, replace(each, changed=Revision(1))) for each in fleet)


def edit_of(view: Snapshot, changes: tuple[Change, ...], revision: int) -> Snapshot:
    draft = edit(view)
    draft.apply(changes)
    return draft.freeze(Cursor(Revision(revision), f"{revision:016x}"))


def compare(
    what: str,
    rng: Random,
    scoped: list[ScopedView],
    log: list[Changeset],
    tally: Counter[str],
) -> None:
    for changeset in log:
        revision = changeset.revision
        judges = at_revision(scoped[revision - 1]), at_revision(scoped[revision])
        found = (disclosed(change, *judges) for change in changeset.changes)
        exact = {change.ref: change for change in found if change is not None}
        for head in {revision, rng.randint(revision, len(log)), len(log)}:
            shown = Disclosure(changeset, scoped[head]).changes()
            for change in shown:
                told = f"{what}, revision {revision} at {head}: {change}"
                assert change.ref in exact, told
                check_state(told, change.before, exact[change.ref].before)
                check_state(told, change.after, exact[change.ref].after)
            tally["exact" if head == revision else "asked"] += len(exact)
            tally["live" if head == revision else "later"] += len(shown)
            workload = sum(isinstance(each.after or each.before, OfWorkload) for each in shown)
            tally["workload" if head == revision else "workload later"] += workload


def check_state(told: str, shown: Entity | None, exact: Entity | None) -> None:
    if isinstance(shown, LabelKey) and isinstance(exact, LabelKey):
        assert set(shown.allowed) <= set(exact.allowed), told
        assert replace(shown, allowed=exact.allowed) == exact, told
    elif isinstance(shown, OfWorkload) and isinstance(exact, OfWorkload):
        left_out = dispensable(exact) - dispensable(shown)
        assert without(exact, left_out) == shown, told
    else:
        assert shown is None or shown == exact, told


# the workload


def told(
    twin: Twin,
    changes: Sequence[Change],
    later: Sequence[Change],
    scope: str,
    covered: Coverage | None = None,
) -> tuple[Change, ...]:
    """What is told of ``changes``, made at revision 2, once ``later`` ones were made as well."""
    tree = parse(scope, twin)
    first = build(twin.entities(), cursor=START, numbers=twin.numbers)
    log = [_at(changes, 2), _at(later, 3)]
    last = edit_of(edit_of(first, log[0], 2), log[1], 3)
    changeset = Changeset(Revision(2), NOON, "a", "r", log[0], chain="2" * 16)
    return Disclosure(changeset, ScopedView(last, tree, covered=covered)).changes()


def _at(changes: Iterable[Change], revision: int) -> tuple[Change, ...]:
    made = (each.after and replace(each.after, changed=Revision(revision)) for each in changes)
    return net(Change(each.before, after) for each, after in zip(changes, made, strict=True))


def test_a_namespace_leads_nowhere_through_assignments_that_are_not_covered() -> None:
    twin = small_workload()
    menus = twin.workload.assignments["menus"]
    named = replace(menus, choice=Choice("pos", ("menu",)))
    york = twin.cluster(twin.cluster_number("york-1"))
    changes = [
        Change(menus, named),
        Change(None, SavedSelector("pos", InNamespace("pos"))),
        Change(york, replace(york, title="a witness")),
    ]
    for covered, wanted in (
        (None, {york.number, "menus", "pos"}),
        (Coverage(applications=frozenset({"till"})), {york.number}),
    ):
        found = told(twin, changes, [], "/geo/us/ny", covered)
        assert {each.ref.key for each in found} == wanted


def test_a_name_in_doubt_on_one_side_does_not_look_like_a_difference() -> None:
    twin = small_workload()
    one, two = (twin.cluster(twin.cluster_number(name)) for name in ("austin-1", "austin-2"))
    austin, texas = (group_at(twin, path) for path in ("/geo/us/tx/austin", "/geo/us/tx"))
    for assignment, cluster in (("agents", one), ("tills", two)):
        entity = twin.workload.assignments[assignment]
        twin.put(ref_of(entity), replace(entity, selector=IsCluster(cluster.number)))
    twin.put(ref_of(two), replace(two, memberships=(texas,)))
    till = twin.workload.applications["till"]
    moved = Change(one, replace(one, memberships=(texas,)))
    retitled = Change(till, replace(till, title="Till"))
    group = twin.group(austin)
    doubt = [Change(group, replace(group, title="in doubt from here on"))]
    for later, names in (([], ("agent",)), (doubt, ())):
        found = told(twin, [moved, retitled], later, "/geo/us/tx")
        [(was, now)] = [(each.before, each.after) for each in found if each.ref == ref_of(till)]
        assert (was.title, now.title) == ("", "Till")
        assert was.depends_on == now.depends_on == names


# stories


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, now=ticking())
    await do(engine, *SECRETS, actor=None)
    yield engine
    await engine.close()


async def seen(engine: Engine, revision: int) -> Changeset | None:
    changeset = await engine.changeset(Revision(revision))
    return engine.seen_changeset(changeset, engine.access(ANA))


def number(engine: Engine, name: str) -> int:
    found = engine.view.cluster_number(name)
    assert found is not None
    return found


IN = MoveGroup("/geo/us/secret-ny", "/geo/us/tx")
"""Brings a hidden group, with what is in it, into sight."""


async def test_what_comes_into_sight_brings_no_past_along(engine: Engine) -> None:
    earlier = UpdateCluster("secret-york", title="secret-plan")
    await engine.execute(Batch((earlier,), "secret-hand", "secret-reason"))
    await do(engine, IN, actor=BOSS)
    access = engine.access(ANA)
    york = Ref(Kind.CLUSTER, number(engine, "secret-york"))
    assert engine.seen(access).cluster(york.key) is not None
    assert await engine.history(york, access) == []
    assert await seen(engine, 2) is None
    page = await engine.changesets(first=9, access=access, touching=york)
    assert page.entries == ()
    await do(engine, UpdateCluster("secret-york", title="t"), actor=BOSS)
    assert [line.revision for line in await engine.history(york, access)] == [4]


async def test_a_group_that_has_moved_leaves_the_past_of_its_clusters_in_doubt(
    engine: Engine,
) -> None:
    access = engine.access(ANA)
    one = Ref(Kind.CLUSTER, number(engine, "austin-1"))
    await do(engine, UpdateCluster("austin-1", title="t"))
    assert [line.revision for line in await engine.history(one, access)] == [2, 1]
    await do(engine, UpdateGroup("/geo/us", "above the scope"), actor=BOSS)
    assert [line.revision for line in await engine.history(one, access)] == [2, 1]
    await do(engine, RenameGroup("/geo/us/tx/austin", "atx"))
    lines = await engine.history(one, access)
    assert [line.revision for line in lines] == [1], "only what the changeset itself proves"


async def test_a_changeset_that_changes_nothing_in_sight_is_none(engine: Engine) -> None:
    values = ("small", "large", "secret-huge", "secret-tiny")
    await do(engine, DeclareLabel("size", LabelType.TEXT, allowed=values), actor=BOSS)
    assert await seen(engine, 2) is None
    batch = Batch((DeclareLabel("size", LabelType.TEXT, allowed=values[:2]),), "boss", "why")
    planned = await engine.preview(batch, BOSS)
    assert len(planned.changes) == 1
    await do(engine, DeclareLabel("size", LabelType.TEXT, "Size", allowed=values), actor=BOSS)
    shown = await seen(engine, 3)
    assert shown is not None
    (change,) = shown.changes
    assert isinstance(change.after, LabelKey)
    assert (change.after.title, change.after.allowed) == ("Size", ("small", "large"))


async def test_what_was_found_is_remembered_until_a_group_changes(engine: Engine) -> None:
    access = engine.access(ANA)
    for title in "abc":
        await do(engine, UpdateCluster("austin-1", title=title))
    first = await engine.changesets(first=9, access=access)
    kept = dict(engine._seen._verdicts)
    assert len(kept) == 4
    await do(engine, UpdateCluster("austin-2", title="t"))
    again = await engine.changesets(first=9, access=access)
    assert again.entries[1:] == first.entries
    assert all(engine._seen._verdicts[key] is found for key, found in kept.items())
    await do(engine, IN, actor=BOSS)
    assert engine._seen._verdicts == {}


async def test_judging_much_lets_others_have_their_turn(engine: Engine) -> None:
    groups = ("/geo/us/tx/waco",)
    await do(engine, *(RegisterCluster(f"waco-{n}", groups=groups) for n in range(5 * STRETCH)))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    page = await engine.changesets(first=1, access=engine.access(ANA))
    task.cancel()
    assert len(page.entries[0].changeset.changes) == 5 * STRETCH
    assert turns >= 5


@pytest.mark.volume
async def test_processes_that_keep_more_or_less_answer_alike(tmp_path: Path, scale: str) -> None:
    told = Counter[str]()
    for story in range(6 if scale == "test" else 60):
        rng = Random(story)
        store = await EmbeddedStore.open(tmp_path / f"{story}.db")
        least = GraphSettings(
            snapshots_kept_max=1,
            snapshots_kept_seconds=0,
            reconstructions_kept_max=1,
            changesets_kept_max=1,
        )
        engines = [await Engine.open(store, settings=each) for each in (least, GraphSettings())]
        twin, cursor = Twin(), (await store.head()).cursor
        changes = first_changes(rng)
        access = None
        for _ in range(30):
            entry = Entry(Changeset(Revision(cursor.revision + 1), NOON, "a", "r", changes))
            [receipt] = await store.commit([entry], expected=cursor, now=NOON)
            cursor = receipt.cursor
            twin.apply(changes)
            for engine in engines:
                await engine.catch_up()
            if access is None:
                grant = Grant("ana", Role.READER, random_scope(rng, twin), subject="ana")
                access = access_of(ANA, [grant])
            await compare_processes(rng, engines, access, told)
            changes = ()
            while not changes:
                changes = net(random_changes(rng, twin, Revision(cursor.revision + 1)))
        for engine in engines:
            await engine.close()
    assert told["changesets"] > 100 and told["lines"] > 50, told


async def in_full(engine: Engine, entry: LogEntry, access: Access) -> Changeset | None:
    """What may be seen of an entry, read as somebody who was given its header alone reads it."""
    found = entry.changeset
    if found is None:
        whole = await engine.changeset(entry.header.revision)
        found = engine.seen_changeset(whole, access)
    assert found is not None and found.header == entry.header
    return found


async def compare_processes(
    rng: Random, engines: list[Engine], access: Access, told: Counter[str]
) -> None:
    pages = [await each.changesets(first=50, access=access) for each in engines]
    assert (pages[0].end, pages[0].more) == (pages[1].end, pages[1].more)
    read = [
        [await in_full(engine, entry, access) for entry in page.entries]
        for engine, page in zip(engines, pages, strict=True)
    ]
    assert read[0] == read[1]
    told["changesets"] += len(pages[0].entries)
    visible = list(engines[0].seen(access).everything())
    for number in rng.sample(visible, min(3, len(visible))):
        cluster = Ref(Kind.CLUSTER, number)
        lines = [await each.history(cluster, access) for each in engines]
        assert lines[0] == lines[1]
        told["lines"] += len(lines[0])
