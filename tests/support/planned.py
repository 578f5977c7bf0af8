"""Steps planned against a tree in memory, and what a careful reader finds in it.

A ``Branch`` is led from state to state as a worker would lead it; ``read_lines`` reads pointers and
inventories back with nothing but what stands in the files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import yaml

from graph.effective.portion import Bounds, Definitions, Portion
from graph.effective.rendition import rendition
from graph.effective.spelling import portions
from graph.effective.state import State
from graph.model.ref import Kind
from graph.model.workload import Base, Source, Template
from memory_publisher import MemoryPublisher
from renderer.definition import trimmed_application, trimmed_namespace, trimmed_policy
from renderer.formats.chosen import formats
from renderer.message import Complete, Defined, Message
from renderer.overlay.overlays import Overlays
from renderer.plan.directories import Tools
from renderer.plan.step import Outcome, Step
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from renderer.tree import Draft, Told

SETTINGS = FormatSettings.model_validate({})
NO_WAVE = WaveBounds(clusters_max=1_000_000)
BASE: dict[str, bytes] = {
    "apps/{name}/base/v1/kustomization.yaml": b"resources: [all.yaml]\n",
    "apps/{name}/base/v1/all.yaml": (
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n"
    ),
}
FRAGILE = Template(
    {
        "all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ application }}}\n"
        "data: {all: {{ values | json | quote }}, size: {{ values.a | json | quote }}}\n"
    }
)
"""Fails where nothing gives ``a``."""
STURDY = Template(
    {
        "all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ application }}}\n"
        "data: {all: {{ values | json | quote }}}\n"
    }
)


def tools(
    sandbox: Sandbox, publisher: MemoryPublisher, settings: FormatSettings = SETTINGS
) -> Tools:
    words = formats(settings, publisher.head().tree, sandbox.render)
    return Tools(words, Overlays(sandbox), settings)


def messages(
    was: State | None, now: State, sources: Mapping[str, Source], bounds: Bounds | None = None
) -> list[Message]:
    """What a source would say; applications have the given sources."""
    told = portions(rendition(was, now), bounds or Bounds())
    return [_message(each, now, sources) for each in told]


def _message(portion: Portion, state: State, sources: Mapping[str, Source]) -> Message:
    if not isinstance(portion, Definitions):
        return portion
    workload = state.view.workload
    named = {
        kind: [str(ref.key) for ref in portion.refs if ref.kind is kind]
        for kind in (Kind.APPLICATION, Kind.NAMESPACE, Kind.POLICY)
    }
    return Defined(
        tuple(
            trimmed_application(
                replace(workload.applications[name], source=sources.get(name, Base("base/v1")))
            )
            for name in named[Kind.APPLICATION]
        ),
        tuple(trimmed_namespace(workload.namespaces[name]) for name in named[Kind.NAMESPACE]),
        tuple(trimmed_policy(workload.policies[name]) for name in named[Kind.POLICY]),
    )


@dataclass
class Branch:
    """What one worker has published, and what it is led with."""

    sandbox: Sandbox
    sources: Mapping[str, Source] = field(default_factory=dict)
    bounds: WaveBounds = NO_WAVE
    publisher: MemoryPublisher = field(default_factory=MemoryPublisher)
    revision: int = 0
    settings: FormatSettings = SETTINGS

    def own(self, files: Mapping[str, bytes]) -> None:
        """Owners push."""
        self.publisher.edit(files)

    def lead(self, steps: Iterable[tuple[State | None, State]], *, loss: int = 0) -> Outcome:
        """Plan and publish steps, together as one commit."""
        steps = list(steps)
        fresh = steps[0][0] is None
        return self.publish([messages(*step, self.sources) for step in steps], fresh, loss)

    def confirm(self, application: str) -> None:
        """Somebody agrees to a wave."""
        step, draft = self._begin(fresh=False)
        assert step.confirm(application)
        self._finish(step, draft)

    def retry(self) -> None:
        """What failed is tried again."""
        step, draft = self._begin(fresh=False)
        step.retry()
        self._finish(step, draft)

    def _begin(self, *, fresh: bool) -> tuple[Step, Draft]:
        head = self.publisher.head()
        draft = self.publisher.begin(head)
        made = tools(self.sandbox, self.publisher, self.settings)
        return Step(head, draft, made, self.bounds, fresh=fresh), draft

    def _finish(self, step: Step, draft: Draft) -> None:
        step.finish(Complete(f"{self.revision}.0", self.revision, 0))
        draft.commit(Told("why", "", f"{self.revision}.0", "stamp"))

    def publish(self, said: list[list[Message]], fresh: bool, loss: int = 0) -> Outcome:
        step, draft = self._begin(fresh=fresh)
        outcome: Outcome | None = None
        for each in said:
            self.revision += 1
            for message in each:
                step.take(message)
            outcome = step.finish(Complete(f"{self.revision}.0", self.revision, loss))
        draft.commit(Told("why", "", f"{self.revision}.0", "stamp"))
        assert outcome is not None
        return outcome

    @property
    def files(self) -> Mapping[str, bytes]:
        return self.publisher.files


def read_lines(files: Mapping[str, bytes]) -> dict[tuple[str, str], tuple[str, Any]]:
    """Key and late-bound values by application and cluster, as the files say."""
    found: dict[tuple[str, str], tuple[str, Any]] = {}
    for path, content in files.items():
        if path.startswith("clusters/"):
            found.update(_of_pointer(path.split("/")[2], content.decode()))
        elif path.endswith("inventory.json"):
            for host, entry in orjson.loads(content)["all"]["hosts"].items():
                for name, line in entry["trellis_applications"].items():
                    late = orjson.loads(line["late"]) if line["late"] else {}
                    found[name, host] = (line["overlay"], late)
    return found


def _of_pointer(cluster: str, text: str) -> dict[tuple[str, str], tuple[str, Any]]:
    late = dict(map(_late, text.split("\n# ")[1:]))
    lines = [line.split("/") for line in text.splitlines() if line.startswith("- ../../../apps/")]
    return {(each[4], cluster): (each[-1], late.get(each[4], {})) for each in lines}


def _late(block: str) -> tuple[str, dict[str, Any]]:
    """An application's comment and patches: the values of the keys it names, and all others."""
    head, *patches = block.splitlines()
    name, _, told = head.partition(" ")
    keys, brace, rest = told.partition("{")
    values = [value for each in patches for value in _values(yaml.load(each, yaml.CSafeLoader))]
    found = dict(zip(keys.split(), values, strict=True))
    return name, found | (orjson.loads(brace + rest) if brace else {})


