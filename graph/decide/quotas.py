"""A namespace's quota covers what its applications request together.

Judged on the net result of a batch, so that quota and requests may change in any order in it. A
quota that says nothing of storage leaves it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.model.change import Change, Entity
from graph.model.errors import Rejected
from graph.model.inventory import Capacity
from graph.model.view import FleetView
from graph.model.workload import Application, Namespace, Workload

NOTHING = Capacity(0, 0)


@dataclass(frozen=True, slots=True)
class Amount:
    """One resource of two sizes that are compared."""

    resource: str
    asked: int
    allowed: int

    @property
    def excess(self) -> int:
        """By how much too much is asked for."""
        return max(0, self.asked - self.allowed)

    def __str__(self) -> str:
        unit = "millicores" if self.resource == "cpu" else "MiB"
        return f"{self.resource} {self.asked:,} of {self.allowed:,} {unit}"


def amounts(asked: Capacity, allowed: Capacity) -> tuple[Amount, ...]:
    """Resource by resource; storage only where ``allowed`` states it."""
    found = (
        Amount("cpu", asked.cpu_millicores, allowed.cpu_millicores),
        Amount("memory", asked.memory_mib, allowed.memory_mib),
    )
    if not allowed.storage_mib:
        return found
    return (*found, Amount("storage", asked.storage_mib, allowed.storage_mib))


def refuse_over_quota(changes: Sequence[Change], before: FleetView, after: FleetView) -> None:
    """Refuse when a namespace of ``changes`` newly requests more than its quota, or more yet."""
    states = [change.after for change in changes]
    touched = {each.name for each in states if isinstance(each, Namespace)}
    touched |= {each.namespace for each in states if isinstance(each, Application)}
    if not touched:
        return
    reasons = [
        f"namespace {name}: {amount}"
        for name in sorted(touched)
        for amount in newly_over(name, before.workload, after.workload)
    ]
    if reasons:
        raise Rejected(
            f"the applications of a namespace would request more than its quota: {reasons[0]}",
            hint="raise the quota, or lower what they request, in the same batch",
            reasons=reasons,
        )


def newly_over(namespace: str, before: Workload, after: Workload) -> list[Amount]:
    """What the applications of a namespace request above its quota, and did not."""
    was = {each.resource: each.excess for each in _over(namespace, before)}
    return [each for each in _over(namespace, after) if each.excess > was.get(each.resource, 0)]


def tightens(was: Entity | None, now: Namespace | Application) -> bool:
    """Whether becoming so can take a namespace over its quota: less allowed, or more requested."""
    if isinstance(now, Application):
        old = was.requests if isinstance(was, Application) else None
        return _exceeds(now.requests or NOTHING, old or NOTHING)
    old = was.quota if isinstance(was, Namespace) else None
    if now.quota is None:
        return False
    newly_stated = now.quota.storage_mib > 0 and (old is None or not old.storage_mib)
    return old is None or newly_stated or _exceeds(old, now.quota)


def _over(namespace: str, workload: Workload) -> list[Amount]:
    """What the applications of a namespace request above its quota."""
    found = workload.namespaces.get(namespace)
    if found is None or found.quota is None:
        return []
    asked = _sum(
        each.requests
        for each in workload.applications.values()
        if each.namespace == namespace and each.requests is not None
    )
    return [each for each in amounts(asked, found.quota) if each.excess]


def _exceeds(one: Capacity, other: Capacity) -> bool:
    return (
        one.cpu_millicores > other.cpu_millicores
        or one.memory_mib > other.memory_mib
        or one.storage_mib > other.storage_mib
    )


def _sum(sizes: Iterable[Capacity]) -> Capacity:
    total = NOTHING
    for size in sizes:
        total = Capacity(
            total.cpu_millicores + size.cpu_millicores,
            total.memory_mib + size.memory_mib,
            total.storage_mib + size.storage_mib,
        )
    return total
