"""One command's dealings with one fleet: settings, an engine, and what people pass as arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

import click

from cli.running import run
from cli.settings import Settings, read_settings
from cli.wiring import open_engine
from graph.engine import Engine
from graph.index.snapshot import Snapshot
from graph.model.errors import Invalid, NotFound
from graph.model.names import GroupNumber, Revision, quoted
from graph.model.ref import Kind, Ref
from graph.model.selector import Under
from graph.model.view import entity_of

_T = TypeVar("_T")

AS_OF = click.option("--as-of", metavar="REVISION|TIME", help="The fleet as it was.")

MARKS = {
    "cluster": Kind.CLUSTER,
    "grant": Kind.GRANT,
    "hierarchy": Kind.HIERARCHY,
    "label": Kind.LABEL_KEY,
    "namespace": Kind.NAMESPACE,
    "application": Kind.APPLICATION,
    "assignment": Kind.ASSIGNMENT,
    "prohibition": Kind.PROHIBITION,
    "layer": Kind.LAYER,
    "policy": Kind.POLICY,
}
"""How an argument says which kind of object it names; paths and @names say it by themselves."""


def settings_for(store_url: str | None) -> Settings:
    """The settings, with the store of the command line if it names one."""
    settings = read_settings()
    if store_url is None:
        return settings
    store = settings.store.model_copy(update={"url": store_url})
    return settings.model_copy(update={"store": store})


def ask(
    store_url: str | None,
    body: Callable[[Engine], Awaitable[_T]],
    *,
    write: bool = False,
    create: bool = False,
) -> _T:
    """Run ``body`` with an engine over the store.

    It is opened for writing, and made where there is none, only if told so: a mistyped store is
    then an error and not an empty fleet.
    """

    async def work() -> _T:
        async with open_engine(settings_for(store_url), write=write, create=create) as engine:
            return await body(engine)

    return run(work())


async def view_at(engine: Engine, as_of: str | None) -> Snapshot:
    """The newest view, or the one an ``--as-of`` argument names."""
    return engine.view if as_of is None else await engine.as_of(moment(as_of))


def moment(text: str) -> Revision | datetime:
    """A revision or a time, as written on the command line."""
    if text.isascii() and text.isdigit() and len(text) < 19:
        return Revision(int(text))
    try:
        when = datetime.fromisoformat(text)
        zoned = when.astimezone(UTC) if when.tzinfo else None
    except (ValueError, OverflowError):
        zoned = None
    if zoned is None:
        raise Invalid(
            f"{quoted(text)} is neither a revision nor a time",
            hint="write 812, or 2026-11-01T00:00Z with its zone",
        )
    return zoned


def group_named(engine: Engine, path: str, view: Snapshot) -> GroupNumber:
    """The group at ``path``, or a refusal with the nearest names."""
    selector = engine.parse(path, view)
    if not isinstance(selector, Under):
        raise Invalid(f"{quoted(path)} is not a group path", hint="write /geo/us")
    return selector.group


def ref_named(engine: Engine, text: str, view: Snapshot) -> Ref | None:
    """The object an argument names, if it is in ``view``."""
    kind, name = kind_and_name(text)
    match kind:
        case Kind.GROUP:
            try:
                return Ref(kind, group_named(engine, text, view))
            except NotFound:
                return None
        case Kind.CLUSTER:
            number = view.cluster_number(name)
            return None if number is None else Ref(kind, number)
        case _:
            ref = Ref(kind, name)
            return None if entity_of(view, ref) is None else ref


def kind_and_name(text: str) -> tuple[Kind, str]:
    """``/geo/us``, ``@pilot``, ``label:size``, ``application:pos``, ... or a cluster."""
    if text.startswith("/"):
        return Kind.GROUP, text.rpartition("/")[2]
    if text.startswith("@"):
        return Kind.SAVED_SELECTOR, text[1:]
    mark, colon, name = text.partition(":")
    if colon and mark in MARKS:
        return MARKS[mark], name
    return Kind.CLUSTER, text
