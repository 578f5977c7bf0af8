"""The rules of effective state, one by one, on a fleet small enough to hold in the head.

Each case is told by the naive evaluator and by the product, which must agree before anything else
is asserted.
"""

from __future__ import annotations

from typing import Any

import pytest

from effective_checks import against_naive, broken_partition, snapshot_of
from graph.composition.problem import Reason
from graph.effective.state import begin
from graph.model.change import Entity
from graph.model.inventory import (
    Capacity,
    Cluster,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    Mode,
    Reconciler,
    SavedSelector,
)
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import (
    Comparison,
    Everything,
    Except,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIs,
    Not,
    Or,
    Saved,
    Selector,
    Under,
)
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    Enforcement,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from naive_workload import Naive, Outcome, Standing
from twin import Twin

GEO, US, TX, NY, DEVICES, GRILL, CAMERA = map(GroupNumber, range(7))
AUSTIN, DALLAS, YORK = map(ClusterNumber, range(3))
ALL = Everything()

INVENTORY: tuple[Entity, ...] = (
    Hierarchy("geo", Mode.SINGLE, precedence=0),
    Hierarchy("devices", Mode.MANY, precedence=1),
    Group(GEO, "geo", None, "geo"),
    Group(US, "geo", GEO, "us"),
    Group(TX, "geo", US, "tx"),
    Group(NY, "geo", US, "ny"),
    Group(DEVICES, "devices", None, "devices"),
    Group(GRILL, "devices", DEVICES, "grill"),
    Group(CAMERA, "devices", DEVICES, "camera"),
    LabelKey("zone", LabelType.TEXT),
    LabelKey("gpu", LabelType.BOOLEAN),
    Cluster(
        AUSTIN,
        "austin",
        labels={"zone": "south", "gpu": True},
        memberships=(TX, GRILL, CAMERA),
        capacity=Capacity(4000, 4096),
    ),
    Cluster(DALLAS, "dallas", labels={"zone": "south"}, memberships=(TX, GRILL)),
    Cluster(YORK, "york", memberships=(NY, CAMERA), reconciler=Reconciler.ANSIBLE),
    Namespace("front"),
    Namespace("back"),
)


def told(*workload: Entity, inventory: tuple[Entity, ...] = INVENTORY) -> Naive:
    """The state with ``workload``, which the naive evaluator and the product agree on."""
    twin = Twin.of((*inventory, *workload))
    naive = Naive.of(twin)
    state = begin(snapshot_of(twin))
    assert against_naive(state, naive) is None
    assert broken_partition(state) is None
    return naive


def pos(**fields: Any) -> Application:
    return Application("pos", "front", **fields)


def everywhere(namespace: str = "front") -> Assignment:
    return Assignment(f"{namespace}-all", Choice(namespace), ALL)


def layer(name: str, selector: Selector, rank: int = 0, /, **values: Any) -> Layer:
    return Layer(name, selector, Values.of(values), "pos", rank)


def configured(*layers: Layer, **fields: Any) -> dict[int, Outcome]:
    """The outcomes of an application that is everywhere, with these layers."""
    return told(pos(**fields), everywhere(), *layers).outcomes["pos"]


# assignment, capability, veto


def test_an_application_is_where_any_assignment_that_takes_it_reaches() -> None:
    naive = told(
        pos(labels={"tier": "1"}),
        Application("menu", "front"),
        Application("kds", "back"),
        Assignment("by-name", Choice("front", ("pos",)), IsCluster(AUSTIN)),
        Assignment("by-label", Choice("front", labels={"tier": "1"}), IsCluster(YORK)),
        Assignment("whole", Choice("back"), Under(TX)),
    )
    assert naive.effective("pos") == {AUSTIN, YORK}
    assert naive.effective("menu") == set()
    assert naive.effective("kds") == {AUSTIN, DALLAS}


def test_a_cluster_without_what_is_required_lacks_it_and_blocks_nothing() -> None:
    naive = told(pos(requires=HasLabel("gpu")), everywhere())
    assert naive.effective("pos") == {AUSTIN}
    assert naive.standing_at("pos", Standing.LACKING) == {DALLAS, YORK}
    assert naive.blocked("pos") == {}


