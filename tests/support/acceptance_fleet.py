"""A fleet whose stores real reconcilers look after, each in the way of its own.

One cluster stands for all stores, so each has a namespace and applications nobody else has, and
every run has names of its own: what an earlier one left behind is in nobody's way.

Every scenario has an application to itself: ``till`` is changed, ``kitchen`` runs, ``loyalty`` is
narrowed, ``camera`` prohibited, and ``sign`` broken, beside ``drone`` which no cluster knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from api_process import APPLY, batch
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    RegisterCluster,
)
from graph.model.inventory import Capacity, LabelType, Reconciler
from graph.model.workload import (
    Base,
    Binding,
    BindingKind,
    Choice,
    FieldTarget,
    LateBound,
)
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    SetLayer,
)
from kubernetes_cluster import Waited, until
from renderer_process import PUBLICATIONS

WAYS: Mapping[str, Reconciler] = {
    "flux": Reconciler.FLUX,
    "argocd": Reconciler.ARGOCD,
    "served": Reconciler.FLUX,
    "registry": Reconciler.FLUX,
}
"""How a store comes to what it runs: two by git, two by artifacts."""
LATE: Mapping[str, str] = {
    "number": "00042",
    "open": "no",
    "odd": '{a: b} ${x} "q"\nand a second line',
}
"""Values that are something else to whoever reads them as YAML, as a template or as a shell does.

