"""Why a pointer is written or goes, for whoever asks beforehand: whose lines come, go or change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.names import counted
from renderer.plan.pointer import Line, Pointer

TOLD_MAX = 3
"""Names in one list; beyond them it is told how many more there are."""


def why_written(was: Pointer | None, now: Pointer) -> str:
    """What differs on a cluster."""
    old: Mapping[str, Line] = {} if was is None else was.lines
    new = now.lines
    if was is None or old != new:
        come = [name for name in new if name not in old]
        gone = [name for name in old if name not in new]
        changed = [name for name, line in new.items() if name in old and old[name] != line]
        told = _said(come, "comes", "come"), _said(gone, "goes", "go")
        return "; ".join(filter(None, (*told, _said(changed, "changes", "change")))) or "it is new"
    if was.fleet != now.fleet:
        return "it has other settings of the fleet"
    return "its namespaces change" if was.namespaces != now.namespaces else "everything is rendered"


def why_gone(was: Pointer) -> str:
    """What goes with a cluster."""
    gone, said = f"{was.cluster} is gone", _said(list(was.lines), "goes", "go")
    return f"{gone}; {said} with it" if said else gone


def why_listed(hosts: Mapping[str, str]) -> str:
    """What differs in a shard of the inventory: why each of its hosts is written."""
    host, why = min(hosts.items())
    more = len(hosts) - 1
    return f"{host}: {why}" + (f"; and {counted(more, 'more host')}" if more else "")


def _said(names: Sequence[str], one: str, many: str) -> str:
    if not names:
        return ""
    more = len(names) - TOLD_MAX
    told = ", ".join(sorted(names)[:TOLD_MAX]) + (f" and {more:,} more" if more > 0 else "")
    return f"{told} {one if len(names) == 1 else many}"