def test_an_application_runs_only_under_a_reconciler_it_knows() -> None:
    naive = told(pos(reconcilers=(Reconciler.FLUX, Reconciler.ARGOCD)), everywhere())
    assert naive.standing_at("pos", Standing.LACKING) == {YORK}


def test_a_prohibition_beats_every_assignment() -> None:
    naive = told(
        pos(),
        everywhere(),
        Assignment("again", Choice("front", ("pos",)), Under(TX)),
        Prohibition("law", Choice(applications=("pos",)), Under(TX)),
    )
    assert naive.effective("pos") == {YORK}
    assert naive.standing_at("pos", Standing.PROHIBITED) == {AUSTIN, DALLAS}


def test_a_veto_takes_everything_that_depends_on_it_however_far_away() -> None:
    naive = told(
        pos(),
        Application("menu", "front", depends_on=("pos",)),
        Application("ads", "back", depends_on=("menu",)),
        everywhere(),
        everywhere("back"),
        Prohibition("law", Choice(applications=("pos",)), Under(TX)),
    )
    assert naive.standing_at("ads", Standing.PROHIBITED) == {AUSTIN, DALLAS}
    assert naive.effective("ads") == {YORK}


def test_a_veto_of_what_depends_on_it_leaves_an_application_alone() -> None:
    naive = told(
        pos(),
        Application("menu", "front", depends_on=("pos",)),
        everywhere(),
        Prohibition("law", Choice(applications=("menu",)), ALL),
    )
    assert naive.effective("pos") == {AUSTIN, DALLAS, YORK}


def test_prohibited_comes_before_lacking() -> None:
    naive = told(
        pos(requires=HasLabel("gpu")), everywhere(), Prohibition("law", Choice("front"), ALL)
    )
    assert naive.standing_at("pos", Standing.PROHIBITED) == {AUSTIN, DALLAS, YORK}


def test_an_application_is_blocked_where_a_dependency_is_absent_or_blocked() -> None:
    naive = told(
        pos(late_bound=(LateBound("host", "{zone}"),)),
        Application("menu", "back", depends_on=("pos",)),
        Assignment("texas", Choice("front"), Or((IsCluster(AUSTIN), IsCluster(YORK)))),
        everywhere("back"),
    )
    assert naive.effective("menu") == {AUSTIN}
    assert naive.blocked("menu") == {Reason.DEPENDENCY: {DALLAS, YORK}}


def test_a_namespace_clause_means_its_assignments_before_any_veto() -> None:
    naive = told(
        pos(),
        Application("kds", "back"),
        Assignment("texas", Choice("front"), Under(TX)),
        Prohibition("law", Choice("front"), IsCluster(AUSTIN)),
        Assignment("beside", Choice("back"), InNamespace("front")),
    )
    assert naive.effective("pos") == {DALLAS}
    assert naive.effective("kds") == {AUSTIN, DALLAS}


def test_a_namespace_narrowed_from_another_through_a_saved_selector() -> None:
    naive = told(
        pos(),
        Application("kds", "back"),
        everywhere(),
        SavedSelector("stores", InNamespace("front")),
        Assignment("beta", Choice("back"), Except(Saved("stores"), Under(CAMERA))),
    )
    assert naive.effective("kds") == {DALLAS}


# composition


def test_layers_of_a_stronger_class_win_whatever_their_rank() -> None:
    found = configured(
        layer("z-all", ALL, 1000, a="all"),
        layer("y-group", Under(GEO), 500, a="group"),
        layer("x-selector", LabelIs("zone", Comparison.EQ, "south"), 1, a="selector"),
        layer("w-cluster", IsCluster(AUSTIN), -1000, a="cluster"),
        values=Values.of({"a": "own", "b": 1}),
    )
    assert {number: each.values["a"] for number, each in found.items()} == {
        AUSTIN: "cluster",
        DALLAS: "selector",
        YORK: "group",
    }
    assert found[YORK].layers == {"y-group"}


