"""A plan as small as the port: a file for each cluster that was told, and one for what is held."""

from __future__ import annotations

from dataclasses import dataclass, field

from graph.effective.portion import Pointers, Removals
from graph.model.publication import HeldBack
from renderer.message import Complete, Message
from renderer.tree import Draft, Head

BROKEN = "broken"
"""A cluster of this name cannot be written until the tree has a file of that name."""


@dataclass(frozen=True)
class Listed:
    """What a step came to."""

    held: tuple[HeldBack, ...]
    why: dict[str, str]
    pending: bool = False


@dataclass
class ListingPlan:
    """Writes ``clusters/<name>`` for clusters, with the revision that told of them."""

    head: Head
    draft: Draft
    fresh: bool
    said: list[Message] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    failed: bool = False

    def __post_init__(self) -> None:
        self.failed = BROKEN in self.head.tree.names(".trellis")
        if self.fresh:
            for name in self.head.tree.names("clusters"):
                self.draft.remove(f"clusters/{name}")

    def take(self, message: Message) -> None:
        self.said.append(message)

    def retry(self) -> None:
        if self.failed:
            self._write(BROKEN)

    def confirm(self, application: str) -> int:
        if application != "till":
            return 0
        self.draft.write(".trellis/confirmed", application.encode())
        return 3

    def finish(self, complete: Complete) -> Listed:
        for message in self.said:
            match message:
                case Pointers(told):
                    for each in told:
                        self._write(each.cluster)
                case Removals(gone):
                    for name in gone:
                        self.draft.remove(f"clusters/{name}")
                        self.why[f"clusters/{name}"] = "it is gone"
                case _:
                    pass
        self.said = []
        held = HeldBack(BROKEN, "failed", "no such file", 1, complete.revision)
        return Listed((held,) if self.failed else (), self.why)

    def _write(self, name: str) -> None:
        if name == BROKEN:
            self.failed = self.head.tree.read("owners/broken") is None
            if self.failed:
                self.draft.write(f".trellis/{BROKEN}", b"")
                return
            self.draft.remove(f".trellis/{BROKEN}")
        self.draft.write(f"clusters/{name}", name.encode())
        self.why[f"clusters/{name}"] = "it was told"
