"""Three teams on one cluster: the company, a franchisee and a maker of grills.

All that a team owns is named after it, so whatever is said to another can be searched for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engines import give
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteSelector,
    GrantAccess,
    Join,
    Leave,
    RegisterCluster,
    RetireCluster,
    RevokeAccess,
    SaveSelector,
    UpdateCluster,
)
from graph.model.inventory import Capacity, LabelType, Mode
from graph.model.workload import Choice
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    DeleteApplication,
    DeleteNamespace,
    LiftProhibition,
    OrderHierarchies,
    Prohibit,
    RemoveLayer,
    RemovePolicy,
    SetLayer,
    SetPolicy,
    Unassign,
)

TEXAS = "/geo/us/tx"

TEAMS: Mapping[str, tuple[Role, str]] = {
    "corp": (Role.OPERATOR, "all"),
    "fran": (Role.EDITOR, TEXAS),
    "maker": (Role.OPERATOR, TEXAS),
}
"""Each team with its role over its own part, and where."""


def actor(team: str) -> Actor:
    return Actor(f"{team}-ana")


def owned(team: str) -> tuple[Command, ...]:
    """What a team brings along: it runs on austin-1, and on austin-2 it is forbidden."""
    space, app = f"{team}-space", f"{team}-app"
    mine = Choice(space, (app,))
    return (
        DefineNamespace(space, title=f"{team}-title", owners=(f"{team}-owner",)),
        DefineApplication(
            app,
            space,
            labels={"team": team},
            requests=Capacity(100, 100),
            values={"key": f"{team}-value"},
        ),
        DefineApplication(f"{team}-spare", space),
        Assign(f"{team}-once", mine, TEXAS),
        Assign(f"{team}-again", mine, TEXAS),
        SetLayer(f"{team}-layer", TEXAS, {"key": f"{team}-layered"}, app),
        Prohibit(f"{team}-veto", mine, f"{TEXAS} and size = small"),
        SetPolicy(f"{team}-policy", namespaces=(space,), registries=(f"{team}-registry",)),
    )


SHARED: tuple[Command, ...] = (
    CreateHierarchy("geo", Mode.SINGLE),
    *(CreateGroup(path) for path in ("/geo/us", TEXAS, "/geo/us/ny")),
    DeclareLabel("size", LabelType.TEXT),
    *(
        RegisterCluster(name, labels={"size": size}, groups=(place,), capacity=Capacity(4000, 8192))
        for name, size, place in (
            ("austin-1", "large", TEXAS),
            ("austin-2", "small", TEXAS),
            ("york-1", "large", "/geo/us/ny"),
        )
    ),
    SaveSelector("texas", TEXAS),
)
"""What they share."""

BEYOND: tuple[Command, ...] = (
    Assign("corp-york", Choice("corp-space", ("corp-app",)), "/geo/us/ny"),
    SetLayer("corp-fleet", "/geo/us", {"proxy": "corp-proxy"}),
    *(
        GrantAccess(
            f"{team}-grant",
            role,
            subject=f"{team}-ana",
            scope=scope,
            namespaces=(f"{team}-space",),
        )
        for team, (role, scope) in TEAMS.items()
    ),
)
"""What the company has besides, and who may do what."""


async def found_shared(engine: Engine) -> None:
    """The fleet of the story, each part in the name of its own team; revision 5."""
    await give(engine, *SHARED)
    for team in TEAMS:
        await give(engine, *owned(team), actor=f"{team}-founder", reason=f"{team}-reason")
    await give(engine, *BEYOND, actor="corp-founder", reason="corp-reason")


def as_editor(team: str) -> dict[str, Command]:
    """What an editor may do to a team's part."""
    space, app = f"{team}-space", f"{team}-app"
    mine = Choice(space, (app,))
    return {
        "redefine": DefineApplication(app, space, labels={"team": team}, values={"key": "new"}),
        "define": DefineApplication(f"{team}-new", space),
        "delete": DeleteApplication(f"{team}-spare"),
        "assign": Assign(f"{team}-more", mine, f"{TEXAS} and size = large"),
        "reassign": Assign(f"{team}-again", mine, f"{TEXAS} and size = large"),
        "unassign": Unassign(f"{team}-again"),
        "set a layer": SetLayer(f"{team}-layer", TEXAS, {"key": "new"}, app),
        "add a layer": SetLayer(f"{team}-one", "cluster austin-1", {"key": "one"}, app),
        "remove a layer": RemoveLayer(f"{team}-layer"),
    }


def as_operator(team: str) -> dict[str, Command]:
    """What takes an operator of a team's part."""
    space = f"{team}-space"
    return {
        "describe": DefineNamespace(space, title="New"),
        "prohibit": Prohibit(f"{team}-more", Choice(space, (f"{team}-spare",)), TEXAS),
        "lift": LiftProhibition(f"{team}-veto"),
        "govern": SetPolicy(f"{team}-policy", namespaces=(space,), registries=("other",)),
        "ungovern": RemovePolicy(f"{team}-policy"),
    }


NOBODYS: Mapping[str, Command] = {
    "update a cluster": UpdateCluster("austin-1", title="Mine"),
    "relabel a cluster": UpdateCluster("austin-2", labels={"size": "large"}),
    "retire a cluster": RetireCluster("austin-1"),
    "register a cluster": RegisterCluster("austin-3", groups=(TEXAS,)),
    "join": Join("austin-1", "/geo/us/tx"),
    "leave": Leave("austin-1", "/geo/us/tx"),
    "create a group": CreateGroup("/geo/us/tx/austin"),
    "delete a group": DeleteGroup("/geo/us/ny"),
    "save": SaveSelector("mine", TEXAS),
    "forget": DeleteSelector("texas"),
    "grant": GrantAccess("more", Role.ADMIN, subject="fran-ana"),
    "revoke": RevokeAccess("maker-grant"),
    "create a hierarchy": CreateHierarchy("mine"),
    "order hierarchies": OrderHierarchies(("geo",)),
    "declare a label": DeclareLabel("mine", LabelType.TEXT),
    "create a namespace": DefineNamespace("mine"),
    "set a fleet layer": SetLayer("mine", TEXAS, {"proxy": "mine"}),
    "remove a fleet layer": RemoveLayer("corp-fleet"),
    "prohibit by label": Prohibit("mine", Choice(labels={"team": "fran"}), TEXAS),
    "govern clusters": SetPolicy("mine", selector=TEXAS, registries=("mine",)),
    "delete a namespace": DeleteNamespace("fran-space"),
}
"""What a grant over a part of the workload gives nobody the right to."""


def leaks(team: str, asked: str, said: str) -> set[str]:
    """The names of other teams in what a team is told, but for those it brought along."""
    others = "|".join(each for each in TEAMS if each != team)
    names = rf"\b(?:{others})-[\w-]*"
    return set(re.findall(names, said)) - set(re.findall(names, asked))
