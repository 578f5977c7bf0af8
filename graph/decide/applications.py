"""Commands on applications."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from graph.composition.schema import check_part, check_schema
from graph.decide.claims import check_cluster_scoped
from graph.decide.fields import (
    check_own_name,
    check_plain_labels,
    check_set,
    check_size,
    in_field,
)
from graph.decide.late_bound import (
    check_late_bound,
    keys_set,
    refuse_composed,
    refuse_in_the_way,
)
from graph.decide.lookup import find_application, find_namespace
from graph.decide.references import refuse_if_named
from graph.decide.selectors import meaning
from graph.decide.sources import check_source, keys_of
from graph.model.change import Change
from graph.model.errors import Conflict, Invalid, Rejected
from graph.model.names import Revision, check_text, check_value_key, quoted
from graph.model.ref import Kind, Ref
from graph.model.values import Values
from graph.model.view import FleetView
from graph.model.workload import FLEET_KEY, Application, LateBound, Source
from graph.model.workload_command import DefineApplication, DeleteApplication


def define_application(
    command: DefineApplication, view: FleetView, revision: Revision
) -> tuple[Change, ...]:
    """The application under its name, in its one namespace.

    Whether another has its cluster-scoped objects is judged on the whole batch.
    """
    name = in_field("name", check_own_name, command.name, "application")
    before = view.workload.applications.get(name)
    namespace = find_namespace(view, command.namespace, "namespace").name
    if before is not None and before.namespace != namespace:
        raise Conflict(
            f"application {quoted(name)} is in namespace {quoted(before.namespace)}",
            hint="an application's namespace is final; define another application",
        )
    late_bound = in_field("late_bound", _check_late_bound, command, view)
    source = in_field("source", _check_source, command.source, late_bound)
    schema = None if command.schema is None else in_field("schema", _check_schema, command.schema)
    after = Application(
        name=name,
        namespace=namespace,
        title=in_field("title", check_text, command.title, "the title"),
        owner=in_field("owner", check_text, command.owner, "the owner"),
        labels=in_field("labels", check_plain_labels, command.labels),
        requires=None if command.requires is None else meaning(command.requires, view, "requires"),
        reconcilers=in_field("reconcilers", check_set, command.reconcilers, "reconcilers"),
        depends_on=in_field("depends_on", _check_dependencies, command, view),
        requests=in_field("requests", check_size, command.requests, "a request"),
        source=source,
        values=in_field("values", _check_values, command, late_bound, schema),
        schema=schema,
        late_bound=late_bound,
        reads=in_field("reads", _check_reads, command.reads),
        cluster_scoped=in_field("cluster_scoped", check_cluster_scoped, command.cluster_scoped),
        changed=revision,
    )
    return (Change(before, after),)


def delete_application(
    command: DeleteApplication, view: FleetView, _: Revision
) -> tuple[Change, ...]:
    """The application gone, unless something names it."""
    before = find_application(view, command.name, "name")
    refuse_if_named(view, Ref(Kind.APPLICATION, before.name), f"application {quoted(before.name)}")
    return (Change(before, None),)


def chain_back(
    name: str, depends_on: Iterable[str], needs: Callable[[str], Iterable[str]]
) -> list[str] | None:
    """The applications by which ``name``, that first and last, would depend on itself."""
    came_from = dict.fromkeys(depends_on, name)
    waiting = list(came_from)
    for at in waiting:
        if at == name:
            chain = [name, came_from[name]]
            while chain[-1] != name:
                chain.append(came_from[chain[-1]])
            return chain[::-1]
        for below in needs(at):
            if below not in came_from:
                came_from[below] = at
                waiting.append(below)
    return None


def check_values(values: Mapping[str, object], noun: str) -> Values:
    """Values of an application: whatever JSON can say, but no fleet settings."""
    if FLEET_KEY in values:
        raise Invalid(
            f"{noun} set {quoted(FLEET_KEY)}",
            hint=f"{FLEET_KEY} holds the fleet's settings; set them with a layer of the fleet",
        )
    return Values.of(values, noun)


def check_setting(name: str) -> str:
    """The name of a setting of the fleet: a top-level key of fleet layers."""
    return check_value_key(name, "fleet setting")


def _check_dependencies(command: DefineApplication, view: FleetView) -> tuple[str, ...]:
    applications = view.workload.applications
    for at, each in enumerate(command.depends_on):
        if each != command.name:
            find_application(view, each, at)
    listed = check_set(command.depends_on, "dependencies")
    chain = chain_back(command.name, listed, lambda each: applications[each].depends_on)
    if chain is not None:
        raise Rejected(
            f"application {quoted(command.name)} would depend on itself: {' -> '.join(chain)}",
            hint="leave one of them out: applications that need each other share a namespace",
        )
    return listed


def _check_late_bound(command: DefineApplication, view: FleetView) -> tuple[LateBound, ...]:
    """The keys, for each of which the layers there are leave a place."""
    checked = check_late_bound(command.late_bound, view)
    if any("." in late.key for late in checked):
        for ref in sorted(view.referrers(Ref(Kind.APPLICATION, command.name)), key=str):
            if ref.kind is Kind.LAYER:
                values = view.workload.layers[str(ref.key)].values
                refuse_in_the_way(values, checked, f"layer {quoted(str(ref.key))} sets")
    return checked


def _check_source(source: Source | None, late_bound: tuple[LateBound, ...]) -> Source | None:
    checked = check_source(source)
    refuse_composed(keys_of(checked), late_bound, "the source uses")
    return checked


def _check_values(
    command: DefineApplication, late_bound: tuple[LateBound, ...], schema: Values | None
) -> Values:
    checked = check_values(command.values, "the values")
    refuse_composed(keys_set(checked, late_bound), late_bound, "the values set")
    if schema is not None:
        check_part(schema, checked, command.name)
    return checked


def _check_reads(settings: Iterable[str]) -> tuple[str, ...]:
    return check_set(map(check_setting, settings), "settings it reads")


def _check_schema(schema: Mapping[str, object]) -> Values:
    checked = Values.of(schema, "the schema")
    check_schema(checked)
    return checked
