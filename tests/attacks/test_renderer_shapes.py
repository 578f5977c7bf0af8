"""Objects of odd shapes: whatever is published builds, together, with the real kustomize.

Shapes are generated. What the renderer lets through is built as one pointer of many applications,
so a build costs the same for hundreds of them; only where that fails is the culprit looked for.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import kustomize
from graph.model.errors import Invalid
from graph.model.workload import Application, Base, Binding, BindingKind, Namespace, Template
from memory_publisher import MemoryTree
from odd_objects import odd_objects
from renderer.failure import Failure, Unrenderable
from renderer.flow import flow
from renderer.overlay.overlays import Configuration, Overlays, Rendered
from renderer.overlay.rendered import Pattern
from renderer.rules import Rules, objects
from renderer.sandbox.parent import Sandbox

SHAPES = {"test": 400, "campaign": 8_000}
TOGETHER = 400
SHOP = Namespace("shop", owners=("Ana and Bo",))
KEY = "0123456789abcdef"
IMAGE = Binding("tag", BindingKind.IMAGE, "it")


def overlay_of(number: int, found: dict[str, Any]) -> dict[str, bytes] | None:
    """The overlay of a template that gave this object; None where it is held."""
    application = Application(f"app-{number}", "shop", source=Template({"it.yaml": ""}))
    try:
        made = list(objects(found, Rules("shop")))
        return Pattern(application, SHOP, set()).files(KEY, {"it.yaml": made})
    except (Invalid, Unrenderable):
        return None


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def culprit(root: Path, directories: list[str]) -> str:
    """Which of these does not build in one pointer, and why; empty where all do."""
    resources = [f"../{name}" for name in directories]
    write(root, {"pointer/kustomization.yaml": json.dumps({"resources": resources}).encode()})
    try:
        kustomize.output(root / "pointer")
    except kustomize.NotBuilt as error:
        if len(directories) == 1:
            files = [path.read_text() for path in sorted((root / directories[0]).rglob("*.yaml"))]
            return f"{files} does not build: {error}"
        middle = len(directories) // 2
        for half in (directories[:middle], directories[middle:]):
            if found := culprit(root, half):
                return found
        return f"only together they do not build: {error}"
    return ""


def batches(scale: str) -> list[int]:
    return list(range(SHAPES[scale] // TOGETHER))


def test_what_a_template_may_publish_builds_beside_all_others(tmp_path: Path, scale: str) -> None:
    held = 0
    for batch in batches(scale):
        root, overlays = tmp_path / str(batch), list[str]()
        for number, each in enumerate(odd_objects(Random(f"shapes {batch}"), TOGETHER)):
            made = overlay_of(number, each)
            if made is None:
                held += 1
            else:
                overlays.append(f"app-{number}")
                write(root / overlays[-1], made)
        assert len(overlays) > TOGETHER / 5, "not everything is refused"
        assert not (found := culprit(root, overlays)), found
    assert held > SHAPES[scale] / 5, "and not nothing"


def test_what_of_a_base_is_taken_builds_beside_all_others(tmp_path: Path, scale: str) -> None:
    with Sandbox() as sandbox:
        for batch in batches(scale):
            root, overlays = tmp_path / str(batch), list[str]()
            for number, each in enumerate(odd_objects(Random(f"bases {batch}"), TOGETHER)):
                directory = f"apps/app-{number}"
                files = {
                    f"{directory}/base/kustomization.yaml": b"resources: [it.yaml]\n",
                    f"{directory}/base/it.yaml": flow(each).encode(),
                }
                application = Application(f"app-{number}", "shop", source=Base("base", (IMAGE,)))
                wanted = Configuration(application, SHOP, KEY, (), {"tag": "2"})
                ((_, made),) = Overlays(sandbox).render([wanted], MemoryTree(files))
                if isinstance(made, Rendered):
                    overlays.append(f"{directory}/overlays/{KEY}")
                    write(root, files)
                    write(root / overlays[-1], dict(made.files))
            assert len(overlays) > TOGETHER / 5, "not everything is refused"
            assert not (found := culprit(root, overlays)), found


@pytest.mark.parametrize("name", ["kustomization.yml", "Kustomization", "KUSTOMIZATION.YAML"])
def test_a_template_gives_no_second_kustomization(name: str) -> None:
    application = Application("app", "shop", source=Template({name: ""}))
    with Sandbox() as sandbox:
        wanted = Configuration(application, SHOP, KEY, (), {})
        ((_, made),) = Overlays(sandbox).render([wanted], MemoryTree({}))
    assert isinstance(made, Failure)
    assert "is made by the renderer too" in made.message
