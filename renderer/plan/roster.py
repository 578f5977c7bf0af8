"""Every cluster's pointer, wherever it is kept: a file of its own, or an entry of a shard.

Only the pointers that a step touches are read. Shards of hosts are read once for all of theirs, and
written at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from renderer import paths
from renderer.plan.inventory import read_shard, shard_content
from renderer.plan.pointer import Pointer, read_pointer
from renderer.plan.sheet import Sheet
from renderer.plan.why import why_listed


class Roster:
    """Pointers, read and written through a sheet."""

    def __init__(self, sheet: Sheet, *, fresh: bool) -> None:
        self._sheet = sheet
        self._fresh = fresh
        self._shards: dict[str, dict[str, Pointer]] = {}
        self._dirty: dict[str, dict[str, str]] = defaultdict(dict)
        """Why each host of a shard is written or goes, by the shard."""

    def read(self, clusters: Iterable[str]) -> dict[str, Pointer]:
        """Those that have a pointer, by name."""
        where = {_file(cluster): cluster for cluster in clusters}
        content = self._sheet.read_many(where)
        found: dict[str, Pointer] = {}
        for path, cluster in where.items():
            if path in content:
                found[cluster] = read_pointer(cluster, content[path])
            elif (host := self._shard(paths.inventory(cluster)).get(cluster)) is not None:
                found[cluster] = Pointer(cluster, host.fleet, {}, dict(host.lines))
        return found

    def clusters(self) -> list[str]:
        """Everybody who had a pointer. Other files there, of whoever came before, are none."""
        found: list[str] = []
        for shard in self._sheet.names("clusters"):
            found += (
                name
                for name in self._sheet.names(f"clusters/{shard}")
                if paths.is_name(name) and paths.shard(name) == shard
            )
        for shard in self._sheet.names("ansible"):
            found += self._shard(f"ansible/{shard}/inventory.json")
        return found

    def put(self, pointer: Pointer, why: str, *, host: bool) -> None:
        """Write a pointer, in the one place where it belongs."""
        if host:
            self._remove_file(pointer.cluster, why)
            shard = paths.inventory(pointer.cluster)
            self._shard(shard)[pointer.cluster] = pointer
            self._dirty[shard][pointer.cluster] = why
            return
        self._leave_shard(pointer.cluster, why)
        keep = self._sheet.stream if self._fresh else self._sheet.write
        keep(_file(pointer.cluster), pointer.content(), why)

    def is_host(self, cluster: str) -> bool:
        """Whether a cluster is listed in a shard."""
        return cluster in self._shard(paths.inventory(cluster))

    def drop(self, cluster: str, why: str) -> None:
        """A cluster is gone."""
        self._remove_file(cluster, why)
        self._leave_shard(cluster, why)

    def save(self) -> bool:
        """Write the shards that were touched; whether there is a host in them."""
        dirty, self._dirty = self._dirty, defaultdict(dict)
        for path, whys in sorted(dirty.items()):
            hosts = self._shards[path]
            if hosts:
                self._sheet.write(path, shard_content(hosts), why_listed(whys))
            else:
                self._sheet.remove(path.rpartition("/")[0], why_listed(whys))
        return any(self._shards[path] for path in dirty)

    def hosts(self) -> bool:
        """Whether any host is listed."""
        return any(self._sheet.names(f"ansible/{each}") for each in self._sheet.names("ansible"))

    def _shard(self, path: str) -> dict[str, Pointer]:
        if path not in self._shards:
            content = self._sheet.read(path)
            self._shards[path] = {} if content is None else read_shard(content)
        return self._shards[path]

    def _leave_shard(self, cluster: str, why: str) -> None:
        path = paths.inventory(cluster)
        if self._shard(path).pop(cluster, None) is not None:
            self._dirty[path][cluster] = why

    def _remove_file(self, cluster: str, why: str) -> None:
        self._sheet.remove(paths.pointer(cluster), why)


def _file(cluster: str) -> str:
    return f"{paths.pointer(cluster)}/{paths.KUSTOMIZATION}"
