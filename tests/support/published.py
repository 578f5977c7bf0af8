"""A published tree in memory, and a small fleet in it as a worker would leave it.

store-00042 follows Flux, store-00043 Argo CD, store-00044 is built with plain kustomize. They run
``pos`` (an owner's base with a component) and ``grill`` (rendered from templates). kiosk-0001 is a
host and runs ``till``, a role.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from graph.model.workload import Application, FieldTarget, LateBound
from renderer import paths
from renderer.flow import document, flow
from renderer.formats.argocd import ArgoCD
from renderer.formats.flux import Flux
from renderer.formats.kustomize import Kustomize
from renderer.formats.port import Format
from renderer.plan.binder import Binder
from renderer.plan.inventory import shard_content
from renderer.plan.pointer import Line, Pointer
from renderer.settings import FormatSettings

POS, POS_LARGE, GRILL = "1f3a9c02d4b5e6f7", "2f3a9c02d4b5e6f7", "77b0e1a5c9d2f304"
TILL = "cc00000000000001"
FLEET, NAMESPACE, NAMESPACE_ARGO = "aa00000000000001", "bb00000000000001", "bb00000000000002"
FLUX, ARGO_CD, PLAIN, HOST = "store-00042", "store-00043", "store-00044", "kiosk-0001"
AWKWARD = '{a: b} ${x} "q" it\'s\nsecond'


class MemoryTree:
    """Files at one moment; a name in ``links`` is a link that leads somewhere."""

    def __init__(self, files: Mapping[str, bytes], links: Iterable[str] = ()) -> None:
        self.files = dict(files)
        self.links = set(links)
        self._below: dict[str, set[str]] = {}
        for path in (*self.files, *self.links):
            while path:
                directory, _, name = path.rpartition("/")
                self._below.setdefault(directory, set()).add(name)
                path = directory

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def read_many(self, wanted: Iterable[str]) -> Mapping[str, bytes]:
        return {path: self.files[path] for path in wanted if path in self.files}

    def names(self, directory: str) -> tuple[str, ...]:
        return tuple(sorted(self._below.get(directory, ())))

    def identity(self, path: str) -> str | None:
        if path in self.links:
            return "link"
        if path in self.files:
            return sha256(self.files[path]).hexdigest()
        below = [(name, self.identity(f"{path}/{name}")) for name in self.names(path)]
        return sha256(repr(below).encode()).hexdigest() if below else None

    def after(self, changes: Mapping[str, bytes | None]) -> MemoryTree:
        """The tree with files written (or gone, where None)."""
        files = {**self.files, **changes}
        return MemoryTree({p: c for p, c in files.items() if c is not None}, self.links)


def kustomization(**fields: object) -> bytes:
    head = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return document({**head, **fields})


def deployment(name: str, image: str) -> bytes:
    containers = [{"name": name, "image": image}]
    pod = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": pod}
    head = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}}
    return document({**head, "spec": spec})


def config_map(name: str, **data: str) -> bytes:
    head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return document({**head, "data": data})


def flux_sync(application: str, key: str) -> dict[str, bytes]:
    spec = {
        "interval": "1h",
        "path": f"./{paths.overlay(application, key)}",
        "prune": True,
        "sourceRef": {"kind": "GitRepository", "name": "trellis"},
        "targetNamespace": "dining",
    }
    head = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization"}
    metadata = {"name": application, "namespace": "flux-system", "labels": {"owner": "team"}}
    return _sync(application, "flux", key, {**head, "metadata": metadata, "spec": spec})


def argo_cd_sync(application: str, key: str) -> dict[str, bytes]:
    source = {
        "repoURL": "https://git.example/gitops.git",
        "targetRevision": "main",
        "path": paths.overlay(application, key),
    }
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
    metadata = {"name": application, "namespace": "argocd"}
    destination = {"server": "https://kubernetes.default.svc", "namespace": "dining"}
    spec = {"project": "dining", "destination": destination, "source": source}
    return _sync(application, "argocd", key, {**head, "metadata": metadata, "spec": spec})


def sample() -> MemoryTree:
    """The whole fleet."""
    return MemoryTree({**_applications(), **_namespaces(), **_pointers(), **_hosts()})


def _sync(application: str, reconciler: str, key: str, told: object) -> dict[str, bytes]:
    directory = paths.sync(application, reconciler, key)
    assert isinstance(told, dict)
    return {
        f"{directory}/kustomization.yaml": kustomization(resources=["sync.yaml"]),
        f"{directory}/sync.yaml": document(told),
    }


def _applications() -> dict[str, bytes]:
    files = {
        "apps/pos/base/v12/kustomization.yaml": kustomization(
            resources=["deployment.yaml", "parts"]
        ),
        "apps/pos/base/v12/deployment.yaml": deployment("pos", "registry.example/pos:12"),
        "apps/pos/base/v12/parts/kustomization.yaml": kustomization(resources=["cm.yaml"]),
        "apps/pos/base/v12/parts/cm.yaml": config_map("pos", store="unset", host="unset"),
        "apps/pos/base/v11/kustomization.yaml": kustomization(resources=["old.yaml"]),
        "apps/pos/base/v11/old.yaml": deployment("pos", "registry.example/pos:11"),
        "apps/pos/components/drive/kustomization.yaml": document(
            {
                "apiVersion": "kustomize.config.k8s.io/v1alpha1",
                "kind": "Component",
                "resources": ["lane.yaml"],
            }
        ),
        "apps/pos/components/drive/lane.yaml": deployment(
            "lane", "registry.example/lane@sha256:ab"
        ),
        f"apps/grill/overlays/{GRILL}/kustomization.yaml": kustomization(resources=["grill.yaml"]),
        f"apps/grill/overlays/{GRILL}/grill.yaml": deployment("grill", "registry.example/grill:3"),
        **flux_sync("grill", GRILL),
        **argo_cd_sync("grill", GRILL),
    }
    images = [{"name": "registry.example/pos", "newTag": "12.1"}]
    for key in (POS, POS_LARGE):
        more = {"components": ["../../components/drive"]} if key == POS_LARGE else {}
        files[f"{paths.overlay('pos', key)}/kustomization.yaml"] = kustomization(
            resources=["../../base/v12"], images=images, **more
        )
        files |= flux_sync("pos", key) | argo_cd_sync("pos", key)
    return files


def _namespaces() -> dict[str, bytes]:
    namespace = document({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dining"}})
    project = document(
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "AppProject",
            "metadata": {"name": "dining", "namespace": "argocd"},
            "spec": {"sourceRepos": ["https://git.example/gitops.git"]},
        }
    )
    files = {
        f"fleet/{FLEET}/kustomization.yaml": kustomization(resources=["settings.yaml"]),
        f"fleet/{FLEET}/settings.yaml": config_map("fleet", proxy="proxy.example"),
    }
    for key, more in ((NAMESPACE, {}), (NAMESPACE_ARGO, {"project.yaml": project})):
        directory = paths.namespace("dining", key)
        named = {"namespace.yaml": namespace, **more}
        files[f"{directory}/kustomization.yaml"] = kustomization(resources=list(named))
        files |= {f"{directory}/{name}": content for name, content in named.items()}
    return files


def pointer_of(cluster: str, namespace: str, lines: Mapping[str, Line]) -> dict[str, bytes]:
    pointer = Pointer(cluster, FLEET, {"dining": namespace}, dict(lines))
    return {f"{paths.pointer(cluster)}/kustomization.yaml": pointer.content()}


def _late(words: Format, key: str) -> Line:
    """A line with a late-bound value that looks like anything but text."""
    host = LateBound("host", fields=(FieldTarget("ConfigMap/pos", "/data/host"),))
    binder = Binder(words, Application("pos", "", late_bound=(host,)))
    return binder.line(words.leads_to("pos", key), {"host": AWKWARD})


def _pointers() -> dict[str, bytes]:
    flux, argo = Flux(FormatSettings()), ArgoCD(FormatSettings())
    return {
        **pointer_of(
            FLUX,
            NAMESPACE,
            {
                "pos": _late(flux, POS),
                "grill": Line(paths.sync("grill", "flux", GRILL)),
            },
        ),
        **pointer_of(
            ARGO_CD,
            NAMESPACE_ARGO,
            {
                "pos": _late(argo, POS_LARGE),
                "grill": Line(paths.sync("grill", "argocd", GRILL)),
            },
        ),
        **pointer_of(
            PLAIN,
            NAMESPACE,
            {
                "pos": _late(Kustomize(), POS_LARGE),
                "grill": Line(paths.overlay("grill", GRILL)),
            },
        ),
    }


def _hosts() -> dict[str, bytes]:
    line = Line(paths.overlay("till", TILL), flow({"host": "h"}))
    host = Pointer(HOST, FLEET, {}, {"till": line})
    path = paths.inventory(HOST)
    neighbour = next(
        name
        for name in (f"kiosk-{number:04}" for number in range(2, 5_000))
        if paths.inventory(name) == path
    )
    other = Pointer(neighbour, FLEET, {}, {"till": Line(line.directory)})
    variables = {"role": "apps/till/base/v2", "needs": [], "values": {"a": 1}}
    return {
        f"{line.directory}/vars.json": flow(variables).encode(),
        "apps/till/base/v2/tasks/main.yaml": b"- debug:\n",
        "apps/till/base/v1/tasks/main.yaml": b"- debug:\n",
        f"fleet/{FLEET}/settings.json": b"{}\n",
        path: shard_content({HOST: host, neighbour: other}),
        "ansible/site.yaml": b"- hosts: all\n",
    }


def unpack(content: bytes, directory: Path) -> Path:
    """A compressed archive, unpacked as a store would."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as tar:
        tar.extractall(directory, filter="data")
    return directory


def built(directory: Path) -> str:
    """What plain kustomize makes of it."""
    done = subprocess.run(
        ["kubectl", "kustomize", str(directory)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(tree: MemoryTree, directory: Path) -> Path:
    """The tree as files."""
    for path, content in tree.files.items():
        at = directory / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(content)
    return directory
