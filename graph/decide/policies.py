"""Commands on policies."""

from __future__ import annotations

import re
from collections.abc import Iterable

from graph.decide.fields import check_set, check_size, check_workload_label, in_field
from graph.decide.lookup import find_namespace, find_policy
from graph.decide.selectors import meaning
from graph.model.change import Change
from graph.model.errors import Invalid
from graph.model.names import Revision, check_name, check_text, quoted
from graph.model.view import FleetView
from graph.model.workload import Policy
from graph.model.workload_command import RemovePolicy, SetPolicy

_REGISTRY = re.compile(
    r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?(?:/[a-z0-9][a-z0-9._-]*){0,8}",
    re.ASCII,
)


def set_policy(command: SetPolicy, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The policy under its name. Whom it catches as they are is reported, not refused."""
    name = in_field("name", check_name, command.name, "policy")
    _check_attachment(command, view)
    _refuse_silence(command)
    after = Policy(
        name=name,
        namespaces=in_field("namespaces", check_set, command.namespaces, "namespaces"),
        selector=None if command.selector is None else meaning(command.selector, view, "selector"),
        quota_max=in_field("quota_max", check_size, command.quota_max, "the largest quota"),
        required_labels=in_field("required_labels", _check_labels, command.required_labels),
        registries=in_field("registries", _check_registries, command.registries),
        oversubscription=command.oversubscription,
        title=in_field("title", check_text, command.title, "the title"),
        changed=revision,
    )
    return (Change(view.workload.policies.get(name), after),)


def remove_policy(command: RemovePolicy, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The policy gone."""
    return (Change(find_policy(view, command.name, "name"), None),)


def _check_attachment(command: SetPolicy, view: FleetView) -> None:
    """Attached to namespaces or to clusters, never to both and never to nothing."""
    if bool(command.namespaces) == (command.selector is not None):
        both = "both namespaces and a selector" if command.namespaces else "nothing"
        raise Invalid(
            f"the policy is attached to {both}",
            hint="name its namespaces, or the clusters it is for by a selector",
        )
    for at, each in enumerate(command.namespaces):
        find_namespace(view, each, "namespaces", at)


def _refuse_silence(command: SetPolicy) -> None:
    if (
        command.quota_max is None
        and not command.required_labels
        and not command.registries
        and command.oversubscription is None
    ):
        raise Invalid(
            "the policy says nothing",
            hint="state a largest quota, required labels, registries or oversubscription",
        )


def _check_labels(labels: Iterable[str]) -> tuple[str, ...]:
    return check_set(map(check_workload_label, labels), "required labels")


def _check_registries(registries: Iterable[str]) -> tuple[str, ...]:
    return check_set(map(_check_registry, registries), "registries")


def _check_registry(registry: str) -> str:
    if not _REGISTRY.fullmatch(registry):
        raise Invalid(
            f"{quoted(registry)} is not a registry",
            hint="write a host, a port if it has one and a path if need be, as "
            "registry.example:5000/pos",
        )
    return registry
