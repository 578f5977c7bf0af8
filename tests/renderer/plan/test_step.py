"""Planning: whatever happens, what is published is what the newest state says.

Random fleets live through random changes. What is read back from the files is compared with what
the state says cluster by cluster, and every plan with one made from scratch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import orjson
import pytest

from effective_checks import advanced, snapshot_of
from graph.effective.state import State, begin
from graph.effective.step import advance
from graph.model.change import Change
from graph.model.inventory import Reconciler
from graph.model.names import Revision
from graph.model.workload import Application
from planned import BASE, FRAGILE, NO_WAVE, STURDY, Branch, directories, led_to, read_lines
from renderer.paths import is_owned
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from renderers import model_of
from twin import Twin
from workload_fleets import random_workload_changes, random_workloads

FLEETS = {"test": 150, "campaign": 20_000}
STEPS = 10
EASILY = WaveBounds(clusters_max=1, percent_max=10.0)
SEEN = ("line", "held line", "failed", "blocked", "host", "late", "quiet", "together", "waved")
"""What random fleets have to come across."""
SETTINGS = FormatSettings(), FormatSettings(own_formats="argocd=formats/mine")
FORMAT = "formats/mine/format.yaml"
READABLE = {
    FORMAT: b"{}\n",
    "formats/mine/it.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\n",
}
FORMATS = READABLE, {FORMAT: b"nonsense: {}\n"}
SOURCES = {"pos": FRAGILE, "grill": STURDY}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_what_is_published_is_what_the_state_says(scale: str, sandbox: Sandbox) -> None:
    seen: Counter[str] = Counter()
    for seed in range(FLEETS[scale]):
        live_through(seed, sandbox, seen)
    for what in SEEN:
        assert seen[what] >= FLEETS[scale] // 5, f"{what} is too rare: {seen}"


def live_through(seed: int, sandbox: Sandbox, seen: Counter[str]) -> None:
    rng = Random(seed)
    twin = Twin.of(random_workloads(rng))
    snapshot = snapshot_of(twin)
    state = begin(snapshot)
    branch = Branch(sandbox, SOURCES, rng.choice((NO_WAVE, EASILY)), settings=rng.choice(SETTINGS))
    branch.own(rng.choice(FORMATS))
    for name in ("menu", "kds", "ads", "camera"):
        if rng.random() < 0.8 or name == "menu":
            branch.own({path.format(name=name): content for path, content in BASE.items()})
    branch.lead([(None, state)])
    check(branch, state, {}, seen, set())
    pending: list[tuple[State | None, State]] = []
    for step in range(STEPS):
        changes = random_workload_changes(rng, twin, Revision(step + 2), operations_max=4)
        if any(map(changes_namespace, changes)):
            continue  # which is final
        twin.apply(changes)
        snapshot = advanced(snapshot, changes)
        before, state = state, advance(state, snapshot, changes)
        pending.append((before, state))
        if rng.random() < 0.7:
            lines = read_lines(branch.files) if len(pending) == 1 else {}
            waved = waves(branch)
            if rng.random() < 0.3:
                branch.own(rng.choice(FORMATS))
                branch.retry()
            if waved and rng.random() < 0.3:
                name = rng.choice(sorted({name for name, _ in waved}))
                branch.confirm(name)
                assert not {pair for pair in waves(branch) if pair[0] == name}
                seen["confirmed"] += 1
                lines = {}
            seen["together"] += len(pending) > 1
            hosts = listed(branch)
            commits = len(branch.publisher.log)
            branch.lead(pending)
            seen["quiet"] += len(branch.publisher.log) == commits
            check(branch, state, lines, seen, hosts)
            check_from_scratch(branch, state)
            pending = []


def changes_namespace(change: Change) -> bool:
    before, after = change.before, change.after
    both = isinstance(before, Application) and isinstance(after, Application)
    return both and before.namespace != after.namespace


def check(branch: Branch, state: State, before: Any, seen: Counter[str], hosts: set[str]) -> None:
    """Lines are those of the state; what is blocked or waits has the line it had; all leads on."""
    told, lines = model_of(state), read_lines(branch.files)
    wanted = {
        (name, cluster): (line[1], line[2])
        for (name, cluster), line in told["lines"].items()
        if name
    }
    waiting, waved = pairs(branch, "waiting"), waves(branch)
    assert waved <= lines.keys(), "only lines that are there are held in a wave"
    assert not waved & wanted.keys(), "a line that is wanted goes in no wave"
    assert not waved & told["blocked"].keys(), "nor does one that is only blocked"
    seen["waved"] += bool(waved)
    prohibited = {
        (name, state.view.cluster_name(number))
        for name, place in state.places.items()
        for number in place.standing.veto & state.view.everything()
    }
    for pair, line in lines.items():
        if pair in wanted and pair not in waiting:
            assert line == wanted[pair], pair
            seen["line"] += 1
            seen["late"] += bool(line[1])
        else:
            kept = pair in told["blocked"] or pair in waiting or pair in waved
            assert kept, f"{pair} should have no line"
            assert pair not in prohibited, "nothing holds back what may not be"
            seen["held line"] += 1
            assert before.get(pair, line) == line, f"{pair} is held, so its line stays"
    assert wanted.keys() - waiting <= lines.keys(), "every line that can be there is"
    crossed = hosts ^ listed(branch)
    for pair in before.keys() & (told["blocked"].keys() | waiting):
        assert pair in lines or pair[1] in crossed, f"{pair} is held, so its line is not lost"
    check_words(branch, told["facts"], seen)
    seen["failed"] += bool(waiting)
    seen["blocked"] += bool(told["blocked"])
    seen["host"] += any(path.startswith("ansible/") for path in branch.files)
    made, led = directories(branch.files), set(led_to(branch.files))
    assert led <= made, f"{led - made} are not there"
    assert made - led <= wished_for(branch), f"nothing leads to {made - led}"


def check_words(branch: Branch, facts: Any, seen: Counter[str]) -> None:
    """A line is in the words of its cluster's reconciler, unless it is said not to be."""
    foreign = pairs(branch, "foreign")
    for path, content in branch.files.items():
        cluster = path.split("/")[2] if path.startswith("clusters/") else ""
        if cluster not in facts:
            continue
        reconciler = facts[cluster][1]
        own = "overlays" if reconciler is Reconciler.KUSTOMIZE else f"sync/{reconciler}"
        for line in content.decode().splitlines():
            if line.startswith("- ../../../apps/"):
                name, _, words = line.split("/", 4)[4].rpartition("/")[0].partition("/")
                assert words == own or (name, cluster) in foreign, f"{name} on {cluster}"
                seen["foreign"] += words != own


