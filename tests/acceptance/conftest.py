"""Real reconcilers on a real cluster, following what a real worker publishes.

One ``trellis serve`` over an embedded store and one ``trellis render`` publish to a repository of
their own, serve its artifacts, and push them to a registry. Each store follows in its own way.
How long changes took from their receipt is told at the end.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from ipaddress import ip_address

import httpx
import pytest

from acceptance_fleet import APPLICATIONS, WAYS, Fleet, Store, beginning
from crane import crane_program, registry
from git_server import git_server
from kubernetes_cluster import Kubernetes, cluster, give_up, until
from reconcilers import (
    FORMATS,
    GIT_REPOSITORY,
    OCI_REPOSITORY,
    ArgoFollower,
    FluxFollower,
    Follower,
)
from renderer import paths
from renderer_process import Record, Rendering, rendering
from serving import serve
from watched_store import Took, Watched

ADDRESS = os.environ.get("TRELLIS_TEST_ADDRESS", "127.0.0.1")
"""Where the cluster's controllers reach this machine."""
TOOK = pytest.StashKey[list[Took]]()
_ARTIFACTS = re.compile(r"^artifacts at http://(\S+)/v2/$", re.MULTILINE)


@dataclass(frozen=True)
class Site:
    """Everything that runs beside the cluster."""

    fleet: Fleet
    stores: dict[str, Store]
    repository: str
    """Where stores clone."""
    served: str
    """Where stores fetch artifacts that the worker makes when they are asked for."""
    pushed: str
    """Where they fetch those that it pushed; empty where there is no registry."""
    run: str


@pytest.fixture(scope="session")
def kubernetes() -> Kubernetes:
    return cluster()


@pytest.fixture(scope="session")
def site(kubernetes: Kubernetes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The API, the worker, the git server and the registry; gone at the end."""
    directory = tmp_path_factory.mktemp("site")
    run = f"t{secrets.token_hex(2)}"
    stores = {way: Store(run, way) for way in WAYS}
    owned = {path: text for store in stores.values() for path, text in store.owned().items()}
    record = Record.made(directory / "git" / "fleet.git", owned)
    with ExitStack() as stack:
        clones = stack.enter_context(git_server(record.repository.parent, ADDRESS))
        pushed = _registry(stack)
        server = stack.enter_context(serve(directory / "trellis.db", arguments=["--create"]))
        client = httpx.Client(base_url=server.url, timeout=120, trust_env=False)
        fleet = Fleet(stack.enter_context(client))
        began = fleet.give(*beginning(list(stores.values())))
        settings = {
            **FORMATS,
            "TRELLIS_FORMAT_FLUX_SOURCE_NAME": run,
            "TRELLIS_FORMAT_ARGOCD_REPOSITORY": f"{clones}/fleet.git",
            "TRELLIS_ARTIFACT_REGISTRY": pushed and f"http://{pushed}",
            "TRELLIS_SERVE_PORT": "0",
        }
        worker = stack.enter_context(
            rendering(server.url, record.path, directory, settings, arguments=["--serve"])
        )
        served = _address(worker)
        fleet.wait_published(began)
        assert fleet.publication(began)["held"] == []
        yield Site(fleet, stores, f"{clones}/fleet.git", served, pushed, run)


@pytest.fixture(scope="session", params=WAYS)
def watched(
    request: pytest.FixtureRequest, site: Site, kubernetes: Kubernetes
) -> Iterator[Watched]:
    """A store whose reconciler has come to everything there is in the beginning."""
    store = site.stores[request.param]
    follower = _follower(site, store, kubernetes)
    follower.begin()
    took = request.config.stash.setdefault(TOOK, [])
    found = Watched(store, site.fleet, kubernetes, follower, took)
    try:
        # pods have a test of their own: a simulated node now and then forgets what runs on it
        found.settles(*(each for each in APPLICATIONS if each != "kitchen"))
        yield found
    finally:
        follower.end()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """How long changes took: until they were in git, and until they were on the cluster."""
    rows = config.stash.get(TOOK, [])
    if not rows:
        return
    terminalreporter.section("seconds from the receipt of a change")
    terminalreporter.write_line(f"{'':10}{'in git':>8}{'applied':>9}")
    for way, what, published, applied in rows:
        terminalreporter.write_line(f"{way:10}{published:8.1f}{applied:9.1f}  {what}")


def _follower(site: Site, store: Store, kubernetes: Kubernetes) -> Follower:
    pointer = paths.pointer(store.cluster)
    match store.way:
        case "flux":
            source = {"url": site.repository, "ref": {"branch": "main"}}
            return FluxFollower(kubernetes, store, GIT_REPOSITORY, source, site.run, f"./{pointer}")
        case "argocd":
            return ArgoFollower(kubernetes, store, site.repository)
        case _:
            _expect_loopback()
            if store.way == "registry":
                crane_program()  # where there is none, this says so
            at = site.served if store.way == "served" else site.pushed
            source = {
                "url": f"oci://{at}/clusters/{store.cluster}",
                "ref": {"tag": "current"},
                "insecure": True,
            }
            return FluxFollower(kubernetes, store, OCI_REPOSITORY, source, store.cluster, "./")


def _registry(stack: ExitStack) -> str:
    try:
        return f"{stack.enter_context(registry())}/fleet"
    except pytest.skip.Exception:  # a store that needs it is passed over, and the others are not
        return ""


def _expect_loopback() -> None:
    if not ip_address(ADDRESS).is_loopback:
        give_up("artifacts are served to this machine alone, and the cluster is elsewhere")


def _address(worker: Rendering) -> str:
    """Where the worker says that it serves artifacts."""

    def said() -> bool:
        assert worker.is_alive(), worker.said()
        return _ARTIFACTS.search(worker.said()) is not None

    until(said, worker.said)
    found = _ARTIFACTS.search(worker.said())
    assert found is not None
    return found[1]
