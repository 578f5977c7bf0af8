"""The workload as it travels: every field of every object, and the ways between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from asking import ADMIN, data
from doors import TEXAN
from engines import give
from graph.model.access import Actor, Role
from graph.model.command import GrantAccess
from graph.model.inventory import Reconciler
from graph.model.workload import Choice, LateBound, SecretProvider, SecretReference
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    SetLayer,
    SetPolicy,
)

CAPACITY = "{ cpuMillicores memoryMib storageMib }"
SELECTOR = "{ text tree count clusters(first: 1) { totalCount nodes { name } } }"


async def fleet_of(engine: Any, query: str, **more: Any) -> Any:
    return (await data(engine, f"{{ fleet {{ {query} }} }}", **more))["fleet"]


async def node(engine: Any, identity: str, fields: str, **more: Any) -> Any:
    kind = identity.partition(":")[0].capitalize()
    query = f"query ($id: ID!) {{ node(id: $id) {{ ... on {kind} {{ {fields} }} }} }}"
    return (await data(engine, query, id=identity, **more))["node"]


async def names(engine: Any, identity: str, field: str, **more: Any) -> list[str]:
    found = await node(engine, identity, f"{field} {{ name }}", **more)
    return [each["name"] for each in found[field]]


async def test_an_application_shows_its_whole_definition(fleet):
    found = await fleet_of(
        fleet,
        f"""application(name: "grill") {{
            id name title owner changed labels {{ key value }} requires {SELECTOR} reconcilers
            requests {CAPACITY} values schema reads namespace {{ name }}
            lateBound {{ key source fields {{ object pointer }} }}
            source {{ __typename ... on BaseSource {{ path
                bindings {{ key kind name field }} components {{ key path }} }} }} }}""",
    )
    assert found["application"] == {
        "id": "application:grill",
        "name": "grill",
        "title": "Grill control",
        "owner": "ana",
        "changed": 1,
        "labels": [{"key": "tier", "value": "gold"}],
        "requires": {
            "text": "/devices/grill",
            "tree": {"group": "/devices/grill"},
            "count": 30,
            "clusters": {"totalCount": 30, "nodes": [{"name": "austin-05"}]},
        },
        "reconcilers": ["FLUX"],
        "requests": {"cpuMillicores": 100, "memoryMib": 128, "storageMib": 0},
        "values": {"image": {"tag": "1.2"}, "night": False, "lanes": 1.0},
        "schema": {"type": "object", "properties": {"lanes": {"type": "number"}}},
        "reads": ["telemetry"],
        "namespace": {"name": "kitchen"},
        "lateBound": [
            {
                "key": "host",
                "source": "{cluster}.{size}.example.com",
                "fields": [{"object": "Ingress/grill", "pointer": "/spec/rules/0/host"}],
            }
        ],
        "source": {
            "__typename": "BaseSource",
            "path": "base/v12",
            "bindings": [{"key": "image.tag", "kind": "IMAGE", "name": "grill", "field": ""}],
            "components": [{"key": "night", "path": "components/night"}],
        },
    }


async def test_what_an_application_leaves_out_is_empty_or_null(fleet):
    fields = (
        "title owner requires { text } reconcilers requests { memoryMib } source { __typename }"
    )
    found = await node(fleet, "application:player", f"{fields} values schema lateBound {{ key }}")
    assert found == {
        "title": "", "owner": "", "requires": None, "reconcilers": [], "requests": None,
        "source": None, "values": {}, "schema": None, "lateBound": [],
    }  # fmt: skip
    template = "source { ... on TemplateSource { files { name text } } }"
    found = await node(fleet, "application:grill-board", template)
    assert found["source"] == {"files": [{"name": "board.yaml", "text": "kind: Deployment\n"}]}


async def test_a_namespace_shows_its_whole_definition(fleet):
    fields = f"title owners costCenter labels {{ key value }} quota {CAPACITY} limits {CAPACITY}"
    assert await node(fleet, "namespace:kitchen", fields) == {
        "title": "Kitchens",
        "owners": ["ana", "Ünal"],
        "costCenter": "4711",
        "labels": [{"key": "tier", "value": "gold"}],
        "quota": {"cpuMillicores": 1000, "memoryMib": 2048, "storageMib": 0},
        "limits": {"cpuMillicores": 500, "memoryMib": 512, "storageMib": 0},
    }
    bare = await node(fleet, "namespace:signs", fields)
    assert (bare["quota"], bare["limits"], bare["owners"]) == (None, None, [])


async def test_what_chooses_shows_what_it_chooses_by(fleet):
    fields = "title named labels { key value } selector { text count } namespace { name }"
    assert await node(fleet, "assignment:player-ny", fields) == {
        "title": "",
        "named": ["player"],
        "labels": [],
        "selector": {"text": "/geo/us/ny", "count": 15},
        "namespace": {"name": "signs"},
    }
    assert await node(fleet, "prohibition:no-gold", fields) == {
        "title": "",
        "named": [],
        "labels": [{"key": "tier", "value": "gold"}],
        "selector": {"text": "lanes >= 15", "count": 8},
        "namespace": None,
    }


async def test_a_layer_shows_its_values_where_it_applies_and_how_strong_it_is(fleet):
    fields = "title rank values selector { text } application { name }"
    assert await node(fleet, "layer:grill-ny", fields) == {
        "title": "",
        "rank": 0,
        "values": {"lanes": 3, "night": None},
        "selector": {"text": "/geo/us/ny"},
        "application": {"name": "grill"},
    }
    of_the_fleet = await node(fleet, "layer:telemetry", fields)
    assert (of_the_fleet["application"], of_the_fleet["title"]) == (None, "Telemetry")


async def test_a_policy_shows_its_rules_and_what_it_is_for(fleet):
    fields = f"""selector {{ text }} quotaMax {CAPACITY} requiredLabels registries oversubscription
        namespaces {{ name }}"""
    assert await node(fleet, "policy:gold", fields) == {
        "selector": None,
        "quotaMax": {"cpuMillicores": 2000, "memoryMib": 4096, "storageMib": 0},
        "requiredLabels": ["tier"],
        "registries": [],
        "oversubscription": None,
        "namespaces": [{"name": "kitchen"}],
    }
    assert await node(fleet, "policy:small", fields) == {
        "selector": {"text": "size = small"},
        "quotaMax": None,
        "requiredLabels": [],
        "registries": ["registry.example.com"],
        "oversubscription": "REPORT",
        "namespaces": [],
    }


@pytest.mark.parametrize(
    ("identity", "field", "wanted"),
    [
        ("application:grill-board", "dependsOn", ["grill"]),
        ("application:grill", "dependsOn", []),
        ("application:grill", "neededBy", ["grill-board"]),
        ("application:grill", "layers", ["grill-ny", "grill-tx"]),
        ("application:player", "layers", []),
        ("application:grill", "assignments", ["kitchen-gold", "kitchen-us"]),
        ("application:grill-board", "assignments", ["kitchen-us"]),
        ("application:player", "assignments", ["player-ny"]),
        ("application:grill", "prohibitions", ["no-gold"]),
        ("application:grill-board", "prohibitions", []),
        ("application:player", "prohibitions", ["no-signs"]),
        ("namespace:kitchen", "applications", ["grill", "grill-board"]),
        ("namespace:kitchen", "assignments", ["kitchen-gold", "kitchen-us"]),
        ("namespace:signs", "prohibitions", ["no-signs"]),
        ("namespace:kitchen", "policies", ["gold"]),
        ("assignment:kitchen-us", "applications", ["grill", "grill-board"]),
        ("assignment:kitchen-gold", "applications", ["grill"]),
        ("prohibition:no-gold", "applications", ["grill"]),
        ("prohibition:no-signs", "applications", ["player"]),
        ("policy:gold", "namespaces", ["kitchen"]),
    ],
)
async def test_each_object_leads_to_those_it_has_to_do_with(fleet, identity, field, wanted):
    assert await names(fleet, identity, field) == wanted
    if wanted:
        part = await node(fleet, identity, f"{field}(first: 1) {{ name }}")
        assert [each["name"] for each in part[field]] == wanted[:1]
        rest = await node(fleet, identity, f'{field}(after: "{wanted[0]}") {{ name }}')
        assert [each["name"] for each in rest[field]] == wanted[1:]


async def test_a_namespace_that_is_only_selected_by_has_nothing_more_in_it(fleet):
    await give(
        fleet,
        DefineApplication("sign", "signs", requires="namespace kitchen"),
        Assign("sign-us", Choice("signs", ("sign",)), "/geo/us and namespace kitchen"),
        Prohibit("no-sign", Choice("signs", ("sign",)), "namespace kitchen and /geo/ca"),
        SetPolicy("by-kitchen", selector="namespace kitchen", registries=("a.example.com",)),
    )
    for field, wanted in (
        ("applications", ["grill", "grill-board"]),
        ("assignments", ["kitchen-gold", "kitchen-us"]),
        ("prohibitions", []),
        ("policies", ["gold"]),
    ):
        assert await names(fleet, "namespace:kitchen", field) == wanted


async def test_an_earlier_fleet_shows_the_workload_as_it_was(fleet):
    await give(fleet, SetLayer("grill-tx", "/geo/us/tx", {"lanes": 9}, "grill", rank=1))
    query = """{ then: fleet(asOf: 1) { layers(application: "grill") { name values } }
        now: fleet { layers(application: "grill") { name values } } }"""
    found = await data(fleet, query)
    values = {when: {each["name"]: each["values"] for each in found[when]["layers"]}
              for when in ("then", "now")}  # fmt: skip
    assert values["then"]["grill-tx"] == {"lanes": 2}
    assert values["now"]["grill-tx"] == {"lanes": 9}


async def test_the_precedence_of_hierarchies_is_shown(fleet):
    found = await fleet_of(fleet, "hierarchies { name precedence }")
    assert {each["name"]: each["precedence"] for each in found["hierarchies"]} == {
        "devices": -1, "empty": -2, "geo": 0,
    }  # fmt: skip


# as far as it may be seen


async def test_under_a_scope_nothing_leads_to_what_is_hidden(fleet):
    everything = """applications { name layers { name } assignments { name } prohibitions { name } }
        namespaces { name applications { name } assignments { name } policies { name } }
        assignments { name applications { name } } layers { name } policies { name }
        prohibitions { name }"""
    seen = str(await fleet_of(fleet, everything, actor=TEXAN))
    assert "'grill-tx'" in seen and "'kitchen-us'" in seen
    for hidden in ("grill-ny", "player", "signs", "kitchen-gold"):
        assert f"'{hidden}'" not in seen
        assert f"'{hidden}'" in str(await fleet_of(fleet, everything, actor=ADMIN))


async def test_a_selector_that_names_something_hidden_has_neither_text_nor_tree(fleet):
    await give(fleet, Assign("two", Choice("kitchen"), "/geo/us/tx or /geo/us/ny"))
    fields = "selector { text tree count }"
    assert (await node(fleet, "assignment:two", fields))["selector"]["count"] == 31
    seen = (await node(fleet, "assignment:two", fields, actor=TEXAN))["selector"]
    assert seen == {"text": None, "tree": None, "count": 16}


async def test_a_source_that_names_a_hidden_label_is_not_told(fleet):
    late = (LateBound("host", "{open}.example.com"),)
    board = DefineApplication("board", "kitchen", labels={"tier": "x"}, late_bound=late)
    await give(fleet, replace(board, requires="has open"))
    fields = "requires { text } lateBound { key source }"
    for actor, source, text in ((ADMIN, late[0].source, "has open"), (TEXAN, "", None)):
        seen = await node(fleet, "application:board", fields, actor=actor)
        assert seen["lateBound"] == [{"key": "host", "source": source}]
        assert seen["requires"] == {"text": text}


async def test_cluster_scoped_objects_and_secrets_are_told(fleet):
    db = SecretReference("db", SecretProvider.EXTERNAL_SECRETS, "vault", {"b": "2", "a": "1"})
    board = DefineApplication(
        "board", "kitchen", labels={"tier": "x"}, cluster_scoped=("PriorityClass/b", "A/c")
    )
    await give(fleet, board, DefineNamespace("vaults", secrets=(db,)))
    assert await node(fleet, "application:board", "clusterScoped") == {
        "clusterScoped": ["A/c", "PriorityClass/b"]
    }
    fields = "secrets { name provider store keys { key place } }"
    assert await node(fleet, "namespace:vaults", fields) == {
        "secrets": [
            {
                "name": "db",
                "provider": "EXTERNAL_SECRETS",
                "store": "vault",
                "keys": [{"key": "a", "place": "1"}, {"key": "b", "place": "2"}],
            }
        ]
    }


async def test_names_outside_a_coverage_are_left_out(fleet):
    await give(
        fleet,
        DefineApplication(
            "oven", "kitchen", labels={"tier": "iron"}, depends_on=("grill",),
            requires="/devices/grill", reconcilers=(Reconciler.FLUX,),
        ),
        Assign("both", Choice("kitchen", ("grill", "oven")), "/geo/us"),
        SetPolicy("both", ("kitchen", "signs"), registries=("registry.example.com",)),
        GrantAccess("cook", Role.READER, subject="cook", applications=("oven",)),
    )  # fmt: skip
    cook = Actor("cook")
    assert (await node(fleet, "assignment:both", "named"))["named"] == ["grill", "oven"]
    assert (await node(fleet, "assignment:both", "named", actor=cook))["named"] == ["oven"]
    assert await names(fleet, "application:oven", "dependsOn") == ["grill"]
    assert await names(fleet, "application:oven", "dependsOn", actor=cook) == []
    seen = await fleet_of(fleet, "applications { name } namespaces { name }", actor=cook)
    assert [each["name"] for each in seen["applications"]] == ["oven"]
