"""Which clusters, and why: the two questions everything else is about."""

from __future__ import annotations

import click

from cli.output import FORMAT, Format, at_revision, numbers, print_clusters, share_of
from cli.reasons import reasons
from cli.session import AS_OF, ask, view_at
from graph.engine import Engine
from graph.page import Order

TABLE_ROWS = 50


@click.command(short_help="Which clusters? The answer to a selector.")
@click.argument("selector")
@click.option("--count", is_flag=True, help="Only how many.")
@click.option("--explain", "cluster", metavar="CLUSTER", help="Why CLUSTER is in or out.")
@AS_OF
@FORMAT
@click.option("--limit", type=click.IntRange(0), help=f"At most so many. [table: {TABLE_ROWS}]")
@click.option("--order", type=click.Choice(["name", "id"]), default="name", show_default=True)
@click.pass_obj
def select(
    store_url: str | None,
    selector: str,
    count: bool,
    cluster: str | None,
    as_of: str | None,
    form: str,
    limit: int | None,
    order: str,
) -> None:
    """Which clusters? The answer to a selector.

    As in: trellis select '/geo/us/northeast and size = large and lanes >= 2'
    """

    async def body(engine: Engine) -> None:
        view = await view_at(engine, as_of)
        if cluster is not None:
            await reasons(engine, cluster, selector, view)
            return
        if count:
            found = engine.count(selector, view)
            plain = Format(form) is not Format.TABLE
            click.echo(str(found) if plain else share_of(found, view))
            return
        chosen = engine.resolve(selector, view)
        table = Format(form) is Format.TABLE
        bound = TABLE_ROWS if table and limit is None else limit
        sort = Order.NAME if order == "name" else Order.NUMBER
        shown = numbers(engine, chosen, view, sort, bound)
        print_clusters(shown, len(chosen), view, Format(form))
        if table and bound is not None and bound < len(chosen):
            click.echo(
                f"\nthe first {bound:,} of {len(chosen):,} clusters; --limit shows more"
                f"        {at_revision(view)}"
            )
        elif table:
            click.echo(("\n" if chosen else "") + share_of(len(chosen), view))

    ask(store_url, body)


@click.command(short_help="Why a cluster is in or out, clause by clause.")
@click.argument("cluster")
@click.argument("selector")
@AS_OF
@click.pass_obj
def explain(store_url: str | None, cluster: str, selector: str, as_of: str | None) -> None:
    """Why CLUSTER is in or out of SELECTOR, clause by clause, and what would change that."""

    async def body(engine: Engine) -> None:
        await reasons(engine, cluster, selector, await view_at(engine, as_of))

    ask(store_url, body)
