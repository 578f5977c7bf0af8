"""A fleet of which some see a part, and in which all that they may not see is called ``zzhidden``.

    async with hidden_fleet(directory) as engine: ...
    world = await World.of(engine, scope)         # a fleet of nothing but what the scope shows
    assert not leaks(question, answer)

A world is made by filtering the facts, slowly and by other code than the product's, and is then
asked by somebody who may see all of it: what they are told is what a scoped actor must be told.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from api.caller.identity import Identified
from api.execution.operations import Operations
from api.execution.request import GraphQLRequest
from api.schema.schema import SCHEMA
from api.settings import ApiSettings, TelemetrySettings
from api.telemetry.telemetry import Telemetry
from engines import give, ticking
from graph.engine import Engine
from graph.model.access import Actor, Coverage, Grant, Role
from graph.model.change import Changeset, Cursor, Entity, Receipt
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    GrantAccess,
    Join,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
)
from graph.model.errors import NotFound
from graph.model.inventory import Capacity, LabelType, Mode
from graph.model.names import Revision
from graph.model.selector import Everything, Selector
from graph.model.view import FleetView
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    SetLayer,
    SetPolicy,
)
from graph.store.embedded import EmbeddedStore
from graph.store.port import Entry, Facts, Head, Kept
from graph.targeting.parser import parse
from restricted import restricted
from twin import Twin

HIDDEN = "zzhidden"
ABSENT = "zzabsent"
"""As long as the other, and nowhere in the fleet."""

COST_MAX = 10**15
"""Operations here read everything there is, which in so small a fleet is little."""

TEXAS = "/geo/us/tx"
BY_LABEL = "team = texas"
BY_EXCEPTION = "/geo/us except (/geo/us/zzhidden-ny or only /geo/us)"
AUSTIN = "/geo/us/tx/austin"
"""Four scopes; the first three choose the same clusters and hide the same names."""


def _part(name: str, place: str) -> tuple[Command, ...]:
    """Something of every kind of workload, all of it in one place."""
    space, app = f"{name}-space", f"{name}-app"
    mine = Choice(space, (app,))
    return (
        DefineNamespace(space, owners=(f"{name}-owner",), cost_center=f"{name}-center"),
        DefineApplication(
            app,
            space,
            requires="lanes >= 2",
            requests=Capacity(10, 10),
            values={"key": f"{name}-value"},
            late_bound=(LateBound("host", "{cluster}.example.com"),),
            reads=("proxy",),
        ),
        Assign(f"{name}-run", mine, place),
        SetLayer(f"{name}-layer", place, {"key": f"{name}-layered"}, app),
        Prohibit(f"{name}-veto", mine, f"{place} and lanes >= 5"),
        SetPolicy(f"{name}-policy", namespaces=(space,), registries=(f"{name}-registry",)),
    )


FOUNDED: tuple[Command, ...] = (
    CreateHierarchy("geo", Mode.SINGLE, required=True, title="Geography"),
    CreateHierarchy("devices", Mode.MANY),
    CreateHierarchy("zzhidden-ring", Mode.SINGLE, title="zzhidden-title"),
    *(
        CreateGroup(path, title=f"at {path}")
        for path in (
            "/geo/us",
            "/geo/us/tx",
            "/geo/us/tx/austin",
            "/geo/us/tx/waco",
            "/geo/us/tx/empty",
            "/geo/us/zzhidden-ny",
            "/geo/us/zzhidden-ny/zzhidden-city",
            "/geo/zzhidden-ca",
            "/geo/zzhidden-empty",
            "/devices/grill",
            "/devices/grill/zzhidden-acme",
            "/devices/oven",
            "/devices/zzhidden-camera",
            "/zzhidden-ring/zzhidden-pilot",
        )
    ),
    DeclareLabel("size", LabelType.TEXT, allowed=("small", "large", "zzhidden-huge")),
    DeclareLabel("lanes", LabelType.NUMBER, unit="lanes"),
    DeclareLabel("team", LabelType.TEXT),
    DeclareLabel("zzhidden-key", LabelType.TEXT, title="zzhidden-title"),
    *(
        RegisterCluster(
            name,
            title=f"Store {name}",
            labels={"size": size, "lanes": lanes, "team": "texas"},
            groups=(place, *devices),
            capacity=Capacity(4_000, 8_192),
        )
        for name, size, lanes, place, devices in (
            ("austin-1", "large", 2, AUSTIN, ("/devices/grill", "/devices/oven")),
            ("austin-2", "small", 3, AUSTIN, ("/devices/grill",)),
            ("austin-3", "large", 5, AUSTIN, ()),
            ("waco-1", "small", 2, "/geo/us/tx/waco", ("/devices/oven",)),
            ("mover-1", "large", 4, "/geo/us/tx/waco", ("/devices/grill",)),
        )
    ),
    *(
        RegisterCluster(
            name,
            title=f"zzhidden-title of {name}",
            labels={
                "size": "zzhidden-huge",
                "lanes": lanes,
                "team": "zzhidden-team",
                "zzhidden-key": "zzhidden-value",
            },
            groups=(place, *devices),
        )
        for name, lanes, place, devices in (
            ("zzhidden-york-1", 7, "/geo/us/zzhidden-ny/zzhidden-city", ("/devices/oven",)),
            ("zzhidden-york-2", 9, "/geo/us/zzhidden-ny", ("/devices/grill/zzhidden-acme",)),
            ("zzhidden-grill-1", 11, "/geo/zzhidden-ca", ("/devices/grill",)),
            ("zzhidden-us-1", 13, "/geo/us", ("/devices/zzhidden-camera",)),
            ("zzhidden-gone-1", 15, "/geo/us/zzhidden-ny", ("/zzhidden-ring/zzhidden-pilot",)),
            ("zzhidden-ring-1", 17, "/geo/zzhidden-ca", ("/zzhidden-ring/zzhidden-pilot",)),
            ("comer-1", 19, "/geo/us/zzhidden-ny", ()),
        )
    ),
    SaveSelector("texas", TEXAS, title="Texas"),
    SaveSelector("grills", "/devices/grill and lanes >= 1"),
    SaveSelector("mixed", f"{TEXAS} or /geo/us/zzhidden-ny or zzhidden-key = zzhidden-value"),
    SaveSelector("zzhidden-saved", "/geo/us/zzhidden-ny", title="zzhidden-title"),
    *_part("grill", TEXAS),
    *_part("wide", "/geo/us"),
    *_part("zzhidden", "/geo/us/zzhidden-ny"),
    SetLayer("proxy", "/geo/us", {"proxy": "near"}),
    SetLayer("zzhidden-proxy", "/geo/us/zzhidden-ny", {"proxy": "zzhidden-far"}),
    SetLayer("zzhidden-grills", "/geo/us/zzhidden-ny", {"key": "zzhidden-key"}, "wide-app"),
)
"""Revision 1: something of everything, in sight and out of it."""


@dataclass(frozen=True)
class Person:
    """Somebody with a token, and what is granted to them."""

    actor: Actor
    grants: tuple[tuple[Role, str], ...] = ()
    hides: bool = True
    """Whether what is called hidden is hidden from them."""
    namespaces: tuple[str, ...] = ()
    """What their grants cover; all of the workload, and the inventory, when there are none."""

    @property
    def name(self) -> str:
        return self.actor.name

    @property
    def reads(self) -> str | None:
        """The scope of all they read; None if they read nothing."""
        return None if not self.grants else self.grants[0][1]

    @property
    def coverage(self) -> Coverage | None:
        return Coverage(frozenset(self.namespaces)) if self.namespaces else None

    def scope(self, role: Role) -> str | None:
        """Where they have a role. Of several grants, the first is the widest."""
        return next((scope for each, scope in self.grants if each.includes(role)), None)

    def standing(self, role: Role) -> Actor:
        """The same person where their scope is all there is."""
        return Actor(self.name, self.actor.claims, role)


def _person(name: str, *grants: tuple[Role, str], claim: str = "", hides: bool = True) -> Person:
    return Person(Actor(name, frozenset({claim} if claim else ())), grants, hides)


PEOPLE = (
    _person("nobody"),
    _person("reads-texas", (Role.READER, TEXAS)),
    _person("reads-by-claim", (Role.READER, BY_LABEL), claim="crew-r"),
    _person("edits-texas", (Role.EDITOR, TEXAS), claim="crew-e"),
    _person("edits-by-label", (Role.EDITOR, BY_LABEL)),
    _person("edits-but-new-york", (Role.EDITOR, BY_EXCEPTION)),
    _person("edits-austin", (Role.READER, TEXAS), (Role.EDITOR, AUSTIN)),
    _person("operates-texas", (Role.OPERATOR, TEXAS), claim="crew-o"),
    _person("rules-texas", (Role.ADMIN, TEXAS)),
    _person("reads-all", (Role.READER, "all"), hides=False),
    _person("edits-all", (Role.EDITOR, "all"), claim="crew-all", hides=False),
    _person("rules-all", (Role.ADMIN, "all"), hides=False),
    Person(Actor("first", standing=Role.ADMIN), ((Role.ADMIN, "all"),), hides=False),
)
"""Who asks. The last is an admin by setting and has no grant."""

COVERED = (
    Person(Actor("edits-grills"), ((Role.EDITOR, TEXAS),), namespaces=("grill-space",)),
    Person(Actor("operates-wide"), ((Role.OPERATOR, "/geo/us"),), False, ("wide-space",)),
    Person(Actor("reads-grills"), ((Role.READER, "all"),), False, ("grill-space",)),
)
"""Those who have a role over a part of the workload; two of them see clusters called hidden."""

SCOPED = tuple(each for each in PEOPLE if each.hides and each.grants)


def _granted() -> tuple[Command, ...]:
    return tuple(
        GrantAccess(
            f"zzhidden-grant-{person.name}-{place}",
            role,
            subject="" if person.actor.claims else person.name,
            claim="".join(person.actor.claims),
            scope=scope,
            title="zzhidden-title",
            namespaces=person.namespaces,
        )
        for person in (*PEOPLE, *COVERED)
        if person.actor.standing is None
        for place, (role, scope) in enumerate(person.grants)
    )


TOLD: tuple[tuple[str, str, tuple[Command, ...]], ...] = (
    ("zzhidden-guard", "zzhidden-reason to grant", _granted()),
    (
        "zzhidden-hand",
        "zzhidden-reason to rename",
        (UpdateCluster("zzhidden-york-1", title="zzhidden-other"),),
    ),
    ("ana", "a lane more", (UpdateCluster("austin-1", labels={"lanes": 3}),)),
    (
        "ana",
        "it moves away",
        (
            Join("mover-1", "/geo/us/zzhidden-ny"),
            UpdateCluster("mover-1", title="zzhidden-moved", labels={"team": "zzhidden-team"}),
        ),
    ),
    (
        "zzhidden-hand",
        "zzhidden-reason after it moved",
        (UpdateCluster("mover-1", labels={"zzhidden-key": "zzhidden-value"}),),
    ),
    (
        "ana",
        "it comes here",
        (
            Join("comer-1", "/geo/us/tx/waco"),
            UpdateCluster(
                "comer-1",
                title="Comer",
                labels={"size": "small", "team": "texas", "zzhidden-key": None},
            ),
        ),
    ),
    (
        "ana",
        "here and there at once",
        (
            RenameGroup("/devices/zzhidden-camera", "zzhidden-lens"),
            UpdateCluster("austin-2", title="Second"),
        ),
    ),
    ("zzhidden-hand", "zzhidden-reason to go", (RetireCluster("zzhidden-gone-1"),)),
    ("zzhidden-hand", "zzhidden-reason to prune", (DeleteGroup("/geo/zzhidden-empty"),)),
    ("ana", "and a title", (UpdateCluster("waco-1", title="Waco"),)),
)
"""Revisions 2 to 11: by whom, why, what. What is said where all is hidden is called hidden."""


@asynccontextmanager
async def hidden_fleet(directory: Path, **settings: Any) -> AsyncIterator[Engine]:
    """An engine over the fleet after all that happened."""
    store = await EmbeddedStore.open(directory / "fleet.db")
    engine = await Engine.open(store, now=ticking(), **settings)
    try:
        await give(engine, *FOUNDED, reason="the fleet is founded")
        for actor, reason, commands in TOLD:
            await give(engine, *commands, actor=actor, reason=reason)
        yield engine
    finally:
        await engine.close()


# what an object may be to whoever asks about it


@dataclass(frozen=True)
class Things:
    """One object of each kind, all in the same position to a scope."""

    cluster: str
    group: str
    key: str
    value: str
    saved: str
    hierarchy: str
    part: str = "grill"
    """The first word of all names of a part of the workload."""

    def called(self, other: str) -> Things:
        """The same with other names for what is hidden."""
        values = vars(self).items()
        return Things(**{name: text.replace(HIDDEN, other) for name, text in values})

    @property
    def names(self) -> dict[str, str]:
        """What documents made from the schema ask for."""
        part = self.part
        return {
            "cluster": self.cluster,
            "text": self.group,
            "application": f"{part}-app",
            "namespace": f"{part}-space",
            "assignment": f"{part}-run",
            "layer": f"{part}-layer",
        }

    @property
    def leaf(self) -> str:
        """The last name of the group's path."""
        return self.group.rpartition("/")[2]


