"""The record: what happened to an object, taking it back, and who breaks the standards."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

import click

from cli.change import ACTOR, LOSS, consequence_lines
from cli.output import at_revision
from cli.session import (
    AS_OF,
    ask,
    group_named,
    kind_and_name,
    moment,
    ref_named,
    settings_for,
    view_at,
)
from cli.signing import author_of
from graph.decide.revert import Everything, Parts, RevertPlan, Scope, Subtree
from graph.describe import describe
from graph.engine import Engine
from graph.index.snapshot import Snapshot
from graph.model.command import Batch
from graph.model.errors import NotFound
from graph.model.names import GroupNumber, Revision, counted, quoted
from graph.model.ref import Kind
from graph.record import HistoryLine

EVERYTHING = "everything"
NAMES_SHOWN_MAX = 10
LEFT_SHOWN_MAX = 20

OBJECT = """OBJECT is a group path (/geo/us), a cluster's name, a saved selector (@pilot), a label
key (label:size), or any other named object by its kind, as hierarchy:geo, grant:texas,
namespace:kitchen, application:pos, assignment:, prohibition:, layer: or policy:."""


@click.command(
    short_help="What happened to an object, newest first.",
    help=f"""What happened to an
object, newest first: when, by whom, why, and what changed.

{OBJECT} What is gone is found by its last name.""",
)
@click.argument("object_", metavar="OBJECT")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@click.pass_obj
def history(store_url: str | None, object_: str, limit: int) -> None:
    """Print the history of one object."""

    async def body(engine: Engine) -> None:
        ref = ref_named(engine, object_, engine.view)
        lines = (
            await engine.history_of_gone(*kind_and_name(object_))
            if ref is None
            else await engine.history(ref)
        )
        for line in islice(lines, limit):
            _print_line(line, engine.view)
        if (more := len(lines) - limit) > 0:
            click.echo(f"and {counted(more, 'earlier change')}; --limit shows more")

    ask(store_url, body)


@click.command(
    short_help="Take part of the fleet back to what it was.",
    help=f"""Take part of the
fleet back to what it was at an earlier revision or time, as one changeset like any other.

{OBJECT} A group comes with everything below it and the memberships there; the word everything takes
the whole fleet back. What cannot come back is listed.""",
)
@click.argument("object_", metavar="OBJECT")
@click.option("--to", required=True, metavar="REVISION|TIME", help="The state to go back to.")
@ACTOR
@click.option("--reason", help="Why. [default: revert OBJECT to REVISION]")
@LOSS
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.pass_obj
def revert(
    store_url: str | None,
    object_: str,
    to: str,
    actor: str | None,
    reason: str | None,
    expect_loss: int | None,
    dry_run: bool,
) -> None:
    """Revert one object, a subtree or everything."""
    settings = settings_for(store_url)

    async def body(engine: Engine) -> None:
        when = moment(to)
        author = author_of(settings, actor)
        scope = await _scope(engine, object_, when)
        plan = await engine.plan_revert(scope, when, author.acting_for)
        count = len(plan.command.changes)
        _print_left(plan)
        if not count:
            click.echo(f"nothing to take back        {at_revision(engine.view)}")
            return
        batch = Batch(
            (plan.command,),
            author.name,
            reason or f"revert {object_} to {to}",
            expected_loss=expect_loss,
        )
        if dry_run:
            found = await engine.preview(batch, author.acting_for)
            click.echo(f"{counted(len(found.changes), 'object')} would be taken back")
            click.echo("\n".join(consequence_lines(found, engine.view)))
            return
        receipt = await engine.execute(batch, author.acting_for)
        click.echo(f"{counted(count, 'object')} taken back        revision {receipt.revision:,}")

    ask(store_url, body, write=not dry_run)


@click.command(short_help="Clusters that break the declared standards.")
@AS_OF
@click.option("--limit", type=click.IntRange(0), default=NAMES_SHOWN_MAX, show_default=True)
@click.pass_obj
def report(store_url: str | None, as_of: str | None, limit: int) -> None:
    """Clusters that break the declared standards: a required hierarchy, an allowed value."""

    async def body(engine: Engine) -> None:
        view = await view_at(engine, as_of)
        broken = 0
        for standard in engine.standards(view):
            broken += bool(standard.broken)
            mark = f"{len(standard.broken):,} break it" if standard.broken else "holds"
            click.echo(f"{standard.rule}: {mark}")
            for number in islice(standard.broken, limit):
                click.echo(f"  {view.cluster_name(number)}")
            if standard.broken and (more := len(standard.broken) - limit) > 0:
                click.echo(f"  and {more:,} more")
        click.echo(f"{counted(broken, 'standard')} broken        {at_revision(view)}")

    ask(store_url, body)


async def _scope(engine: Engine, text: str, when: Revision | datetime) -> Scope:
    """What ``text`` names now and what it named then: the old holder of a name replaces the new."""
    if text == EVERYTHING:
        return Everything()
    views = (await engine.as_of(when), engine.view)
    refs = dict.fromkeys(ref_named(engine, text, view) for view in views)
    parts = tuple(
        Subtree(GroupNumber(int(ref.key))) if ref.kind is Kind.GROUP else ref
        for ref in refs
        if ref is not None
    )
    if not parts:
        if text.startswith("/"):
            group_named(engine, text, engine.view)  # refuses, with the nearest names
        raise NotFound(
            f"there is no {kind_and_name(text)[0].replace('_', ' ')} {quoted(text)}, now or then",
            hint="check the name; trellis history finds what is gone",
        )
    return parts[0] if len(parts) == 1 else Parts(parts)


def _print_line(line: HistoryLine, view: Snapshot) -> None:
    when = line.at.strftime("%Y-%m-%d %H:%M:%SZ")
    who = f"{line.actor} for {line.on_behalf_of}" if line.on_behalf_of else line.actor
    click.echo(f"revision {line.revision:,}  {when}  {who}: {quoted(line.reason)}")
    for each in describe(line.change, view):
        click.echo(f"  {each}")


def _print_left(plan: RevertPlan) -> None:
    for left in plan.left[:LEFT_SHOWN_MAX]:
        click.echo(f"left as it is: {left}")
    if (more := len(plan.left) - LEFT_SHOWN_MAX) > 0:
        click.echo(f"left as it is: and {more:,} more")
