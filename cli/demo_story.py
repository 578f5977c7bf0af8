"""What happens to the demo's stores: five changes, each with its reason, as people would make them.

The first opens a store, and the last forbids something: a fleet that has the one and not the other
was left in the middle of the story.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cli.sample import SEED_SENTENCE
from graph.engine import Engine
from graph.model.command import Batch, Command, RegisterCluster
from graph.model.inventory import LabelValue
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView
from graph.model.workload import Choice
from graph.model.workload_command import Assign, Prohibit, SetLayer

NEW_STORE = "us-northeast-ny-buffalo"
_PROHIBITION = "no-cameras-in-illinois"
_NARROWED = "grill-vision-first-stores"
_VISION = Choice("kitchen", ("grill-vision",))
_CAMERAS = Choice("", ("camera-analytics",))
_ILLINOIS = "/geo/us/central/il"


@dataclass(frozen=True, slots=True)
class Turn:
    """One change: why, and how it comes about."""

    reason: str
    commands: Callable[[Engine], Awaitable[tuple[Command, ...]]]
    losing: str = ""
    """Clusters that may lose an application by it, stated with it; nobody by default."""

    async def batch(self, engine: Engine, actor: str) -> Batch:
        """What is to be executed now."""
        loss = len(engine.resolve(self.losing)) if self.losing else None
        commands = await self.commands(engine)
        return Batch(commands, actor, self.reason, expected_loss=loss)


def is_begun(view: FleetView) -> bool:
    """Whether the new store is open."""
    return view.cluster_number(NEW_STORE) is not None


def is_told(view: FleetView) -> bool:
    """Whether all of it has happened."""
    return _PROHIBITION in view.workload.prohibitions


async def _open(engine: Engine) -> tuple[Command, ...]:
    labels: dict[str, LabelValue] = {
        "size": "large",
        "lanes": 3,
        "sqft": 9_200,
        "opened": 2026,
        "drive-through": True,
        "type": "corp",
        "store": "90001",
        "ring": "broad",
    }
    groups = (
        "/geo/us/northeast/ny",
        "/franchise/corporate",
        "/devices/grill/acme/acme3001",
        "/marketing/language/en",
    )
    return (RegisterCluster(NEW_STORE, "Buffalo", labels=labels, groups=groups),)


async def _tax(engine: Engine) -> tuple[Command, ...]:
    return (SetLayer("pos-texas", "/geo/us/central/tx", {"tax": 0.0825}, "pos"),)


async def _narrow(engine: Engine) -> tuple[Command, ...]:
    return (Assign(_NARROWED, _VISION, f"{SEED_SENTENCE} and ring = beta"),)


async def _widen(engine: Engine) -> tuple[Command, ...]:
    """What the newest change of the assignment did is undone."""
    narrowed = Ref(Kind.ASSIGNMENT, _NARROWED)
    newest = (await engine.history(narrowed))[0].revision
    plan = await engine.plan_revert(narrowed, Revision(newest - 1))
    return (plan.command,)


async def _forbid(engine: Engine) -> tuple[Command, ...]:
    return (Prohibit(_PROHIBITION, _CAMERAS, _ILLINOIS, "Guests are not filmed in Illinois"),)


STORY = (
    Turn("A store opens in Buffalo, with an Acme3001", _open),
    Turn("Texas raises its sales tax", _tax),
    Turn("Grill vision burns patties: only the beta ring goes on", _narrow, SEED_SENTENCE),
    Turn("Grill vision is mended: back to where it was", _widen),
    Turn("Illinois forbids cameras that recognise guests", _forbid, _ILLINOIS),
)
"""In this order."""
