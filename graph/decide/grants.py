"""Commands on grants: to whom, which role, over which clusters and which part of the workload."""

from __future__ import annotations

from graph.decide.fields import check_set, in_field
from graph.decide.lookup import find_application, find_grant, find_namespace
from graph.decide.selectors import meaning
from graph.model.access import Grant
from graph.model.change import Change
from graph.model.command import GrantAccess, RevokeAccess
from graph.model.errors import Invalid
from graph.model.names import Revision, check_name, check_text
from graph.model.selector import InNamespace, Saved, Selector, clauses
from graph.model.view import FleetView


def grant_access(command: GrantAccess, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The grant under its name."""
    name = in_field("name", check_name, command.name, "grant")
    _check_receiver(command)
    after = Grant(
        name=name,
        role=command.role,
        scope=in_field("scope", _refuse_names, meaning(command.scope, view, "scope")),
        subject=command.subject,
        claim=command.claim,
        title=in_field("title", check_text, command.title, "the title"),
        namespaces=in_field("namespaces", check_set, command.namespaces, "namespaces"),
        applications=in_field("applications", check_set, command.applications, "applications"),
        changed=revision,
    )
    for at, each in enumerate(command.namespaces):
        find_namespace(view, each, "namespaces", at)
    for at, each in enumerate(command.applications):
        find_application(view, each, "applications", at)
    return (Change(view.grant(name), after),)


def revoke_access(command: RevokeAccess, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The grant gone."""
    return (Change(find_grant(view, command.name, "name"), None),)


def _check_receiver(command: GrantAccess) -> None:
    """Exactly one of subject and claim, and that one readable."""
    given = [
        (noun, value)
        for noun, value in (("subject", command.subject), ("claim", command.claim))
        if value
    ]
    if len(given) != 1:
        raise Invalid(
            f"the grant has {'both a subject and a claim' if given else 'no subject and no claim'}",
            hint="name one: a subject for one actor, or a claim for everybody whose token has it",
        )
    ((noun, value),) = given
    if not check_text(value, f"the {noun}").strip():
        raise Invalid(f"the {noun} is blank", hint=f"write the {noun} exactly as tokens carry it")


def _refuse_names(scope: Selector) -> Selector:
    """Refuse what others may give another meaning: an edit of theirs must not move scopes."""
    for clause in clauses(scope):
        if isinstance(clause, Saved):
            raise Invalid(
                f"the scope names the saved selector @{clause.name}",
                hint=f"write out what @{clause.name} selects; an edit of it must not move scopes",
            )
        if isinstance(clause, InNamespace):
            raise Invalid(
                f"the scope names the namespace {clause.name}",
                hint="write out which clusters are meant; an assignment must not move scopes",
            )
    return scope
