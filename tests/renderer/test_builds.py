"""Every overlay and many pointers build with the real kustomize, and values arrive as they are.

Building is most of the cost, so overlays of different applications are built together: that is the
same, as none of them may name another's objects. Each pointer is built by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any

import orjson
import pytest

import kustomize
from cli.sample import sample
from cli.sample_bases import base_files
from cli.sample_workload import chapters
from graph.model.command import Command, RegisterCluster, UpdateCluster
from graph.model.inventory import Reconciler
from graph.model.workload_command import SetLayer
from rendered_fleet import Fleet, rendered

CLUSTERS = 1_000
POINTERS = 200
FOLLOWED = 10
"""Pointers of each reconciler of which every application is built too."""
AT_ONCE = 2
HOSTILE: dict[str, str] = {
    "zeros": "00042",
    "no": "no",
    "flow": "{a: b}",
    "dollar": "${x} $(y) $$z",
    "quotes": "\"double\" 'single' `back` \\",
    "apostrophes": "it's ''so'' '}' '''' '",
    "lines": 'one\ntwo: "three"\r\n\t- four\n',
    "structure": 'x"}]\nspec:\n  hostNetwork: true\n---\nkind: Secret',
    "jinja": "{{ 7 * 7 }}{% raw %}{# no #}",
    "date": "2026-12-24",
    "null": "null",
    "spaces": " # no comment ",
    "unicode": "\U0001f9c0 ünïcode \u2028 \ufeff",
}
"""Text that some reader somewhere takes for something else."""


def all_of(built: Callable[[Path], Any], directories: Iterable[Path]) -> list[Any]:
    """Build many, a few at a time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(built, directories))


def workload() -> list[tuple[str, tuple[Command, ...]]]:
    return [(chapter.reason, chapter.commands) for chapter in chapters()]


def registered(clusters: int) -> list[RegisterCluster]:
    return [each for each in sample(clusters) if isinstance(each, RegisterCluster)]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """The sample fleet with the sample's workload."""
    root = tmp_path_factory.mktemp("builds") / "sample"
    batches = [("stores", tuple(sample(CLUSTERS))), *workload()]
    return asyncio.run(rendered(root, batches, base_files()))


def test_nothing_of_the_sample_is_held(fleet: Fleet) -> None:
    assert fleet.held() == []
    applications = fleet.overlays()
    assert len(applications) == 14
    assert sum(map(len, applications.values())) >= 90


def test_every_overlay_builds(fleet: Fleet) -> None:
    rounds = zip_longest(*fleet.overlays().values())
    together = [fleet.together(filter(None, each)) for each in rounds]
    assert all(all_of(kustomize.output, together))


def test_pointers_of_every_kind_build(fleet: Fleet) -> None:
    clusters = registered(CLUSTERS)
    chosen = some(clusters, Reconciler.ARGOCD, 20) + some(clusters, None, POINTERS - 20)
    built = all_of(kustomize.output, [fleet.pointer(each.name) for each in chosen])
    for cluster, text in zip(chosen, built, strict=True):
        kind = "Application" if cluster.reconciler is Reconciler.ARGOCD else "Kustomization"
        lines = (fleet.pointer(cluster.name) / "kustomization.yaml").read_text().count("/sync/")
        assert text.count(f"\nkind: {kind}\n") == lines >= 7
        assert str(cluster.labels["store"]) in text


def test_what_a_store_is_told_builds_to_its_own_number_and_names(fleet: Fleet) -> None:
    clusters = registered(CLUSTERS)
    chosen = some(clusters, Reconciler.ARGOCD, FOLLOWED) + some(clusters, None, FOLLOWED)
    built = all_of(lambda each: fleet.reconciled(each.name), chosen)
    for cluster, objects in zip(chosen, built, strict=True):
        store, name = cluster.labels["store"], cluster.name
        host = f"pos.{name}.stores.example"
        if name == clusters[0].name:
            host = "pos.flagship.stores.example"
        pos = kustomize.found(objects, "ConfigMap", "pos")["data"]
        assert (pos["STORE"], pos["HOST"]) == (store, host)
        assert kustomize.found(objects, "Ingress", "pos")["spec"]["rules"][0]["host"] == host
        payment = kustomize.found(objects, "ConfigMap", "payment")["data"]
        assert payment["TERMINAL"] == f"T-{store}"
        assert arguments(objects)[-1] == store


