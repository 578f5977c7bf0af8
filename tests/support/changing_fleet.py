"""A small fleet with something of everything a renderer writes, and people who change it.

Every reconciler's clusters, a base with bindings, templates, late-bound values, fleet settings and
a policy. Every batch of ``Changes`` changes at least one file: it sets a value that counts up.
"""

from __future__ import annotations

from random import Random

from api_process import Api
from graph.model.command import (
    Command,
    Join,
    Leave,
    RegisterCluster,
    RetireCluster,
    UpdateCluster,
)
from graph.model.inventory import Capacity, ClusterKind, Reconciler
from graph.model.workload import (
    Base,
    Binding,
    BindingKind,
    Choice,
    FieldTarget,
    LateBound,
    Template,
)
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    LiftProhibition,
    Prohibit,
    RemoveLayer,
    SetLayer,
    SetPolicy,
    Unassign,
)
from small import SMALL

OWNERS = {
    "README.md": "Ours.\n",
    "apps/pos/base/v1/kustomization.yaml": "resources: [all.yaml]\n",
    "apps/pos/base/v1/all.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {color: red}\n"
    ),
    "apps/pos/base/v2/kustomization.yaml": "resources: [../v1]\n",
    **{
        f"apps/pos/base/{version}/tasks/{name}.yaml": "- ansible.builtin.debug: {msg: here}\n"
        for version in ("v1", "v2")
        for name in ("main", "absent")
    },
}
"""What owners have pushed before any worker began."""


def template(name: str, text: str = "{{ values | json | quote }}") -> Template:
    """A ConfigMap called ``name`` that says all its values, or something else."""
    return Template(
        {
            "all.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"
            f"data: {{all: {text}, host: none}}\n"
        }
    )


IN_CLUSTERS = (Reconciler.FLUX, Reconciler.ARGOCD, Reconciler.KUSTOMIZE)
HOST = LateBound("host", "{cluster}.example.com", (FieldTarget("ConfigMap/player", "/data/host"),))
BINDING = Binding("color", BindingKind.CONFIG_MAP, "settings", "color")
OLD = ("austin-1", "austin-2", "york-1")


def player(text: str = "{{ values | json | quote }}") -> DefineApplication:
    """An application with a value of its own in every cluster."""
    made = template("player", text)
    return DefineApplication(
        "player", "signs", reconcilers=IN_CLUSTERS, source=made, late_bound=(HOST,)
    )


def pos(path: str, color: str) -> DefineApplication:
    """An application of manifests that its owners have pushed; it runs on hosts as well."""
    source = Base(path, (BINDING,))
    return DefineApplication(
        "pos", "kitchen", reconcilers=tuple(Reconciler), source=source, values={"color": color}
    )


FLEET: tuple[Command, ...] = (
    *SMALL,
    RegisterCluster("dallas-1", groups=("/geo/us/tx",), reconciler=Reconciler.ARGOCD),
    RegisterCluster("dallas-2", groups=("/geo/us/tx",), reconciler=Reconciler.KUSTOMIZE),
    RegisterCluster("dallas-3", groups=("/geo/us/tx",), kind=ClusterKind.HOST),
    RegisterCluster("toronto-1", labels={"size": "large"}, groups=("/geo/ca",)),
    DefineNamespace("kitchen", owners=("ana",), quota=Capacity(1_000, 1_024)),
    DefineNamespace("signs"),
    pos("base/v1", "blue"),
    DefineApplication(
        "grill",
        "kitchen",
        reconcilers=IN_CLUSTERS,
        source=template("grill"),
        values={"tag": "t0"},
        requests=Capacity(500, 512),
        reads=("telemetry",),
    ),
    DefineApplication(
        "board",
        "kitchen",
        reconcilers=IN_CLUSTERS,
        source=template("board"),
        depends_on=("grill",),
    ),
    player(),
    Assign("kitchen-us", Choice("kitchen"), "/geo/us"),
    Assign("signs-all", Choice("signs"), "all"),
    SetLayer("grill-tx", "/geo/us/tx", {"lanes": 2}, "grill"),
    SetLayer("telemetry-all", "all", {"telemetry": {"traces": True}}),
    SetPolicy("images", selector="/geo/us", registries=("registry.example.com",)),
)


class Changes:
    """Commands at random; the same for the same seed."""

    def __init__(self, seed: object) -> None:
        self._random = Random(str(seed))
        self._name = "".join(self._random.choices("abcdefghijkmnpqrstuvwxyz", k=6))
        self._count = 0
        self._new: list[str] = []

    @property
    def tag(self) -> str:
        """The value that every batch changes, as the last one made it."""
        return f"{self._name}-{self._count}"

    async def send(self, api: Api) -> int:
        """Change something; the revision from then on."""
        self._count += 1
        bump = SetLayer("bump", "all", {"tag": self.tag}, "grill")
        new = list(self._new)
        answer = await api.apply(bump, *self._more(), key=self.tag)
        if answer["__typename"] != "Applied":  # the fleet may refuse the rest of it
            self._new = new
            answer = await api.apply(bump, key=f"{self.tag}-alone")
        assert answer["__typename"] == "Applied", answer
        return int(answer["revision"])

    async def settle(self, api: Api) -> int:
        """Give every cluster all the room it needs, so that nothing is held for the lack of it."""
        rooms = [UpdateCluster(each, capacity=None) for each in (*OLD, *self._new)]
        answer = await api.apply(*rooms)
        assert answer["__typename"] == "Applied", answer
        return int(answer["revision"])

    def _more(self) -> list[Command]:
        make = self._of_inventory if self._random.random() < 0.5 else self._of_workload
        return make()

    def _of_inventory(self) -> list[Command]:
        pick, names = self._random.choice, [*OLD, *self._new]
        match self._random.randrange(7):
            case 0 | 1:
                self._new.append(f"new-{self._name}-{self._count}")
                groups = (pick(["/geo/us/tx/austin", "/geo/us/ny", "/geo/ca"]),)
                return [
                    RegisterCluster(self._new[-1], groups=groups, reconciler=pick([*Reconciler]))
                ]
            case 2:
                return [RetireCluster(self._new.pop(0))] if self._new else []
            case 3:
                return [UpdateCluster(pick(names), labels={"size": pick(["small", "large", None])})]
            case 4:
                return [UpdateCluster(pick(names), reconciler=pick([*Reconciler]))]
            case 5:
                capacity = pick([None, None, Capacity(100, 100)])
                return [UpdateCluster(pick(names), capacity=capacity)]
            case _:
                return [pick([Join, Leave])(pick(names), "/devices/camera")]

    def _of_workload(self) -> list[Command]:
        pick, number = self._random.choice, self._random.randrange(4)
        where = pick(["/geo/us", "/geo/us/ny", "/geo/us/tx", "size = large", "/devices/camera"])
        match self._random.randrange(8):
            case 0 | 1:
                return [SetLayer(f"grill-{number}", where, {"lanes": number}, "grill")]
            case 2:
                return [SetLayer(f"fleet-{number}", where, {"telemetry": {"traces": number}})]
            case 3:
                return [RemoveLayer(pick([f"grill-{number}", f"fleet-{number}"]))]
            case 4:
                law = Prohibit("law", Choice("", ("grill",)), where)
                return [pick([law, LiftProhibition("law")])]
            case 5:
                return [pick([Assign("more", Choice("kitchen"), "/geo/ca"), Unassign("more")])]
            case 6:
                return [pos(f"base/v{1 + number % 2}", pick(["blue", "green"]))]
            case _:
                return [player(f"{{{{ values | json | quote }}}}, n: '{number}'")]