def test_a_descendant_is_stronger_than_its_ancestor_and_rank_stronger_than_both() -> None:
    found = configured(layer("z", Under(US), a="us"), layer("a", Under(TX), a="tx"))
    assert found[AUSTIN].values == {"a": "tx"}
    found = configured(layer("z", Under(US), 1, a="us"), layer("a", Under(TX), a="tx"))
    assert found[AUSTIN].values == {"a": "us"}


def test_hierarchies_override_each_other_in_their_declared_order_before_rank() -> None:
    found = configured(layer("z", Under(TX), 7, a="geo"), layer("a", Under(DEVICES), a="devices"))
    assert found[AUSTIN].values == {"a": "devices"}


def test_hierarchies_that_were_never_ordered_order_nothing() -> None:
    inventory = (
        Hierarchy("geo", Mode.SINGLE),
        Hierarchy("devices", Mode.MANY),
        *INVENTORY[2:],
    )
    layers = layer("z", Under(TX), 7, a="geo"), layer("a", Under(DEVICES), a="devices")
    naive = told(pos(), everywhere(), *layers, inventory=inventory)
    assert naive.blocked("pos") == {Reason.CONFLICT: {AUSTIN, DALLAS}}


def test_unrelated_groups_conflict_where_both_reach_and_nowhere_else() -> None:
    naive = told(
        pos(),
        everywhere(),
        layer("grill", Under(GRILL), a=1, b=1),
        layer("camera", Under(CAMERA), a=2, c=1),
    )
    assert naive.blocked("pos") == {Reason.CONFLICT: {AUSTIN}}
    assert naive.effective("pos") == {DALLAS, YORK}


def test_equal_values_are_no_conflict_and_true_is_not_one() -> None:
    def blocked(one: object, other: object) -> set[Reason]:
        layers = layer("grill", Under(GRILL), a=one), layer("camera", Under(CAMERA), a=other)
        return configured(*layers)[AUSTIN].reasons

    assert blocked({"x": [1, 2]}, {"x": [1, 2]}) == set()
    assert blocked({"x": 1}, {"y": 2}) == set()
    assert blocked(True, 1) == {Reason.CONFLICT}
    assert blocked(1.0, 1) == {Reason.CONFLICT}
    assert blocked({"x": 1}, "flat") == {Reason.CONFLICT}
    assert blocked(None, 1) == {Reason.CONFLICT}


def test_a_conflict_counts_although_a_stronger_layer_hides_it() -> None:
    found = configured(
        layer("grill", Under(GRILL), a=1),
        layer("camera", Under(CAMERA), a=2),
        layer("one", IsCluster(AUSTIN), a=3),
    )
    assert found[AUSTIN].reasons == {Reason.CONFLICT}


def test_two_selectors_of_one_rank_conflict_and_of_two_do_not() -> None:
    south, rest = LabelIs("zone", Comparison.EQ, "south"), Not(IsCluster(YORK))
    found = configured(layer("b", south, a=1), layer("a", rest, a=2))
    assert found[AUSTIN].reasons == {Reason.CONFLICT}
    found = configured(layer("b", south, 1, a=1), layer("a", rest, a=2))
    assert found[AUSTIN].values == {"a": 1}


def test_maps_merge_named_lists_merge_by_name_other_lists_replace_and_null_removes() -> None:
    found = configured(
        layer(
            "texas",
            Under(TX),
            b={"d": 2, "c": None},
            items=[{"name": "y", "v": 3}, {"name": "z"}],
            list=[9],
            gone=None,
        ),
        values=Values.of(
            {
                "b": {"c": 1, "e": 1},
                "items": [{"name": "x"}, {"name": "y", "v": 1, "w": 1}],
                "list": [1, 2],
                "gone": {"all": "of it"},
            }
        ),
    )
    assert found[AUSTIN].values == {
        "b": {"d": 2, "e": 1},
        "items": [{"name": "x"}, {"name": "y", "v": 3, "w": 1}, {"name": "z"}],
        "list": [9],
    }