def _values(said: Any) -> Iterator[Any]:
    """Values in patches as every reader of YAML finds them, however deep."""
    match said:
        case {"patch": str(text)} if text.startswith("["):
            yield from (each["value"] for each in orjson.loads(text))
        case {"patch": str(text)}:
            yield from _values(yaml.load(text, yaml.CSafeLoader))
        case dict():
            yield from _values(list(said.values()))
        case list():
            for each in said:
                yield from _values(each)
        case _:
            pass


def led_to(files: Mapping[str, bytes]) -> Counter[str]:
    """Directories that pointers and inventories name, and how often."""
    found: Counter[str] = Counter()
    for path, content in files.items():
        if path.startswith("clusters/"):
            for line in content.decode().splitlines():
                if line.startswith("- ../../../"):
                    found[line[len("- ../../../") :]] += 1
        elif path.endswith("inventory.json"):
            for entry in orjson.loads(content)["all"]["hosts"].values():
                for name, line in entry["trellis_applications"].items():
                    found[f"apps/{name}/overlays/{line['overlay']}"] += 1
                if entry["trellis_settings"]:
                    found[f"fleet/{entry['trellis_settings']}"] += 1
    for directory in list(found):
        parts = directory.split("/")
        if parts[0] == "apps" and parts[2] == "sync":
            found[f"apps/{parts[1]}/overlays/{parts[4]}"] += found[directory]
    return found


def directories(files: Mapping[str, bytes]) -> set[str]:
    """Directories that are made for lines to lead to."""
    found: set[str] = set()
    for path in files:
        directory = path.rpartition("/")[0]
        parts = directory.split("/")
        shared = parts[0] in ("fleet", "namespaces") and len(parts) > 1
        if shared or (parts[0] == "apps" and len(parts) > 2 and parts[2] in ("overlays", "sync")):
            found.add(directory)
    return found
