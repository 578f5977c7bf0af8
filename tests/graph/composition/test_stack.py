"""An application's layers composed: who wins, who clashes, who gave what."""

from __future__ import annotations

from typing import Any

import pytest

from graph.composition.problem import Clash, Reason
from graph.composition.stack import CONFLICTS_MAX, OWN, Stack
from graph.model.inventory import Group, Hierarchy, Mode
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import Everything, HasLabel, IsCluster, Selector, Under
from graph.model.values import Values
from graph.model.workload import Application, LateBound, Layer
from twin import Twin

GEO, US, TX, CA, DEVICES, GRILL = map(GroupNumber, range(6))
STORE = IsCluster(ClusterNumber(7))

FLEET = Twin.of(
    [
        Hierarchy("geo", Mode.MANY, precedence=0),
        Group(GEO, "geo", None, "geo"),
        Group(US, "geo", GEO, "us"),
        Group(TX, "geo", US, "tx"),
        Group(CA, "geo", GEO, "ca"),
        Hierarchy("devices", Mode.MANY, precedence=1),
        Group(DEVICES, "devices", None, "devices"),
        Group(GRILL, "devices", DEVICES, "grill"),
    ]
)


def layer(name: str, selector: Selector, rank: int = 0, **values: Any) -> Layer:
    return Layer(name, selector, Values.of(values), "pos", rank)


def fleet_layer(name: str, selector: Selector, rank: int = 0, **values: Any) -> Layer:
    return Layer(name, selector, Values.of(values), "", rank)


def application(**values: Any) -> Application:
    return Application("pos", "stores", values=Values.of(values))


def stack(*layers: Layer, **values: Any) -> Stack:
    return Stack.of(application(**values), layers, (), FLEET)


def names(layers: tuple[Layer, ...]) -> list[str]:
    return [each.name for each in layers]


def test_a_default_is_overridden_for_one_country_one_city_and_one_store() -> None:
    found = stack(
        layer("tx", Under(TX), tax=8),
        layer("store", STORE, tax=0),
        layer("us", Under(US), tax=7, currency="usd"),
        tax=1,
        currency="eur",
        lanes=2,
    )
    assert names(found.keyed) == ["us", "tx", "store"]
    composed = found.compose({"us", "tx"})
    assert composed.values == {"tax": 8, "currency": "usd", "lanes": 2}
    assert composed.origins == {("tax",): "tx", ("currency",): "us", ("lanes",): OWN}
    assert composed.conflicts == ()
    assert found.compose({"us", "tx", "store"}).values["tax"] == 0
    assert found.compose(()).values == {"tax": 1, "currency": "eur", "lanes": 2}


def test_layers_everywhere_are_in_every_configuration_and_name_none() -> None:
    found = stack(layer("all", Everything(), a=2), layer("us", Under(US), b=3), a=1, b=1)
    assert (names(found.everywhere), names(found.keyed)) == (["all"], ["us"])
    assert found.compose(()).values == {"a": 2, "b": 1}
    assert found.compose({"us"}).origins == {("a",): "all", ("b",): "us"}


def test_two_layers_nothing_orders_clash_where_they_differ_and_only_there() -> None:
    found = stack(layer("us", Under(US), a=1, b=1, c=1), layer("ca", Under(CA), a=2, b=1, d=1))
    assert found.compose({"us"}).conflicts == ()
    assert found.compose({"us", "ca"}).conflicts == (Clash(("a",), "us", "ca"),)
    (problem,) = found.problems({"us", "ca"})
    assert problem.reason is Reason.CONFLICT
    assert problem.path == ("a",)
    assert problem.layers == ("us", "ca")
    assert problem.message == (
        'application "pos": layers "us" and "ca" give a different values, '
        "and nothing says which is stronger"
    )


def test_a_clash_that_a_stronger_layer_hides_is_one_all_the_same() -> None:
    found = stack(
        layer("us", Under(US), a=1), layer("ca", Under(CA), a=2), layer("store", STORE, a=3)
    )
    composed = found.compose({"us", "ca", "store"})
    assert composed.values == {"a": 3}
    assert composed.conflicts == (Clash(("a",), "us", "ca"),)


def test_layers_everywhere_can_clash_with_each_other() -> None:
    found = stack(layer("one", Everything(), a=1), layer("two", Everything(), a=2))
    assert found.compose(()).conflicts == (Clash(("a",), "one", "two"),)
    assert [each.reason for each in found.problems(())] == [Reason.CONFLICT]


def test_rank_settles_a_clash() -> None:
    found = stack(layer("us", Under(US), 1, a=1), layer("ca", Under(CA), a=2))
    composed = found.compose({"us", "ca"})
    assert (composed.values, composed.conflicts) == ({"a": 1}, ())