def test_a_configuration_is_the_layers_that_reach_but_those_on_everything() -> None:
    naive = told(
        pos(late_bound=(LateBound("host", "{cluster}"),)),
        everywhere(),
        layer("base", ALL, a=1),
        layer("texas", Under(TX), a=2),
        layer("named", Under(GRILL), host="h"),
        layer("silent", Under(CAMERA)),
    )
    assert naive.configurations("pos") == {
        frozenset({"texas"}): {AUSTIN, DALLAS},
        frozenset(): {YORK},
    }


# fleet settings


def fleet_layer(name: str, selector: Selector, **values: Any) -> Layer:
    return Layer(name, selector, Values.of(values))


def test_an_application_sees_only_the_fleet_settings_it_reads() -> None:
    naive = told(
        pos(reads=("proxy",)),
        Application("menu", "front"),
        everywhere(),
        fleet_layer("base", ALL, proxy="p1", telemetry={"traces": True}),
        fleet_layer("texas", Under(TX), proxy="p2"),
        fleet_layer("quiet", Under(NY), telemetry={"traces": False}),
    )
    assert naive.outcomes["pos"][AUSTIN].values == {"fleet": {"proxy": "p2"}}
    assert naive.outcomes["pos"][YORK].values == {"fleet": {"proxy": "p1"}}
    assert naive.configurations("pos") == {
        frozenset({"texas"}): {AUSTIN, DALLAS},
        frozenset(): {YORK},
    }
    assert naive.configurations("menu") == {frozenset(): {AUSTIN, DALLAS, YORK}}


def test_fleet_layers_conflict_only_for_those_who_read_what_they_set() -> None:
    naive = told(
        pos(reads=("proxy",)),
        Application("menu", "front", reads=("telemetry",)),
        everywhere(),
        fleet_layer("grill", Under(GRILL), proxy="p1"),
        fleet_layer("camera", Under(CAMERA), proxy="p2"),
    )
    assert naive.blocked("pos") == {Reason.CONFLICT: {AUSTIN}}
    assert naive.blocked("menu") == {}


# schema and late-bound keys

NUMBER_A = Values.of({"properties": {"a": {"type": "integer"}}, "required": ["a"]})


def test_values_off_the_schema_block_those_clusters_and_no_others() -> None:
    naive = told(
        pos(schema=NUMBER_A, values=Values.of({"a": 1})),
        everywhere(),
        layer("texas", Under(TX), a="one"),
        layer("york", IsCluster(YORK), a=None),
        layer("dallas", IsCluster(DALLAS), a=2),
    )
    assert naive.blocked("pos") == {Reason.SCHEMA: {AUSTIN, YORK}}


def test_a_required_key_that_is_late_bound_is_not_missed() -> None:
    late = LateBound("a", "{cluster}")
    assert configured(schema=NUMBER_A, late_bound=(late,))[AUSTIN].effective


def test_fleet_settings_are_no_keys_of_the_application() -> None:
    closed = Values.of({"properties": {"a": {}}, "additionalProperties": False})
    naive = told(
        pos(schema=closed, reads=("proxy",)),
        everywhere(),
        fleet_layer("base", ALL, proxy="p1"),
    )
    assert naive.blocked("pos") == {}


def test_a_late_bound_key_is_filled_from_labels_and_blocks_where_one_is_missing() -> None:
    found = configured(late_bound=(LateBound("host", "{cluster}.{zone}"),))
    assert found[AUSTIN].late == {"host": "austin.south"}
    assert found[AUSTIN].values == {}
    assert found[YORK].reasons == {Reason.LATE_BOUND}


def test_a_label_is_written_as_people_write_it() -> None:
    assert configured(late_bound=(LateBound("x", "{gpu}"),))[AUSTIN].late == {"x": "true"}


def test_the_strongest_layer_gives_a_late_bound_key_and_makes_no_configuration() -> None:
    found = configured(
        layer("base", ALL, site={"id": "everybody"}),
        layer("texas", Under(TX), site={"id": "texas"}),
        layer("one", IsCluster(AUSTIN), site={"id": "austin"}),
        late_bound=(LateBound("site.id"),),
    )
    assert [found[number].late["site.id"] for number in (AUSTIN, DALLAS, YORK)] == [
        "austin",
        "texas",
        "everybody",
    ]
    assert {each.layers for each in found.values()} == {frozenset()}


