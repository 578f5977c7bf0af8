"""The planner: what makes files, put together once and handed to every plan."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from renderer import paths
from renderer.failure import Failure
from renderer.formats.chosen import formats, own_directories
from renderer.formats.own import read_own
from renderer.overlay.building import Builder
from renderer.overlay.overlays import Overlays
from renderer.plan.catalogue import Memory
from renderer.plan.directories import Tools
from renderer.plan.retry_queue import RetryQueue
from renderer.plan.step import Step
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from renderer.tree import Draft, Head, Tree
from renderer.work.planning import Plan
from renderer.work.stamp import Stamp

_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


def planner(
    settings: FormatSettings,
    sandbox: Sandbox,
    bounds: WaveBounds,
    *,
    queue: RetryQueue | None = None,
    builder: Builder | None = None,
) -> Plan:
    """Begins plans. Formats that are somebody's own are read from each head."""
    waiting = queue or RetryQueue()
    overlays = Overlays(sandbox, settings, builder)
    memory, stamped = Memory(), str(stamp(settings))

    def plan(head: Head, draft: Draft, fresh: bool) -> Step:
        spoken = formats(settings, head.tree, sandbox.render)
        own = _own(settings, head.tree)
        tools = Tools(spoken, overlays, settings, own, stamped, memory, waiting)
        return Step(head, draft, tools, bounds, fresh=fresh)

    return plan


def reworded(settings: FormatSettings) -> Callable[[Head], bool]:
    """Whether a head was made with formats that are not what they are now: all is to be made anew.

    One that cannot be read changes nothing: what is there stays, and new lines wait for it.
    """

    def is_reworded(head: Head) -> bool:
        read = (read_own(each, head.tree) for each in own_directories(settings).values())
        if any(isinstance(each, Failure) for each in read):
            return False
        return (head.tree.read(paths.OWN_FORMATS) or b"") != _own(settings, head.tree)

    return is_reworded


def _own(settings: FormatSettings, tree: Tree) -> bytes:
    """What stands for formats that are somebody's own."""
    found = {
        reconciler: tree.identity(directory) or ""
        for reconciler, directory in own_directories(settings).items()
    }
    return orjson.dumps(found, option=_SORTED) if found else b""


def stamp(settings: FormatSettings) -> Stamp:
    """The stamp of what is planned with ``settings``."""
    return Stamp.of(settings.model_dump(mode="json"))
