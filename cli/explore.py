"""Counts along the business: trees, facets, cross-tabs; and a selector as Cypher."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

import click

from cli.output import FORMAT, Format, at_revision, print_rows
from cli.session import AS_OF, ask, group_named, view_at
from graph.engine import Engine
from graph.facets import ByGroup, ByLabel, Dimension
from graph.index.snapshot import Snapshot
from graph.model.cluster_set import ClusterSet
from graph.model.errors import NotFound
from graph.model.names import did_you_mean, nearest, quoted

WHERE = click.option("--where", metavar="SELECTOR", help="Count only clusters it selects.")


@click.command(short_help="Counts along a hierarchy.")
@click.argument("root")
@click.option("--depth", type=click.IntRange(0, 32), default=2, show_default=True)
@WHERE
@AS_OF
@FORMAT
@click.pass_obj
def tree(
    store_url: str | None, root: str, depth: int, where: str | None, as_of: str | None, form: str
) -> None:
    """Counts of ROOT, a group path, and of the groups below it to a depth.

    Groups without a cluster to count are left out.
    """

    async def body(engine: Engine) -> None:
        view = await view_at(engine, as_of)
        number = group_named(engine, root, view)
        rows = engine.tree(number, depth=depth, within=_within(engine, where, view), view=view)
        if Format(form) is Format.TABLE:
            shown = [
                ("  " * row.depth + _name(row.path, row.depth), row.clusters, row.share)
                for row in rows
            ]
            print_rows(("group", "clusters", "share"), shown, Format.TABLE)
            click.echo(f"\n{at_revision(view)}")
            return
        data = [(row.path, row.depth, row.clusters, round(row.share, 6)) for row in rows]
        print_rows(("path", "depth", "count", "share"), data, Format(form))

    ask(store_url, body)


@click.command(short_help="Counts per child of a group or value of a label.")
@click.argument("by")
@WHERE
@AS_OF
@FORMAT
@click.pass_obj
def facets(store_url: str | None, by: str, where: str | None, as_of: str | None, form: str) -> None:
    """Counts per child of a group, or per value of a label.

    BY is a group path, as /geo/us, or a label key, as size.
    """

    async def body(engine: Engine) -> None:
        view = await view_at(engine, as_of)
        within = _within(engine, where, view)
        buckets = engine.facet(_dimension(engine, by, view), within=within, view=view)
        total = len(within)
        if Format(form) is Format.TABLE:
            shown = [
                (_cell(each.value), each.clusters, each.clusters / (total or 1)) for each in buckets
            ]
            print_rows((by, "clusters", "share"), shown, Format.TABLE)
            click.echo(f"\nof {total:,} clusters        {at_revision(view)}")
            return
        print_rows(
            ("value", "count"), [(each.value, each.clusters) for each in buckets], Format(form)
        )

    ask(store_url, body)


@click.command("cross-tab", short_help="Counts of two dimensions at once.")
@click.argument("rows")
@click.argument("columns")
@WHERE
@AS_OF
@FORMAT
@click.pass_obj
def cross_tab(
    store_url: str | None,
    rows: str,
    columns: str,
    where: str | None,
    as_of: str | None,
    form: str,
) -> None:
    """Counts of two dimensions at once.

    ROWS and COLUMNS are each a group path (one per child) or a label key (one per value). A cluster
    in two columns counts in both.
    """

    async def body(engine: Engine) -> None:
        view = await view_at(engine, as_of)
        table = engine.cross_tab(
            _dimension(engine, rows, view),
            _dimension(engine, columns, view),
            within=_within(engine, where, view),
            view=view,
        )
        header = (rows, *(_cell(value, columns) for value in table.columns))
        lines = [
            (_cell(value), *counts) for value, counts in zip(table.rows, table.counts, strict=True)
        ]
        print_rows(header, lines, Format(form))
        if Format(form) is Format.TABLE:
            click.echo(f"\n{at_revision(view)}")

    ask(store_url, body)


@click.command(short_help="A selector as one Cypher statement.")
@click.argument("selector")
@click.pass_obj
def cypher(store_url: str | None, selector: str) -> None:
    """A selector as one Cypher statement with its parameters, to paste into Neo4j Browser."""
    from graph.targeting.cypher import compile_cypher

    async def body(engine: Engine) -> None:
        statement = compile_cypher(engine.parse(selector), engine.view)
        for name, value in statement.parameters.items():
            click.echo(f":param {name} => {_literal(value)};")
        click.echo(f"{statement.text};")

    ask(store_url, body)


def _literal(value: object) -> str:
    """A value as Cypher writes it: as JSON does, but for the keys of maps."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return "{" + ", ".join(f"{key}: {_literal(item)}" for key, item in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, cast("Sequence[object]", value))) + "]"
    return json.dumps(value)


def _within(engine: Engine, where: str | None, view: Snapshot) -> ClusterSet:
    return view.everything() if where is None else engine.resolve(where, view)


def _dimension(engine: Engine, text: str, view: Snapshot) -> Dimension:
    if text.startswith("/"):
        return ByGroup(group_named(engine, text, view))
    if view.label_key(text) is None:
        known = [key.name for key in view.label_keys()]
        close = nearest(text, known)
        raise NotFound(
            f"no label key called {quoted(text)}",
            hint=did_you_mean(close) or "write a group path or a key",
        )
    return ByLabel(text)


def _name(path: str, depth: int) -> str:
    return path if depth == 0 else path.rpartition("/")[2]


def _cell(value: object, parent: str = "") -> str:
    """A bucket as a heading; below a group its own name is enough."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.removeprefix(parent.rstrip("/") + "/") if parent.startswith("/") else text