def test_items_merged_by_name_know_the_layer_of_each_of_their_values() -> None:
    found = stack(
        layer("us", Under(US), env=[{"name": "tz", "value": "cst"}]),
        env=[{"name": "tz", "value": "utc", "kind": "text"}, {"name": "log", "value": "on"}],
    )
    composed = found.compose({"us"})
    assert composed.origins == {
        ("env", "tz", "name"): "us",
        ("env", "tz", "value"): "us",
        ("env", "tz", "kind"): OWN,
        ("env", "log", "name"): OWN,
        ("env", "log", "value"): OWN,
    }


def test_a_removed_value_has_no_origin_and_an_emptied_map_has_one() -> None:
    found = stack(layer("us", Under(US), m={"a": None}, b=None), m={"a": 1}, b=1)
    composed = found.compose({"us"})
    assert (composed.values, composed.origins) == ({"m": {}}, {("m",): "us"})


def test_layers_that_set_nothing_composed_tell_no_configurations_apart() -> None:
    pos = Application(
        "pos",
        "stores",
        values=Values.of({"host": "none", "image": {"tag": "v0", "name": "pos"}}),
        late_bound=(LateBound("host", "{cluster}"), LateBound("image.tag")),
    )
    layers = [
        layer("store", STORE, host="special"),
        layer("us", Under(US), host="us", size=1),
        layer("tagged", HasLabel("size"), image={"tag": "v1"}),
        layer("nothing", Under(TX)),
        layer("all", Everything(), host="all"),
    ]
    found = Stack.of(pos, layers, (), FLEET)
    assert names(found.keyed) == ["us"]
    assert {key: names(each) for key, each in found.late.items()} == {
        "host": ["all", "us", "store"],
        "image.tag": ["tagged"],
    }
    assert found.compose({"us"}).values == {"image": {"name": "pos"}, "size": 1}


def test_an_application_sees_only_the_fleet_settings_it_reads() -> None:
    pos = Application("pos", "stores", reads=("telemetry", "unset"))
    fleet_layers = [
        fleet_layer("basic", Everything(), telemetry={"traces": True, "logs": "all"}, proxy="p"),
        fleet_layer("satellite", HasLabel("satellite"), telemetry={"traces": False}),
        fleet_layer("proxies", Under(US), proxy="q"),
    ]
    found = Stack.of(pos, [layer("us", Under(US), a=1)], fleet_layers, FLEET)
    assert names(found.everywhere) == ["basic"]
    assert sorted(names(found.keyed)) == ["satellite", "us"]
    composed = found.compose({"satellite", "us"})
    assert composed.values == {"fleet": {"telemetry": {"traces": False, "logs": "all"}}, "a": 1}
    assert composed.origins[("fleet", "telemetry", "traces")] == "satellite"
    assert composed.origins[("fleet", "telemetry", "logs")] == "basic"


def test_fleet_layers_clash_only_for_those_who_read_what_they_differ_about() -> None:
    fleet_layers = [fleet_layer("us", Under(US), a=1, b=1), fleet_layer("ca", Under(CA), a=2, b=1)]
    reader = Stack.of(Application("pos", "stores", reads=("a",)), (), fleet_layers, FLEET)
    other = Stack.of(Application("pos", "stores", reads=("b",)), (), fleet_layers, FLEET)
    assert reader.compose({"us", "ca"}).conflicts == (Clash(("fleet", "a"), "us", "ca"),)
    assert other.compose({"us", "ca"}).conflicts == ()


def test_fleet_settings_are_composed_by_themselves() -> None:
    layers = [fleet_layer("basic", Everything(), a=1, b=1), fleet_layer("us", Under(US), b=2)]
    found = Stack.of_fleet(layers, FLEET)
    composed = found.compose({"us"})
    assert composed.values == {"a": 1, "b": 2}
    assert composed.origins == {("a",): "basic", ("b",): "us"}
    assert found.problems({"us"}) == ()


SCHEMA = Values.of(
    {
        "required": ["lanes", "host"],
        "properties": {
            "lanes": {"type": "integer", "maximum": 9},
            "image": {"required": ["name", "tag"]},
        },
    }
)


def judged(*layers: Layer, late: tuple[str, ...] = ("host",), **values: Any) -> Stack:
    bound = tuple(LateBound(key) for key in late)
    pos = Application("pos", "stores", values=Values.of(values), schema=SCHEMA, late_bound=bound)
    return Stack.of(pos, layers, (), FLEET)


