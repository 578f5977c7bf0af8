"""Commands on saved selectors."""

from __future__ import annotations

from graph.decide.lookup import find_saved
from graph.decide.references import refuse_if_named
from graph.model.change import Change
from graph.model.command import DeleteSelector, SaveSelector
from graph.model.errors import NotFound, Rejected
from graph.model.inventory import SavedSelector
from graph.model.names import Revision, check_name, check_text
from graph.model.ref import Kind, Ref
from graph.model.selector import Selector, mentions
from graph.model.view import FleetView, entity_of
from graph.targeting.cycles import reaches
from graph.targeting.normal import check_size
from graph.targeting.parser import parse


def save_selector(command: SaveSelector, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The selector under its name, unless it would reach itself."""
    name = check_name(command.name, "saved selector")
    selector = command.selector
    if isinstance(selector, str):
        selector = parse(selector, view)
    else:
        check_size(selector)
        refuse_dangling(view, selector)
    if (chain := reaches(selector, name, view)) is not None:
        raise Rejected(
            f"@{name} would select through itself: {' -> '.join(f'@{each}' for each in chain)}",
            hint="leave one of them out",
        )
    after = SavedSelector(
        name=name,
        selector=selector,
        title=check_text(command.title, "the title"),
        changed=revision,
    )
    return (Change(view.saved_selector(name), after),)


def delete_selector(command: DeleteSelector, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The saved selector gone, unless another uses it."""
    before = find_saved(view, command.name)
    refuse_if_named(view, Ref(Kind.SAVED_SELECTOR, before.name), f"@{before.name}")
    return (Change(before, None),)


def refuse_dangling(view: FleetView, selector: Selector) -> None:
    """Refuse a tree that names what is not there; text is checked by the parser."""
    for ref in mentions(selector):
        if entity_of(view, ref) is None:
            raise NotFound(
                f"the selector names {ref}, which does not exist",
                hint="write it against the fleet as it is",
            )