def test_hosts_have_their_values_in_the_inventory(fleet: Fleet) -> None:
    hosts = {each.name: each for each in registered(CLUSTERS) if each.kind == "host"}
    listed: dict[str, Any] = {}
    for shard in fleet.root.glob("ansible/*/inventory.json"):
        listed |= orjson.loads(shard.read_bytes())["all"]["hosts"]
    assert listed.keys() == hosts.keys()
    for name, entry in listed.items():
        till = entry["trellis_applications"]["till"]
        assert orjson.loads(till["late"]) == {"store": hosts[name].labels["store"]}
        overlay = fleet.root / "apps/till/overlays" / till["overlay"]
        assert orjson.loads((overlay / "vars.json").read_bytes())["role"] == "apps/till/base/v2"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """A small fleet in which every awkward text is some store's number, name and setting."""
    batches = [("stores", tuple(sample(100))), *workload(), ("awkward", tuple(awkward()))]
    root = tmp_path_factory.mktemp("builds") / "hostile"
    return asyncio.run(rendered(root, batches, base_files()))


def awkward() -> Iterator[Command]:
    for cluster, key in zip(chosen_stores(), HOSTILE, strict=True):
        text, at = HOSTILE[key], f"cluster {cluster.name}"
        if text.isprintable():
            yield UpdateCluster(cluster.name, labels={"store": text})
        else:  # no label holds it, but a layer does
            for name in ("pos", "price-sync"):
                yield SetLayer(f"{name}-{key}", at, {"store": text}, name)
        yield SetLayer(f"host-{key}", at, {"host": text}, "pos", rank=1)  # above the flagship
        yield SetLayer(f"acquirer-{key}", at, {"acquirer": text}, "payment")
        yield SetLayer(f"source-{key}", at, {"source": text}, "price-sync")
        if key in ("zeros", "lines", "structure"):
            yield UpdateCluster(cluster.name, reconciler=Reconciler.KUSTOMIZE)


def chosen_stores() -> list[RegisterCluster]:
    clusters = registered(100)
    return some(clusters, Reconciler.ARGOCD, 4) + some(clusters, None, len(HOSTILE) - 4)


def test_awkward_text_arrives_as_the_text_it_is(hostile: Fleet) -> None:
    assert hostile.held() == []
    built = all_of(lambda each: objects_of(hostile, each.name), chosen_stores())
    for key, objects in zip(HOSTILE, built, strict=True):
        text = HOSTILE[key]
        pos = kustomize.found(objects, "ConfigMap", "pos")["data"]
        assert (pos["STORE"], pos["HOST"]) == (text, text), key
        assert kustomize.found(objects, "Ingress", "pos")["spec"]["rules"][0]["host"] == text
        payment = kustomize.found(objects, "ConfigMap", "payment")["data"]
        assert payment["ACQUIRER"] == text, key
        assert arguments(objects) == ["--source", text, "--store", text], key
        assert not [each for each in objects if each["kind"] == "Secret"], key


def objects_of(fleet: Fleet, cluster: str) -> list[dict[str, Any]]:
    """What runs: built by a reconciler, or right from the pointer where there is none."""
    objects = fleet.reconciled(cluster) if _is_told(fleet, cluster) else None
    return objects or kustomize.build(fleet.pointer(cluster))


def _is_told(fleet: Fleet, cluster: str) -> bool:
    return "/sync/" in (fleet.pointer(cluster) / "kustomization.yaml").read_text()


def arguments(objects: list[dict[str, Any]]) -> list[str]:
    job = kustomize.found(objects, "CronJob", "price-sync")["spec"]["jobTemplate"]["spec"]
    return job["template"]["spec"]["containers"][0]["args"]


def some(
    clusters: list[RegisterCluster], reconciler: Reconciler | None, number: int
) -> list[RegisterCluster]:
    """So many of one kind, from all over the fleet."""
    found = [each for each in clusters if each.reconciler is reconciler]
    return found[:: max(1, len(found) // number)][:number]
