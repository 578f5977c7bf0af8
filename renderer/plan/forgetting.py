"""What is kept only while somebody needs it: definitions that are gone, and what failed."""

from __future__ import annotations

from collections.abc import Iterable

from graph.effective.rendition import FLEET
from graph.model.ref import Kind, Ref
from renderer.plan.directories import Books


def forget_undefined(books: Books, gone: Iterable[Ref]) -> None:
    """Definitions that are gone go, once no line needs them."""
    catalogue, lines, held = books.catalogue, books.lines, books.held
    for ref in gone:
        name = str(ref.key)
        match ref.kind:
            case Kind.APPLICATION:
                held.of(name).undefined = True
            case Kind.NAMESPACE:
                held.namespaces.add(name)
            case _:
                catalogue.policies.drop(name)
    for name in held.applications():
        if held.of(name).undefined and not lines.of_application(name).places:
            held.drop(name)
            catalogue.applications.drop(name)
    for name in sorted(held.namespaces):
        if not lines.of_namespace(name).places:
            held.namespaces.discard(name)
            catalogue.namespaces.drop(name)


def forget_failures(books: Books) -> None:
    """What nobody wants is not tried again."""
    for name in books.held.applications():
        holding = books.held.of(name)
        if name == FLEET or not holding.failed:
            continue
        wanted = {*books.lines.of_application(name).places}
        for wish in (*holding.waiting.values(), *holding.foreign.values()):
            wanted.add((wish.reconciler, wish.key))
        wanted |= {("", key) for _, key in wanted}  # an overlay, whoever is told of it
        for place in list(holding.failed):
            reconciler, _, key = place.rpartition("/")
            if (reconciler, key) not in wanted:
                del holding.failed[place]
