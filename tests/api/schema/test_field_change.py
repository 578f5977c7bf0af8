"""Changes for programs: field by field, as far as they may be seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from asking import ADMIN, data
from doors import TEXAN
from engines import give
from graph.model.access import Actor, Role
from graph.model.command import (
    Command,
    CreateGroup,
    DeclareLabel,
    DeleteGroup,
    GrantAccess,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
)
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import Capacity, LabelType, Reconciler
from graph.model.workload import (
    Base,
    Binding,
    BindingKind,
    Choice,
    Enforcement,
    FieldTarget,
    LateBound,
    SecretProvider,
    SecretReference,
    Template,
)
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    OrderHierarchies,
    Prohibit,
    SetLayer,
    SetPolicy,
)

CHANGES = """{ changesets(first: 1) { nodes { changes {
    id name path action fields { name before after } } } } }"""

Fields = dict[str, tuple[Any, Any]]


async def told(engine: Any, *commands: Command, actor: Actor = ADMIN) -> dict[str, Any]:
    """What the last changeset says of each object, by its name."""
    if commands:
        await give(engine, *commands)
    found = await data(engine, CHANGES, actor=actor)
    return {each["name"]: each for each in found["changesets"]["nodes"][0]["changes"]}


def fields(change: dict[str, Any]) -> Fields:
    return {each["name"]: (each["before"], each["after"]) for each in change["fields"]}


async def test_a_cluster_is_told_label_by_label_and_place_by_place(fleet):
    found = await told(
        fleet,
        UpdateCluster("dallas-21", title="Dallas", labels={"size": "large", "lanes": None}),
        Join("dallas-21", "/geo/us/tx/austin"),
        Leave("dallas-21", "/devices/grill"),
    )
    assert fields(found["dallas-21"]) == {
        "title": (None, "Dallas"),
        "groups": (["/devices/grill", "/geo/us/tx/dallas"], ["/geo/us/tx/austin"]),
        "label size": ("small", "large"),
        "label lanes": (10.5, None),
    }
    assert found["dallas-21"]["path"] is None


async def test_what_comes_has_nothing_before_and_what_goes_nothing_after(fleet):
    hours = OpeningHours(weekly={"monday": (Interval("08:00", "22:00"),)})
    new = RegisterCluster(
        "new-1", groups=("/geo/ca",), labels={"size": "small"}, capacity=Capacity(1, 2, 3),
        opening_hours=hours,
    )  # fmt: skip
    found = fields((await told(fleet, new))["new-1"])
    assert found == {
        "name": (None, "new-1"),
        "kind": (None, "KUBERNETES"),
        "reconciler": (None, "FLUX"),
        "groups": (None, ["/geo/ca"]),
        "capacity": (None, {"cpuMillicores": 1, "memoryMib": 2, "storageMib": 3}),
        "openingHours": (
            None,
            {
                "weekly": [{"day": "monday", "intervals": [{"opens": "08:00", "closes": "22:00"}]}],
                "exceptions": [],
            },
        ),
        "label size": (None, "small"),
    }
    back = fields((await told(fleet, RetireCluster("new-1")))["new-1"])
    assert back == {name: (after, before) for name, (before, after) in found.items()}


async def test_a_group_is_told_with_its_path_now_or_before_it_went(fleet):
    moved = (await told(fleet, MoveGroup("/geo/us/ny", "/geo/ca")))["ny"]
    assert moved["path"] == "/geo/ca/ny"
    assert fields(moved) == {"parent": ("/geo/us", "/geo/ca")}
    await give(fleet, CreateGroup("/geo/ca/tmp", title="For now"))
    gone = (await told(fleet, DeleteGroup("/geo/ca/tmp")))["tmp"]
    assert (gone["path"], gone["action"]) == ("/geo/ca/tmp", "REMOVED")
    assert fields(gone)["title"] == ("For now", None)


async def test_selectors_keys_and_grants_are_told_in_their_own_words(fleet):
    found = await told(
        fleet,
        SaveSelector("texas", "/geo/us/tx and lanes >= 2", title="Texas"),
        DeclareLabel("size", LabelType.TEXT, allowed=("small", "large", "huge")),
        GrantAccess("texans", Role.OPERATOR, claim="texas", scope="/geo/us/tx"),
    )
    assert fields(found["texas"]) == {"text": ("/geo/us/tx", "/geo/us/tx and lanes >= 2")}
    assert fields(found["size"]) == {"allowed": (["small", "large"], ["small", "large", "huge"])}
    assert fields(found["texans"]) == {"role": ("EDITOR", "OPERATOR")}


async def test_a_selector_over_a_group_that_is_gone_has_no_text(fleet):
    await give(fleet, CreateGroup("/geo/us/tmp"))
    await give(fleet, SaveSelector("tmp", "/geo/us/tmp"))
    await give(fleet, SaveSelector("tmp", "/geo/us"))
    await give(fleet, DeleteGroup("/geo/us/tmp"))
    query = """{ fleet { savedSelector(name: "tmp") { history {
        change { fields { name before after } } } } } }"""
    history = (await data(fleet, query))["fleet"]["savedSelector"]["history"]
    assert fields(history[0]["change"]) == {"text": (None, "/geo/us")}


async def test_the_order_of_hierarchies_is_told(fleet):
    found = await told(fleet, OrderHierarchies(("empty", "geo", "devices")))
    assert {name: fields(each) for name, each in found.items()} == {
        "empty": {"precedence": (-2, 0)},
        "geo": {"precedence": (0, 1)},
        "devices": {"precedence": (-1, 2)},
    }


async def test_an_application_is_told_field_by_field_as_its_input_has_them(fleet):
    new = DefineApplication(
        "oven", "kitchen", owner="ana", labels={"tier": "iron"}, requires="/devices/grill",
        reconcilers=(Reconciler.ANSIBLE,), depends_on=("grill",), requests=Capacity(1, 2),
        source=Base("base", (Binding("a.b", BindingKind.CONFIG_MAP, "oven", "b"),)),
        values={"a": {"b": 1}}, schema={"type": "object"}, reads=("telemetry",),
        late_bound=(LateBound("host", "{cluster}", (FieldTarget("Ingress/oven", "/a"),)),),
        cluster_scoped=("ClusterRole/oven",),
    )  # fmt: skip
    found = fields((await told(fleet, new))["oven"])
    assert found == {
        "name": (None, "oven"),
        "namespace": (None, "kitchen"),
        "owner": (None, "ana"),
        "requires": (None, "/devices/grill"),
        "reconcilers": (None, ["ANSIBLE"]),
        "dependsOn": (None, ["grill"]),
        "requests": (None, {"cpuMillicores": 1, "memoryMib": 2, "storageMib": 0}),
        "source": (
            None,
            {
                "base": {
                    "path": "base",
                    "bindings": [
                        {"key": "a.b", "kind": "CONFIG_MAP", "name": "oven", "field": "b"}
                    ],
                    "components": [],
                }
            },
        ),
        "values": (None, {"a": {"b": 1}}),
        "schema": (None, {"type": "object"}),
        "lateBound": (
            None,
            [
                {
                    "key": "host",
                    "source": "{cluster}",
                    "fields": [{"object": "Ingress/oven", "pointer": "/a"}],
                }
            ],
        ),
        "reads": (None, ["telemetry"]),
        "clusterScoped": (None, ["ClusterRole/oven"]),
        "label tier": (None, "iron"),
    }
    as_template = replace(
        new, source=Template({"b": "2", "a": "1"}), values={}, labels={"tier": "x"}
    )
    assert fields((await told(fleet, as_template))["oven"]) == {
        "source": (
            found["source"][1],
            {"template": {"files": [{"name": "a", "text": "1"}, {"name": "b", "text": "2"}]}},
        ),
        "values": ({"a": {"b": 1}}, None),
        "label tier": ("iron", "x"),
    }


async def test_the_secrets_of_a_namespace_are_told_as_their_input_has_them(fleet):
    db = SecretReference("db", SecretProvider.SECRETS_STORE, "azure", {"b": "2", "a": "1"})
    found = fields((await told(fleet, DefineNamespace("vaults", secrets=(db,))))["vaults"])
    keys = [{"key": "a", "place": "1"}, {"key": "b", "place": "2"}]
    shape = {"name": "db", "provider": "SECRETS_STORE", "store": "azure", "keys": keys}
    assert found == {"name": (None, "vaults"), "secrets": (None, [shape])}


async def test_values_that_only_python_has_equal_are_told_as_different(fleet):
    for values in ({"lanes": 2.0}, {"lanes": 2}):
        found = await told(fleet, SetLayer("grill-tx", "/geo/us/tx", values, "grill", rank=1))
        assert repr(fields(found["grill-tx"])["values"][1]) == repr(values)


async def test_what_chooses_is_told_by_what_it_chooses(fleet):
    found = await told(
        fleet,
        Assign("kitchen-gold", Choice("kitchen", ("grill",)), "/geo/ca"),
        Prohibit("no-gold", Choice("signs", labels={"tier": "iron"}), "lanes >= 16"),
        SetPolicy("small", selector="size = large", oversubscription=Enforcement.REFUSE),
        GrantAccess("tess-too", Role.READER, subject="tess", scope="/geo/us/tx/austin",
                    namespaces=("kitchen",), applications=("player",)),
    )  # fmt: skip
    assert {name: fields(each) for name, each in found.items()} == {
        "kitchen-gold": {"named": (None, ["grill"]), "label tier": ("gold", None)},
        "no-gold": {
            "namespace": (None, "signs"),
            "selector": ("lanes >= 15", "lanes >= 16"),
            "label tier": ("gold", "iron"),
        },
        "small": {
            "selector": ("size = small", "size = large"),
            "registries": (["registry.example.com"], None),
            "oversubscription": ("REPORT", "REFUSE"),
        },
        "tess-too": {"namespaces": (None, ["kitchen"]), "applications": (None, ["player"])},
    }


async def test_names_of_what_is_hidden_are_left_out(fleet):
    both = Assign("both", Choice("kitchen", ("grill", "oven")), "/geo/us/tx")
    await give(fleet, DefineApplication("oven", "kitchen", labels={"tier": "iron"}), both)
    await give(fleet, GrantAccess("cook", Role.READER, subject="cook", applications=("grill",)))
    whole = fields((await told(fleet, replace(both, title="t")))["both"])
    assert whole == {"title": (None, "t")}
    for actor, named in ((ADMIN, ["grill", "oven"]), (Actor("cook"), ["grill"])):
        query = '{ node(id: "assignment:both") { ... on Assignment { history { %s } } } }'
        lines = "change { fields { name before after } }"
        found = (await data(fleet, query % lines, actor=actor))["node"]["history"][-1]
        assert fields(found["change"])["named"] == (None, named)


@pytest.mark.parametrize("actor", [ADMIN, TEXAN], ids=["all", "a part"])
async def test_no_place_outside_a_scope_is_told(fleet, actor):
    """A cluster that came from outside, and a group that was moved in."""
    await give(fleet, UpdateGroup("/geo/us/tx", title="T"))
    came = await told(fleet, Join("york-03", "/geo/us/tx/austin"), actor=actor)
    groups = fields(came["york-03"])["groups"]
    assert "/geo/us/tx/austin" in groups[1]
    moved = await told(fleet, MoveGroup("/geo/us/ny/newyork", "/geo/us/tx"), actor=actor)
    if actor is ADMIN:
        assert "/geo/us/ny/newyork" in groups[0]
        assert fields(moved["newyork"]) == {"parent": ("/geo/us/ny", "/geo/us/tx")}
    else:
        assert groups[0] is None
        assert "/geo/us/ny" not in str(moved) and "/geo/us/ny" not in str(came)
        assert fields(moved["newyork"])["parent"] == (None, "/geo/us/tx")
