"""What a commit moves: the applications whose overlays may differ, and the clusters led to them.

Identities say which directories differ, without reading one. Pointers are read only where something
that many of them name has changed, and then they are searched as text, not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from renderer.artifact.edition import Edition
from renderer.paths import KUSTOMIZATION
from renderer.plan.inventory import read_shard

KEYS_MAX = 50
"""Directories of one application that are searched for by name; beyond, all of it is."""
_SHARD = re.compile(r"[0-9a-f]{2}", re.ASCII)


@dataclass(slots=True)
class Affected:
    """What may have to be brought out again, and what is no more."""

    applications: set[str] = field(default_factory=set[str])
    clusters: set[str] = field(default_factory=set[str])
    gone: set[str] = field(default_factory=set[str])
    """Clusters that were published and are not any more."""


def everything(edition: Edition) -> Affected:
    """All there is."""
    found = Affected(set(edition.names("apps")))
    for shard in edition.names("clusters"):
        found.clusters.update(edition.names(f"clusters/{shard}"))
    for shard in _inventories(edition):
        found.clusters.update(_hosts(edition, shard))
    return found


def affected(edition: Edition, since: Edition) -> Affected:
    """What may differ between two commits, and a little more."""
    found = Affected(set(_differing(edition, since, "apps")))
    searched = _searched(edition, since, found.applications)
    for shard in {*edition.names("clusters"), *since.names("clusters")}:
        _add_clusters(edition, since, f"clusters/{shard}", searched, found)
    for shard in {*_inventories(edition), *_inventories(since)}:
        _add_hosts(edition, since, shard, searched, found)
    found.clusters -= found.gone  # a cluster may become a host, or a host a cluster
    return found


def _differing(edition: Edition, since: Edition, directory: str) -> Iterator[str]:
    if edition.identity(directory) != since.identity(directory):
        for name in {*edition.names(directory), *since.names(directory)}:
            path = f"{directory}/{name}"
            if edition.identity(path) != since.identity(path):
                yield name


def _searched(edition: Edition, since: Edition, applications: set[str]) -> re.Pattern[bytes] | None:
    """What a pointer holds that names something which differs; None where nothing does."""
    words = [f"fleet/{key}\n" for key in _differing(edition, since, "fleet")]
    for name in _differing(edition, since, "namespaces"):
        words += (
            f"namespaces/{name}/{key}\n" for key in _differing(edition, since, f"namespaces/{name}")
        )
    found = [re.escape(each) for each in words]
    for name in applications:
        found += _of_application(edition, since, name)
    return re.compile("|".join(sorted(found)).encode()) if found else None


def _of_application(edition: Edition, since: Edition, name: str) -> list[str]:
    here = f"apps/{name}"
    keys = set(_differing(edition, since, f"{here}/overlays"))
    for reconciler in _differing(edition, since, f"{here}/sync"):
        keys.update(_differing(edition, since, f"{here}/sync/{reconciler}"))
    others = set(_differing(edition, since, here)) - {"overlays", "sync"}
    if others or len(keys) > KEYS_MAX:
        return [f"/{here}/"]
    return [f"/{here}/(?:overlays|sync/[a-z0-9-]+)/{re.escape(key)}\n" for key in keys]


def _add_clusters(
    edition: Edition,
    since: Edition,
    shard: str,
    searched: re.Pattern[bytes] | None,
    found: Affected,
) -> None:
    names = edition.names(shard)
    if edition.identity(shard) != since.identity(shard):
        found.gone.update(set(since.names(shard)).difference(names))
        found.clusters.update(set(_differing(edition, since, shard)).intersection(names))
    if searched is not None:
        files = edition.read_many(f"{shard}/{name}/{KUSTOMIZATION}" for name in names)
        for path, content in files.items():
            if searched.search(content):
                found.clusters.add(path.split("/")[2])


def _add_hosts(
    edition: Edition,
    since: Edition,
    shard: str,
    searched: re.Pattern[bytes] | None,
    found: Affected,
) -> None:
    """Hosts are few, and a shard of them is one file: all of it, or nothing."""
    path = f"ansible/{shard}/inventory.json"
    if edition.identity(path) != since.identity(path):
        now = _hosts(edition, shard)
        found.gone.update(_hosts(since, shard) - now)
        found.clusters.update(now)
    elif searched is not None or edition.identity("ansible") != since.identity("ansible"):
        found.clusters.update(_hosts(edition, shard))


def _inventories(edition: Edition) -> list[str]:
    return [each for each in edition.names("ansible") if _SHARD.fullmatch(each)]


def _hosts(edition: Edition, shard: str) -> set[str]:
    content = edition.read(f"ansible/{shard}/inventory.json")
    return set() if content is None else set(read_shard(content))
