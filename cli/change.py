"""Changing the fleet: files of commands in batches or as one, and saved selectors."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import click

from cli.documents import STANDARD_INPUT, Placed, read_commands
from cli.loading import Loaded, commit, load_commands, located
from cli.output import at_revision
from cli.problems import told_hint
from cli.progress import progress
from cli.session import ask, settings_for
from cli.signing import author_of
from graph.effective.moves import Move
from graph.engine import Engine, Preview
from graph.model.change import Receipt
from graph.model.cluster_set import ClusterSet
from graph.model.command import COMMANDS_MAX, Batch, SaveSelector
from graph.model.errors import Invalid, TrellisError
from graph.model.names import Revision, counted
from graph.model.view import FleetView

NAMES_SHOWN_MAX = 5

ACTOR = click.option(
    "--actor",
    metavar="SUBJECT",
    help="Act for this subject, under their grants, if the store's owner allows it.",
)
KEY = click.option("--key", metavar="KEY", help="An idempotency key: sent twice, done once.")
EXPECTED = click.option(
    "--expected-revision", type=int, help="Refuse if what the file names has changed since."
)

LOSS = click.option(
    "--expect-loss",
    type=click.IntRange(0),
    metavar="COUNT",
    help="How many (application, cluster) pairs it may take away.",
)

DECLARE = click.option(
    "--declare-labels", is_flag=True, help="Declare label keys by their first use."
)


@click.command(short_help="Load files of commands, in batches.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@ACTOR
@click.option("--reason", help="Why. [default: load FILE]")
@click.option("--batch", type=click.IntRange(1, COMMANDS_MAX), help="Commands in one batch.")
@click.option("--again", is_flag=True, help="Also what was loaded from the same file before.")
@DECLARE
@click.pass_obj
def load(
    store_url: str | None,
    files: tuple[str, ...],
    actor: str | None,
    reason: str | None,
    batch: int | None,
    again: bool,
    declare_labels: bool,
) -> None:
    """Load files of commands, in batches: JSON lines (.jsonl) or YAML; - is standard input.

    Every file is read through before the first batch, so a file that cannot be read changes
    nothing. A load that was cut short is run again as it was: what is loaded is passed over.
    """
    settings = settings_for(store_url)
    counts = [_count(file) for file in files]

    async def body(engine: Engine) -> None:
        author = author_of(settings, actor)
        for file, count in zip(files, counts, strict=True):
            with progress(f"loading {file}", count or None) as advance:
                loaded = await load_commands(
                    engine,
                    read_commands(file),
                    author=author,
                    reason=reason or f"load {file}",
                    batch_commands=batch or settings.load.batch_commands,
                    salt=secrets.token_hex(8) if again else "",
                    advance=advance,
                    declare_labels=declare_labels,
                )
            click.echo(_told(file, loaded, engine))

    ask(store_url, body, write=True, create=True)


@click.command(short_help="Make a file of commands happen, all or nothing.")
@click.argument("file")
@ACTOR
@click.option("--reason", required=True, help="Why, for the record.")
@KEY
@EXPECTED
@LOSS
@DECLARE
@click.pass_obj
def apply(
    store_url: str | None,
    file: str,
    actor: str | None,
    reason: str,
    key: str | None,
    expected_revision: int | None,
    expect_loss: int | None,
    declare_labels: bool,
) -> None:
    """Make a file of commands happen, all or nothing, as one changeset."""
    settings = settings_for(store_url)
    placed = _one_batch(file)

    async def body(engine: Engine) -> None:
        author = author_of(settings, actor)
        batch = Batch(
            tuple(each.command for each in placed),
            author.name,
            reason,
            expected_revision=_revision(expected_revision),
            idempotency_key=key,
            expected_loss=expect_loss,
            declare_labels=declare_labels,
        )
        try:
            receipt = await engine.execute(batch, author.acting_for)
        except TrellisError as error:
            raise located(error, placed) from None
        click.echo(_receipt(receipt))

    ask(store_url, body, write=True)


@click.command(short_help="What a file of commands would do.")
@click.argument("file")
@EXPECTED
@LOSS
@DECLARE
@click.pass_obj
def preview(
    store_url: str | None,
    file: str,
    expected_revision: int | None,
    expect_loss: int | None,
    declare_labels: bool,
) -> None:
    """What a file of commands would do, computed and not written."""
    placed = _one_batch(file)

    async def body(engine: Engine) -> None:
        try:
            found = await engine.preview(
                Batch(
                    tuple(each.command for each in placed),
                    "preview",
                    "preview",
                    expected_revision=_revision(expected_revision),
                    expected_loss=expect_loss,
                    declare_labels=declare_labels,
                )
            )
        except TrellisError as error:
            raise located(error, placed) from None
        click.echo("\n".join(impact_lines(found, engine.view)))

    ask(store_url, body)


@click.command(short_help="Keep a selector under a name.")
@click.argument("name")
@click.argument("selector")
@click.option("--title", default="", help="What people read.")
@ACTOR
@click.option("--reason", help="Why. [default: save NAME]")
@LOSS
@click.pass_obj
def save(
    store_url: str | None,
    name: str,
    selector: str,
    title: str,
    actor: str | None,
    reason: str | None,
    expect_loss: int | None,
) -> None:
    """Keep a selector under a name, for use in other selectors as @NAME."""
    settings = settings_for(store_url)

    async def body(engine: Engine) -> None:
        engine.parse(selector)  # an error then points at the selector, not into a batch
        command = Placed(SaveSelector(name, selector, title), f"@{name}")
        receipt = await commit(
            engine,
            (command,),
            author=author_of(settings, actor),
            reason=reason or f"save {name}",
            key=None,
            loss=expect_loss,
        )
        count = counted(len(engine.resolve(f"@{name}")), "cluster")
        click.echo(f"@{name} selects {count}        {_receipt(receipt)}")

    ask(store_url, body, write=True)


def impact_lines(found: Preview, view: FleetView) -> Sequence[str]:
    """What a batch would do, for people."""
    if not found.changes:
        return ["nothing would change"]
    kinds = Counter(_deed(each.before is None, each.after is None) for each in found.changes)
    changes = counted(len(found.changes), "object")
    lines = [f"{changes} would change (fleet at {_at(found.base.revision)})"]
    for change in islice(found.changes, NAMES_SHOWN_MAX):
        entity = change.after or change.before
        assert entity is not None, "a change has a before or an after"
        deed = _deed(change.before is None, change.after is None)
        lines.append(f"  {deed[0]} {change.ref.kind.replace('_', ' ')} {entity.name}")
    if (more := len(found.changes) - NAMES_SHOWN_MAX) > 0:
        deeds = ", ".join(f"{count:,} {deed[1]}" for deed, count in sorted(kinds.items()))
        lines.append(f"  and {more:,} more: {deeds} in all")
    return [*lines, *consequence_lines(found, view)]


def consequence_lines(found: Preview, view: FleetView) -> Sequence[str]:
    """What a batch would move, and what it would be refused for."""
    lines: list[str] = []
    for move in found.impact.moves:
        lines.append(f"@{move.name}: {len(move.gained):,} gained, {len(move.lost):,} lost")
        lines.extend(_listed("-", move.lost, view))
        lines.extend(_listed("+", move.gained & view.everything(), view))
    for each in found.moves:
        lines.append(f"{each.application}: {_moved(each)}")
        lines.extend(_listed("-", each.lost, found.before))
        lines.extend(_listed("+", each.gained, found.after))
    if not found.impact.moves and not found.moves:
        lines.append("no saved selector and no application gains or loses a cluster")
    for refusal in found.refusals:
        lines.append(f"! {refusal.message}")
        lines.extend(f"  {reason}" for reason in refusal.reasons)
        lines.append(f"  {told_hint(refusal)}")
    return lines


def _moved(move: Move) -> str:
    blocked = (f"{len(each):,} blocked ({reason})" for reason, each in move.blocked.items())
    counts = ((move.gained, "gained"), (move.lost, "lost"), (move.reconfigured, "reconfigured"))
    told = [f"{len(clusters):,} {deed}" for clusters, deed in counts if clusters]
    return ", ".join((*told, *blocked)) or "other files, no other cluster"


def _deed(created: bool, removed: bool) -> tuple[str, str]:
    if created:
        return "+", "created"
    return ("-", "removed") if removed else ("~", "changed")


def _listed(sign: str, clusters: ClusterSet, view: FleetView) -> Sequence[str]:
    lines = [f"  {sign} {view.cluster_name(each)}" for each in islice(clusters, NAMES_SHOWN_MAX)]
    if (more := len(clusters) - NAMES_SHOWN_MAX) > 0:
        lines.append(f"  {sign} and {more:,} more")
    return lines


def _count(file: str) -> int:
    """How many commands a file holds, all of them read and none refused."""
    if file == STANDARD_INPUT:
        return 0  # it can be read only once
    count = sum(1 for _ in read_commands(file))
    if not count:
        raise _no_commands(file)
    return count


def _no_commands(file: str) -> Invalid:
    return Invalid(f"{file} holds no commands", hint="write one command a line or document")


def _one_batch(file: str) -> tuple[Placed, ...]:
    placed = tuple(islice(read_commands(file), COMMANDS_MAX + 1))
    if len(placed) > COMMANDS_MAX:
        raise Invalid(
            f"{file} holds more than {COMMANDS_MAX:,} commands",
            hint="an atomic batch is bounded; use trellis load, which makes several",
        )
    if not placed:
        raise _no_commands(file)
    return placed


def _revision(given: int | None) -> Revision | None:
    return None if given is None else Revision(given)


def _told(file: str, loaded: Loaded, engine: Engine) -> str:
    known = f", {loaded.known:,} of them loaded before" if loaded.known else ""
    commands, batches = counted(loaded.commands, "command"), counted(loaded.batches, "batch")
    return f"{commands} from {file} in {batches}{known}        {at_revision(engine.view)}"


def _receipt(receipt: Receipt) -> str:
    return _at(receipt.revision) if receipt.changed else f"{_at(receipt.revision)}, nothing changed"


def _at(revision: Revision) -> str:
    return f"revision {revision:,}"
