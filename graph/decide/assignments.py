"""Commands on assignments and prohibitions: which applications, and which clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph.decide.fields import check_plain_labels, check_set, in_field
from graph.decide.lookup import (
    find_application,
    find_assignment,
    find_namespace,
    find_prohibition,
)
from graph.decide.selectors import meaning
from graph.model.change import Change
from graph.model.errors import Invalid, TrellisError
from graph.model.inventory import SavedSelector
from graph.model.names import Revision, check_name, check_text, quoted
from graph.model.selector import InNamespace, Selector
from graph.model.view import FleetView
from graph.model.workload import Assignment, Choice, Prohibition, Workload
from graph.model.workload_command import Assign, LiftProhibition, Prohibit, Unassign
from graph.targeting.cycles import refuse_cycle


def assign(command: Assign, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The assignment under its name, unless its namespace would then be chosen by itself."""
    name = in_field("name", check_name, command.name, "assignment")
    if not command.choice.namespace:
        raise Invalid(
            "the assignment names no namespace",
            hint="name the namespace whose applications it assigns",
            path=("choice", "namespace"),
        )
    choice = _check_choice(command.choice, view)
    selector = meaning(command.selector, view, "selector")
    before = view.workload.assignments.get(name)
    in_field("selector", _refuse_cycle, selector, choice.namespace, before, view)
    after = Assignment(
        name=name,
        choice=choice,
        selector=selector,
        title=in_field("title", check_text, command.title, "the title"),
        changed=revision,
    )
    return (Change(before, after),)


def unassign(command: Unassign, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The assignment gone."""
    return (Change(find_assignment(view, command.name, "name"), None),)


def prohibit(command: Prohibit, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The prohibition under its name."""
    name = in_field("name", check_name, command.name, "prohibition")
    chosen = command.choice
    if not (chosen.namespace or chosen.applications or chosen.labels):
        raise Invalid(
            "the prohibition names no namespace, no application and no label",
            hint="say which applications may not run there",
            path=("choice",),
        )
    after = Prohibition(
        name=name,
        choice=_check_choice(chosen, view),
        selector=meaning(command.selector, view, "selector"),
        title=in_field("title", check_text, command.title, "the title"),
        changed=revision,
    )
    return (Change(view.workload.prohibitions.get(name), after),)


def lift_prohibition(command: LiftProhibition, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The prohibition gone."""
    return (Change(find_prohibition(view, command.name, "name"), None),)


def _check_choice(choice: Choice, view: FleetView) -> Choice:
    """The choice with its names looked up; named applications are of the namespace it names."""
    try:
        if choice.namespace:
            find_namespace(view, choice.namespace, "namespace")
        for at, name in enumerate(choice.applications):
            _check_application(choice.namespace, name, view, at)
        return Choice(
            namespace=choice.namespace,
            applications=in_field("applications", check_set, choice.applications, "applications"),
            labels=in_field("labels", check_plain_labels, choice.labels),
        )
    except TrellisError as refusal:
        raise refusal.at("choice") from None


def _check_application(namespace: str, name: str, view: FleetView, at: int) -> None:
    found = find_application(view, name, "applications", at)
    if namespace and found.namespace != namespace:
        raise Invalid(
            f"application {quoted(name)} is in namespace {quoted(found.namespace)}, "
            f"not in {quoted(namespace)}",
            hint="choose applications of one namespace",
            path=("applications", at),
        )


@dataclass(frozen=True, slots=True)
class _Without:
    """A fleet without one of its assignments."""

    view: FleetView
    workload: Workload

    @staticmethod
    def of(view: FleetView, name: str) -> _Without:
        kept = {key: each for key, each in view.workload.assignments.items() if key != name}
        return _Without(view, replace(view.workload, assignments=kept))

    def saved_selector(self, name: str) -> SavedSelector | None:
        return self.view.saved_selector(name)


def _refuse_cycle(
    selector: Selector, namespace: str, before: Assignment | None, view: FleetView
) -> None:
    """Refuse what makes ``namespace`` choose through itself, once ``before`` is replaced."""
    moves = before is not None and before.choice.namespace != namespace
    naming = _Without.of(view, before.name) if before is not None and moves else view
    refuse_cycle(selector, InNamespace(namespace), naming)
