"""A fleet of which Ana may see Texas, and in which all she may not see is called secret."""

from __future__ import annotations

from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import (
    Batch,
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    GrantAccess,
    RegisterCluster,
    SaveSelector,
)
from graph.model.errors import Rejected, SelectorNotFound, TrellisError
from graph.model.inventory import LabelType, Mode
from graph.model.names import Revision

ANA = Actor("ana")
BOSS = Actor("boss", standing=Role.ADMIN)

SECRETS: tuple[Command, ...] = (
    CreateHierarchy("geo", Mode.SINGLE),
    CreateHierarchy("devices", Mode.MANY),
    CreateHierarchy("secret-ring", Mode.SINGLE),
    *(
        CreateGroup(path)
        for path in (
            "/geo/us",
            "/geo/us/tx",
            "/geo/us/tx/austin",
            "/geo/us/tx/waco",
            "/geo/us/secret-ny",
            "/geo/us/secret-ny/secret-city",
            "/devices/grill",
            "/devices/grill/secret-acme",
            "/devices/oven",
            "/devices/secret-camera",
            "/secret-ring/secret-pilot",
        )
    ),
    DeclareLabel("size", LabelType.TEXT, allowed=("small", "large", "secret-huge")),
    DeclareLabel("lanes", LabelType.NUMBER),
    DeclareLabel("secret-key", LabelType.TEXT),
    RegisterCluster(
        "austin-1",
        labels={"size": "large", "lanes": 2},
        groups=("/geo/us/tx/austin", "/devices/grill", "/devices/oven"),
    ),
    RegisterCluster("austin-2", labels={"size": "small"}, groups=("/geo/us/tx/austin",)),
    RegisterCluster(
        "secret-york",
        labels={"size": "secret-huge", "lanes": 7, "secret-key": "secret-value"},
        groups=(
            "/geo/us/secret-ny/secret-city",
            "/devices/grill",
            "/devices/grill/secret-acme",
            "/devices/oven",
            "/secret-ring/secret-pilot",
        ),
    ),
    RegisterCluster("secret-nowhere", labels={"lanes": 9}),
    SaveSelector("texas", "/geo/us/tx"),
    SaveSelector("grills", "/devices/grill"),
    SaveSelector("mixed", "/geo/us/tx or /geo/us/secret-ny or secret-key = secret-value"),
    SaveSelector("secret-saved", "/geo/us/secret-ny"),
    GrantAccess("secret-grant", Role.EDITOR, subject="ana", scope="/geo/us/tx"),
)


async def do(engine: Engine, *commands: Command, actor: Actor | None = ANA) -> None:
    """Execute one batch, as Ana unless somebody else is named; None is a trusted caller."""
    name = "local" if actor is None else actor.name
    await engine.execute(Batch(commands, name, "because"), actor)


async def refusal(
    engine: Engine, *commands: Command, expected_revision: Revision | None = None
) -> TrellisError:
    """What Ana's batch is refused with, by preview and by execute alike; it tells no secret."""
    batch = Batch(commands, ANA.name, "because", expected_revision)
    errors: list[TrellisError] = []
    for way in (engine.preview, engine.execute):
        try:
            await way(batch, ANA)
        except TrellisError as error:
            errors.append(error)
    assert len(errors) == 2, f"{commands} was not refused"
    assert said(errors[0]) == said(errors[1])
    asked = repr(commands)
    for word in said(errors[0]).replace('"', " ").replace("/", " ").split():
        assert "secret" not in word or word in asked, f"{errors[0]} tells {word}"
    return errors[1]


def said(error: TrellisError) -> str:
    """All that an error says."""
    parts = [type(error).__name__, str(error), str(error.path)]
    if isinstance(error, Rejected):
        parts += error.reasons
    if isinstance(error, SelectorNotFound):
        parts += error.nearest
    return "\n".join(parts)
