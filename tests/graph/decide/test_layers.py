"""Layers: whose values, where they apply, and what may be in them."""

from __future__ import annotations

import pytest

from at_work import refused, working
from graph.model.command import CreateGroup, DeleteGroup, RetireCluster
from graph.model.errors import Conflict, Invalid, NotFound, Rejected, SelectorNotFound
from graph.model.names import Revision
from graph.model.selector import Everything
from graph.model.values import Values
from graph.model.workload import LateBound, Layer
from graph.model.workload_command import (
    DefineApplication,
    DefineNamespace,
    RemoveLayer,
    SetLayer,
)
from small import give


def test_a_layer_is_what_the_command_says():
    fleet = working()
    layer = SetLayer("big", "all", {"lanes": 3, "host": "x"}, "menu", rank=-1_000, title="Big")
    give(fleet, layer)
    assert fleet.workload.layers["big"] == Layer(
        "big",
        Everything(),
        Values.of({"host": "x", "lanes": 3}),
        "menu",
        rank=-1_000,
        title="Big",
        changed=Revision(3),
    )
    assert give(fleet, layer) == ()


def test_a_layer_without_an_application_is_the_fleets():
    fleet = working()
    give(fleet, SetLayer("proxies", "/geo/us", {"proxy": {"fleet": 1}, "fleet": 2}))
    assert fleet.workload.layers["proxies"].application == ""


def test_a_layer_taken_away_is_gone():
    fleet = working()
    give(fleet, RemoveLayer("menu-tx"))
    assert "menu-tx" not in fleet.workload.layers
    assert refused(NotFound, fleet, RemoveLayer("menu-tx")).hint == "layers: telemetry-all"


def test_an_unknown_application_is_refused_with_the_nearest():
    refusal = refused(NotFound, working(), SetLayer("new", "all", {}, "mennu"))
    assert refusal.hint == "did you mean menu?"
    assert refusal.path == ("commands", 0, "application")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (SetLayer("menu-tx", "all", {}, "till"), 'layer "menu-tx" is for application "menu"'),
        (SetLayer("menu-tx", "all", {}), 'layer "menu-tx" is for application "menu"'),
        (SetLayer("telemetry-all", "all", {}, "menu"), 'layer "telemetry-all" is for the fleet'),
    ],
)
def test_whom_a_layer_is_for_is_final(command: SetLayer, says: str):
    assert refused(Conflict, working(), command).message == says


def test_a_layer_on_an_unknown_group_is_refused_with_its_column_and_the_nearest():
    refusal = refused(
        SelectorNotFound, working(), SetLayer("new", "/geo/us/txx", {"lanes": 1}, "menu")
    )
    assert refusal.span.column == 9
    assert "/geo/us/tx" in refusal.hint
    assert refusal.path == ("commands", 0, "selector")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (SetLayer("New", "all", {}, "menu"), '"New" is not a layer name'),
        (SetLayer("new", "all", {}, "menu", rank=1_001), "rank 1,001 is out of range"),
        (SetLayer("new", "all", {}, "menu", rank=-1_001), "rank -1,001 is out of range"),
        (SetLayer("new", "all", {}, "menu", title="\n"), "the title holds the character"),
        (SetLayer("new", "all", {"fleet": {"a": 1}}, "menu"), 'the values set "fleet"'),
        (SetLayer("new", "all", {"a": {1}}, "menu"), "cannot be written as JSON"),
        (SetLayer("new", "all", {"a/b": 1}), '"a/b" is not a fleet setting name'),
        (SetLayer("new", "all", {"a": float("inf")}), "the settings cannot be written as JSON"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_layer_that_cannot_be_is_refused(command: SetLayer, says: str):
    assert says in refused(Invalid, working(), command).message


def test_a_wrong_type_is_refused_at_once_with_application_key_and_layer():
    refusal = refused(Invalid, working(), SetLayer("new", "all", {"lanes": "two"}, "menu"))
    assert refusal.message == (
        'layer "new" of application "menu": lanes must be integer, and is "two"'
    )


HOST = DefineApplication("grill", "kitchen", late_bound=(LateBound("web.host", "{cluster}"),))


@pytest.mark.parametrize("value", ["text", 1, [{"name": "host"}]], ids=str)
def test_a_layer_leaves_a_place_for_late_bound_keys(value: object):
    fleet = working()
    give(fleet, HOST)
    refusal = refused(Invalid, fleet, SetLayer("new", "all", {"web": value}, "grill"))
    assert refusal.message == (
        "the values set web to something that is no map, and web.host is late-bound"
    )
    assert refusal.path == ("commands", 0, "values")
    for fine in ({"web": {"host": value}}, {"web": {"path": value}}, {"web": None}, {"a": value}):
        give(fleet, SetLayer("new", "all", fine, "grill"))


def test_a_key_does_not_become_late_bound_over_a_layer_that_leaves_no_place_for_it():
    fleet = working()
    give(fleet, SetLayer("new", "all", {"web": "text"}, "grill"))
    refusal = refused(Invalid, fleet, HOST)
    assert refusal.message == (
        'layer "new" sets web to something that is no map, and web.host is late-bound'
    )
    assert refusal.path == ("commands", 0, "late_bound")
    give(fleet, SetLayer("new", "all", {"web": {"path": "/"}}, "grill"), HOST)


def test_a_layer_is_judged_by_the_schema_the_batch_has_made_before_it():
    fleet = working()
    give(
        fleet,
        DefineApplication("menu", "shop", schema={"properties": {"lanes": {"type": "string"}}}),
        SetLayer("menu-tx", "/geo/us/tx", {"lanes": "two"}, "menu"),
    )
    assert fleet.workload.layers["menu-tx"].values.data == {"lanes": "two"}


def test_what_a_layer_is_on_cannot_vanish_and_the_layer_is_listed():
    fleet = working()
    give(
        fleet,
        CreateGroup("/geo/mx"),
        SetLayer("mx", "/geo/mx", {"lanes": 1}, "menu"),
        SetLayer("one", "cluster york-1", {"host": "x"}, "menu"),
    )
    assert refused(Rejected, fleet, DeleteGroup("/geo/mx")).reasons == ("layer mx",)
    refusal = refused(Rejected, fleet, RetireCluster("york-1"))
    assert refusal.reasons == ("prohibition no-till", "layer one")
    assert refusal.message == 'cluster "york-1" is named by 1 prohibition and 1 layer'
    assert refusal.hint == "change prohibition no-till, layer one first"


@pytest.mark.parametrize(
    "command",
    [
        SetLayer("menu-tx", "all", {}, "menu"),
        RemoveLayer("menu-tx"),
        SetLayer("new", "all", {}, "menu"),
        SetLayer("new", "namespace shop", {}, "grill"),
    ],
    ids=str,
)
def test_a_layer_or_what_it_names_has_changed_since(command: SetLayer | RemoveLayer):
    fleet = working()
    give(
        fleet,
        SetLayer("menu-tx", "all", {"lanes": 1}, "menu"),
        DefineApplication("menu", "shop", title="Menu"),
        DefineNamespace("shop", labels={"team": "z"}),
    )
    with pytest.raises(Conflict, match="has changed at revision 3"):
        give(fleet, command, expected=2)
    give(fleet, SetLayer("new", "all", {}, "grill"), expected=2)
