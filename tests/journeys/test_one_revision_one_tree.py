"""One revision is one tree, whichever way the worker reads the fleet: from the store, or the API.

The fleet holds whatever could change its form on the way: amounts, numbers of every kind, nulls,
text that looks like numbers, and maps in another order than that of their keys.
"""

from __future__ import annotations

from pathlib import Path

from api_process import begun, calling
from changing_fleet import FLEET, IN_CLUSTERS, OWNERS
from graph.model.command import Command
from graph.model.inventory import Capacity
from graph.model.workload import (
    Choice,
    FieldTarget,
    LateBound,
    SecretProvider,
    SecretReference,
    Template,
)
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    SetLayer,
    SetPolicy,
)
from renderer_process import Record, applied, run, tree_of
from repositories import git
from workload_samples import AWKWARD_VALUES

FILE = """apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}}}
data:
  all: {{{{ values | json | quote }}}}
  late: none
"""
PORT = LateBound("port", "", (FieldTarget("ConfigMap/a", "/data/late"),))
SECRET = SecretReference(
    "cards", SecretProvider.EXTERNAL_SECRETS, "vault", {"z": "place/z", "a": "place/a"}
)
AWKWARD: tuple[Command, ...] = (
    DefineNamespace(
        "odd",
        title="00042",
        owners=("1e3", "no"),
        cost_center="0x1F",
        labels={"z": "1.0", "a": "true"},
        quota=Capacity(4_000, 512, 2**40),
        limits=Capacity(500, 2**33, 0),
        secrets=(SECRET,),
    ),
    DefineApplication(
        "odd-app",
        "odd",
        title="1_000",
        labels={"z": "null", "a": "~"},
        reconcilers=IN_CLUSTERS,
        source=Template({f"{name}.yaml": FILE.format(name=name) for name in ("z", "b", "a")}),
        values=dict(AWKWARD_VALUES.data),
        late_bound=(PORT, LateBound("host", "{cluster}.{lanes}")),
        reads=("numbers",),
    ),
    Assign("odd-all", Choice("odd"), "has lanes"),
    SetLayer(
        "port-tx", "/geo/us/tx", {"port": 8080.0, "one": {"b": 1, "a": [1.0, -0.0]}}, "odd-app"
    ),
    SetLayer("port-ny", "/geo/us/ny", {"port": "08080", "wide": 123456789.0}, "odd-app"),
    SetLayer("numbers", "all", {"numbers": {"z": 1.0, "a": 10**18, "e": 1e-7}}),
    SetPolicy("small", namespaces=("odd",), quota_max=Capacity(8_000, 1_024, 2**40)),
)


async def test_a_store_and_its_api_give_the_same_tree(tmp_path: Path) -> None:
    record = Record.made(tmp_path / "fleet.git", OWNERS)
    store = f"sqlite:///{tmp_path / 'trellis.db'}"
    for branch in ("api", "store"):
        git(record.repository, "update-ref", f"refs/heads/{branch}", record.owners)
    outputs = {branch: f"git:{record.repository}#{branch}" for branch in ("api", "store")}
    async with begun(store, tmp_path, {}, arguments=["--create"]) as server, calling(server) as api:
        for commands in (FLEET, AWKWARD):
            await applied(api, *commands)
            run(server.url, outputs["api"], tmp_path, "--once")
            run("store", outputs["store"], tmp_path, "--once", TRELLIS_STORE_URL=store)
            changed = git(record.repository, "diff", "api", "store")
            assert not changed, changed
            assert len({tree_of(record.repository, branch) for branch in outputs}) == 1
        said = run("store", outputs["api"], tmp_path, "--verify", TRELLIS_STORE_URL=store)
        assert "nothing differs" in said, "each finds what the other has made to be right"
