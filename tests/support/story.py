"""A fleet that changes, and how it was when the story began: what a revert is asked about."""

from __future__ import annotations

from dataclasses import replace

from graph.decide.revert import RevertPlan, Scope, plan_revert
from graph.model.command import Command
from graph.model.names import Revision
from graph.model.ref import Ref
from invariants import check_invariants
from small import give, give_fast, small
from twin import Twin, same_fleet


class Story:
    """The small fleet, what became of it, and what was touched on the way."""

    def __init__(self) -> None:
        self.now = small()
        self.start_here()

    def start_here(self) -> None:
        """Let the story begin with the fleet as it is."""
        self.then = self.now.copy()
        self.touched: set[Ref] = set()

    def copy(self) -> Story:
        story = Story()
        story.now, story.then, story.touched = self.now.copy(), self.then, set(self.touched)
        return story

    def give(self, *commands: Command) -> None:
        self.touched |= {change.ref for change in give(self.now, *commands)}

    def go_on(self, *commands: Command) -> None:
        """As ``give``, faster, for long stories."""
        self.touched |= {change.ref for change in give_fast(self.now, *commands)}

    def plan(self, scope: Scope) -> RevertPlan:
        return plan_revert(scope, self.then, self.now, self.touched, self.now.copy)

    def revert(self, scope: Scope) -> tuple[str, ...]:
        """Take ``scope`` back; what is left is returned, and the fleet is right whatever it was."""
        plan = self.plan(scope)
        self.go_on(plan.command)
        check_invariants(self.now)
        return plan.left

    def differs(self) -> str | None:
        """How the fleet differs from what it was, whichever revisions wrote it."""
        return same_fleet(_undated(self.now), _undated(self.then), ignoring=("cursor", "numbers"))


def _undated(fleet: Twin) -> Twin:
    return Twin.of(replace(each, changed=Revision(0)) for each in fleet.entities())
