"""Commands on saved selectors."""

from __future__ import annotations

from collections.abc import Mapping

from graph.decide.fields import in_field
from graph.decide.lookup import find_label_key, find_saved
from graph.decide.references import refuse_if_named
from graph.model.change import Change
from graph.model.command import DeleteSelector, SaveSelector
from graph.model.errors import NotFound, TrellisError
from graph.model.inventory import LabelKey, SavedSelector
from graph.model.label import check_value, type_of
from graph.model.names import Revision, check_name, check_text
from graph.model.ref import Kind, Ref
from graph.model.selector import (
    Clause,
    HasLabel,
    LabelIn,
    LabelIs,
    Matching,
    Saved,
    Selector,
    Written,
    mentions,
)
from graph.model.view import FleetView, entity_of
from graph.targeting.cycles import refuse_cycle
from graph.targeting.missing import WILDCARD
from graph.targeting.normal import check_size, normal
from graph.targeting.structured import read_selector
from graph.targeting.value import check_order


def save_selector(command: SaveSelector, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The selector under its name, unless it would reach itself."""
    name = in_field("name", check_name, command.name, "saved selector")
    selector = meaning(command.selector, view, "selector")
    in_field("selector", refuse_cycle, selector, Saved(name), view)
    after = SavedSelector(
        name=name,
        selector=selector,
        title=in_field("title", check_text, command.title, "the title"),
        changed=revision,
    )
    return (Change(view.saved_selector(name), after),)


def delete_selector(command: DeleteSelector, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The saved selector gone, unless something stored uses it."""
    before = find_saved(view, command.name, "name")
    refuse_if_named(view, Ref(Kind.SAVED_SELECTOR, before.name), f"@{before.name}")
    return (Change(before, None),)


def meaning(selector: Written | Selector, view: FleetView, name: str) -> Selector:
    """The tree of a selector that a command has in its field ``name``."""
    try:
        if isinstance(selector, str | Mapping):
            return read_selector(selector, view)
        return checked(selector, view)
    except TrellisError as refusal:
        raise refusal.at(name) from None


def checked(selector: Selector, view: FleetView) -> Selector:
    """A tree anybody built, in the shape its text would have been read into, or a refusal."""
    check_size(selector)
    _refuse_dangling(view, selector)
    return normal(selector, lambda clause: _checked_clause(clause, view))


def fits(clause: LabelIs | LabelIn | HasLabel, key: LabelKey) -> bool:
    """Whether the clause compares the label with values of its type."""
    match clause:
        case LabelIs(value=value):
            return type_of(value) is key.type
        case LabelIn(values=values):
            return all(type_of(value) is key.type for value in values)
        case HasLabel():
            return True


def _checked_clause(clause: Clause, view: FleetView) -> Clause:
    match clause:
        case LabelIs(name, comparison, value):
            key = find_label_key(view, name)
            check_order(key, comparison)
            return LabelIs(name, comparison, check_value(name, value, key.type))
        case LabelIn(name, values):
            key = find_label_key(view, name)
            return LabelIn(name, tuple(check_value(name, value, key.type) for value in values))
        case Matching(rest=rest):
            for segment in rest:
                if segment != WILDCARD:
                    check_name(segment, "group")
            return clause
        case _:
            return clause


def _refuse_dangling(view: FleetView, selector: Selector) -> None:
    for ref in sorted(mentions(selector), key=str):
        if entity_of(view, ref) is None:
            raise NotFound(
                f"the selector names {ref}, which does not exist",
                hint="write it against the fleet as it is",
            )
