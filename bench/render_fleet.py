"""The fleet that is rendered, in a store: the sample, with a workload over it, loaded by commands.

It is what ``bench.workload_fleet`` describes, by way of the engine, so that a real API can serve it
and every check was made. Most of it is on Flux and some on Argo CD; the few hosts of the sample are
made clusters, since not every application of the workload can run on one, and what an application
needs is assigned wherever it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

from bench.render_sources import owners_files, sourced
from bench.stores import ACTOR, EmbeddedFleet, copied, embedded
from bench.workload_fleet import workload
from graph.index.snapshot import Snapshot
from graph.model.change import Entity
from graph.model.command import COMMANDS_MAX, Batch, Command, UpdateCluster
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.workload import Application, Assignment, Choice, Layer, Namespace, Prohibition
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    SetLayer,
)


@dataclass(frozen=True, slots=True)
class RenderedFleet:
    """A store, what it shows, and what owners keep in the repository."""

    store: EmbeddedFleet
    view: Snapshot
    owners: dict[str, bytes]
    applications: int

    @property
    def size(self) -> str:
        """What figures about it are called by."""
        return f"{self.applications} applications, {len(self.view.everything()):,} clusters"


@cache
def rendered_fleet(clusters: int, applications: int) -> RenderedFleet:
    """The fleet, in files of its own."""
    store = copied(embedded(clusters))
    view = asyncio.run(_loaded(store, applications))
    owners = owners_files(view.workload.applications.values())
    return RenderedFleet(store, view, owners, applications)


async def _loaded(store: EmbeddedFleet, applications: int) -> Snapshot:
    async with store.engine() as engine:
        commands = chain(_settled(engine.view), _commands(engine.view, applications))
        while some := tuple(islice(commands, COMMANDS_MAX)):
            await engine.execute(Batch(some, ACTOR, "the workload"))
        return engine.view


def _settled(view: Snapshot) -> Iterator[Command]:
    for name, number in view.names_after(""):
        found = view.cluster(number)
        if found is not None and found.kind is ClusterKind.HOST:
            yield UpdateCluster(name, kind=ClusterKind.KUBERNETES, reconciler=Reconciler.FLUX)


def _commands(view: Snapshot, applications: int) -> Iterator[Command]:
    made: dict[str, Application] = {}
    for entity in workload(view, applications):
        yield _command(entity)
        if isinstance(entity, Application):
            made[entity.name] = entity
        elif isinstance(entity, Assignment):
            (name,) = entity.choice.applications
            for needed in made[name].depends_on:
                choice = Choice(made[needed].namespace, (needed,))
                yield Assign(f"{entity.name}-needs", choice, entity.selector)


def _command(entity: Entity) -> Command:
    """What leads to an entity of the workload."""
    match entity:
        case Namespace():
            return DefineNamespace(entity.name, cost_center=entity.cost_center)
        case Application():
            return _defined(sourced(entity))
        case Assignment():
            return Assign(entity.name, entity.choice, entity.selector)
        case Prohibition():
            return Prohibit(entity.name, entity.choice, entity.selector)
        case Layer():
            values = dict(entity.values.data)
            return SetLayer(entity.name, entity.selector, values, entity.application, entity.rank)
        case _:
            raise AssertionError(f"the workload has no {type(entity).__name__}")


def _defined(application: Application) -> DefineApplication:
    return DefineApplication(
        application.name,
        application.namespace,
        labels=application.labels,
        depends_on=application.depends_on,
        requests=application.requests,
        source=application.source,
        values=dict(application.values.data),
        schema=dict(application.schema.data) if application.schema else None,
        late_bound=application.late_bound,
    )