_OUTSIDE = Things(
    "zzhidden-york-1",
    "/geo/us/zzhidden-ny/zzhidden-city",
    "zzhidden-key",
    "zzhidden-value",
    "zzhidden-saved",
    "zzhidden-ring",
    "zzhidden",
)
POSITIONS: Mapping[str, Things] = {
    "inside": Things("austin-1", AUSTIN, "size", "large", "texas", "geo"),
    "outside": _OUTSIDE,
    "absent": _OUTSIDE.called(ABSENT),
    "ancestor": Things("zzhidden-us-1", "/geo/us", "lanes", "7", "grills", "devices", "wide"),
    "sibling": Things(
        "zzhidden-grill-1", "/geo/us/zzhidden-ny", "size", "zzhidden-huge", "mixed", "devices"
    ),
    "moved away": Things(
        "mover-1",
        "/devices/grill/zzhidden-acme",
        "team",
        "zzhidden-team",
        "zzhidden-saved",
        "zzhidden-ring",
        "zzhidden",
    ),
    "nearly": _OUTSIDE.called("zzhiden"),
}


# what is told that should not be

_NAMES = re.compile(rf"{HIDDEN}[\w-]*")
_ENCODED = re.compile(r"[\w-]{12,}")


def leaks(asked: str, said: str) -> set[str]:
    """The hidden names in ``said``, also inside cursors, that ``asked`` did not bring along."""
    decoded = " ".join(map(_decoded, _ENCODED.findall(said)))
    return set(_NAMES.findall(f"{said} {decoded}")) - set(_NAMES.findall(asked))


