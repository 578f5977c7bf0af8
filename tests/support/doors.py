"""A fleet behind the door: an engine over its own store, people who may see parts of it, a server.

The fleet is small, and whatever a page, a scope or a selector can trip over is in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from api.app import App, make_app
from api.caller.identity import Identified
from api.context import Context
from api.serving.listening import Server, bind, url_of
from api.serving.probes import Readiness
from api.settings import ApiSettings, AuthSettings, TelemetrySettings
from api.telemetry.telemetry import Telemetry
from engines import give, ticking
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    GrantAccess,
    RegisterCluster,
    RenameGroup,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
)
from graph.model.inventory import Capacity, LabelType, Mode, Reconciler
from graph.model.names import GroupNumber
from graph.model.view import FleetView, path_of
from graph.model.workload import (
    Base,
    Binding,
    BindingKind,
    Choice,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    Template,
)
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    SetLayer,
    SetPolicy,
)
from graph.store.embedded import EmbeddedStore
from graph.store.port import Store
from graphql_documents import Words
from issuer import AUDIENCE, Issuer

ADMIN = Actor("ana", standing=Role.ADMIN)
TEXAN = Actor("tess", frozenset({"texas"}))
"""An editor of Texas, who sees nothing else."""
STRANGER = Actor("sid")
"""Nobody has granted anything to them."""

STATIC = {"ana": ("admin", "token-of-ana-0123456789"), "ron": ("reader", "token-of-ron-0123456789")}
"""Who has a static token: a role everywhere."""

CITIES = ("/geo/us/tx/austin", "/geo/us/tx/dallas", "/geo/us/ny", "/geo/us/ny/york", "/geo/ca")
DEVICES = ("/devices/grill", "/devices/grill/acme3000", "/devices/camera")
SELECTORS = (
    "all",
    "not all",
    "/geo/us and size = large",
    "/geo/us/tx or /devices/camera",
    "/geo/*/tx",
    "only /geo/us/ny",
    "lanes >= 2 and not open = true",
    "size in (small, large)",
    "has lanes",
    "cluster austin-01",
    "@texas",
    "@grills and not @texas",
    "/geo/us except /devices/grill",
    "/gio/us",
    "size = medium",
    "lanes = large",
    "/geo/us and",
    "((((all))))",
    "@nobody",
)


def fleet() -> tuple[Command, ...]:
    """Forty clusters in two hierarchies, with labels, titles, two grants, and a workload."""
    groups = ("/geo/us", "/geo/us/tx", *CITIES, *DEVICES)
    return (
        CreateHierarchy("geo", Mode.SINGLE, required=True, title="Geography"),
        CreateHierarchy("devices", Mode.MANY),
        CreateHierarchy("empty"),
        *(CreateGroup(path, title=path.upper()) for path in groups),
        DeclareLabel("size", LabelType.TEXT, allowed=("small", "large")),
        DeclareLabel("lanes", LabelType.NUMBER, unit="lanes"),
        DeclareLabel("open", LabelType.BOOLEAN),
        *(_cluster(place) for place in range(40)),
        SaveSelector("texas", "/geo/us/tx", title="Texas"),
        SaveSelector("grills", "/devices/grill and lanes >= 1"),
        GrantAccess("texans", Role.EDITOR, claim="texas", scope="/geo/us/tx"),
        GrantAccess("tess-too", Role.READER, subject="tess", scope="/geo/us/tx/austin"),
        *workload(),
    )


def workload() -> tuple[Command, ...]:
    """Two namespaces with three applications, and something of everything that concerns them."""
    grills = {"requires": "/devices/grill", "reconcilers": (Reconciler.FLUX,)}
    return (
        DefineNamespace(
            "kitchen", "Kitchens", ("ana", "Ünal"), "4711", {"tier": "gold"},
            quota=Capacity(1000, 2048), limits=Capacity(500, 512),
        ),
        DefineNamespace("signs"),
        DefineApplication(
            "grill", "kitchen", "Grill control", "ana", {"tier": "gold"}, **grills,
            requests=Capacity(100, 128),
            source=Base(
                "base/v12",
                (Binding("image.tag", BindingKind.IMAGE, "grill"),),
                (Component("night", "components/night"),),
            ),
            values={"image": {"tag": "1.2"}, "night": False, "lanes": 1.0},
            schema={"type": "object", "properties": {"lanes": {"type": "number"}}},
            late_bound=(
                LateBound(
                    "host", "{cluster}.{size}.example.com",
                    (FieldTarget("Ingress/grill", "/spec/rules/0/host"),),
                ),
            ),
            reads=("telemetry",),
        ),
        DefineApplication(
            "grill-board", "kitchen", labels={"tier": "iron"}, depends_on=("grill",), **grills,
            source=Template({"board.yaml": "kind: Deployment\n"}),
        ),
        DefineApplication("player", "signs", labels={"tier": "iron"}),
        Assign("kitchen-us", Choice("kitchen"), "/geo/us", title="Kitchens"),
        Assign("kitchen-gold", Choice("kitchen", labels={"tier": "gold"}), "/geo/ca"),
        Assign("player-ny", Choice("signs", ("player",)), "/geo/us/ny"),
        Prohibit("no-signs", Choice("signs"), "/geo/us/tx"),
        Prohibit("no-gold", Choice(labels={"tier": "gold"}), "lanes >= 15"),
        SetLayer("grill-tx", "/geo/us/tx", {"lanes": 2}, "grill", rank=1),
        SetLayer("grill-ny", "/geo/us/ny", {"lanes": 3, "night": None}, "grill"),
        SetLayer("telemetry", "all", {"telemetry": {"traces": True}}, title="Telemetry"),
        SetPolicy("gold", ("kitchen",), quota_max=Capacity(2000, 4096), required_labels=("tier",)),
        SetPolicy(
            "small", selector="size = small", registries=("registry.example.com",),
            oversubscription=Enforcement.REPORT,
        ),
    )  # fmt: skip


MORE: tuple[Command, ...] = (
    RenameGroup("/geo/us/ny/york", "newyork"),
    UpdateCluster("austin-00", title="first, and foremost"),
    RetireCluster("york-08"),
)
"""What happened at revision 2."""


def _cluster(place: int) -> RegisterCluster:
    city = CITIES[place % len(CITIES)]
    labels: dict[str, Any] = {"size": "large" if place % 3 else "small"}
    if place % 4:
        labels["lanes"] = place / 2
    if place % 5 == 2:
        labels["open"] = place % 2 == 0
    return RegisterCluster(
        f"{city.rpartition('/')[2]}-{place:02}",
        title=f"Störe {place}" if place % 7 else "",
        labels=labels,
        groups=(city, *DEVICES[: place % 4]),
        reconciler=Reconciler.ARGOCD if place % 6 == 0 else Reconciler.FLUX,
        capacity=Capacity(4000, 8192) if place % 2 else None,
        time_zone="America/Chicago" if place % 3 == 0 else "",
    )


@asynccontextmanager
async def opened(directory: Path, store: Store | None = None) -> AsyncIterator[Engine]:
    """An engine over the fleet, at revision 2."""
    store = store or await EmbeddedStore.open(directory / "fleet.db", write=True, create=True)
    engine = await Engine.open(store, now=ticking())
    try:
        await give(engine, *fleet())
        await give(engine, *MORE, reason="what happens")
        yield engine
    finally:
        await engine.close()


def context(engine: Engine, actor: Actor = ADMIN, **settings: Any) -> Context:
    """A request of ``actor``, at the newest view."""
    return Context.pin(engine, ApiSettings(**settings), Identified(actor, None))


async def words(engine: Engine) -> Words:
    """What the fleet calls things."""
    view = engine.view
    clusters = [view.cluster_name(number) for number in view.everything()]
    groups = list(_groups(view))
    ids = [f"cluster:{number}" for number in list(view.everything())[:6]]
    ids += [f"group:{number}" for number in groups[:4]]
    ids += ["hierarchy:geo", "label_key:size", "saved_selector:texas", "grant:texans"]
    ids += ["application:grill", "namespace:kitchen", "assignment:kitchen-us", "layer:grill-tx"]
    ids += ["prohibition:no-gold", "policy:gold", "policy:small", "application:nobody"]
    ids += ["cluster:999", "group:0", "cluster:x", "hierarchy:", "nothing:1"]
    ids += ["cluster:1@1", "group:2@2", "layer:grill-tx@0", "cluster:1@99", "cluster:1@"]
    return Words(
        clusters=clusters,
        paths=[path_of(view, number) for number in groups],
        keys=[each.name for each in view.label_keys()],
        hierarchies=[each.name for each in view.hierarchies()],
        saved=[each.name for each in view.saved_selectors()],
        namespaces=sorted(view.workload.namespaces),
        applications=sorted(view.workload.applications),
        selectors=SELECTORS,
        ids=ids,
        places=[str(view.cursor), f"1.{view.cursor.chain}", f"9.{view.cursor.chain}"],
        revision=view.cursor.revision,
    )


def _groups(view: FleetView) -> Iterator[GroupNumber]:
    waiting = [view.root(each.name) for each in view.hierarchies()]
    while waiting:
        number = waiting.pop()
        assert number is not None
        yield number
        waiting.extend(view.children(number).values())


@dataclass(frozen=True)
class Served:
    """The app on a port of this machine, in this process."""

    url: str
    engine: Engine
    client: httpx.AsyncClient
    app: App
    telemetry: Telemetry
    tokens: Mapping[str, str]
    """The tokens of ana and ron and, where there is an issuer, of tess and sid."""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def ask(
        self, query: str, variables: dict[str, Any] | None = None, *, who: str = "ana", **more: str
    ) -> httpx.Response:
        """Post one operation; ``more`` are headers."""
        body = {"query": query, "variables": variables or {}}
        return await self.client.post("/graphql", json=body, headers=self.as_(who) | more)

    async def data(self, query: str, *, who: str = "ana", **variables: Any) -> Any:
        """The data of an answer that has no errors."""
        answer = (await self.ask(query, variables, who=who)).json()
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def as_(self, who: str) -> dict[str, str]:
        """The headers that say who asks."""
        return {"authorization": f"Bearer {self.tokens[who]}"}

    async def connect(self, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A bare connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        return reader, writer


@asynccontextmanager
async def served(
    engine: Engine,
    *,
    issuer: Issuer | None = None,
    telemetry: Telemetry | None = None,
    **settings: Any,
) -> AsyncIterator[Served]:
    """The app over ``engine``, served by the server of the product."""
    api = ApiSettings.model_validate({"notice_seconds": 0, "drain_seconds": 5, **settings})
    auth, tokens = _people(issuer)
    telemetry = telemetry or Telemetry(TelemetrySettings())
    telemetry.watch(engine)
    readiness = Readiness(engine, stale_seconds=api.stale_seconds)
    app = make_app(engine, api=api, auth=auth, telemetry=telemetry, readiness=readiness)
    listener = bind("127.0.0.1", 0)
    started = asyncio.Event()
    server = Server(app, api, readiness, started=started.set)
    running = asyncio.create_task(server.serve([listener]))
    await started.wait()
    url = url_of(listener)
    try:
        async with httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as client:
            yield Served(url, engine, client, app, telemetry, tokens)
    finally:
        server.stop()
        await running
        await telemetry.close()


def _people(issuer: Issuer | None) -> tuple[AuthSettings, dict[str, str]]:
    tokens = {name: token for name, (_, token) in STATIC.items()}
    said = " ".join(f"{name}:{role}:{token}" for name, (role, token) in STATIC.items())
    if issuer is None:
        return AuthSettings(tokens=SecretStr(said)), tokens
    tokens |= {"tess": issuer.token(sub="tess", groups=["texas"]), "sid": issuer.token(sub="sid")}
    auth = AuthSettings(
        tokens=SecretStr(said),
        issuer=issuer.url,
        audience=AUDIENCE,
        ca_file=str(issuer.ca_file),
    )
    return auth, tokens
