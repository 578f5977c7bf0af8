"""Pointers, as far as they are the worker's."""

from __future__ import annotations

from memory_publisher import MemoryPublisher
from renderer import paths
from renderer.plan.roster import Roster
from renderer.plan.sheet import Sheet


def test_what_others_kept_where_pointers_are_is_none():
    output = MemoryPublisher()
    pointer = f"{paths.pointer('york-1')}/kustomization.yaml"
    others = (
        "clusters/README.md",
        "clusters/production/kustomization.yaml",
        "clusters/production/flux-system/kustomization.yaml",
        f"clusters/{paths.shard('york-1')}/notes.md",
    )
    output.edit({path: b"resources: []\n" for path in (pointer, *others)})
    head = output.head()
    roster = Roster(Sheet(head.tree, output.begin(head)), fresh=True)
    assert roster.clusters() == ["york-1"]
