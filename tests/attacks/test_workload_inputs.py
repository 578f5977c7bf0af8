"""Bad input about the workload: refused as what it is, through every door, and nothing changed.

The table reads like a list of mistakes and mischief. Each is sent as a batch, as the mutation of
its command if it is one command, and as a preview; each is told what is wrong, where in the input
and what to do next, and afterwards the fleet runs what it ran.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from doors import MORE, Served, fleet, served
from engines import give, ticking
from graph.engine import Engine
from graph.model.access import Role
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    GrantAccess,
    Join,
    SaveSelector,
    UpdateCluster,
)
from graph.model.inventory import Capacity, LabelType
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    SetLayer,
    SetPolicy,
)
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from issuer import Issuer

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONFIGURATIONS_MAX = 12
REFUSED = """__typename
    ... on Failure { code message hint path }
    ... on Invalid { selector { column length nearest } }
    ... on NotFound { selector { column length nearest } }
    ... on Rejected { reasons }"""
APPLY = f"""mutation ($input: ApplyInput!) {{ result: apply(input: $input) {{ {REFUSED}
    ... on Applied {{ revision }} }} }}"""
PREVIEW = f"""query ($input: ApplyInput!) {{ result: preview(input: $input) {{ {REFUSED}
    ... on Preview {{ refusals {{ __typename code message hint path reasons }} }} }} }}"""
RUNNING = """{ fleet { revision
    applications(first: 15) { name
        counts { assigned effective blocked prohibited lacking configurations
            reasons { reason clusters } }
        configurations(first: 20) { totalCount nodes { key digest count } } }
    layers(first: 30) { name } policies { name } grants { name } } }"""
"""The revision, and what runs where in which configurations."""
CODES = {"Invalid": "INVALID", "NotFound": "NOT_FOUND", "Conflict": "CONFLICT", "Denied": "DENIED",
         "Rejected": "REJECTED"}  # fmt: skip
INTERNALS = ("Traceback", "site-packages", 'File "', "strawberry", "0x7f", "<class", "object at")
"""What no answer may hold."""

SCHEMA = {
    "properties": {
        "lanes": {"type": "integer", "maximum": 9},
        "mode": {"enum": ["day", "night"]},
        "tax": {"type": "object", "required": ["rate"]},
        "host": {"type": "string"},
    },
    "required": ["lanes"],
    "additionalProperties": False,
}
NAMED = "(/law/state/dry or /bare) and store = x and cluster austin-05"
EVERYTHING = f"{NAMED} and @named and namespace pos"
"""It names one of every kind that a selector can name."""


def shop() -> tuple[Command, ...]:
    """Applications with a schema, a quota and dependencies, and things that everybody names."""
    return (
        DefineNamespace("shop", quota=Capacity(1_000, 1_024)),
        DefineApplication("agent", "shop"),
        DefineApplication(
            "till", "shop", values={"lanes": 1}, schema=SCHEMA, depends_on=("agent",),
            requests=Capacity(500, 512), late_bound=(LateBound("host", "{cluster}.example"),),
        ),
        DefineApplication("menu", "shop", depends_on=("till",)),
        DefineApplication("board", "shop", depends_on=("menu",)),
        Assign("shop-ny", Choice("shop"), "/geo/us/ny"),
        *named_by_all(),
    )  # fmt: skip


def named_by_all() -> tuple[Command, ...]:
    """A group, a label key, a cluster, a saved selector, a namespace and an application that
    objects of every kind name."""
    return (
        CreateHierarchy("bare"),
        CreateHierarchy("law"),
        CreateGroup("/law/state"),
        CreateGroup("/law/state/dry"),
        DeclareLabel("store", LabelType.TEXT),
        UpdateCluster("austin-05", labels={"store": "x"}),
        Join("austin-05", "/law/state/dry"),
        SaveSelector("named", "all"),
        DefineNamespace("pos"),
        DefineApplication("beer", "pos"),
        SaveSelector("user", EVERYTHING),
        GrantAccess(
            "keeper", Role.EDITOR, subject="kim", scope=NAMED,
            namespaces=("pos",), applications=("beer",),
        ),
        DefineNamespace("bar"),
        DefineApplication(
            "taps", "bar", requires=EVERYTHING, depends_on=("beer",),
            late_bound=(LateBound("id", "{store}"),),
        ),
        Assign("beers", Choice("pos", ("beer",)), f"{NAMED} and @named"),
        Assign("tapped", Choice("bar"), EVERYTHING),
        Prohibit("dry", Choice("pos", ("beer",)), EVERYTHING),
        SetLayer("strong", EVERYTHING, {"proof": 40}, "beer"),
        SetPolicy("gauge", selector=EVERYTHING, registries=("registry.example",)),
        SetPolicy("barred", ("pos",), registries=("registry.example",)),
    )  # fmt: skip


@dataclass(frozen=True)
class Bad:
    """Input that is refused, and what is said about it."""

    what: str
    commands: tuple[dict[str, Any], ...]
    kind: str
    says: str
    """Part of the message."""
    hint: str
    """Part of the hint."""
    path: str = ""
    """Into the command; into the batch where it begins with a slash."""
    reasons: tuple[str, ...] = ()
    """Each a part of a reason."""
    code: str = ""
    batch: tuple[tuple[str, Any], ...] = ()
    """What comes with the commands."""
    who: str = "ana"

    @property
    def into_batch(self) -> list[str]:
        if self.path.startswith("/"):
            return self.path.split("/")[1:] if self.path != "/" else []
        position = str(len(self.commands) - 1)
        return ["commands", position, *filter(None, self.path.split("/"))]


# commands as they are sent


def application(name: str = "new", namespace: str = "shop", **more: Any) -> dict[str, Any]:
    return {"defineApplication": {"name": name, "namespace": namespace} | more}


def till(**more: Any) -> dict[str, Any]:
    """The till as it is, and ``more``."""
    same = {
        "values": {"lanes": 1},
        "schema": SCHEMA,
        "dependsOn": ["agent"],
        "requests": {"cpuMillicores": 500, "memoryMib": 512},
        "lateBound": [{"key": "host", "source": "{cluster}.example"}],
    }
    return application("till", **(same | more))


def layer(values: Any, where: str = "/geo/us/ny", name: str = "mine", **more: Any) -> Any:
    given = {"name": name, "selector": {"text": where}, "values": values, "application": "till"}
    return {"setLayer": given | more}


def namespace(name: str, **more: Any) -> dict[str, Any]:
    return {"defineNamespace": {"name": name} | more}


def assign(where: str, name: str = "mine", of: str = "shop", **more: Any) -> dict[str, Any]:
    return {"assign": {"name": name, "namespace": of, "selector": {"text": where}} | more}


def prohibit(where: str, **more: Any) -> dict[str, Any]:
    return {"prohibit": {"name": "mine", "selector": {"text": where}} | more}


def policy(**more: Any) -> dict[str, Any]:
    return {"setPolicy": {"name": "mine"} | more}


def grant(**more: Any) -> dict[str, Any]:
    given = {"name": "mine", "role": "EDITOR", "subject": "kim", "scope": {"text": "all"}}
    return {"grantAccess": given | more}


def save(where: str, name: str = "mine") -> dict[str, Any]:
    return {"saveSelector": {"name": name, "selector": {"text": where}}}


def based(path: str = "base", **more: Any) -> dict[str, Any]:
    return application(source={"base": {"path": path} | more})


def files(*names: str, text: str = "kind: x") -> dict[str, Any]:
    listed = [{"name": name, "text": text} for name in names]
    return application(source={"template": {"files": listed}})


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels - 1):
        found = {"a": found}
    return found


NY = ("ny-02", "ny-07", "ny-12", "ny-17", "ny-22", "ny-27", "ny-32", "ny-37",
      "york-03", "york-13", "york-18", "york-23", "york-28", "york-33", "york-38")  # fmt: skip
"""The clusters of New York."""
EVERY_KIND = ("@user", "grant keeper", "application taps", "assignment beers", "assignment tapped",
              "prohibition dry", "layer strong", "policy gauge")  # fmt: skip

UNLABEL = {"updateCluster": {"name": "austin-05", "labels": [{"key": "store", "value": None}]}}

CYCLES = (
    Bad("an application that depends on itself", (till(dependsOn=["till"]),), "Rejected",
        '"till" would depend on itself: till -> till', "leave one of them out", "dependsOn"),
    Bad("applications that depend on each other",
        (application("agent", dependsOn=["board"]),), "Rejected",
        "agent -> board -> menu -> till -> agent", "share a namespace", "dependsOn"),
    Bad("a cycle that two commands close",
        (application("one"), application("two", dependsOn=["one"]),
         application("one", dependsOn=["two"])), "Rejected",
        "one -> two -> one", "leave one of them out", "dependsOn"),
    Bad("a dependency that is not there", (till(dependsOn=["agent", "tll"]),), "NotFound",
        'no application called "tll"', "did you mean till", "dependsOn/1"),
    Bad("a namespace that is assigned by itself", (assign("namespace shop"),), "Rejected",
        "namespace shop -> namespace shop", "leave one of them out", "selector"),
    Bad("a namespace that is assigned through another",
        (assign("namespace bar", of="pos"),), "Rejected",
        "namespace pos -> namespace bar -> namespace pos", "leave one of them out", "selector"),
    Bad("a namespace that is assigned through a saved selector",
        (save("namespace shop"), assign("@mine")), "Rejected",
        "namespace shop -> @mine -> namespace shop", "leave one of them out", "selector"),
    Bad("a saved selector that selects through a namespace that is assigned by it",
        (assign("@texas"), save("namespace shop", "texas")), "Rejected",
        "@texas -> namespace shop -> @texas", "leave one of them out", "selector"),
)  # fmt: skip

UNKNOWN_NAMES = (
    Bad("a layer on a group that is not there", (layer({"lanes": 2}, "/geo/us/nj"),), "NotFound",
        '"nj"', "/geo/us/ny", "selector", code="SELECTOR_NOT_FOUND"),
    Bad("a layer on a hierarchy that is not there", (layer({"lanes": 2}, "/gio/us"),), "NotFound",
        '"gio"', "/geo", "selector", code="SELECTOR_NOT_FOUND"),
    Bad("a layer on a group that the batch has deleted",
        ({"createGroup": {"path": "/law/wet"}}, {"deleteGroup": {"path": "/law/wet"}},
         layer({"lanes": 2}, "/law/wet")), "NotFound",
        '"wet"', "", "selector", code="SELECTOR_NOT_FOUND"),
    Bad("a layer of an application that is not there",
        (layer({"lanes": 2}, application="tilt"),), "NotFound",
        'no application called "tilt"', "did you mean till", "application"),
    Bad("a layer that is another application's",
        (layer({"lanes": 2}, name="strong"),), "Conflict",
        'layer "strong" is for application "beer"', "choose another name"),
    Bad("an application in a namespace that is not there",
        (application(namespace="shops"),), "NotFound",
        'no namespace called "shops"', "did you mean shop", "namespace"),
    Bad("an application that would leave its namespace",
        (application("till", "pos"),), "Conflict",
        '"till" is in namespace "shop"', "namespace is final"),
    Bad("requirements that name a label nobody has",
        (application(requires={"text": "stor = 1"}),), "NotFound",
        '"stor"', "store", "requires", code="SELECTOR_NOT_FOUND"),
    Bad("requirements that name a cluster by a tree",
        (application(requires={"not": {"cluster": "austin-99"}}),), "NotFound",
        '"austin-99"', "austin", "requires/not/cluster", code="SELECTOR_NOT_FOUND"),
    Bad("an assignment of another namespace's application",
        (assign("all", applications=["agent", "beer"]),), "Invalid",
        '"beer" is in namespace "pos", not in "shop"', "of one namespace", "applications/1"),
    Bad("an assignment of a namespace that is not there", (assign("all", of="shp"),), "NotFound",
        'no namespace called "shp"', "did you mean shop", "namespace"),
    Bad("a prohibition of an application that is not there",
        (prohibit("all", applications=["tilt"]),), "NotFound",
        'no application called "tilt"', "did you mean till", "applications/0"),
    Bad("a prohibition of nothing in particular", (prohibit("all"),), "Invalid",
        "names no namespace, no application and no label", "say which applications"),
    Bad("a policy for a namespace that is not there",
        (policy(namespaces=["pos", "poss"], registries=["a.example"]),), "NotFound",
        'no namespace called "poss"', "did you mean pos", "namespaces/1"),
    Bad("a policy for nobody", (policy(registries=["a.example"]),), "Invalid",
        "attached to nothing", "name its namespaces, or the clusters"),
    Bad("a policy that says nothing", (policy(namespaces=["pos"]),), "Invalid",
        "says nothing", "state a largest quota"),
    Bad("a late-bound key from a label that is not there",
        (application(lateBound=[{"key": "a"}, {"key": "b", "source": "{stoer}"}]),), "NotFound",
        'no label key called "stoer"', "did you mean store", "lateBound/1/source"),
    Bad("an order that leaves hierarchies out",
        ({"orderHierarchies": {"names": ["geo", "law"]}},), "Invalid",
        "devices", "", "names"),
    Bad("an order with a hierarchy that is not there",
        ({"orderHierarchies": {"names": ["geo", "gio"]}},), "NotFound",
        'no hierarchy called "gio"', "did you mean geo", "names/1"),
    *(Bad(f"a {what} that is not there", ({command: {"name": "nobody"}},), "NotFound",
          f'no {what} called "nobody"', "", "name")
      for command, what in (
          ("deleteNamespace", "namespace"), ("deleteApplication", "application"),
          ("unassign", "assignment"), ("liftProhibition", "prohibition"),
          ("removeLayer", "layer"), ("removePolicy", "policy"))),
)  # fmt: skip

OFF_SCHEMA = (
    Bad("defaults that are off the schema",
        (till(values={"lanes": "two"}),), "Invalid",
        'the values of application "till": lanes', "the application's schema allows", "values"),
    Bad("defaults with a key the schema does not know",
        (till(values={"lanes": 1, "lane": 2}),), "Invalid",
        'application "till": lane ', "the application's schema allows", "values"),
    Bad("a layer that is off the schema", (layer({"lanes": 10, "mode": "dusk"}),), "Invalid",
        'layer "mine" of application "till": lanes', "the application's schema allows", "values"),
    Bad("1 where the schema has true in mind",
        (application(schema={"properties": {"a": {"type": "boolean"}}}, values={"a": 1}),),
        "Invalid", "a ", "the application's schema allows", "values"),
    Bad("a layer that takes away what is required", (layer({"lanes": None}),), "Rejected",
        "would block 3 applications", "mend the values", "/",
        ("till on 15 clusters (ny-02, york-03, ny-07 and 12 more): ",
         'lanes is required and missing (searched: the application\'s own values, layer "mine")',
         "menu on 15 clusters", "what it depends on is not there (till)")),
    Bad("two layers that are each half of what is required",
        (layer({"tax": {"state": 4}}),), "Rejected",
        "would block", "mend the values", "/", ("tax.rate",)),
    Bad("a schema that the values of today break",
        (till(schema=SCHEMA | {"required": ["lanes", "mode"]}),), "Rejected",
        "would block", "mend the values", "/", ("till on 15 clusters", "board on 15 clusters")),
    Bad("two layers that nothing orders and that differ",
        (layer({"lanes": 2}, "/geo/us/ny and size = large", "one"),
         layer({"lanes": 3}, "/geo/us/ny and has lanes", "two")), "Rejected",
        "would block", "mend the values", "/", ("till on ", "board on ")),
    Bad("an unknown word in a schema",
        (application(schema={"properties": {"a": {"minimun": 1}}}),), "Invalid",
        '"properties.a.minimun" in the schema is not understood', "did you mean minimum",
        "schema"),
    Bad("a reference in a schema", (application(schema={"$ref": "https://a.example"}),), "Invalid",
        '"$ref" in the schema is not understood', "understood: type", "schema"),
    Bad("a pattern in a schema",
        (application(schema={"properties": {"a": {"pattern": "(a+)+$"}}}),), "Invalid",
        '"properties.a.pattern" in the schema is not understood', "can stall everybody",
        "schema"),
    Bad("a schema of something that is no map", (application(schema={"type": "array"}),), "Invalid",
        "values that are no map", '"type": "object"', "schema"),
    Bad("a schema that is no map", (application(schema=[]),), "Invalid",
        "schema is no map", "send an object", "schema"),
    Bad("values that are no map", (application(values="a: 1"),), "Invalid",
        "values is no map", "send an object", "values"),
    Bad("a layer of a list", (layer([{"lanes": 2}]),), "Invalid",
        "values is no map", "send an object", "values"),
    Bad("values for the fleet among an application's", (layer({"fleet": {}}),), "Invalid",
        'set "fleet"', "a layer of the fleet", "values"),
    Bad("a fleet setting that is no name",
        (layer({"tele/metry": 1}, application=None),), "Invalid",
        '"tele/metry" is not a fleet setting name', "letters, digits", "values"),
    Bad("a reading of what is no setting", (application(reads=["..b"]),), "Invalid",
        '"..b" is not a fleet setting name', "letters, digits", "reads"),
)  # fmt: skip

LATE = (
    Bad("defaults for a late-bound key",
        (application(values={"id": 7}, lateBound=[{"key": "id"}]),), "Invalid",
        "id is late-bound: it differs per cluster", "fill fields of its own", "values"),
    Bad("a late-bound key inside another",
        (application(lateBound=[{"key": "a.b"}, {"key": "a"}]),), "Invalid",
        "a.b lies inside the late-bound key a", "keep one", "lateBound"),
    Bad("a late-bound key that is bound twice",
        (application(lateBound=[{"key": "a"}, {"key": "a"}]),), "Invalid",
        '"a" twice', "list it once", "lateBound"),
    Bad("a late-bound key that is no key", (application(lateBound=[{"key": "a..b"}]),), "Invalid",
        '"a..b" is not the key of a value', "image.tag", "lateBound"),
    Bad("an empty late-bound key", (application(lateBound=[{"key": ""}]),), "Invalid",
        '"" is not the key of a value', "image.tag", "lateBound"),
    Bad("a source with a brace too many",
        (application(lateBound=[{"key": "a", "source": "{cluster}}"}]),), "Invalid",
        "the source of a cannot be read", "label key in braces", "lateBound"),
    Bad("a source that reads an attribute",
        (application(lateBound=[{"key": "a", "source": "{cluster.__class__}"}]),), "Invalid",
        "the source of a cannot be read", "label key in braces", "lateBound"),
    Bad("a late-bound key that nobody gives a value",
        (till(lateBound=[{"key": "host"}]),), "Rejected",
        "would block", "mend the values", "/", ("no value for a late-bound key (host)",)),
    Bad("a late-bound key from a label that clusters have not got",
        (till(lateBound=[{"key": "host", "source": "{store}"}]),), "Rejected",
        "would block", "mend the values", "/", ("no value for a late-bound key (host)",)),
    Bad("a layer that gives a late-bound key null",
        (till(lateBound=[{"key": "host"}]), layer({"host": "x"}, name="some"),
         layer({"host": None}, name="some")), "Rejected",
        "would block", "mend the values", "/",
        ("till on 15 clusters", "no value for a late-bound key (host)")),
    Bad("a value of each cluster that is composed",
        tuple(layer({"mode": "night"}, f"cluster {name}", f"of-{name}") for name in NY),
        "Rejected", "till would have 15 distinct configurations, more than 12",
        "make keys that differ per cluster late-bound: mode", "/",
        ("15 layers on single clusters",)),
)  # fmt: skip

QUOTAS = (
    Bad("a quota below what is requested",
        (namespace("shop", quota={"cpuMillicores": 499, "memoryMib": 1024}),), "Rejected",
        "more than its quota", "raise the quota", "/",
        ("namespace shop: cpu 500 of 499 millicores",)),
    Bad("requests above the quota",
        (application(requests={"cpuMillicores": 501, "memoryMib": 513}),), "Rejected",
        "more than its quota", "raise the quota", "/",
        ("cpu 1,001 of 1,000 millicores", "memory 1,025 of 1,024 MiB")),
    Bad("more than a cluster has",
        (namespace("shop"), till(requests={"cpuMillicores": 9_000, "memoryMib": 1})), "Rejected",
        "would block", "mend the values", "/",
        ("till on 5 clusters (ny-07, york-13, ny-17 and 2 more): ny-07 has 4,000 millicores and "
         "8,192 MiB; 9,100 and 129 are asked of it", "grill on 4 clusters", "menu on 5 clusters")),
    Bad("a quota above what a policy allows",
        (namespace("kitchen", labels=[{"key": "tier", "value": "x"}],
                   quota={"cpuMillicores": 2_001, "memoryMib": 2048}),), "Rejected",
        "would break a policy", "", "/", ("namespace kitchen has a quota of cpu 2,001 of 2,000",)),
    Bad("a label that a policy asks for", (application("oven", "kitchen"),), "Rejected",
        "would break a policy", "", "/", ("application oven has no label tier (policy gold)",)),
    Bad("a quota below zero", (namespace("new", quota={"cpuMillicores": -1, "memoryMib": 1}),),
        "Invalid", "negative or too large", "use 0 to", "quota"),
    Bad("requests of half a mebibyte",
        (application(requests={"cpuMillicores": 1, "memoryMib": 0.5}),), "Invalid",
        "0.5 is no whole number", "round it", "requests/memoryMib"),
    Bad("a quota of more than there is",
        (namespace("new", quota={"cpuMillicores": 1, "memoryMib": 1e300}),), "Invalid",
        "negative or too large", "use 0 to", "quota"),
)  # fmt: skip

NAMES = (
    *(Bad(f"{name} as the name of {what}", (made(name),), "Invalid",
          f'"{name}" cannot name', "choose another name", "name")
      for what, made in (("a namespace", namespace), ("an application", application))
      for name in ("default", "kube-system", "kube-x", "flux-system", "argocd", "trellis",
                   "trellis-two", "trellisx")),
    *(Bad(f"{name[:12]!r} as a name", (namespace(name),), "Invalid",
          "is not a namespace name", "lower-case", "name")
      for name in ("", "Shop", "a_b", "-a", "a-", "a/b", "..", "../a", "a.b", "é", "a\n", "a" * 64,
                   "a" * 4_000, "a\u0000b", "\u202eshop")),
    Bad("a layer's name with a slash", (layer({}, name="a/b"),), "Invalid",
        '"a/b" is not a layer name', "lower-case", "name"),
    Bad("a title of two lines", (namespace("new", title="a\nb"),), "Invalid",
        "U+000A", "line breaks", "title"),
    Bad("a title that is long", (application(title="x" * 201),), "Invalid",
        "201 characters", "at most 200", "title"),
    Bad("a label with a long value",
        (namespace("new", labels=[{"key": "a", "value": "x" * 64}]),), "Invalid",
        "64 characters", "at most 63", "labels"),
)  # fmt: skip

TWICE = (
    Bad("a dependency listed twice", (till(dependsOn=["agent", "agent"]),), "Invalid",
        'list "agent" twice', "list it once", "dependsOn"),
    Bad("a reconciler listed twice", (application(reconcilers=["FLUX", "FLUX"]),), "Invalid",
        "twice", "list it once", "reconcilers"),
    Bad("a setting read twice", (application(reads=["telemetry", "telemetry"]),), "Invalid",
        'list "telemetry" twice', "list it once", "reads"),
    Bad("an owner listed twice", (namespace("new", owners=["ana", "ana"]),), "Invalid",
        'list "ana" twice', "list it once", "owners"),
    Bad("a label given twice",
        (application(labels=[{"key": "a", "value": "1"}, {"key": "a", "value": "2"}]),), "Invalid",
        'label "a" is given twice', "give it once", "labels/1"),
    Bad("an application assigned twice", (assign("all", applications=["till", "till"]),),
        "Invalid", 'list "till" twice', "list it once", "applications"),
    Bad("a namespace governed twice",
        (policy(namespaces=["pos", "pos"], registries=["a.example"]),), "Invalid",
        'list "pos" twice', "list it once", "namespaces"),
    Bad("a registry listed twice",
        (policy(namespaces=["pos"], registries=["a.example", "a.example"]),), "Invalid",
        'list "a.example" twice', "list it once", "registries"),
    Bad("a label required twice", (policy(namespaces=["pos"], requiredLabels=["a", "a"]),),
        "Invalid", 'list "a" twice', "list it once", "requiredLabels"),
    Bad("a hierarchy ordered twice",
        ({"orderHierarchies": {"names": ["geo", "devices", "empty", "law", "geo", "bare"]}},),
        "Invalid",
        "geo", "", "names"),
    Bad("a file given twice", (files("a.yaml", "a.yaml"),), "Invalid",
        'file "a.yaml" is given twice', "give it once", "source/template/files/1"),
    Bad("a binding given twice",
        (based(bindings=[{"key": "a", "kind": "REPLICAS", "name": "x"}] * 2),), "Invalid",
        "twice", "list it once", "source"),
    Bad("a namespace covered twice", (grant(namespaces=["pos", "pos"]),), "Invalid",
        'list "pos" twice', "list it once", "namespaces"),
    Bad("more than an object lists",
        (application(reads=[f"a{number}" for number in range(1_001)]),), "Invalid",
        "1,001 settings it reads", "list at most 1,000", "reads"),
)  # fmt: skip

SOURCES = (
    *(Bad(f"a base at {path[:12]!r}", (based(path),), "Invalid",
          "is not a path below the application's directory", "base/v12", "source")
      for path in ("", "..", "../other", "base/../../x", "/etc", "base/", "base//v", "./base",
                   "base/.git", "base\\v1", "base/\u0000", "base v1", "é", "a" * 201)),
    Bad("a component that leads out",
        (based(components=[{"key": "a", "path": "components/../../x"}]),), "Invalid",
        "is not a path below", "base/v12", "source"),
    *(Bad(f"a template called {name[:12]!r}", (files(name),), "Invalid",
          "is not a file name", "deployment.yaml", "source")
      for name in ("", "..", ".", "a/b.yaml", "../a.yaml", "/etc/passwd", ".hidden", "a\\b",
                   "a\u0000", "a b", "x" * 201)),
    Bad("a template of no files", (files(),), "Invalid",
        "a template of 0 files", "give 1 to 64", "source"),
    Bad("a template of many files", (files(*(f"{place}.yaml" for place in range(65))),), "Invalid",
        "a template of 65 files", "give 1 to 64", "source"),
    Bad("a template of much text", (files("a.yaml", text="x" * 131_073),), "Invalid",
        "131,073 characters", "keep them to 131,072", "source"),
    Bad("a template with a null character", (files("a.yaml", text="a\u0000"),), "Invalid",
        "U+0000", "a template is text", "source"),
    Bad("a binding to no object",
        (based(bindings=[{"key": "a", "kind": "FIELD", "name": "pos", "field": "/spec"}]),),
        "Invalid", '"pos" is not an object of a manifest', "Kind/name", "source"),
    Bad("a binding to no field",
        (based(bindings=[{"key": "a", "kind": "FIELD", "name": "Job/x", "field": "spec..x"}]),),
        "Invalid", '"spec..x" is not a JSON pointer', "/spec/rules/0/host", "source"),
    Bad("a binding of a late-bound key",
        (application(lateBound=[{"key": "a.b"}],
                     source={"base": {"path": "base", "bindings": [
                         {"key": "a", "kind": "REPLICAS", "name": "x"}]}}),), "Invalid",
        "the source uses a, and a.b is late-bound", "fields of its own", "source"),
    Bad("a registry with a scheme",
        (policy(namespaces=["pos"], registries=["https://a.example"]),), "Invalid",
        '"https://a.example" is not a registry', "write a host", "registries"),
)  # fmt: skip

HUGE = (
    Bad("values that are deep", (application(values=nested(17)),), "Invalid",
        "nested more than 16 levels", "flatten", "values"),
    Bad("a layer that is deep", (layer(nested(400)),), "Invalid",
        "nested more than 16 levels", "flatten", "values"),
    Bad("a schema that is deep", (application(schema={"items": nested(17)}),), "Invalid",
        "nested more than 16 levels", "flatten", "schema"),
    Bad("values that are long", (application(values={"a": "x" * 65_536}),), "Invalid",
        "65,544 characters", "keep them to 65,536", "values"),
    Bad("a list that is long", (layer({"a": ["abc"] * 15_000}),), "Invalid",
        "90,007 characters", "keep them to 65,536", "values"),
    Bad("a number that few can read", (application(values={"a": 2**63}),), "Invalid",
        "9223372036854775808", "use text", "values"),
    Bad("a rank that is out of range", (layer({}, rank=1_001),), "Invalid",
        "rank 1,001", "from -1,000 to 1,000", "rank"),
    Bad("requirements of many clauses",
        (application(requires={"text": " or ".join(f"store = a{n}" for n in range(1_001))}),),
        "Invalid", "more than 1,000 clauses", "in (...)", "requires", code="SELECTOR_INVALID"),
    Bad("requirements that are deep",
        (application(requires={"text": "not (" * 70 + "all" + ")" * 70}),), "Invalid",
        "nested more than 64 deep", "", "requires", code="SELECTOR_INVALID"),
    Bad("requirements that are long",
        (application(requires={"text": "all " + " " * 65_536}),), "Invalid",
        "65,540 characters", "use at most 65,536", "requires", code="SELECTOR_INVALID"),
    Bad("a tree of requirements that is wide",
        (application(requires={"or": [{"label": {"key": "store", "value": str(n)}}
                                      for n in range(1_001)]}),), "Invalid",
        "more than 1,000 clauses", "in (...)", "requires/or"),
    Bad("a batch of nothing", (), "Invalid", "no commands", "send at least one", "/"),
    Bad("a batch of too much", ({"removeLayer": {"name": "a"}},) * 10_001, "Invalid",
        "10,001 commands", "at most 10,000", "/"),
)  # fmt: skip

NAMED_BY_OTHERS = (
    Bad("a group that others name",
        ({"deleteGroup": {"path": "/law/state/dry", "cascade": True}},), "Rejected",
        "/law/state/dry is named by", "change @user", "", EVERY_KIND),
    Bad("a group above one that others name",
        ({"deleteGroup": {"path": "/law/state", "cascade": True}},), "Rejected",
        "/law/state/dry is named by", "change @user", "", EVERY_KIND),
    Bad("a hierarchy that others name", ({"deleteHierarchy": {"name": "bare"}},), "Rejected",
        "/bare is named by", "change @user", "", EVERY_KIND),
    Bad("a label key that others name", (UNLABEL, {"removeLabel": {"name": "store"}}), "Rejected",
        "is named by", "change @user", "", EVERY_KIND),
    Bad("a label key that a late-bound key is filled from",
        (application("taps", "bar", dependsOn=["beer"],
                     lateBound=[{"key": "id", "source": "{store}"}]),
         UNLABEL, {"removeLabel": {"name": "store"}}), "Rejected",
        "is named by", "application taps", "", ("application taps",)),
    Bad("a cluster that others name", ({"retireCluster": {"name": "austin-05"}},), "Rejected",
        "is named by", "change @user", "", EVERY_KIND),
    Bad("a saved selector that others name", ({"deleteSelector": {"name": "named"}},), "Rejected",
        "@named is named by 1 saved selector", "change @user", "",
        tuple(each for each in EVERY_KIND if not each.startswith("grant"))),
    Bad("a namespace that others name", ({"deleteNamespace": {"name": "pos"}},), "Rejected",
        'namespace "pos" is named by 1 saved selector, 1 grant, 2 applications, 2 assignments, '
        "1 prohibition, 1 layer and 2 policies", "change @user", "",
        (*EVERY_KIND, "application beer", "policy barred")),
    Bad("an application that others name", ({"deleteApplication": {"name": "beer"}},), "Rejected",
        'application "beer" is named by 1 grant, 1 application, 1 assignment, 1 prohibition and '
        "1 layer", "change grant keeper", "",
        ("grant keeper", "application taps", "assignment beers", "prohibition dry",
         "layer strong")),
)  # fmt: skip

LOSSES = (
    Bad("taking away more than goes without saying",
        ({"unassign": {"name": "shop-ny"}},), "Rejected",
        "takes 60 workloads away", "state expectedLoss 60", "/",
        tuple(f"{name} loses 15 of 15 clusters (100.0 %)"
              for name in ("agent", "till", "menu", "board"))),
    Bad("an expected loss that is too small",
        ({"unassign": {"name": "shop-ny"}},), "Rejected",
        "takes 60 workloads away; 59 were expected", "state expectedLoss 60", "/",
        ("till loses 15 of 15",), batch=(("expectedLoss", 59),)),
    Bad("an expected loss of less than nothing",
        ({"unassign": {"name": "shop-ny"}},), "Invalid",
        "an expected loss of -1", "leave it out", "/expectedLoss", batch=(("expectedLoss", -1),)),
    Bad("an expected loss that is not theirs to state",
        (layer({"lanes": 2}, "/geo/us/tx", application="grill"),), "Denied",
        "stating an expected loss needs the role operator", "leave it out", "/expectedLoss",
        batch=(("expectedLoss", 1),), who="tess"),
    Bad("a prohibition that is not theirs to make",
        (prohibit("/geo/us/tx", applications=["grill"]),), "Denied",
        "has not got the role operator", "", who="tess"),
    Bad("a layer by somebody who reads", (layer({"lanes": 2}),), "Denied",
        "has not got the role editor", "", who="ron"),
)  # fmt: skip

COVERAGE = (
    Bad("a grant over a namespace that is not there",
        (grant(namespaces=["pos", "poss"]),), "NotFound",
        'no namespace called "poss"', "did you mean pos", "namespaces/1"),
    Bad("a grant over an application that is not there",
        (grant(applications=["tilt"]),), "NotFound",
        'no application called "tilt"', "did you mean till", "applications/0"),
    Bad("a scope that assignments would move",
        (grant(scope={"text": "namespace pos"}),), "Invalid",
        "the scope names the namespace pos", "write out which clusters", "scope"),
    Bad("a scope that names a saved selector", (grant(scope={"saved": "texas"}),), "Invalid",
        "the scope names the saved selector @texas", "write out what", "scope"),
    Bad("a grant to nobody", (grant(subject=None, namespaces=["pos"]),), "Invalid",
        "no subject and no claim", "name one"),
    Bad("a grant to two", (grant(claim="crew", namespaces=["pos"]),), "Invalid",
        "both a subject and a claim", "name one"),
    Bad("a layer of the fleet by somebody who is covered for a part",
        (layer({"proxy": "x"}, NAMED, application=None),), "Denied",
        "outside your scope", "lies inside it", "/", who="kim"),
    Bad("a layer of an application that does not exist for them",
        (layer({"lanes": 2}, NAMED),), "NotFound",
        'no application called "till"', "", "application", who="kim"),
    Bad("a place for their application outside their clusters",
        (assign("/geo/us/tx", of="pos", applications=["beer"]),), "Denied",
        "could choose clusters outside your scope", "let it begin with your scope", "/",
        who="kim"),
    Bad("a cluster's labels by somebody who is covered for a part of the workload",
        ({"updateCluster": {"name": "austin-05", "title": "x"}},), "Denied",
        "has the role editor for a part of the workload only", "a grant of editor", who="kim"),
)  # fmt: skip

TABLE = (*CYCLES, *UNKNOWN_NAMES, *OFF_SCHEMA, *LATE, *QUOTAS, *NAMES, *TWICE, *SOURCES, *HUGE,
         *NAMED_BY_OTHERS, *LOSSES, *COVERAGE)  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> AsyncIterator[Served]:
    """One door for all: whatever is refused leaves nothing behind."""
    directory: Path = tmp_path_factory.mktemp("shop")
    store = await EmbeddedStore.open(directory / "fleet.db", write=True, create=True)
    settings = GraphSettings(configurations_max=CONFIGURATIONS_MAX)
    engine = await Engine.open(store, settings=settings, now=ticking())
    try:
        await give(engine, *fleet())
        await give(engine, *MORE)
        await give(engine, *shop())
        async with served(engine, issuer=issuer, requests_per_second=1e6) as running:
            kim = {"kim": issuer.token(sub="kim")}
            yield replace(running, tokens={**running.tokens, **kim})
    finally:
        await engine.close()


async def asked(door: Served, query: str, variables: Any, who: str = "ana") -> Any:
    """The result of one operation, which no error has stopped."""
    answer = await door.ask(query, variables, who=who)
    assert answer.status_code == 200, answer.text[:500]
    assert not any(each in answer.text for each in INTERNALS), answer.text
    found = answer.json()
    assert "errors" not in found, found["errors"]
    return found["data"]["result"]


def check(bad: Bad, said: dict[str, Any], path: list[str]) -> None:
    assert said["__typename"] == bad.kind, said
    assert said["code"] == (bad.code or CODES[bad.kind]), said
    assert bad.says in said["message"], said
    assert bad.hint in said["hint"], said
    assert said["hint"], said
    assert said["path"] == path, said
    if bad.code.startswith("SELECTOR"):
        assert said["selector"]["column"] >= 1, said
    reasons = said.get("reasons", [])
    for wanted in bad.reasons:
        assert any(wanted in line for line in reasons), said


@pytest.mark.parametrize("bad", TABLE, ids=lambda bad: bad.what)
async def test_bad_input_is_refused_through_every_door_and_nothing_has_changed(door, bad):
    before = await door.data(RUNNING)
    given = {"reason": "because", **dict(bad.batch)}
    batch = given | {"commands": list(bad.commands)}
    said = await asked(door, APPLY, {"input": batch}, bad.who)
    check(bad, said, bad.into_batch)
    shown = await asked(door, PREVIEW, {"input": batch}, bad.who)
    check(bad, refusal_in(shown, said), bad.into_batch)
    if len(bad.commands) == 1:
        ((command, own),) = bad.commands[0].items()
        alone = await asked(door, mutation(command), {"input": own, **given}, bad.who)
        into = bad.into_batch
        check(bad, alone, into[2:] if into[:1] == ["commands"] else into)
    assert await door.data(RUNNING) == before


def refusal_in(shown: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """What a preview says of it: refused likewise, or shown with what would refuse it."""
    if shown["__typename"] != "Preview":
        return shown
    found = [each for each in shown["refusals"] if each["message"] == said["message"]]
    assert found, shown
    return found[0]


def mutation(command: str) -> str:
    kind = command[0].upper() + command[1:] + "Input"
    return f"""mutation ($input: {kind}!, $reason: String!, $expectedLoss: Int) {{
        result: {command}(input: $input, reason: $reason, expectedLoss: $expectedLoss)
        {{ {REFUSED} }} }}"""


# what is no command yet

LAYER = '{"name": "mine", "selector": {"text": "all"}, "application": "till", "values": %s}'
SET_LAYER = 'mutation ($i: SetLayerInput!) { setLayer(input: $i, reason: "x") { __typename } }'


def with_values(text: str) -> bytes:
    """A request to set a layer, with its values as they are written."""
    body = f'{{"query": {json.dumps(SET_LAYER)}, "variables": {{"i": {LAYER % text}}}}}'
    return body.encode("utf-8", "surrogatepass")


def written(text: str) -> bytes:
    """The same with the values inside the document."""
    query = f"""mutation {{ setLayer(reason: "x", input: {{name: "mine", application: "till",
        selector: {{text: "all"}}, values: {text}}}) {{ __typename }} }}"""
    return json.dumps({"query": query}).encode()


UNREADABLE = {
    "not a number": with_values('{"lanes": NaN}'),
    "infinity": with_values('{"lanes": -Infinity}'),
    "a number beyond all": with_values('{"lanes": 1e999}'),
    "a number beyond 64 bits": with_values('{"lanes": 18446744073709551616}'),
    "a number of many digits": with_values('{"lanes": %s}' % ("9" * 5_000)),
    "half a character": with_values('{"mode": "\\ud800"}'),
    "half a character as a key": with_values('{"\\udfff": 1}'),
    "half a character in bytes": with_values('{"mode": "\ud800"}'),
    "a map of maps": with_values('{"a":' * 100_000 + "1" + "}" * 100_000),
    "a list of lists": with_values("[" * 200_000),
    "more than a request holds": with_values('{"a": "%s"}' % ("x" * 1_100_000)),
    "a number beyond 64 bits, written": written("{lanes: 18446744073709551616}"),
    "a number beyond all, written": written("{lanes: 1e999}"),
    "half a character, written": written('{mode: "\\ud800"}'),
    "a map of maps, written": written("{a: " * 450 + "1" + "}" * 450),
    "a list of lists, written": written("[" * 900 + "]" * 900),
    "a key twice, written": written("{lanes: 1, lanes: 2}"),
    "a variable in the values": written("{lanes: $lanes}"),
    "no values": with_values("null"),
    "a late-bound key that is null": json.dumps({
        "query": "mutation ($i: DefineApplicationInput!)"
        ' { defineApplication(input: $i, reason: "x") { __typename } }',
        "variables": {"i": {"name": "a", "namespace": "shop", "lateBound": [{"key": None}]}},
    }).encode(),
    "an unknown field": json.dumps({
        "query": SET_LAYER,
        "variables": {"i": {"name": "a", "selector": {"text": "all"}, "value": {}}},
    }).encode(),
    "an expected loss beyond 32 bits": json.dumps({
        "query": 'mutation { unassign(input: {name: "shop-ny"}, reason: "x",'
        " expectedLoss: 4294967296) { __typename } }",
    }).encode(),
    "a command of two": json.dumps({
        "query": APPLY,
        "variables": {"input": {"reason": "x", "commands": [
            {"unassign": {"name": "shop-ny"}, "removeLayer": {"name": "strong"}}]}},
    }).encode(),
}  # fmt: skip


@pytest.mark.parametrize("what", UNREADABLE)
async def test_what_is_no_command_is_refused_before_one_is_made_of_it(door, what):
    before = await door.data(RUNNING)
    answer = await door.client.post(
        "/graphql",
        content=UNREADABLE[what],
        headers=door.as_("ana") | {"content-type": "application/json"},
    )
    assert answer.status_code in (200, 400, 413), answer.text[:500]
    assert not any(each in answer.text for each in INTERNALS), answer.text
    found = answer.json()
    (error, *_) = found["errors"]
    assert error["message"] and error["extensions"]["code"] != "INTERNAL", error
    assert not found.get("data"), found
    assert await door.data(RUNNING) == before


# what is unusual and right


async def applied(door: Served, commands: list[Any], who: str = "ana", **more: Any) -> int:
    """The revision at which a batch holds."""
    given = {"commands": commands, "reason": "because", **more}
    said = await asked(door, APPLY, {"input": given}, who)
    assert said["__typename"] == "Applied", said
    revision: int = said["revision"]
    return revision


async def test_a_name_that_two_items_have_makes_a_list_one_that_replaces(door):
    items = [{"name": "a", "v": 1}, {"name": "a", "v": 2}]
    commands = [
        application("lists", "bar", values={"items": [{"name": "a", "v": 0}]}),
        assign("cluster ny-02", of="bar", applications=["lists"]),
        layer({"items": items}, "all", "lists", application="lists"),
    ]
    await applied(door, commands)
    query = """{ fleet { cluster(name: "ny-02") { effective {
        application(name: "lists") { status values } } } } }"""
    found = (await door.data(query))["fleet"]["cluster"]["effective"]["application"]
    assert found == {"status": "EFFECTIVE", "values": {"items": items}}


async def test_a_batch_of_layers_is_taken_or_refused_whole_however_many_they_are(door):
    layers = [
        layer({"mode": "night"}, f"store = s{number}", f"of-s{number}") for number in range(9_999)
    ]
    before = await door.data(RUNNING)
    bad = {"commands": [*layers[:999], layer({"mode": "dusk"})], "reason": "because"}
    said = await asked(door, APPLY, {"input": bad})
    assert (said["__typename"], said["path"]) == ("Invalid", ["commands", "999", "values"]), said
    assert await door.data(RUNNING) == before
    revision = await applied(door, [*layers, layer({"mode": "day"})])
    found = await door.data('{ fleet { revision layers(first: 1, after: "of-s998") { name } } }')
    assert found["fleet"] == {"revision": revision, "layers": [{"name": "of-s9980"}]}


async def test_an_expected_loss_may_be_as_large_as_a_number_gets(door):
    revision = await applied(door, [layer({"mode": "night"})], expectedLoss=2**31 - 1)
    query = "{ changesets(first: 1) { nodes { revision acceptedLoss } } }"
    (newest,) = (await door.data(query))["changesets"]["nodes"]
    assert newest == {"revision": revision, "acceptedLoss": 0}, "nothing was lost"


async def test_whoever_is_covered_for_an_application_sees_and_changes_that_and_no_other(door):
    own = layer({"proof": 41}, EVERYTHING.replace(" and @named and namespace pos", ""), "strong",
                application="beer")  # fmt: skip
    await applied(door, [own], "kim")
    seen = await door.data(
        """{ viewer { permissions { role scope namespaces applications } }
        fleet { applications { name } layers { name values } } }""",
        who="kim",
    )
    assert seen["fleet"]["applications"] == [{"name": "beer"}]
    assert seen["fleet"]["layers"] == [{"name": "strong", "values": {"proof": 41}}]
    (own_grant,) = seen["viewer"]["permissions"]
    assert own_grant["namespaces"] == ["pos"] and own_grant["applications"] == ["beer"]
