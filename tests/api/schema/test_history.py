"""The past of an object: of every kind, up to the revision it is read at, and of what is gone."""

from __future__ import annotations

from typing import Any

import pytest

from api.schema.change import ObjectKind
from asking import ask, data
from doors import TEXAN
from engines import give
from graph.model.command import (
    CreateGroup,
    DeleteGroup,
    DeleteSelector,
    RenameGroup,
    RevokeAccess,
    UpdateCluster,
    UpdateHierarchy,
)
from graph.model.ref import Kind

KINDS = ("cluster:0", "group:1", "hierarchy:geo", "label_key:size", "saved_selector:texas",
         "grant:texans", "namespace:kitchen", "application:grill", "assignment:kitchen-us",
         "prohibition:no-gold", "layer:grill-tx", "policy:gold")  # fmt: skip
OF = " ".join(
    f"... on {kind} {{ history {{ revision actor reason change {{ id kind action }} }} }}"
    for kind in ("Cluster", "Group", "Hierarchy", "LabelKey", "SavedSelector", "Grant", "Namespace",
                 "Application", "Assignment", "Prohibition", "Layer", "Policy")
)  # fmt: skip


def test_every_kind_of_object_has_a_name_on_the_wire():
    assert {each.value for each in ObjectKind} == {each.value for each in Kind}
    assert {identity.partition(":")[0] for identity in KINDS} == {each.value for each in Kind}


@pytest.mark.parametrize("identity", KINDS)
async def test_every_object_can_tell_its_past(fleet, identity):
    found = await data(fleet, f"query ($id: ID!) {{ node(id: $id) {{ {OF} }} }}", id=identity)
    first = found["node"]["history"][-1]
    kind = identity.partition(":")[0].upper()
    created = {"id": f"{identity}@1", "kind": kind, "action": "CREATED"}
    assert (first["revision"], first["change"]) == (1, created)


async def test_an_earlier_fleet_knows_nothing_of_what_came_after(fleet):
    for title in ("third", "fourth"):
        await give(fleet, UpdateCluster("austin-00", title=title))
    await give(fleet, UpdateHierarchy("geo", title="Places"))
    fields = """{ cluster(name: "austin-00") { history { revision } }
        hierarchies { name history { revision } } }"""
    found = await data(fleet, f"{{ now: fleet {fields} then: fleet(asOf: 3) {fields} }}")
    revisions = {
        when: [line["revision"] for line in found[when]["cluster"]["history"]] for when in found
    }
    assert revisions == {"now": [4, 3, 2, 1], "then": [3, 2, 1]}
    (geo,) = [each for each in found["then"]["hierarchies"] if each["name"] == "geo"]
    assert geo["history"] == [{"revision": 1}]


GONE = """query ($kind: ObjectKind!, $name: Name!, $first: Int = 50, $after: Revision) {
    historyOfGone(kind: $kind, name: $name, first: $first, after: $after) {
        revision reason change { action lines } } }"""


async def gone(engine: Any, kind: str, name: str, **more: Any) -> list[Any]:
    return (await data(engine, GONE, kind=kind, name=name, **more))["historyOfGone"]


async def test_what_is_gone_is_found_by_its_last_name(fleet):
    found = await gone(fleet, "CLUSTER", "york-08")
    assert [(each["revision"], each["change"]["action"]) for each in found] == [
        (2, "REMOVED"), (1, "CREATED"),
    ]  # fmt: skip
    assert found[0]["reason"] == "what happens"
    assert await gone(fleet, "CLUSTER", "york-08", first=1) == found[:1]
    assert await gone(fleet, "CLUSTER", "york-08", after=2) == found[1:]
    await give(fleet, CreateGroup("/geo/ca/old"))
    await give(fleet, RenameGroup("/geo/ca/old", "older"))
    await give(fleet, DeleteSelector("grills"), RevokeAccess("tess-too"))
    await give(fleet, DeleteGroup("/geo/ca/older"))
    assert len(await gone(fleet, "SAVED_SELECTOR", "grills")) == 2
    assert len(await gone(fleet, "GRANT", "tess-too")) == 2
    assert len(await gone(fleet, "GROUP", "older")) == 3


async def test_what_was_never_there_and_what_is_hidden_are_refused_alike(fleet):
    for name in ("york-08", "never-99"):
        given = {"kind": "CLUSTER", "name": name}
        answer = await ask(fleet, GONE, given, actor=TEXAN)
        assert answer["data"] == {"historyOfGone": None}
        (error,) = answer["errors"]
        assert error["message"] == f'no cluster called "{name}", now or earlier'
        assert (error["extensions"]["code"], error["extensions"]["path"]) == ("NOT_FOUND", ["name"])