def test_a_missing_value_names_every_layer_that_was_searched() -> None:
    found = judged(layer("us", Under(US), lanes=None), layer("tx", Under(TX), a=1), lanes=2)
    assert found.problems({"tx"}) == ()
    (problem,) = found.problems({"us", "tx"})
    assert (problem.reason, problem.path) == (Reason.SCHEMA, ("lanes",))
    assert problem.layers == ("us", "tx")
    assert problem.message == (
        'application "pos": lanes is required and missing '
        '(searched: the application\'s own values, layer "us", layer "tx")'
    )


def test_a_wrong_value_names_the_layers_that_set_it() -> None:
    found = judged(
        layer("us", Under(US), lanes=10, other=1), layer("tx", Under(TX), other=2), lanes=2
    )
    (problem,) = found.problems({"us", "tx"})
    assert problem.layers == ("us",)
    assert problem.message == (
        'application "pos": lanes must be at most 9, and is 10 '
        '(set by: the application\'s own values, layer "us")'
    )


def test_layers_beside_a_wrong_value_in_one_map_did_not_set_it() -> None:
    found = judged(
        layer("us", Under(US), image={"tag": "v1"}),
        layer("tx", Under(TX), image={"name": "x"}),
        late=("host", "lanes"),
    )
    schema = Values.of({"properties": {"image": {"properties": {"tag": {"type": "integer"}}}}})
    assert found.application is not None
    strict = Application("pos", "stores", schema=schema)
    (problem,) = Stack.of(strict, found.keyed, (), FLEET).problems({"us", "tx"})
    assert problem.layers == ("us",)


def test_a_map_that_a_late_bound_key_makes_must_be_complete() -> None:
    found = judged(
        layer("us", Under(US), image={"name": "pos"}), late=("host", "image.tag"), lanes=1
    )
    assert found.problems({"us"}) == ()
    assert [each.path for each in found.problems(())] == [("image", "name")]
    assert found.compose(()).values == {"lanes": 1}


def test_a_long_list_of_layers_is_cut_in_the_message_alone() -> None:
    layers = [layer(f"l{number}", HasLabel("size"), number, a=number) for number in range(30)]
    found = judged(*layers)
    (problem,) = found.problems(names(tuple(layers)))
    assert len(problem.layers) == 30
    assert problem.message.endswith('layer "l7", 22 more)')


def test_no_more_conflicts_are_told_than_anybody_reads_and_they_hide_no_violation() -> None:
    many = {f"k{number}": number for number in range(99)}
    other = {key: -1 for key in many}
    found = judged(layer("us", Under(US), **many), layer("ca", Under(CA), **other))
    assert len(found.compose({"us", "ca"}).conflicts) == 99
    reasons = [each.reason for each in found.problems({"us", "ca"})]
    assert reasons == [Reason.CONFLICT] * CONFLICTS_MAX + [Reason.SCHEMA]


def test_a_layer_that_is_not_of_the_stack_is_not_passed_over() -> None:
    with pytest.raises(KeyError):
        stack(layer("us", Under(US), a=1)).compose({"us", "elsewhere"})


def test_what_was_found_out_holds_for_configurations_without_another_layer() -> None:
    us, tx = layer("us", Under(US), tax=7), layer("tx", Under(TX), tax=8)
    known = stack(us, tx, layer("ca", Under(CA), tax=9))
    asked = [frozenset(each) for each in ((), ("us",), ("us", "tx"), ("ca",))]
    for each in asked:
        known.digest(each)
        known.problems(each)
    layers = (
        us,
        layer("tx", Under(TX), tax=6),
        layer("ca", Under(CA), tax=9),
        layer("s", STORE, tax=1),
    )
    now = Stack.of(application(), layers, (), FLEET, known)
    fresh = stack(*layers)
    assert now.rewritten(known) == fresh.rewritten(known) == {"tx", "s"}
    for each in (*asked, frozenset({"us", "s"})):
        assert now.digest(each) == fresh.digest(each)
        assert now.problems(each) == fresh.problems(each)


def test_layers_compose_alike_when_they_say_the_same_in_the_same_order() -> None:
    us, tx = layer("us", Under(US), tax=7), layer("tx", Under(TX), tax=8)
    one = stack(us, tx, layer("store", STORE, tax=1))
    other = stack(us, tx, layer("store", STORE, tax=2))
    assert other.composes_alike(one, {"us", "tx"})
    assert not other.composes_alike(one, {"us", "store"})
    swapped = stack(layer("us", Under(TX), tax=7), layer("tx", Under(US), tax=8))
    assert not swapped.composes_alike(one, {"us", "tx"})


def test_another_application_leaves_nothing_known() -> None:
    known = stack(layer("us", Under(US), tax=7), tax=1)
    assert stack(layer("us", Under(US), tax=7), tax=2).rewritten(known) is None
    assert known.rewritten(known) == frozenset()
