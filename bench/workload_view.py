"""The sample fleet with a workload over it, as an index."""

from __future__ import annotations

import gc
from functools import cache

from bench.fleet import CURSOR, facts
from bench.workload_fleet import workload
from cli.sample import sample
from graph.index.builder import build
from graph.index.snapshot import Snapshot


@cache
def workload_view(clusters: int, applications: int) -> Snapshot:
    """The index of a fleet and its workload."""
    gc.disable()
    try:
        made = facts(sample(clusters))
        bare = build(made.entities, cursor=CURSOR, numbers=made.numbers)
        entities = [*made.entities, *workload(bare, applications)]
        return build(entities, cursor=CURSOR, numbers=made.numbers)
    finally:
        gc.enable()
