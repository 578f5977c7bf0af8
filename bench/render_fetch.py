"""What one store fetches when something changes: by git, and as artifacts the worker serves.

By git it is a clone of depth one, as Flux makes at every commit, whoever the commit is about. An
artifact is asked for by HEAD; where its digest is another one, the pointer is fetched, and of what
it pins whatever the store does not have.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from bench.render_changes import Commands
from bench.render_process import Api, Repository, Worker, wait_for
from bench.result import Row, row
from bench.stores import directory

LOOK_SECONDS = 1.0
"""After that the server has looked what is published: it does so twice a second."""
ARTIFACTS, GIT = "artifacts", "git, depth 1"
_PIN = re.compile(r'/apps/([a-z0-9-]+)".{0,80}?(sha256:[0-9a-f]{64})', re.DOTALL)


@dataclass(slots=True)
class Store:
    """One store: what it has, and what it took to have it."""

    address: str
    cluster: str
    digest: str = ""
    has: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    requests: int = 0
    received: int = 0
    """Bytes of bodies."""

    def poll(self) -> None:
        """Ask whether there is anything new, and fetch it."""
        path = f"/v2/clusters/{self.cluster}/manifests/current"
        digest, _ = self._ask("HEAD", path)
        assert digest, "the artifact is there"
        if digest == self.digest:
            return
        self.digest = digest
        for pin in _pins(self._fetch("clusters", self.cluster, digest)):
            if pin not in self.has:
                self.has.add(pin)
                self._fetch("apps", *pin)

    def _fetch(self, kind: str, name: str, digest: str) -> bytes:
        """The files of an artifact, packed."""
        manifest = json.loads(self._body(f"/v2/{kind}/{name}/manifests/{digest}"))
        return self._body(f"/v2/{kind}/{name}/blobs/{manifest['layers'][0]['digest']}")

    def _body(self, path: str) -> bytes:
        _, body = self._ask("GET", path)
        self.received += len(body)
        return body

    def _ask(self, method: str, path: str) -> tuple[str | None, bytes]:
        self.requests += 1
        with closing(HTTPConnection(self.address, timeout=60)) as connection:
            connection.request(method, path)
            answer = connection.getresponse()
            assert answer.status == 200, f"{path}: {answer.status}"
            return answer.getheader("docker-content-digest"), answer.read()


def fetched(
    api: Api,
    worker: Worker,
    repository: Repository,
    clusters: tuple[str, str],
    changes: dict[str, Commands],
    size: str,
) -> list[Row]:
    """For each change: what the first cluster takes, which it is about, and the second."""
    address = urlsplit(worker.server.url).netloc
    stores = [Store(address, name) for name in clusters]
    for each in stores:
        each.poll()
    rows: list[Row] = []
    for name, commands in changes.items():
        before = [(each.requests, each.received) for each in stores]
        wait_for(api, api.apply(commands, name))
        time.sleep(LOOK_SECONDS)
        for each in stores:
            each.poll()
        spent = [
            (each.requests - requests, each.received - received)
            for each, (requests, received) in zip(stores, before, strict=True)
        ]
        rows += _rows(name, spent, size)
    whole = clone_bytes(repository) / 1e3
    affected = next(each for each in rows if each.unit == "kB")
    measure, subject = f"fetched by a store at any commit, {size}", f"{ARTIFACTS}, affected"
    return [*rows, row(measure, GIT, whole, "kB", over=affected.value, ratio_to=subject)]


def _rows(name: str, spent: list[tuple[int, int]], size: str) -> Iterator[Row]:
    for (requests, received), whose in zip(spent, ("affected", "not affected"), strict=True):
        subject = f"{ARTIFACTS}, {whose}"
        yield row(f"fetched by a store, {name}, {size}", subject, received / 1e3, "kB")
        yield row(f"asked by a store, {name}, {size}", subject, requests, "requests")


def _pins(packed: bytes) -> list[tuple[str, str]]:
    """Applications with their digests, as the objects of a pointer name them."""
    found: list[tuple[str, str]] = []
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(packed))) as tar:
        for member in tar:
            content = tar.extractfile(member)
            if content is not None:
                found += [(name, pin) for name, pin in _PIN.findall(content.read().decode())]
    return found


def clone_bytes(repository: Repository) -> int:
    """What a clone of depth one brings."""
    at = directory() / "clone.git"
    url = f"file://{repository.path}"
    words = ["git", "clone", "--quiet", "--bare", "--depth=1", "--branch=main", url, str(at)]
    subprocess.run(words, check=True, capture_output=True)
    return sum(path.stat().st_size for path in Path(at, "objects", "pack").glob("*.pack"))