def wished_for(branch: Branch) -> set[str]:
    """Overlays that lines wait for until a reconciler can be told of them."""
    return {
        f"apps/{name}/overlays/{wish['key']}"
        for name, held in holdings(branch)
        for wish in held["waiting"].values()
    }


def listed(branch: Branch) -> set[str]:
    """Hosts of inventories."""
    return {
        host
        for path, content in branch.files.items()
        if path.endswith("inventory.json")
        for host in orjson.loads(content)["all"]["hosts"]
    }


def waves(branch: Branch) -> set[tuple[str, str]]:
    return {
        (name, cluster)
        for name, held in holdings(branch)
        for each in held["wave"]
        for cluster in each["clusters"]
    }


def holdings(branch: Branch) -> Iterator[tuple[str, Any]]:
    for path, content in branch.files.items():
        if path.startswith(".trellis/held/apps/"):
            yield path.rpartition("/")[2].removesuffix(".json"), orjson.loads(content)


def pairs(branch: Branch, what: str) -> set[tuple[str, str]]:
    return {(name, cluster) for name, held in holdings(branch) for cluster in held[what]}


def check_from_scratch(branch: Branch, state: State) -> None:
    """Everything rendered anew on top of what is held is what is there, byte for byte."""
    files = dict(branch.files)
    again = Branch(branch.sandbox, branch.sources, branch.bounds, settings=branch.settings)
    again.publisher.log = list(branch.publisher.log)
    again.revision = branch.revision
    again.lead([(None, state)])
    broken = branch.settings.own_formats and files[FORMAT] != READABLE[FORMAT]
    told = differing(files, again.files)  # a format that is broken is told of whatever was told
    assert [each for each in told if not (broken and each[0].startswith(".trellis/held"))] == []
    if ".trellis/held" not in {path.rpartition("/apps/")[0] for path in files} and (
        ".trellis/held/fleet.json" not in files
    ):
        fresh = Branch(branch.sandbox, branch.sources, settings=branch.settings)
        fresh.own({path: content for path, content in files.items() if not is_owned(path)})
        fresh.lead([(None, state)])
        assert differing(files, fresh.files) == []


def differing(one: Any, other: Any) -> list[Any]:
    paths = (path for path in {*one, *other} if one.get(path) != other.get(path))
    return [(path, one.get(path), other.get(path)) for path in sorted(paths)]