def test_a_key_that_only_layers_give_blocks_where_none_does() -> None:
    found = configured(layer("texas", Under(TX), host="h"), late_bound=(LateBound("host"),))
    assert found[YORK].reasons == {Reason.LATE_BOUND}
    assert found[DALLAS].effective


def test_layers_that_nothing_orders_conflict_over_a_late_bound_key_too() -> None:
    found = configured(
        layer("grill", Under(GRILL), host="g"),
        layer("camera", Under(CAMERA), host="c"),
        late_bound=(LateBound("host"),),
    )
    assert found[AUSTIN].reasons == {Reason.CONFLICT}
    assert found[DALLAS].effective and found[YORK].effective


# capacity


def crowded(*policies: Policy) -> Naive:
    """Two applications of two namespaces that are too much for austin, and one that asks little."""
    return told(
        pos(requests=Capacity(3000, 1024)),
        Application("kds", "back", requests=Capacity(1500, 1024)),
        Application("ads", "back"),
        everywhere(),
        everywhere("back"),
        *policies,
    )


def blocked_by_capacity(naive: Naive) -> dict[str, set[int]]:
    found = {name: naive.blocked(name).get(Reason.CAPACITY, set()) for name in naive.outcomes}
    return {name: clusters for name, clusters in found.items() if clusters}


def test_what_asks_for_more_than_there_is_is_blocked_there() -> None:
    naive = crowded()
    assert naive.demand[AUSTIN] == Capacity(4500, 2048, 0)
    assert naive.oversubscribed == {AUSTIN}
    assert blocked_by_capacity(naive) == {"pos": {AUSTIN}, "kds": {AUSTIN}}


@pytest.mark.parametrize(
    ("policies", "blocked"),
    [
        ((Policy("p", selector=Under(TX), oversubscription=Enforcement.REPORT),), set()),
        ((Policy("p", selector=Under(NY), oversubscription=Enforcement.REPORT),), {"pos", "kds"}),
        ((Policy("p", ("front",), oversubscription=Enforcement.REPORT),), {"kds"}),
        (
            (
                Policy("p", selector=ALL, oversubscription=Enforcement.REPORT),
                Policy("q", ("front",), oversubscription=Enforcement.REFUSE),
            ),
            {"pos"},
        ),
        (
            (
                Policy("p", ("front", "back"), oversubscription=Enforcement.REPORT),
                Policy("q", selector=IsCluster(AUSTIN), oversubscription=Enforcement.REFUSE),
            ),
            {"pos", "kds"},
        ),
        ((Policy("p", selector=ALL, required_labels=("team",)),), {"pos", "kds"}),
    ],
)
def test_a_policy_may_have_it_only_reported_and_refusing_wins(
    policies: tuple[Policy, ...], blocked: set[str]
) -> None:
    naive = crowded(*policies)
    assert set(blocked_by_capacity(naive)) == blocked
    assert naive.oversubscribed == {AUSTIN}


def test_what_is_blocked_for_another_reason_still_counts_in_the_demand() -> None:
    naive = told(
        pos(requests=Capacity(3000, 0), late_bound=(LateBound("host"),)),
        Application("kds", "back", requests=Capacity(1500, 0)),
        everywhere(),
        everywhere("back"),
    )
    assert naive.outcomes["pos"][AUSTIN].reasons == {Reason.LATE_BOUND, Reason.CAPACITY}
    assert naive.outcomes["kds"][AUSTIN].reasons == {Reason.CAPACITY}


def test_what_is_vetoed_or_lacking_asks_for_nothing() -> None:
    naive = told(
        pos(requests=Capacity(3000, 0)),
        Application("kds", "back", requests=Capacity(1500, 0)),
        everywhere(),
        everywhere("back"),
        Prohibition("law", Choice(applications=("pos",)), IsCluster(AUSTIN)),
    )
    assert naive.demand[AUSTIN] == Capacity(1500, 0, 0)
    assert naive.oversubscribed == set()


def test_storage_that_a_cluster_does_not_state_is_not_checked() -> None:
    naive = told(pos(requests=Capacity(1, 1, 10**9)), everywhere())
    assert naive.oversubscribed == set()
