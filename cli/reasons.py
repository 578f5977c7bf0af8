"""An explanation on the terminal: the answer, the clauses that hold, those that do not, the way.

What does not hold because of a membership also says since when, by whom and why: the record knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from graph.engine import Engine
from graph.index.snapshot import Snapshot
from graph.model.errors import Span
from graph.model.names import ClusterNumber, GroupNumber, quoted
from graph.model.ref import Kind
from graph.targeting.explain import Reason
from graph.targeting.missing import no_cluster

FACT_COLUMN_MIN = 31
FACT_COLUMN_MAX = 64
LINES_MAX = 80


async def reasons(
    engine: Engine, name: str, selector: str, view: Snapshot, *, indent: str = ""
) -> None:
    """Print why the cluster called ``name`` is in or out of ``selector``."""
    number = view.cluster_number(name)
    if number is None:
        raise no_cluster(view, name, name, Span(1, len(name)))
    explanation = engine.explain(number, selector, view)
    lines = list(_in_order(explanation.clauses))
    longest = max(len(reason.text) + 2 * level + 2 for reason, level in lines)
    column = max(FACT_COLUMN_MIN, min(longest, FACT_COLUMN_MAX))
    click.echo(indent + explanation.summary)
    for reason, level in lines[:LINES_MAX]:
        fact = await _fact(engine, number, reason, view)
        text = ("  " * level + reason.text).ljust(column)
        click.echo(f"{indent}  {'yes' if reason.holds else 'no':<5}{text}{fact}".rstrip())
    if (more := len(lines) - LINES_MAX) > 0:
        click.echo(f"{indent}  and {more:,} more")
    if explanation.proposal:
        click.echo(f"{indent}nearest change: {explanation.proposal}")


def _in_order(clauses: Sequence[Reason], level: int = 0) -> Iterator[tuple[Reason, int]]:
    """Clauses that hold before those that do not, each followed by its parts."""
    for reason in sorted(clauses, key=lambda each: not each.holds):
        yield reason, level
        yield from _in_order(reason.parts, level + 1)


async def _fact(engine: Engine, cluster: ClusterNumber, reason: Reason, view: Snapshot) -> str:
    groups = [ref.key for ref in reason.about if ref.kind is Kind.GROUP]
    if reason.holds or len(groups) != 1 or view is not engine.view:
        return reason.fact
    since = await engine.member_since(cluster, GroupNumber(int(groups[0])))
    if since is None:
        return reason.fact
    return (
        f"{reason.fact}, since revision {since.revision:,} ({since.actor}: {quoted(since.reason)})"
    )
