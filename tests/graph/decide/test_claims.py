"""Cluster-scoped objects: one application's each, and an admin's to give and take."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from at_work import WORKLOAD, refused, working
from engines import give as give_engine
from engines import ticking
from graph.decide.claims import CLUSTER_SCOPED_MAX
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import Batch, GrantAccess
from graph.model.errors import Denied, Invalid, Rejected
from graph.model.ref import Kind, Ref
from graph.model.workload_command import DefineApplication, DeleteApplication
from graph.store.embedded import EmbeddedStore
from small import SMALL, give
from story import Story

READER, CLASS = "ClusterRole/pos-reader", "PriorityClass/pos.high"


def pos(*objects: str, name: str = "pos") -> DefineApplication:
    return DefineApplication(name, "shop", cluster_scoped=objects)


def test_cluster_scoped_objects_are_kept_in_one_order() -> None:
    fleet = working()
    give(fleet, pos(CLASS, READER))
    assert fleet.workload.applications["pos"].cluster_scoped == (READER, CLASS)
    assert give(fleet, pos(READER, CLASS)) == ()
    give(fleet, pos())
    assert fleet.workload.applications["pos"].cluster_scoped == ()


@pytest.mark.parametrize(
    ("objects", "path", "says"),
    [
        (("pos-reader",), (0,), "not an object of a manifest"),
        ((READER, "clusterrole/x"), (1,), "not an object of a manifest"),
        ((READER, "ClusterRole/"), (1,), "not the name of an object"),
        (("ClusterRole/a/b",), (0,), "not the name of an object"),
        (("ClusterRole/A",), (0,), "not the name of an object"),
        (("Namespace/shop",), (0,), "cannot be an application's"),
        ((READER, READER), (), "list .ClusterRole/pos-reader. twice"),
        (tuple(f"A/{n}" for n in range(CLUSTER_SCOPED_MAX + 1)), (), "51 cluster-scoped objects"),
    ],
)
def test_what_is_no_cluster_scoped_object_is_refused(
    objects: tuple[str, ...], path: tuple[int, ...], says: str
) -> None:
    refusal = refused(Invalid, working(), pos(*objects))
    assert refusal.path == ("commands", 0, "cluster_scoped", *path)
    with pytest.raises(Invalid, match=says):
        give(working(), pos(*objects))


def test_as_many_as_are_allowed_are() -> None:
    give(working(), pos(*(f"ClusterRole/{n}" for n in range(CLUSTER_SCOPED_MAX))))


def test_a_second_claimant_is_told_who_has_it() -> None:
    fleet = working()
    give(fleet, pos(READER, CLASS))
    refusal = refused(Rejected, fleet, pos("ClusterRole/x", READER, CLASS, name="pos-two"))
    assert 'ClusterRole/pos-reader is application "pos"' in refusal.message
    assert len(refusal.reasons) == 2
    refused(Rejected, fleet, pos(name="a"), pos(READER, name="a"))
    refused(Rejected, working(), pos(READER), pos(READER, name="pos-two"))


@pytest.mark.parametrize("drop_first", [True, False])
def test_an_object_passes_from_one_to_another_in_any_order(drop_first: bool) -> None:
    fleet = working()
    give(fleet, pos(READER))
    commands = [pos(), pos(READER, name="pos-two")]
    give(fleet, *(commands if drop_first else reversed(commands)))
    assert fleet.workload.applications["pos-two"].cluster_scoped == (READER,)
    give(fleet, DeleteApplication("pos-two"))
    give(fleet, pos(READER))


def test_a_revert_leaves_an_application_whose_object_is_anothers_by_now() -> None:
    story = Story()
    story.give(*WORKLOAD, pos(READER))
    story.start_here()
    story.give(pos(), pos(READER, name="pos-two"))
    (left,) = story.copy().revert(Ref(Kind.APPLICATION, "pos"))
    assert left == "application pos: ClusterRole/pos-reader is application pos-two's now"
    both = story.revert(Ref(Kind.NAMESPACE, "shop"))
    assert both == ()
    assert story.now.workload.applications["pos"].cluster_scoped == (READER,)
    assert "pos-two" not in story.now.workload.applications


# who may

ADMIN, OPERATOR, EDITOR = (
    Actor(role, standing=Role(role)) for role in ("admin", "operator", "editor")
)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = await Engine.open(await EmbeddedStore.open(tmp_path / "f.db"), now=ticking())
    await give_engine(engine, *SMALL, *WORKLOAD, pos(READER), pos("ClusterRole/z", name="zz"))
    await give_engine(
        engine,
        GrantAccess("usa", Role.ADMIN, "usa", scope="/geo/us"),
        GrantAccess("shop", Role.ADMIN, "shop", namespaces=("shop",)),
        GrantAccess("till", Role.EDITOR, "till", applications=("till",)),
    )
    yield engine
    await engine.close()


async def make(engine: Engine, actor: Actor, command: object) -> None:
    await engine.execute(Batch((command,), actor.name, "because"), actor)  # type: ignore[arg-type]


@pytest.mark.parametrize("actor", [OPERATOR, EDITOR, Actor("usa"), Actor("shop")])
async def test_only_an_admin_of_everything_changes_them(engine: Engine, actor: Actor) -> None:
    for command in (pos(), pos(READER, CLASS), DeleteApplication("pos"), pos("A/b", name="new")):
        with pytest.raises(Denied):
            await make(engine, actor, command)
    await make(engine, ADMIN, pos(CLASS))
    await make(engine, ADMIN, pos("A/b", name="new"))


@pytest.mark.parametrize("actor", [OPERATOR, EDITOR])
async def test_whoever_leaves_them_as_they_are_may_write_the_rest(
    engine: Engine, actor: Actor
) -> None:
    await make(engine, actor, DefineApplication("pos", "shop", "Pos", cluster_scoped=(READER,)))
    await make(engine, actor, pos(name="without"))
    with pytest.raises(Denied, match="pos would have other cluster-scoped objects") as refusal:
        await make(engine, actor, pos(CLASS))
    assert "admin" in refusal.value.hint


async def test_a_revert_that_changes_them_takes_an_admin_too(engine: Engine) -> None:
    before = engine.view.cursor.revision
    await make(engine, ADMIN, pos(CLASS))
    with pytest.raises(Denied, match="cluster-scoped"):
        await engine.plan_revert(Ref(Kind.APPLICATION, "pos"), before, EDITOR)
    plan = await engine.plan_revert(Ref(Kind.APPLICATION, "pos"), before, ADMIN)
    with pytest.raises(Denied, match="cluster-scoped"):
        await make(engine, EDITOR, plan.command)
    await make(engine, ADMIN, plan.command)
    assert engine.view.workload.applications["pos"].cluster_scoped == (READER,)


async def test_who_holds_an_object_is_not_told_to_whoever_does_not_see_them(
    engine: Engine,
) -> None:
    """An editor of one application learns that it is refused, and neither by whom nor why."""
    claim = DefineApplication("till", "shop", cluster_scoped=("ClusterRole/z",))
    with pytest.raises(Denied) as refusal:
        await make(engine, Actor("till"), claim)
    assert "zz" not in str(refusal.value)
