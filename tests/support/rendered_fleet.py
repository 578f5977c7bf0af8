"""A fleet rendered into a directory by the real planner, as a store would find it there.

fleet = await rendered(tmp_path, [("stores", commands)], base_files())
kustomize.build(fleet.pointer("us-west-ca-city001-00001"))
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import yaml

import kustomize
from engines import give, ticking
from graph.engine import Engine
from graph.model.command import COMMANDS_MAX, Command
from graph.store.embedded import EmbeddedStore
from renderer import paths
from renderer.plan.wave import WaveBounds
from renderer.publish.directory import DirectoryPublisher
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from renderer.source.engine import EngineSource
from renderer.work.errands import Errands
from renderer.work.measures import Measures
from renderer.work.planner import planner, stamp
from renderer.work.publishing import Published, Publishing

_NUMBERS = count()


@dataclass(frozen=True)
class Fleet:
    """What was published, and where it lies."""

    root: Path
    published: Published

    def pointer(self, cluster: str) -> Path:
        return self.root / paths.pointer(cluster)

    def overlays(self) -> dict[str, list[Path]]:
        """Directories of overlays, by application."""
        found: dict[str, list[Path]] = {}
        for path in sorted(self.root.glob("apps/*/overlays/*")):
            found.setdefault(path.parts[-3], []).append(path)
        return found

    def held(self) -> list[Any]:
        return json.loads((self.root / paths.HELD).read_text())["held"]

    def together(self, directories: Iterable[Path]) -> Path:
        """A directory that builds to all of these."""
        at = self.root / "together" / str(next(_NUMBERS))
        at.mkdir(parents=True)
        resources = [f"../../{each.relative_to(self.root)}" for each in directories]
        (at / paths.KUSTOMIZATION).write_text(json.dumps({"resources": resources}))
        return at

    def reconciled(self, cluster: str) -> list[dict[str, Any]]:
        """What a reconciler of the cluster makes of its pointer.

        It builds each application by itself: the patches it was handed are put into the overlay's
        own kustomization, which is what Flux and Argo CD do with theirs.
        """
        told = [_told(each) for each in kustomize.build(self.pointer(cluster))]
        made = [self._patched(cluster, *each) for each in told if each is not None]
        return kustomize.build(self.together(made))

    def _patched(self, cluster: str, path: str, namespace: str, patches: list[Any]) -> Path:
        overlay = self.root / path
        copied = overlay.with_name(f"{overlay.name}-{cluster}")  # beside it: references stay right
        shutil.copytree(overlay, copied)
        file = copied / paths.KUSTOMIZATION
        fields = yaml.safe_load(file.read_text())
        fields["patches"] = [*fields.get("patches", ()), *patches]
        fields["namespace"] = namespace
        file.write_text(yaml.safe_dump(fields))
        return copied


def _told(each: Mapping[str, Any]) -> tuple[str, str, list[Any]] | None:
    """Path, namespace and patches of what tells a reconciler of an application."""
    match each["kind"]:
        case "Kustomization":
            spec = each["spec"]
            return spec["path"], spec["targetNamespace"], spec.get("patches", [])
        case "Application":
            source = each["spec"]["source"]
            namespace = each["spec"]["destination"]["namespace"]
            return source["path"], namespace, source.get("kustomize", {}).get("patches", [])
        case _:
            return None


async def rendered(
    root: Path, batches: Iterable[tuple[str, Sequence[Command]]], owners: Mapping[str, bytes]
) -> Fleet:
    """The fleet that ``batches`` make, with what its ``owners`` pushed, published to ``root``."""
    for path, content in owners.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    async with _loaded(root.with_name(f"{root.name}.db"), batches) as engine:
        with Sandbox() as sandbox, closing(DirectoryPublisher.open(root)) as output:
            settings = FormatSettings()
            publishing = Publishing(
                EngineSource(engine),
                output,
                planner(settings, sandbox, WaveBounds()),
                stamp(settings),
                name="main",
                measures=Measures(),
            )
            with closing(publishing):
                return Fleet(root, await Errands(publishing, lambda _: None).once())


@asynccontextmanager
async def _loaded(
    file: Path, batches: Iterable[tuple[str, Sequence[Command]]]
) -> AsyncGenerator[Engine]:
    engine = await Engine.open(
        await EmbeddedStore.open(file, write=True, create=True), now=ticking()
    )
    try:
        for reason, commands in batches:
            for start in range(0, len(commands), COMMANDS_MAX):
                await give(engine, *commands[start : start + COMMANDS_MAX], reason=reason)
        yield engine
    finally:
        await engine.close()
