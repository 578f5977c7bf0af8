"""Access through the façade: what a scoped actor reads, writes, and cannot find out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import product

import pytest

from engines import ticking
from graph.decide.revert import Everything as Whole
from graph.decide.revert import Parts, Subtree
from graph.engine import Engine
from graph.facets import ByGroup, ByLabel
from graph.model.access import Actor, Role
from graph.model.command import (
    Batch,
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteSelector,
    GrantAccess,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    RevokeAccess,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
    UpdateHierarchy,
)
from graph.model.errors import (
    Conflict,
    Denied,
    Invalid,
    LabelUndeclared,
    NotFound,
    SelectorNotFound,
)
from graph.model.inventory import Cluster, Group, LabelType
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, group_at
from graph.scoped import readable
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from secrets_fleet import ANA, BOSS, SECRETS, do, refusal, said

OUTSIDE = "this would touch something outside your scope"


@pytest.fixture
async def engine(tmp_path):
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    settings = GraphSettings(snapshots_kept_max=4, snapshots_kept_seconds=0, scopes_kept_max=8)
    engine = await Engine.open(store, now=ticking(), settings=settings)
    await do(engine, *SECRETS, actor=None)
    yield engine
    await engine.close()


def seen(engine: Engine, actor: Actor = ANA) -> FleetView:
    return engine.seen(engine.access(actor))


def number(engine: Engine, name: str) -> ClusterNumber:
    found = engine.view.cluster_number(name)
    assert found is not None
    return found


def group(engine: Engine, path: str) -> GroupNumber:
    found = group_at(engine.view, path)
    assert found is not None
    return found


# reading


async def test_whoever_sees_all_is_given_the_snapshot_itself(engine):
    assert seen(engine, BOSS) is engine.view
    await do(engine, GrantAccess("more", Role.READER, claim="auditors"), actor=BOSS)
    auditor = Actor("eve", frozenset({"auditors"}))
    assert seen(engine, auditor) is engine.view


async def test_whoever_has_no_role_is_denied(engine):
    with pytest.raises(Denied, match="has not got the role reader"):
        seen(engine, Actor("nobody"))


async def test_counts_facets_trees_tables_and_pages_are_of_what_is_visible(engine):
    view = seen(engine)
    assert engine.count("all", view) == 2
    assert engine.count("lanes > 1", view) == 1
    assert engine.count("not /devices/grill", view) == 1
    us, geo = group(engine, "/geo/us"), group(engine, "/geo")
    assert engine.facet(ByGroup(us), view=view) == [("/geo/us/tx", 2)]
    assert engine.facet(ByLabel("size"), view=view) == [("large", 1), ("small", 1)]
    paths = [row.path for row in engine.tree(geo, depth=9, view=view)]
    assert paths == ["/geo", "/geo/us", "/geo/us/tx", "/geo/us/tx/austin"]
    everything = engine.view.everything()
    assert engine.facet(ByGroup(us), within=everything, view=view) == [("/geo/us/tx", 2)]
    assert engine.tree(geo, depth=0, within=everything, view=view)[0].share == 1
    table = engine.cross_tab(ByGroup(us), ByLabel("lanes"), within=everything, view=view)
    assert (table.rows, table.columns, table.counts) == (("/geo/us/tx",), (2,), ((1,),))
    page = engine.page(everything, first=10, view=view)
    names = [view.cluster_name(each) for each in page.clusters]
    assert (names, page.total, page.more) == (["austin-1", "austin-2"], 2, False)


async def test_what_is_hidden_is_missing_with_the_same_error(engine):
    view = seen(engine)
    hidden = group(engine, "/geo/us/secret-ny")
    for dimension, gone in (
        (ByGroup(hidden), ByGroup(GroupNumber(9_999))),
        (ByLabel("secret-key"), ByLabel("nobodys-key")),
    ):
        told = []
        for each in (dimension, gone):
            with pytest.raises(NotFound) as error:
                engine.facet(each, view=view)
            told.append(error.value.hint)
        assert told[0] == told[1]
    with pytest.raises(NotFound, match="no cluster with number"):
        engine.explain(number(engine, "secret-york"), "all", view)


HINTED = [
    "/geo/us/secret-n",
    "/geo/us/secret-ny",
    "/secret-ring",
    "/secret-rin",
    "/devices/secret-camera",
    "/devices/grill/secret-acme",
    "cluster secret-york",
    "cluster secret-yor",
    "@secret-saved",
    "@secret-save",
    "secret-key = a",
    "has secret-ke",
    "/geo/us/t",
    "cluster austin",
]


@pytest.mark.parametrize("text", HINTED)
async def test_no_hint_names_what_is_hidden(engine, text):
    with pytest.raises(SelectorNotFound) as error:
        engine.parse(text, seen(engine))
    for word in said(error.value).replace('"', " ").replace("/", " ").replace(",", " ").split():
        assert "secret" not in word or word.strip("@") in text, error.value


async def test_a_remembered_text_means_nothing_to_whoever_does_not_see_what_it_names(engine):
    text = "/geo/us/secret-ny or size = large"
    assert engine.count(text) == 1 + 1
    view = seen(engine)
    for _ in range(2):
        with pytest.raises(SelectorNotFound, match='no group called "secret-ny"'):
            engine.count(text, view)
    plain = "/geo/us/tx and size = large"
    assert engine.parse(plain, view) is engine.parse(plain)


async def test_a_saved_selector_answers_inside_the_scope_and_keeps_its_text(engine):
    view = seen(engine)
    assert [each.name for each in view.saved_selectors()] == ["grills", "mixed", "texas"]
    shown = {each.name: readable(each.selector, view) for each in view.saved_selectors()}
    assert shown == {"grills": True, "mixed": False, "texas": True}
    assert engine.count("@mixed", view) == 2
    assert engine.count("@grills", view) == 1
    explanation = engine.explain(number(engine, "austin-1"), "@mixed and lanes > 1", view)
    assert explanation.holds
    assert "secret" not in repr(explanation)
    assert explanation.clauses[0].parts == ()


async def test_standards_are_told_in_visible_values(engine):
    await do(engine, UpdateHierarchy("secret-ring", required=True), actor=BOSS)
    rules = [(each.rule, len(each.broken)) for each in engine.standards(seen(engine))]
    assert rules == [('size is one of "small", "large"', 0)]


async def test_grants_are_todays_at_every_revision(engine):
    await do(engine, Join("secret-york", "/geo/us/tx/waco"), actor=BOSS)
    await do(engine, Join("austin-1", "/geo/us/secret-ny"), actor=BOSS)
    access = engine.access(ANA)
    now = engine.seen(access)
    assert {now.cluster_name(each) for each in now.everything()} == {"austin-2", "secret-york"}
    then = engine.seen(access, await engine.as_of(Revision(1)))
    assert {then.cluster_name(each) for each in then.everything()} == {"austin-1", "austin-2"}
    assert then.label_key("secret-key") is None


async def test_a_grant_counts_from_the_moment_it_is_given_or_taken_away(engine):
    before = engine.access(ANA)
    assert engine.access(ANA) is before
    await do(engine, UpdateCluster("austin-1", title="x"))
    assert engine.access(ANA) is before
    await do(engine, RevokeAccess("secret-grant"), actor=BOSS)
    with pytest.raises(Denied):
        seen(engine)
    assert isinstance(await refusal(engine, UpdateCluster("austin-1", title="y")), Denied)


async def test_what_is_remembered_of_scopes_is_bounded(engine):
    for place in range(20):
        scope = f"lanes >= {place}"
        await do(
            engine, GrantAccess("one", Role.READER, subject=f"a{place}", scope=scope), actor=BOSS
        )
        assert seen(engine, Actor(f"a{place}")) is seen(engine, Actor(f"a{place}"))
    assert len(engine._seen._views) <= 8
    assert len(engine._seen._access) <= 8


# writing: roles

READER, EDITOR, ADMIN = Role.READER, Role.EDITOR, Role.ADMIN

IN: dict[str, Command] = {
    "update": UpdateCluster("austin-1", title="t"),
    "relabel": UpdateCluster("austin-1", labels={"lanes": 3, "size": "small"}),
    "register": RegisterCluster("waco-1", groups=("/geo/us/tx/waco",)),
    "retire": RetireCluster("austin-2"),
    "join": Join("austin-1", "/geo/us/tx/waco"),
    "join elsewhere": Join("austin-2", "/devices/grill"),
    "leave": Leave("austin-1", "/devices/grill"),
    "create group": CreateGroup("/geo/us/tx/dallas"),
    "retitle group": UpdateGroup("/geo/us/tx/austin", "Austin"),
    "rename group": RenameGroup("/geo/us/tx/austin", "atx"),
    "move group": MoveGroup("/geo/us/tx/austin", "/geo/us/tx/waco"),
    "delete group": DeleteGroup("/geo/us/tx/waco"),
    "save": SaveSelector("mine", "/geo/us/tx and lanes > 1"),
    "forget": DeleteSelector("texas"),
}
"""What an editor may do inside a scope."""

OUT: dict[str, Command] = {
    "update": UpdateCluster("secret-york", title="t"),
    "register nowhere": RegisterCluster("new-1"),
    "register at a sibling": RegisterCluster("new-1", groups=("/geo/us/secret-ny",)),
    "register at an ancestor": RegisterCluster("new-1", groups=("/geo/us",)),
    "retire": RetireCluster("secret-nowhere"),
    "join a sibling": Join("austin-1", "/geo/us/secret-ny"),
    "join an ancestor": Join("austin-1", "/geo/us"),
    "leave the scope": Leave("austin-1", "/geo/us/tx/austin"),
    "pull in": Join("secret-nowhere", "/geo/us/tx/waco"),
    "create at a sibling": CreateGroup("/geo/us/secret-ny/new"),
    "create at an ancestor": CreateGroup("/geo/us/new"),
    "create at a root": CreateGroup("/devices/new"),
    "retitle an ancestor": UpdateGroup("/geo/us", "Mine"),
    "retitle a shared group": UpdateGroup("/devices/grill", "Mine"),
    "rename an ancestor": RenameGroup("/geo/us", "mine"),
    "rename a sibling": RenameGroup("/geo/us/secret-ny", "mine"),
    "rename a shared group": RenameGroup("/devices/grill", "mine"),
    "move out": MoveGroup("/geo/us/tx/austin", "/geo/us"),
    "move an empty group out": MoveGroup("/geo/us/tx/waco", "/geo"),
    "move in": MoveGroup("/geo/us/secret-ny", "/geo/us/tx"),
    "delete a shared group": DeleteGroup("/devices/oven", cascade=True),
    "save all": SaveSelector("mine", "all"),
    "save beyond": SaveSelector("mine", "lanes > 1"),
    "save a hidden name": SaveSelector("mine", "/geo/us/secret-ny"),
    "take over a hidden one": SaveSelector("secret-saved", "/geo/us/tx"),
    "take over a shared one": SaveSelector("grills", "/geo/us/tx and /devices/grill"),
    "forget a hidden one": DeleteSelector("secret-saved"),
    "forget a shared one": DeleteSelector("mixed"),
}
"""What may not be done from inside a scope, not even by an admin of it."""

FLEET: dict[str, Command] = {
    "hierarchy": CreateHierarchy("new"),
    "existing hierarchy": CreateHierarchy("secret-ring"),
    "update hierarchy": UpdateHierarchy("geo", title="Mine"),
    "declare": DeclareLabel("new-key", LabelType.TEXT),
    "declare a hidden one": DeclareLabel("secret-key", LabelType.NUMBER),
    "redeclare a shared one": DeclareLabel("lanes", LabelType.NUMBER, title="Mine"),
    "remove": RemoveLabel("secret-key"),
    "grant": GrantAccess("more", Role.ADMIN, subject="ana"),
    "grant over one's own": GrantAccess("secret-grant", Role.ADMIN, subject="ana"),
    "revoke": RevokeAccess("secret-grant"),
}
"""What concerns the whole fleet, and takes an admin of all of it."""


async def as_role(engine: Engine, role: Role) -> None:
    grant = GrantAccess("secret-grant", role, subject="ana", scope="/geo/us/tx")
    await do(engine, grant, actor=BOSS)


@pytest.mark.parametrize(("what", "role"), [*product(IN, (EDITOR, ADMIN))])
async def test_inside_a_scope_a_role_is_enough(engine, what, role):
    await as_role(engine, role)
    planned = await engine.preview(Batch((IN[what],), "ana", "because"), ANA)
    await do(engine, IN[what])
    changeset = await engine._store.changeset(engine.view.cursor.revision)
    assert changeset.changes == planned.changes
    assert "secret" not in repr((planned.changes, planned.impact))
    assert engine.seen_changeset(changeset, engine.access(ANA)) == changeset


async def test_inside_a_scope_a_reader_only_reads(engine):
    await as_role(engine, READER)
    for command in IN.values():
        error = await refusal(engine, UpdateCluster("austin-1", title="t"), command)
        wanted = Denied, '"ana" has not got the role editor', ("commands", 0)
        assert (type(error), error.message, error.path) == wanted


@pytest.mark.parametrize("role", [EDITOR, ADMIN])
async def test_outside_a_scope_no_role_is_enough(engine, role):
    await as_role(engine, role)
    head = engine.view.cursor
    for what, command in OUT.items():
        error = await refusal(engine, command)
        assert isinstance(error, Denied | NotFound), f"{what}: {error}"
    assert engine.view.cursor == head


@pytest.mark.parametrize("role", list(Role))
async def test_what_concerns_the_whole_fleet_takes_an_admin_of_all_of_it(engine, role):
    await as_role(engine, role)
    for what, command in FLEET.items():
        error = await refusal(engine, command)
        assert isinstance(error, Denied | NotFound), f"{what}: {error}"
        assert ("role admin" in error.message) is not role.includes(ADMIN), what


async def test_an_editor_of_all_still_needs_admin_for_what_admins_do(engine):
    editor = Actor("ed", standing=Role.EDITOR)
    await do(engine, UpdateCluster("secret-york", title="t"), actor=editor)
    with pytest.raises(Denied, match="has not got the role admin"):
        await do(engine, UpdateCluster("austin-1", title="t"), FLEET["declare"], actor=editor)


# writing: seeing more than one may change


@pytest.fixture
async def wide(engine: Engine) -> Engine:
    """Ana edits Texas and reads all."""
    await do(engine, GrantAccess("reads", Role.READER, subject="ana"), actor=BOSS)
    return engine


async def test_who_sees_more_than_they_may_change_is_told_what_they_may_not(wide):
    for command, named in (
        (UpdateCluster("secret-york", title="t"), "cluster secret-york"),
        (RetireCluster("secret-nowhere"), "cluster secret-nowhere"),
        (Join("austin-1", "/geo/us/secret-ny"), "cluster austin-1"),
        (UpdateGroup("/geo/us/secret-ny", "t"), "group /geo/us/secret-ny"),
        (RenameGroup("/devices/grill", "mine"), "group /devices/grill"),
        (CreateGroup("/devices/mine"), "group /devices/mine"),
        (RegisterCluster("new-1"), "cluster new-1"),
    ):
        with pytest.raises(Denied) as error:
            await do(wide, command)
        assert error.value.message == f"{named} does not lie inside what you may change"
    with pytest.raises(NotFound, match='no cluster called "secret-yor"') as missing:
        await do(wide, UpdateCluster("secret-yor", title="t"))
    assert "secret-york" in missing.value.hint
    with pytest.raises(Conflict, match='cluster "secret-york" exists'):
        await do(wide, RegisterCluster("secret-york", groups=("/geo/us/tx/waco",)))


async def test_a_cluster_of_ones_own_may_join_a_group_one_sees(wide):
    await do(wide, Join("austin-1", "/devices/secret-camera"))
    await do(wide, Join("austin-2", "/secret-ring/secret-pilot"))
    assert wide.count("/devices/secret-camera") == 1
    await do(wide, SaveSelector("mine", "/geo/us/tx and lanes > 99"))
    with pytest.raises(Denied, match="could choose clusters outside your scope"):
        await do(wide, SaveSelector("secret-saved", "/geo/us/tx"))


async def test_between_two_scopes_only_what_is_seen_is_named(engine):
    reads = GrantAccess("reads", Role.READER, subject="ana", scope="cluster oven-1")
    await do(engine, RegisterCluster("oven-1", groups=("/devices/oven",)), actor=BOSS)
    await do(engine, reads, actor=BOSS)
    error = await refusal(engine, UpdateCluster("oven-1", title="t"))
    assert error.message == "cluster oven-1 does not lie inside what you may change"
    assert isinstance(await refusal(engine, UpdateCluster("secret-nowhere", title="t")), NotFound)
    await do(engine, CreateGroup("/devices/mine"), Join("austin-1", "/devices/mine"))
    await do(engine, Join("secret-nowhere", "/devices/mine"), actor=BOSS)
    assert (await refusal(engine, UpdateGroup("/devices/mine", "t"))).message == OUTSIDE


# writing: what cannot be found out


async def test_a_name_that_is_taken_outside_is_refused_without_a_reason(engine):
    new = RegisterCluster("secret-york", groups=("/geo/us/tx/waco",))
    error = await refusal(engine, new)
    assert (type(error), error.message) == (Denied, OUTSIDE)


async def test_a_label_key_out_of_sight_is_refused_like_one_that_nobody_declared(engine):
    for value in (5, "mine"):
        error = await refusal(engine, UpdateCluster("austin-1", labels={"secret-key": value}))
        absent = await refusal(engine, UpdateCluster("austin-1", labels={"absent-key": value}))
        assert type(error) is type(absent) is LabelUndeclared
        assert (error.hint, error.path) == (absent.hint, absent.path)


async def test_a_label_has_no_type_for_whoever_does_not_see_it(engine):
    await as_role(engine, ADMIN)

    def batch(value: str | int) -> Batch:
        command = UpdateCluster("austin-1", labels={"secret-key": value})
        return Batch((command,), "ana", "because", declare_labels=True)

    with pytest.raises(Denied, match=OUTSIDE):
        await engine.execute(batch(5), ANA)
    await engine.execute(batch("mine"), ANA)
    assert engine.facet(ByLabel("secret-key"), view=seen(engine)) == [("mine", 1)]


async def test_a_key_that_nobody_declared_is_refused_with_hints_in_sight(engine):
    for key, hint in (("lane", "did you mean lanes?"), ("secret-keys", "a new key takes")):
        error = await refusal(engine, UpdateCluster("austin-1", labels={key: "x"}))
        assert (type(error), error.path) == (LabelUndeclared, ("commands", 0, "labels"))
        assert error.hint.startswith(hint)


@pytest.mark.parametrize("role", [EDITOR, ADMIN])
async def test_a_batch_declares_label_keys_for_those_who_may_declare_them(engine, role):
    await as_role(engine, role)
    batch = Batch(
        (UpdateCluster("austin-1", labels={"new-key": True, "secret-key": "mine"}),),
        "ana",
        "because",
        declare_labels=True,
    )
    if role is EDITOR:
        for way in (engine.preview, engine.execute):
            with pytest.raises(Denied, match="declare label keys needs the role admin") as refused:
                await way(batch, ANA)
            assert refused.value.path == ("declare_labels",)
        return
    await engine.execute(batch, ANA)
    assert engine.view.label_key("new-key").type is LabelType.BOOLEAN
    # an admin of a part, and an editor of all, is no admin of all
    all_of_it = GrantAccess("all-of-it", EDITOR, subject="ana")
    await do(engine, all_of_it, actor=BOSS)
    there = UpdateCluster("secret-york", labels={"other-key": True})
    with pytest.raises(Denied, match="does not lie inside what you may change"):
        await engine.execute(replace(batch, commands=(there,)), ANA)


async def test_a_value_that_is_allowed_but_nowhere_in_sight_may_be_given(engine):
    await do(engine, UpdateCluster("austin-2", labels={"size": "large"}))
    key = seen(engine).label_key("size")
    assert key is not None and key.allowed == ("large",)
    await do(engine, UpdateCluster("austin-2", labels={"size": "small"}))
    error = await refusal(engine, UpdateCluster("austin-2", labels={"size": "tiny"}))
    assert (type(error), error.message) == (Denied, OUTSIDE)


async def test_a_refused_value_tells_no_hidden_one_later_in_the_batch(engine):
    key = DeclareLabel("secret-key", LabelType.TEXT, allowed=("secret-value", "mine"))
    await do(engine, key, actor=BOSS)
    first = UpdateCluster("austin-1", labels={"secret-key": "mine"})
    await do(engine, first, actor=BOSS)
    error = await refusal(engine, first, UpdateCluster("austin-2", labels={"secret-key": "other"}))
    assert (type(error), error.message) == (Denied, OUTSIDE)


async def test_a_refusal_counts_what_may_be_seen(engine):
    error = await refusal(engine, DeleteGroup("/devices/oven"))
    assert error.message == "/devices/oven holds 0 groups and 1 cluster"


async def test_a_group_that_is_hidden_and_one_that_is_not_there_refuse_alike(engine):
    await do(engine, GrantAccess("secret-grant", Role.EDITOR, subject="ana", scope="size = large"),
             actor=BOSS)  # fmt: skip
    told = {
        said(await refusal(engine, CreateGroup(f"/geo/us/{name}"))) for name in ("secret-ny", "new")
    }
    assert len(told) == 1
    told = {
        said(await refusal(engine, DeleteGroup(f"/geo/us/{name}"))).replace(name, "it")
        for name in ("secret-ny", "nothing-1")
    }
    assert len(told) == 1


async def test_an_expected_revision_asks_nothing_about_what_is_hidden(engine):
    await do(engine, UpdateCluster("secret-york", title="t"), actor=BOSS)
    expected = Revision(1)
    told = [
        said(await refusal(engine, RetireCluster(name), expected_revision=expected))
        for name in ("secret-york", "nobody-york")
    ]
    assert told[0] == told[1].replace("nobody-york", "secret-york")
    await do(engine, UpdateCluster("austin-1", title="t"), actor=BOSS)
    error = await refusal(engine, RetireCluster("austin-1"), expected_revision=expected)
    assert isinstance(error, Conflict)


@pytest.mark.parametrize("text", ["lanes = 7", "lanes = 8", "lanes = 7 except /geo/us/tx"])
async def test_saving_a_selector_is_no_way_to_search_the_fleet(engine, text):
    error = await refusal(engine, SaveSelector("probe", text))
    assert isinstance(error, Denied)
    assert error.message == "the selector could choose clusters outside your scope"


async def test_a_saved_selector_that_would_vanish_from_sight_is_refused_as_such(engine):
    error = await refusal(engine, SaveSelector("mine", "/geo/us/tx and lanes > 99"))
    assert error.message.startswith("@mine would choose none of the clusters you see")


async def test_who_names_a_hidden_selector_is_not_told(engine):
    await do(engine, SaveSelector("secret-user", "@texas and /geo/us/secret-ny"), actor=BOSS)
    error = await refusal(engine, DeleteSelector("texas"))
    assert (type(error), error.message) == (Denied, OUTSIDE)
    await do(engine, SaveSelector("named", "cluster austin-2 or /geo/us/secret-ny"), actor=BOSS)
    await refusal(engine, RetireCluster("austin-2"))


async def test_a_batch_may_leave_the_scope_on_its_way(engine):
    await do(engine, Leave("austin-1", "/geo/us/tx/austin"), Join("austin-1", "/geo/us/tx/waco"))
    await do(
        engine,
        CreateGroup("/geo/us/tx/dallas"),
        RegisterCluster("dallas-1"),
        Join("dallas-1", "/geo/us/tx/dallas"),
        UpdateCluster("dallas-1", labels={"size": "small"}),
    )
    assert engine.count("/geo/us/tx") == 3


async def test_a_cluster_that_moves_out_during_the_call_is_out(engine):
    out = Batch((Join("austin-1", "/geo/us/secret-ny"),), "boss", "moved")
    mine = Batch((UpdateCluster("austin-1", title="mine"),), "ana", "because")
    answers = await asyncio.gather(
        engine.execute(out, BOSS), engine.execute(mine, ANA), return_exceptions=True
    )
    assert isinstance(answers[1], NotFound)
    found = engine.view.cluster(number(engine, "austin-1"))
    assert found is not None and found.title == ""


async def test_a_grant_that_goes_during_the_call_is_gone(engine):
    gone = Batch((RevokeAccess("secret-grant"),), "boss", "left")
    mine = Batch((UpdateCluster("austin-1", title="mine"),), "ana", "because")
    answers = await asyncio.gather(
        engine.execute(gone, BOSS), engine.execute(mine, ANA), return_exceptions=True
    )
    assert isinstance(answers[1], Denied)


async def test_a_repeated_key_is_answered_before_anything_is_asked(engine):
    batch = Batch((UpdateCluster("austin-1", title="t"),), "ana", "because", None, "key-1")
    receipt = await engine.execute(batch, ANA)
    await do(engine, RevokeAccess("secret-grant"), actor=BOSS)
    assert await engine.execute(batch, ANA) == receipt
    with pytest.raises(Denied):
        await engine.execute(batch, Actor("eve"))


async def test_the_record_names_who_it_was_and_not_who_the_batch_says(engine):
    batch = Batch((UpdateCluster("austin-1", title="t"),), "boss", "because")
    receipt = await engine.execute(batch, ANA)
    assert (await engine._store.changeset(receipt.revision)).actor == "ana"


async def test_a_preview_counts_only_what_may_be_seen(engine):
    await do(engine, SaveSelector("not-texas", "not /geo/us/tx/austin"), actor=BOSS)
    planned = await engine.preview(
        Batch((Join("austin-1", "/geo/us/tx/waco"),), "ana", "because"), ANA
    )
    one = number(engine, "austin-1")
    assert [(move.name, list(move.gained)) for move in planned.impact.moves] == [
        ("not-texas", [one])
    ]


# the record


async def test_a_changeset_shows_the_states_that_may_be_seen(engine):
    access = engine.access(ANA)

    async def last():
        changeset = await engine._store.changeset(engine.view.cursor.revision)
        return changeset, engine.seen_changeset(changeset, access)

    await do(
        engine,
        UpdateCluster("austin-1", title="t"),
        UpdateCluster("secret-york", title="t"),
        CreateGroup("/geo/us/secret-ny/secret-new"),
        SaveSelector("mixed", "/geo/us/tx or /geo/us/secret-ny"),
        GrantAccess("secret-more", Role.READER, subject="ben"),
        actor=BOSS,
    )
    whole, shown = await last()
    assert shown is not None
    assert [change.ref for change in shown.changes] == [
        Ref(Kind.CLUSTER, number(engine, "austin-1"))
    ]
    assert (shown.cursor, shown.reason, shown.actor) == (whole.cursor, "because", "boss")
    assert engine.seen_changeset(whole, engine.access(BOSS)) is not None
    assert engine.seen_changeset(whole, engine.access(Actor("nobody"))) is None

    await do(engine, Join("austin-1", "/geo/us/secret-ny"), actor=BOSS)
    _, shown = await last()
    assert shown is not None
    (change,) = shown.changes
    assert (change.before is not None, change.after) == (True, None)
    assert "secret" not in repr(shown.changes)

    await do(engine, Join("austin-1", "/geo/us/tx/waco"), actor=BOSS)
    _, shown = await last()
    assert shown is not None
    (change,) = shown.changes
    assert (change.before, change.after is not None) == (None, True)

    await do(engine, RetireCluster("secret-nowhere"), actor=BOSS)
    assert (await last())[1] is None


async def test_an_old_changeset_is_judged_by_what_is_known_today(engine):
    changeset = await engine._store.changeset(Revision(1))
    for _ in range(8):
        await do(engine, UpdateCluster("austin-1", title=str(_)))
    assert engine._timeline.held(Revision(1)) is None
    shown = engine.seen_changeset(changeset, engine.access(ANA))
    assert shown is not None
    assert "secret" not in repr(shown.changes)
    names = {getattr(change.after, "name", "") for change in shown.changes}
    assert names == {
        "geo", "us", "tx", "austin", "waco", "devices", "grill", "oven", "size", "lanes",
        "austin-1", "austin-2", "texas", "grills",
    }  # fmt: skip


async def test_a_place_that_is_gone_puts_an_old_state_in_doubt(engine):
    scope = "all except /geo/us/secret-ny"
    await do(engine, GrantAccess("secret-grant", Role.READER, subject="ana", scope=scope),
             actor=BOSS)  # fmt: skip
    access = engine.access(ANA)
    changeset = await engine._store.changeset(Revision(1))
    await do(engine, DeleteGroup("/geo/us/secret-ny/secret-city", cascade=True), actor=BOSS)
    for _ in range(8):
        await do(engine, UpdateCluster("austin-2", title=str(_)), actor=BOSS)
    shown = engine.seen_changeset(changeset, access)
    assert shown is not None
    clusters = {c.after.name for c in shown.changes if isinstance(c.after, Cluster)}
    assert clusters == {"austin-1", "austin-2", "secret-nowhere"}


async def test_history_is_of_what_may_be_seen(engine):
    access = engine.access(ANA)
    one, york = number(engine, "austin-1"), number(engine, "secret-york")
    await do(engine, Join("austin-1", "/geo/us/secret-ny"), actor=BOSS)
    await do(engine, UpdateCluster("austin-1", title="hidden"), actor=BOSS)
    await do(engine, Join("austin-1", "/geo/us/tx/waco"), actor=BOSS)
    lines = await engine.history(Ref(Kind.CLUSTER, one), access)
    assert [line.revision for line in lines] == [4, 2, 1]
    assert "secret" not in repr([line.change for line in lines])
    told = []
    for ref in (Ref(Kind.CLUSTER, york), Ref(Kind.CLUSTER, 9_999)):
        with pytest.raises(NotFound) as error:
            await engine.history(ref, access)
        told.append(said(error.value).replace(str(ref), "it"))
    assert told[0] == told[1]
    assert await engine.member_since(one, group(engine, "/geo/us/tx/waco"), access) is not None
    assert await engine.member_since(york, group(engine, "/devices/grill"), access) is None


async def test_what_is_gone_and_was_hidden_was_never_there(engine):
    await do(engine, RetireCluster("secret-nowhere"), actor=BOSS)
    await do(engine, RetireCluster("austin-2"), actor=BOSS)
    access = engine.access(ANA)
    lines = await engine.history_of_gone(Kind.CLUSTER, "austin-2", access)
    assert [line.revision for line in lines] == [3, 1]
    told = []
    for name in ("secret-nowhere", "never-1"):
        with pytest.raises(NotFound) as error:
            await engine.history_of_gone(Kind.CLUSTER, name, access)
        told.append(said(error.value).replace(name, "it"))
    assert told[0] == told[1]


# taking back


async def test_a_revert_inside_the_scope_is_like_any_change(engine):
    await do(engine, UpdateCluster("austin-1", title="t"))
    ref = Ref(Kind.CLUSTER, number(engine, "austin-1"))
    plan = await engine.plan_revert(ref, Revision(1), ANA)
    await do(engine, plan.command)
    found = engine.view.cluster(number(engine, "austin-1"))
    assert found is not None and found.title == ""
    with pytest.raises(Denied, match="role editor"):
        await engine.plan_revert(ref, Revision(1), Actor("nobody", standing=Role.READER))


async def test_a_revert_that_reaches_outside_is_denied(engine):
    await do(engine, UpdateCluster("austin-1", title="t"))
    await do(engine, UpdateCluster("secret-york", title="t"), actor=BOSS)
    with pytest.raises(Denied, match=OUTSIDE):
        await engine.plan_revert(Whole(), Revision(1), ANA)
    plan = await engine.plan_revert(Whole(), Revision(1))
    assert (await refusal(engine, plan.command)).message == OUTSIDE


async def test_grants_are_taken_back_by_name_and_by_admins(engine):
    editor = Actor("ed", standing=Role.EDITOR)
    await do(engine, UpdateCluster("secret-york", title="t"), actor=BOSS)
    await do(engine, RevokeAccess("secret-grant"), actor=BOSS)
    plan = await engine.plan_revert(Whole(), Revision(1), editor)
    assert (len(plan.command.changes), plan.left) == (1, ())
    plan = await engine.plan_revert(Whole(), Revision(1), BOSS)
    assert plan.left == ("grants stay as they are: 1 differs; revert one by name",)
    await do(engine, plan.command, actor=BOSS)
    assert engine.view.grant("secret-grant") is None
    named = Ref(Kind.GRANT, "secret-grant")
    for ref in (named, Ref(Kind.GRANT, "nothing")):
        assert (await engine.plan_revert(ref, Revision(1), editor)).command.changes == ()
    plan = await engine.plan_revert(named, Revision(1), BOSS)
    with pytest.raises(Denied, match="role admin"):
        await do(engine, plan.command, actor=editor)
    await do(engine, plan.command, actor=BOSS)
    assert engine.view.grant("secret-grant") is not None


async def test_a_revert_of_something_hidden_is_a_revert_of_nothing(engine):
    await do(engine, UpdateCluster("secret-york", title="t"), actor=BOSS)
    await do(engine, RenameGroup("/geo/us/secret-ny", "secret-nj"), actor=BOSS)
    york = Ref(Kind.CLUSTER, number(engine, "secret-york"))
    hidden = Subtree(group(engine, "/geo/us/secret-nj"))
    for scope in (york, hidden, Parts((york, hidden)), Ref(Kind.CLUSTER, 9_999)):
        plan = await engine.plan_revert(scope, Revision(1), ANA)
        assert (plan.command.changes, plan.left) == ((), ())


async def test_a_revert_that_was_overtaken_says_so(engine):
    await do(engine, UpdateCluster("austin-1", title="t"))
    ref = Ref(Kind.CLUSTER, number(engine, "austin-1"))
    plan = await engine.plan_revert(ref, Revision(1), ANA)
    await do(engine, UpdateCluster("austin-1", title="again"))
    assert isinstance(await refusal(engine, plan.command), Conflict)


async def test_what_cannot_come_back_is_told_without_names(engine):
    await do(engine, DeleteSelector("texas"), actor=BOSS)
    await do(engine, RenameGroup("/geo/us/tx/austin", "atx"))
    await do(engine, CreateGroup("/geo/us/tx/austin"))
    await do(engine, SaveSelector("secret-user", "/geo/us/tx/austin"), actor=BOSS)
    top = Subtree(group(engine, "/geo/us/tx"))
    assert any("secret" in each for each in (await engine.plan_revert(top, Revision(2))).left)
    plan = await engine.plan_revert(top, Revision(2), ANA)
    assert plan.left == ("some of it cannot be as it was",)


async def test_a_group_found_by_what_it_holds_is_its_holders(engine):
    await do(engine, CreateGroup("/devices/mine"), Join("austin-1", "/devices/mine"))
    await do(engine, RenameGroup("/devices/mine", "ours"))
    await do(engine, Join("secret-york", "/devices/ours"), actor=BOSS)
    assert (await refusal(engine, RenameGroup("/devices/ours", "mine"))).message == OUTSIDE


async def test_a_hidden_group_below_keeps_its_parent_where_it_is(engine):
    scope = "/geo/us except /geo/us/secret-ny"
    await do(engine, GrantAccess("secret-grant", Role.EDITOR, subject="ana", scope=scope),
             DeleteGroup("/geo/us/secret-ny/secret-city", cascade=True), actor=BOSS)  # fmt: skip
    assert isinstance(seen(engine).group(group(engine, "/geo/us")), Group)
    assert seen(engine).group(group(engine, "/geo/us/secret-ny")) is None
    await do(engine, UpdateGroup("/geo/us", "Mine"))
    assert (await refusal(engine, RenameGroup("/geo/us", "mine"))).message == OUTSIDE
    assert isinstance(await refusal(engine, CreateGroup("/geo/us/tx/austin")), Conflict)
    assert isinstance(await refusal(engine, CreateGroup("/geo/us/TX")), Invalid)
