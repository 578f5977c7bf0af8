"""One tenant's objects are nobody else's trouble: a store on plain kustomize always builds.

Thirteen shapes that used to be published and stopped a whole store, two applications with the same
object, and a base that only a real build finds out about; through a real API, worker and git.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import kustomize
from api_process import Api, begun, calling
from changing_fleet import IN_CLUSTERS, template
from cli.render import HELD
from graph.model.command import Command, UpdateCluster
from graph.model.inventory import Reconciler
from graph.model.workload import Base, Choice, Template
from graph.model.workload_command import Assign, DefineApplication, DefineNamespace
from renderer.paths import pointer
from renderer_process import Record, applied, run
from repositories import foreign_commit
from small import SMALL

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ application }}"
DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ application }}}\n"
BINDING = (
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n"
    "metadata: {name: {{ application }}}\n"
)
SHAPES: Mapping[str, str] = {
    "labels-list": f"{HEAD}, labels: [a]}}\n",
    "labels-number": f"{HEAD}, labels: {{a: 1}}}}\n",
    "annotations-text": f"{HEAD}, annotations: hello}}\n",
    "annotations-key": f'{HEAD}, annotations: {{"1": a}}}}\n',
    "template-text": f"{DEPLOYMENT}spec: {{template: hello}}\n",
    "template-labels": f"{DEPLOYMENT}spec: {{template: {{metadata: {{labels: [a]}}}}}}\n",
    "containers-text": f"{DEPLOYMENT}spec: {{template: {{spec: {{containers: [x]}}}}}}\n",
    "subjects-text": f"{BINDING}roleRef: {{kind: Role, name: a}}\nsubjects: [x]\n",
    "role-text": f"{BINDING}roleRef: hello\n",
    "key-long": HEAD + "}\ndata: {\"{{ 'k' * 2000 }}\": a}\n",
    "list-items": "apiVersion: v1\nkind: PodList\nmetadata: {name: a}\nitems: {a: b}\n",
    "platform": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: trellis-platform}\n",
}
FILES = {"kustomization": "kustomization.yml"}
"""And the thirteenth: a template whose file has another of the names that kustomize looks for."""


def odd(name: str) -> DefineApplication:
    files = {FILES.get(name, "all.yaml"): SHAPES.get(name, f"{HEAD}}}\n")}
    return DefineApplication(name, "shop", source=Template(files), reconcilers=IN_CLUSTERS)


def good(name: str, called: str = "") -> DefineApplication:
    made = template(called or name)
    return DefineApplication(name, "shop", source=made, reconcilers=IN_CLUSTERS)


FLEET: tuple[Command, ...] = (
    *SMALL,
    UpdateCluster("york-1", reconciler=Reconciler.KUSTOMIZE),
    DefineNamespace("shop", owners=("ana",)),
    good("innocent"),
    *map(odd, (*SHAPES, *FILES)),
    Assign("shop-all", Choice("shop"), "all"),
)


@dataclass
class Stage:
    """An API, a repository, and a place to build."""

    api: Api
    record: Record

    def render(self, **settings: str) -> dict[str, dict[str, Any]]:
        """Publish up to now; what is held, by application."""
        directory = self.record.repository.parent
        words = (self.api.server.url, self.record.path, directory, "--once")
        run(*words, expect=HELD, **settings)
        rows = json.loads(self.record.files()[".trellis/held.json"])["held"]
        return {each["application"]: each for each in rows}

    def build(self, root: Path) -> list[dict[str, Any]]:
        """What the store on plain kustomize runs."""
        for path, content in self.record.files().items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        return kustomize.build(root / pointer("york-1"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    directory = tmp_path_factory.mktemp("neighbours")
    store = f"sqlite:///{directory / 'trellis.db'}"
    record = Record.made(directory / "fleet.git", {"README.md": "Ours.\n"})
    async with (
        begun(store, directory, {}, arguments=["--create"]) as server,
        calling(server) as api,
    ):
        await applied(api, *FLEET)
        yield Stage(api, record)


async def test_thirteen_odd_shapes_are_held_and_the_store_builds(
    stage: Stage, tmp_path: Path
) -> None:
    held = stage.render()
    assert held.keys() == {*SHAPES, *FILES}
    for name in SHAPES:
        if name != "platform":
            assert (held[name]["file"], held[name]["line"]) == ("all.yaml", 1), held[name]
    assert held["kustomization"]["file"] == "kustomization.yml"
    objects = stage.build(tmp_path)
    assert kustomize.found(objects, "ConfigMap", "innocent")


async def test_an_object_of_another_application_is_not_taken(stage: Stage, tmp_path: Path) -> None:
    await applied(stage.api, good("thief", "innocent"))
    held = stage.render()
    assert "ConfigMap/innocent is brought by application innocent" in held["thief"]["message"]
    assert held["thief"]["clusters"] == 3
    assert kustomize.found(stage.build(tmp_path / "before"), "ConfigMap", "innocent")
    await applied(stage.api, good("thief"))
    assert "thief" not in stage.render()
    assert kustomize.found(stage.build(tmp_path / "named"), "ConfigMap", "thief")
    await applied(stage.api, good("thief", "innocent"))
    held = stage.render()
    assert "which is also on" in held["thief"]["message"], "nor by a later edit"
    objects = stage.build(tmp_path / "after")
    assert kustomize.found(objects, "ConfigMap", "innocent")
    assert kustomize.found(objects, "ConfigMap", "thief")


async def test_a_worker_that_builds_holds_what_only_a_build_finds(
    stage: Stage, tmp_path: Path
) -> None:
    base = {
        "kustomization.yaml": "resources: [all.yaml]\npatches: [{path: patch.yaml}]\n",
        "all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: patched}\n",
        "patch.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nobody}\n",
    }
    files = {f"apps/patched/base/{name}": text for name, text in base.items()}
    foreign_commit(stage.record.repository, files)
    await applied(
        stage.api,
        DefineApplication("patched", "shop", source=Base("base"), reconcilers=IN_CLUSTERS),
    )
    building = {"TRELLIS_RENDER_BUILD_WITH": " ".join(kustomize.command())}
    held = stage.render(**building)
    assert "does not build" in held["patched"]["message"]
    assert "nobody" in held["patched"]["message"]
    stage.build(tmp_path / "held")
    mended = {"apps/patched/base/patch.yaml": base["patch.yaml"].replace("nobody", "patched")}
    foreign_commit(stage.record.repository, mended)
    assert "patched" not in stage.render(**building)
    assert kustomize.found(stage.build(tmp_path / "mended"), "ConfigMap", "patched")
