"""Commands on namespaces."""

from __future__ import annotations

from collections.abc import Iterable

from graph.decide.fields import (
    check_list,
    check_own_name,
    check_plain_labels,
    check_size,
    in_field,
)
from graph.decide.lookup import find_namespace
from graph.decide.references import refuse_if_named
from graph.decide.secrets import check_secrets
from graph.model.change import Change
from graph.model.names import Revision, check_text, quoted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView
from graph.model.workload import Namespace
from graph.model.workload_command import DefineNamespace, DeleteNamespace


def define_namespace(
    command: DefineNamespace, view: FleetView, revision: Revision
) -> tuple[Change, ...]:
    """The namespace under its name. Whether its quota holds is judged on the whole batch."""
    name = in_field("name", check_own_name, command.name, "namespace")
    after = Namespace(
        name=name,
        title=in_field("title", check_text, command.title, "the title"),
        owners=in_field("owners", _check_owners, command.owners),
        cost_center=in_field("cost_center", check_text, command.cost_center, "the cost center"),
        labels=in_field("labels", check_plain_labels, command.labels),
        quota=in_field("quota", check_size, command.quota, "the quota"),
        limits=in_field("limits", check_size, command.limits, "a limit"),
        secrets=in_field("secrets", check_secrets, command.secrets),
        changed=revision,
    )
    return (Change(view.workload.namespaces.get(name), after),)


def delete_namespace(command: DeleteNamespace, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The namespace gone, unless something names it: its applications first of all."""
    before = find_namespace(view, command.name, "name")
    refuse_if_named(view, Ref(Kind.NAMESPACE, before.name), f"namespace {quoted(before.name)}")
    return (Change(before, None),)


def _check_owners(owners: Iterable[str]) -> tuple[str, ...]:
    return tuple(check_text(each, "an owner") for each in check_list(owners, "owners"))
