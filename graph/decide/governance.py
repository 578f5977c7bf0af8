"""What policies ask of namespaces and applications, and who does not give it.

A policy may be set over a workload that breaks it already: that is reported. A batch whose
workload commands would make a namespace or an application break one is refused, judged on the
batch's net result: who is governed, and how they then are. So is a revert: what was accepted once
may be against a policy made since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from graph.decide.quotas import amounts
from graph.decide.references import called
from graph.model.change import Change, ref_of
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Rejected
from graph.model.names import counted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView
from graph.model.workload import Application, Assignment, Namespace, Policy, Workload
from graph.targeting.evaluate import evaluate

REASONS_MAX = 20
"""Breaches a refusal lists."""

Governed = Namespace | Application


@dataclass(frozen=True, slots=True)
class Breach:
    """A policy that a namespace or an application breaks."""

    policy: str
    governed: Ref
    rule: str
    """Which of the policy's rules, as ``label team``; at most one breach each."""
    told: str

    def __str__(self) -> str:
        return f"{called(self.governed)} {self.told} (policy {self.policy})"


def breaches(view: FleetView) -> Iterator[Breach]:
    """Every breach there is, by policy."""
    for policy in demanding(view.workload):
        for governed in _governed(policy, view, view):
            yield from _breaches(policy, governed)


def refuse_newly_breached(
    changes: Sequence[Change], by_workload: Collection[Ref], before: FleetView, after: FleetView
) -> None:
    """Refuse when somebody among ``changes`` that workload commands made newly breaks a policy."""
    judged = [each for each in changes if each.ref in by_workload] if by_workload else []
    found = newly_breached(judged, before, after)
    if found:
        who = len({each.governed for each in found})
        raise Rejected(
            f"{counted(who, 'object')} would break a policy: {found[0]}",
            hint="give them the labels or the quota it asks for, or change the policy",
            reasons=[str(each) for each in found[:REASONS_MAX]],
        )


def newly_breached(changes: Sequence[Change], before: FleetView, after: FleetView) -> list[Breach]:
    """The policies that somebody among ``changes``, which lead to ``after``, newly breaks."""
    policies = demanding(after.workload) if changes else ()
    if not policies:
        return []
    touched = _touched(changes, after.workload).values()
    return [each for policy in policies for each in _newly(policy, touched, before, after)]


def to_blame(breach: Breach, changes: Iterable[Change], after: FleetView) -> list[Ref]:
    """Of ``changes``, those without which a breach would not be: whoever breaks the policy.

    Where they were no better before, the assignments that newly bring them under it.
    """
    assigned = _Assigned(after.workload)
    itself: list[Ref] = []
    assignments: list[Ref] = []
    policy = after.workload.policies[breach.policy]
    for change in changes:
        if change.ref == breach.governed:
            was = change.before
            known = isinstance(was, Governed) and any(
                each.rule == breach.rule for each in _breaches(policy, was)
            )
            if not known:
                return [change.ref]
            itself.append(change.ref)
        elif isinstance(change.after, Assignment) and breach.governed in assigned.by(change.after):
            assignments.append(change.ref)
    return assignments or itself


def demanding(workload: Workload) -> list[Policy]:
    """The policies that ask something of namespaces and applications, by name."""
    found = [each for each in workload.policies.values() if each.quota_max or each.required_labels]
    return sorted(found, key=lambda policy: policy.name)


def _touched(changes: Iterable[Change], workload: Workload) -> dict[Ref, Governed]:
    """The namespaces and applications that changed, or are assigned otherwise."""
    found: dict[Ref, Governed] = {}
    assigned = _Assigned(workload)
    for change in changes:
        match change.after:
            case Namespace() | Application() as changed:
                found[change.ref] = changed
            case Assignment() as assignment:
                found.update(assigned.by(assignment))
            case _:
                pass
    return found


def _newly(
    policy: Policy, touched: Collection[Governed], before: FleetView, after: FleetView
) -> list[Breach]:
    """What ``touched`` break of ``policy``, and would not have broken as they were."""
    suspects = frozenset(ref_of(each) for each in touched if any(_breaches(policy, each)))
    if not suspects:
        return []  # so nobody needs to be looked for among clusters
    broken, was = (
        [
            breach
            for governed in _governed(policy, view, after, suspects)
            for breach in _breaches(policy, governed)
        ]
        for view in (after, before)
    )
    known = {(each.governed, each.rule) for each in was}
    return [each for each in broken if (each.governed, each.rule) not in known]


def _governed(
    policy: Policy, view: FleetView, attached: FleetView, among: frozenset[Ref] | None = None
) -> list[Governed]:
    """Whom ``policy`` is for in ``view``, namespaces first, each by name.

    Its own selector is read in the view ``attached``; ``among`` are those that are asked about.
    """
    if policy.selector is None:
        found = _in_namespaces(frozenset(policy.namespaces), view.workload)
    else:
        found = _on_clusters(evaluate(policy.selector, attached), view, among)
    asked = (each for ref, each in found.items() if among is None or ref in among)
    return sorted(asked, key=lambda each: (isinstance(each, Application), each.name))


def _in_namespaces(names: frozenset[str], workload: Workload) -> dict[Ref, Governed]:
    found: dict[Ref, Governed] = {}
    for name in names & workload.namespaces.keys():
        found[Ref(Kind.NAMESPACE, name)] = workload.namespaces[name]
    for application in workload.applications.values():
        if application.namespace in names:
            found[ref_of(application)] = application
    return found


def _on_clusters(
    where: ClusterSet, view: FleetView, among: frozenset[Ref] | None
) -> dict[Ref, Governed]:
    """Who is assigned to one of these clusters."""
    assigned_by = _Assigned(view.workload).by
    found: dict[Ref, Governed] = {}
    for assignment in view.workload.assignments.values():
        assigned = assigned_by(assignment)
        new = any(ref not in found and (among is None or ref in among) for ref in assigned)
        # whose answer is known, or not asked for, is not looked for among clusters
        if new and where.meets(evaluate(assignment.selector, view)):
            found.update(assigned)
    return found


class _Assigned:
    """Whom assignments take, with the applications of each namespace put together once."""

    def __init__(self, workload: Workload) -> None:
        self._namespaces = workload.namespaces
        self._applications: dict[str, list[Application]] = {}
        for each in workload.applications.values():
            self._applications.setdefault(each.namespace, []).append(each)

    def by(self, assignment: Assignment) -> dict[Ref, Governed]:
        """The namespace of an assignment, and the applications it takes."""
        name = assignment.choice.namespace
        found: dict[Ref, Governed] = {}
        if name in self._namespaces:
            found[Ref(Kind.NAMESPACE, name)] = self._namespaces[name]
        for each in self._applications.get(name, ()):
            if assignment.choice.takes(each):
                found[Ref(Kind.APPLICATION, each.name)] = each
        return found


def _breaches(policy: Policy, governed: Governed) -> Iterator[Breach]:
    ref = ref_of(governed)
    for label in policy.required_labels:
        if label not in governed.labels:
            yield Breach(policy.name, ref, f"label {label}", f"has no label {label}")
    if policy.quota_max is None or not isinstance(governed, Namespace):
        return
    if governed.quota is None:
        yield Breach(policy.name, ref, "quota", "has no quota")
        return
    over = [each for each in amounts(governed.quota, policy.quota_max) if each.excess]
    if over:
        told = f"has a quota of {', '.join(map(str, over))}"
        yield Breach(policy.name, ref, "quota", told)
