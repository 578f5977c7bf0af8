"""One application as reconcilers are told of it, with values that look like anything but text.

``Store`` is a repository in a directory with the owner's base, an overlay, whatever a format writes
and one pointer, so that the real kustomize sees what a store would see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import kustomize
from graph.model.inventory import Capacity
from graph.model.values import Value
from graph.model.workload import (
    Application,
    Base,
    Component,
    FieldTarget,
    LateBound,
    Namespace,
    Policy,
    SecretProvider,
    SecretReference,
)
from renderer import paths
from renderer.formats.port import Format, Unit
from renderer.objects.manifest import documents, kustomization, manifest
from renderer.plan.binder import Binder
from renderer.plan.pointer import Pointer

KEY = "1f3a9c02d4b5e6f7"
CLUSTER = "store-00042"
AWKWARD = {
    "zeros": "00042",
    "no": "no",
    "flow": "{a: b}",
    "dollar": "${x} $(y) $$z",
    "quotes": "\"double\" 'single' `back` \\",
    "apostrophes": "it's ''so'' '''' '",
    "percent": "100% %s %(a)s",
    "blanks": "  two  # x: y - z ",
    "lines": "one\ntwo\r\n\tthree\n",
    "separators": "a\u2028b\u2029c\ufeffd",
    "controls": "\x00\x08\x1b\x1f",
    "jinja": "{{ 7 * 7 }}{% raw %}{# no #}",
    "yaml": "- a\n- !!python/object:x\n---\n&a *a",
    "date": "2026-12-24",
    "null": "null",
    "empty": "",
    "emoji": "\U0001f9c0 ünïcode",
}
"""Text that some reader somewhere takes for something else."""
STRUCTURED: dict[str, Value] = {
    "number": 1_250,
    "large": 2**53 - 1,
    "ratio": 0.25,
    "yes": True,
    "list": ["no", 1, {"a": "${x}"}],
    "map": {"zeros": "00042", "deep": {"no": "no"}},
}

POS = Application(
    name="pos",
    namespace="dining",
    owner="Point of sale <pos@shops.example>",
    labels={"tier": "gold"},
    source=Base("base/v12", components=(Component("drive", "components/drive"),)),
    depends_on=("menu",),
    late_bound=tuple(
        LateBound(key, fields=(FieldTarget("ConfigMap/pos.settings", f"/data/{key}"),))
        for key in AWKWARD
    )
    + tuple(
        LateBound(key, fields=(FieldTarget("Widget/pos", f"/spec/{key}"),)) for key in STRUCTURED
    )
    + (
        LateBound("host", fields=(FieldTarget("Widget/pos", "/spec/hosts/0"),)),
        LateBound("unused"),
    ),
    cluster_scoped=("ClusterRole/pos-reader", "CustomResourceDefinition/widgets.pos.example"),
)
DINING = Namespace(
    name="dining",
    title='Dining "rooms": {a}',
    owners=("team-dining", "Night shift"),
    cost_center="4711",
    labels={"brand": "diner"},
    quota=Capacity(4_000, 8_192, 10_240),
    limits=Capacity(500, 512),
    secrets=(
        SecretReference(
            "database",
            SecretProvider.EXTERNAL_SECRETS,
            "vault",
            {"password": "dining/database#password", "user": "dining/user"},
        ),
        SecretReference("terminal", SecretProvider.SECRETS_STORE, "azure", {"pin": "terminal-pin"}),
    ),
)
UNIT = Unit(POS, DINING, KEY, needs=(("menu", "kitchen"),), wave=1)
IMAGES = Policy("images", namespaces=("dining",), registries=("registry.example", "docker.io"))


def late() -> dict[str, Value]:
    """A value of every kind."""
    return {**AWKWARD, **STRUCTURED, "host": "pos-00042.example.com", "unused": "x"}


class Store:
    """A repository with one application in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("apps/pos/base/v12", _base())
        overlay = {
            paths.KUSTOMIZATION: kustomization(["../../base/v12"], namespace=DINING.name),
        }
        self.write(paths.overlay("pos", KEY), overlay)

    def write(self, directory: str, files: Mapping[str, bytes]) -> None:
        """Files right below a directory."""
        at = self.root / directory
        at.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (at / name).write_bytes(content)

    def point(self, words: Format, files: Mapping[str, bytes], **namespaces: str) -> Path:
        """The pointer of a store that runs the application by these words, with all its values."""
        if files:
            self.write(paths.sync("pos", words.name, KEY), files)
        line = Binder(words, POS).line(words.leads_to("pos", KEY), late())
        pointer = Pointer(CLUSTER, "", namespaces, {"pos": line})
        self.write(paths.pointer(CLUSTER), {paths.KUSTOMIZATION: pointer.content()})
        return self.root / paths.pointer(CLUSTER)

    def reconciled(self, patches: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What a reconciler makes of the overlay and the patches it was handed."""
        told = kustomization(
            [f"../{paths.overlay('pos', KEY)}"], namespace=DINING.name, patches=patches
        )
        self.write("reconciler", {paths.KUSTOMIZATION: told})
        return kustomize.build(self.root / "reconciler")


def other(unit: Unit, name: str, namespace: str) -> Unit:
    """The same unit under other names."""
    application = replace(
        unit.application,
        name=name,
        namespace=namespace,
        cluster_scoped=tuple(f"{each}-{name}" for each in unit.application.cluster_scoped),
    )
    return replace(unit, application=application, namespace=replace(DINING, name=namespace))


def check_arrived(objects: list[dict[str, Any]]) -> None:
    """Every value is in its field, and is what it was."""
    data = kustomize.found(objects, "ConfigMap", "pos.settings")["data"]
    assert {key: data[key] for key in AWKWARD} == AWKWARD
    spec = kustomize.found(objects, "Widget", "pos")["spec"]
    assert {key: spec[key] for key in STRUCTURED} == STRUCTURED
    assert spec["yes"] is True
    assert spec["hosts"] == ["pos-00042.example.com", "second"]
    decoy = kustomize.found(objects, "ConfigMap", "posxsettings")
    assert decoy["data"] == {"untouched": "yes"}


def _base() -> dict[str, bytes]:
    widget = {"spec": {"hosts": ["first", "second"]}}
    objects = [
        manifest("v1", "ConfigMap", "pos.settings", {"data": {"zeros": "unset"}}),
        manifest("v1", "ConfigMap", "posxsettings", {"data": {"untouched": "yes"}}),
        manifest("pos.example/v1", "Widget", "pos", widget),
    ]
    return {
        paths.KUSTOMIZATION: kustomization(["objects.yaml"]),
        "objects.yaml": documents(objects),
    }