The first comes from a label of the store, the others from a layer.
"""
SPARE = "/geo/spare"
NUMBERED = {"store-number": LATE["number"]}
APPLICATIONS = ("till", "kitchen", "loyalty", "camera", "sign")
"""What a store has in the beginning."""
UNKNOWN_KIND = "apiVersion: nowhere.example.com/v1\nkind: Drone\nmetadata: {name: drone}\n"

REVERT = """
mutation ($to: RevisionOrTime!, $loss: Int) {
  revert(to: $to, scope: {everything: true}, reason: "back", expectedLoss: $loss) {
    __typename
    ... on Applied { revision }
    ... on Failure { message hint }
  }
}
"""


@dataclass(frozen=True)
class Store:
    """One store: a cluster of the fleet, and what is its own."""

    run: str
    way: str

    @property
    def cluster(self) -> str:
        return f"{self.run}-{self.way}"

    @property
    def group(self) -> str:
        return f"/geo/{self.way}"

    @property
    def everywhere(self) -> str:
        """This store and the one in reserve."""
        return f"{self.group} or {SPARE}"

    @property
    def namespace(self) -> str:
        return f"{self.run}-{self.way}"

    @property
    def reconciler(self) -> Reconciler:
        return WAYS[self.way]

    def named(self, application: str) -> str:
        """An application of this store, as everybody calls it."""
        return f"{self.run}-{self.way}-{application}"

    def assigned(self, application: str, where: str) -> Assign:
        name = self.named(application)
        return Assign(name, Choice(self.namespace, (name,)), where)

    def greeted(self, greeting: str) -> SetLayer:
        """The till says something else from now on."""
        values = {"greeting": greeting, "open": LATE["open"], "odd": LATE["odd"]}
        return SetLayer(self.named("till"), self.everywhere, values, self.named("till"))

    def till(self) -> DefineApplication:
        """Has a late-bound value of every odd kind, and one that layers say."""
        sources = {"number": "{store-number}"}
        late = tuple(
            LateBound(key, sources.get(key, ""), (FieldTarget("ConfigMap/till", f"/data/{key}"),))
            for key in LATE
        )
        said = Binding("greeting", BindingKind.CONFIG_MAP, "till", "greeting")
        source = Base("base/v1", (said,))
        return DefineApplication(self.named("till"), self.namespace, source=source, late_bound=late)

    def kitchen(self) -> DefineApplication:
        """Has pods: nothing else here is healthy only when something runs."""
        source = Base("base/v1", (Binding("screens", BindingKind.REPLICAS, "kitchen"),))
        return DefineApplication(
            self.named("kitchen"), self.namespace, source=source, values={"screens": 2}
        )

    def based(self, application: str, path: str = "base/v1") -> DefineApplication:
        return DefineApplication(self.named(application), self.namespace, source=Base(path))

    def commands(self) -> tuple[Command, ...]:
        """Everything there is of this store."""
        groups = (self.group,)
        return (
            CreateGroup(self.group),
            RegisterCluster(
                self.cluster, reconciler=self.reconciler, labels=NUMBERED, groups=groups
            ),
            DefineNamespace(self.namespace, owners=("retail",), quota=Capacity(4_000, 4_096)),
            self.till(),
            self.kitchen(),
            *(self.based(each) for each in (*APPLICATIONS[2:], "drone")),
            *(self.assigned(each, self.everywhere) for each in APPLICATIONS),
            self.greeted("good morning"),
        )

    def owned(self) -> dict[str, str]:
        """What the owners of its applications have pushed."""
        return {
            **_base(self.named("till"), _settings("till", _UNSET)),
            **_base(self.named("kitchen"), _DEPLOYMENT),
            **_base(self.named("loyalty"), _settings("loyalty", {"points": "10"})),
            **_base(self.named("camera"), _settings("camera", {"eye": "open"})),
            **_base(self.named("sign"), f"{_settings('sign', {'edition': '1'})}immutable: true\n"),
            **_base(
                self.named("sign"),
                f"{_settings('sign', {'edition': '2'})}immutable: true\n",
                "base/v2",
            ),
            **_base(self.named("drone"), UNKNOWN_KIND),
        }


@dataclass(frozen=True)
class Receipt:
    """A change that the fleet has taken, and when that was known."""

    revision: int
    since: Waited


@dataclass(frozen=True)
class Fleet:
    """The API of a real process."""

    client: httpx.Client

    def give(self, *commands: Command, loss: int | None = None) -> Receipt:
        """One batch; what it may take away is said beforehand."""
        sent = {**batch(*commands), "expectedLoss": loss}
        return _receipt(self.ask(APPLY, input=sent)["apply"])

    def revert(self, to: Receipt, *, loss: int | None = None) -> Receipt:
        """Everything back to what it was."""
        return _receipt(self.ask(REVERT, to=to.revision, loss=loss)["revert"])

    def now(self) -> Receipt:
        return Receipt(self.ask("{ fleet { revision } }")["fleet"]["revision"], Waited.now())

    def publication(self, at: Receipt) -> dict[str, Any]:
        """What the API tells of a change on its way; nothing before anything was published."""
        found = self.ask(PUBLICATIONS, revision=at.revision)["published"] or [{}]
        first: dict[str, Any] = found[0]
        return first

    def is_published(self, at: Receipt) -> bool:
        """Is my change in git?"""
        return self.publication(at).get("behind") == 0

    def wait_published(self, at: Receipt) -> None:
        until(lambda: self.is_published(at), lambda: self.publication(at))

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        body = {"query": query, "variables": variables}
        answer = self.client.post("/graphql", json=body).json()
        assert "errors" not in answer, answer["errors"]
        data: dict[str, Any] = answer["data"]
        return data


def beginning(stores: list[Store]) -> tuple[Command, ...]:
    """The fleet: the stores, and one in reserve that nobody reconciles."""
    return (
        CreateHierarchy("geo"),
        CreateGroup(SPARE),
        DeclareLabel("store-number", LabelType.TEXT),
        RegisterCluster("spare", labels=NUMBERED, groups=(SPARE,)),
        *(command for store in stores for command in store.commands()),
    )


def _receipt(answer: Mapping[str, Any]) -> Receipt:
    assert answer["__typename"] == "Applied", answer
    return Receipt(answer["revision"], Waited.now())


_UNSET = dict.fromkeys((*LATE, "greeting"), "unset")
_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: kitchen}
spec:
  replicas: 1
  selector: {matchLabels: {app: kitchen}}
  template:
    metadata: {labels: {app: kitchen}}
    spec:
      containers:
        - name: kitchen
          image: registry.k8s.io/pause:3.10
          resources: {requests: {cpu: 10m, memory: 16Mi}}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            runAsNonRoot: true
            runAsUser: 65534
            seccompProfile: {type: RuntimeDefault}
"""


def _settings(name: str, data: Mapping[str, str]) -> str:
    entries = "".join(f'  {key}: "{value}"\n' for key, value in data.items())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{entries}"


def _base(application: str, objects: str, path: str = "base/v1") -> dict[str, str]:
    at = f"apps/{application}/{path}"
    return {
        f"{at}/kustomization.yaml": "resources: [objects.yaml]\n",
        f"{at}/objects.yaml": objects,
    }