def _decoded(text: str) -> str:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "replace")
    except ValueError:
        return ""


# a fleet of nothing but what may be seen


def shown(whole: Twin, scope: Selector, covered: Coverage | None = None) -> Twin:
    """What ``scope`` shows of ``whole``: all but the grants, where it is everything."""
    if covered is not None or not isinstance(scope, Everything):
        return restricted(whole, scope, covered)
    twin = Twin.of(each for each in whole.entities() if not isinstance(each, Grant))
    twin.numbers, twin.cursor = whole.numbers, whole.cursor
    return twin


class OnlyFacts:
    """A store of facts at one place in history, with no log behind them and no writer."""

    def __init__(self, entities: Sequence[Entity], like: Twin) -> None:
        head = Head(like.cursor, like.cursor, "", like.numbers, None)
        self._facts = Facts(head, entities)

    async def head(self) -> Head:
        return self._facts.head

    async def load(self) -> Facts:
        return self._facts

    async def changesets(self, *, after: Cursor) -> AsyncIterator[Changeset]:
        for nothing in ():
            yield nothing

    async def changeset(self, revision: Revision) -> Changeset:
        raise NotFound(f"no revision {revision}")

    async def commit(
        self, entries: Sequence[Entry], *, expected: Cursor, now: datetime
    ) -> tuple[Receipt, ...]:
        raise AssertionError("nothing is written here")

    async def kept(self, actor: str, key: str) -> Kept | None:
        return None

    async def revision_at(self, moment: datetime) -> Revision:
        return self._facts.head.cursor.revision

    async def drop(self, until: Cursor) -> None:
        raise AssertionError("nothing is written here")

    async def close(self) -> None:
        pass


