"""Commands on grants: to whom, which role, over which clusters."""

from __future__ import annotations

from graph.decide.lookup import find_grant
from graph.decide.selectors import meaning
from graph.model.access import Grant
from graph.model.change import Change
from graph.model.command import GrantAccess, RevokeAccess
from graph.model.errors import Invalid
from graph.model.names import Revision, check_name, check_text
from graph.model.selector import Saved, Selector, clauses
from graph.model.view import FleetView


def grant_access(command: GrantAccess, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The grant under its name."""
    name = check_name(command.name, "grant")
    _check_receiver(command)
    after = Grant(
        name=name,
        role=command.role,
        scope=_refuse_saved(meaning(command.scope, view, "scope")),
        subject=command.subject,
        claim=command.claim,
        title=check_text(command.title, "the title"),
        changed=revision,
    )
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


def _refuse_saved(scope: Selector) -> Selector:
    for clause in clauses(scope):
        if isinstance(clause, Saved):
            raise Invalid(
                f"the scope names the saved selector @{clause.name}",
                hint=f"write out what @{clause.name} selects; an edit of it must not move scopes",
            )
    return scope
