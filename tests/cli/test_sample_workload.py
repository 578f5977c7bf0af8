"""The workload of the sample fleet: it fits every size, and nothing of it is blocked."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeVar

import pytest

from cli.documents import command_of, document_of
from cli.sample import SEED_SENTENCE, sample
from cli.sample_bases import REGISTRY, base_files
from cli.sample_workload import chapters, sample_workload
from engines import give, ticking
from graph.effective.portion import Blocked, Overlays, Pointers
from graph.engine import Engine
from graph.model.inventory import Reconciler
from graph.model.workload import Base, BindingKind, Template
from graph.model.workload_command import Assign, DefineApplication, DefineNamespace, Prohibit
from graph.store.embedded import EmbeddedStore
from renderer.message import Complete, Message
from renderer.paths import is_owned
from renderer.source.engine import EngineSource

T = TypeVar("T")


async def told(directory: Path, clusters: int) -> AsyncIterator[Message]:
    """What a renderer is told of the sample with its workload."""
    store = await EmbeddedStore.open(directory / "fleet.db", write=True, create=True)
    engine = await Engine.open(store, now=ticking())
    try:
        await give(engine, *sample(clusters))
        for chapter in chapters():
            await give(engine, *chapter.commands, reason=chapter.reason)
        async for message in EngineSource(engine).follow(None):
            if isinstance(message, Complete):
                return
            yield message
    finally:
        await engine.close()


@pytest.mark.parametrize("clusters", [100, 1_000])
async def test_everything_is_placed_and_nothing_is_blocked(tmp_path: Path, clusters: int) -> None:
    lines: Counter[str] = Counter()
    overlays: Counter[str] = Counter()
    reconcilers: Counter[Reconciler] = Counter()
    async for message in told(tmp_path, clusters):
        match message:
            case Pointers(pointers):
                reconcilers.update(each.reconciler for each in pointers)
                lines.update(line.application for each in pointers for line in each.lines)
            case Overlays(found):
                overlays.update(each.application for each in found)
            case Blocked():
                pytest.fail(f"blocked: {message}")
            case _:
                pass
    assert reconcilers.total() == clusters
    assert reconcilers[Reconciler.FLUX] > clusters * 0.8
    assert reconcilers[Reconciler.ARGOCD] > clusters * 0.05
    assert lines["telemetry-agent"] == clusters
    assert lines["pos"] == lines["payment"] == clusters - reconcilers[Reconciler.ANSIBLE]
    assert 0 < lines["lane-timer"] < clusters
    assert overlays.total() < clusters
    if clusters == 1_000:  # of all fourteen, some have no store in a fleet of a hundred
        assert len(lines) == len(overlays) == 14
        assert reconcilers[Reconciler.ANSIBLE] == lines["till"] > 0


def test_a_chapter_says_why_and_is_as_a_file_has_it() -> None:
    for chapter in chapters():
        assert chapter.reason
        assert chapter.commands
        assert not chapter.reason.endswith(".")
    for command in sample_workload():
        assert command_of(document_of(command)) == command


def test_the_first_stores_of_grill_vision_are_those_of_the_seed_sentence() -> None:
    (assigned,) = of(Assign, "grill-vision-first-stores")
    assert isinstance(assigned.selector, str)
    assert assigned.selector == SEED_SENTENCE


def test_it_shows_what_a_workload_can_be() -> None:
    applications = of(DefineApplication)
    assert len(applications) == 14
    assert len({each.namespace for each in applications}) == len(of(DefineNamespace)) == 6
    sources = Counter(type(each.source) for each in applications)
    assert min(sources[Base], sources[Template]) >= 5
    assert any(each.depends_on for each in applications)
    assert any(each.reads for each in applications)
    assert any(each.cluster_scoped for each in applications)
    assert sum(len(each.late_bound) for each in applications) >= 14
    assert of(Prohibit)
    assert any(each.secrets for each in of(DefineNamespace))


def test_every_base_and_component_is_among_the_owners_files() -> None:
    files = base_files()
    assert not [path for path in files if is_owned(path)]
    for application in of(DefineApplication):
        if not isinstance(application.source, Base):
            continue
        base = f"apps/{application.name}/{application.source.path}"
        on_hosts_alone = application.reconcilers == (Reconciler.ANSIBLE,)
        assert f"{base}/kustomization.yaml" in files or on_hosts_alone
        if Reconciler.ANSIBLE in application.reconcilers:
            assert {f"{base}/tasks/main.yaml", f"{base}/tasks/absent.yaml"} <= files.keys()
        for component in application.source.components:
            assert f"apps/{application.name}/{component.path}/kustomization.yaml" in files
        for binding in application.source.bindings:
            if binding.kind is BindingKind.IMAGE:
                assert binding.name.startswith(f"{REGISTRY}/")
                assert f"image: {binding.name}:".encode() in files[f"{base}/deployment.yaml"]


def of(kind: type[T], name: str = "") -> list[T]:
    """Commands of one kind, and of one name."""
    found = [each for each in sample_workload() if isinstance(each, kind)]
    return [each for each in found if not name or getattr(each, "name", "") == name]