def operations(engine: Engine, **settings: Any) -> Operations:
    """What answers requests over ``engine``, without a door."""
    telemetry = Telemetry(TelemetrySettings(metrics=False))
    return Operations(engine, SCHEMA, settings=ApiSettings(**settings), telemetry=telemetry)


@dataclass
class World:
    """A fleet of nothing but what a scope shows, and whoever answers for it."""

    twin: Twin
    engine: Engine
    answers: Operations = field(init=False)

    def __post_init__(self) -> None:
        self.answers = operations(self.engine, cost_max=COST_MAX)

    @staticmethod
    async def of(
        whole: Twin, scope: Selector, *, grants: bool = False, covered: Coverage | None = None
    ) -> World:
        """The world ``scope`` shows of ``whole``; with the grants, if they are in it."""
        twin = whole if grants else shown(whole, scope, covered)
        return World(twin, await Engine.open(OnlyFacts(twin.entities(), twin)))

    async def ask(self, query: str, variables: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
        """What ``actor`` is told, who has a standing role here."""
        request = GraphQLRequest(query, None, variables)
        return (await self.answers.answer(request, Identified(actor, None))).content


def twin_of(view: FleetView) -> Twin:
    """Every fact of a view."""
    found = [*view.hierarchies(), *view.label_keys(), *view.saved_selectors(), *view.grants()]
    clusters = (view.cluster(number) for number in view.everything())
    groups: list[Entity] = []
    waiting = [view.root(each.name) for each in view.hierarchies()]
    while waiting:
        number = waiting.pop()
        assert number is not None
        group = view.group(number)
        assert group is not None
        groups.append(group)
        waiting.extend(view.children(number).values())
    held = view.workload
    tables = (held.namespaces, held.applications, held.assignments, held.prohibitions)
    workload = [each for table in (*tables, held.layers, held.policies) for each in table.values()]
    here = (each for each in clusters if each is not None)
    twin = Twin.of([*found, *groups, *here, *workload])
    twin.numbers, twin.cursor = view.numbers, view.cursor
    return twin


def read(scope: str, engine: Engine) -> Selector:
    """What the text of a scope means today."""
    return parse(scope, engine.view)
