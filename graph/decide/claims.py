"""Objects outside any namespace: each is one application's.

Two that write the same object would undo each other on every cluster for ever. Judged on the net
result of a batch, so that an object may pass from one application to another in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graph.decide.addresses import check_object
from graph.decide.fields import check_set, in_each
from graph.model.change import Change
from graph.model.errors import Invalid, Rejected
from graph.model.names import quoted
from graph.model.view import FleetView
from graph.model.workload import Application, Workload

CLUSTER_SCOPED_MAX = 50
"""Objects outside any namespace that one application has."""
NAMESPACE_KIND = "Namespace"


def check_cluster_scoped(objects: Sequence[str]) -> tuple[str, ...]:
    """Objects as Kind/name, each once."""
    if len(objects) > CLUSTER_SCOPED_MAX:
        raise Invalid(
            f"{len(objects):,} cluster-scoped objects", hint=f"list at most {CLUSTER_SCOPED_MAX}"
        )
    return check_set(in_each(objects, _check_object), "cluster-scoped objects")


def refuse_claimed_twice(changes: Iterable[Change], after: FleetView) -> None:
    """Refuse when an application of ``changes`` newly has an object that is another's."""
    reasons = [
        f"{claimed} is application {quoted(holder)}'s, and {quoted(application.name)} would have it"
        for application, new in _newly_claiming(changes)
        for claimed, holder in held_by_others(application, after.workload)
        if claimed in new
    ]
    if reasons:
        raise Rejected(
            f"a cluster-scoped object would have two owners: {reasons[0]}",
            hint="let one of them go without it, in the same batch if you like",
            reasons=reasons,
        )


def held_by_others(application: Application, workload: Workload) -> Iterator[tuple[str, str]]:
    """The cluster-scoped objects of ``application`` that another has too, and who that is."""
    wanted = frozenset(application.cluster_scoped)
    if not wanted:
        return
    for name, other in sorted(workload.applications.items()):
        if name != application.name:
            yield from ((each, name) for each in other.cluster_scoped if each in wanted)


def _newly_claiming(changes: Iterable[Change]) -> Iterator[tuple[Application, frozenset[str]]]:
    for change in changes:
        if isinstance(change.after, Application) and change.after.cluster_scoped:
            was = change.before.cluster_scoped if isinstance(change.before, Application) else ()
            if new := frozenset(change.after.cluster_scoped) - frozenset(was):
                yield change.after, new


def _check_object(written: str) -> str:
    check_object(written)
    if written.startswith(f"{NAMESPACE_KIND}/"):
        raise Invalid(
            f"{quoted(written)} cannot be an application's",
            hint="define a namespace: it brings its own object to every cluster",
        )
    return written
