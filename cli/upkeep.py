"""Keeping the store well: verify, backup, restore, compact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from cli.output import at_revision, columns
from cli.progress import Advance, progress
from cli.running import run
from cli.session import ask, settings_for
from cli.wiring import archive_directory, open_embedded, snapshot_file
from graph.engine import Engine
from graph.model.errors import Invalid
from graph.model.names import Revision


@click.command(short_help="Prove that log, facts and index agree.")
@click.pass_obj
def verify(store_url: str | None) -> int:
    """Prove that log, facts, index and hash chain agree, or name the first difference."""

    async def body(engine: Engine) -> bool:
        found = await engine.verify()
        rows = [
            ("no" if each.difference else "yes", each.check, f"{each.compared:,} compared")
            for each in found.findings
        ]
        click.echo(columns(rows, right=(2,), indent="  "))
        for each in found.findings:
            if each.difference:
                click.echo(f"first difference: {each.difference}")
        said = "the record is whole" if found.whole else "the record is NOT whole"
        click.echo(f"{said}        revision {found.cursor.revision:,}")
        return found.whole

    return 0 if ask(store_url, body) else 1


@click.command(short_help="Copy the store to a file, while it is in use.")
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def backup(store_url: str | None, file: Path) -> None:
    """Copy the embedded store to FILE, checked, while it is in use."""
    settings = settings_for(store_url)

    async def work() -> Revision:
        async with open_embedded(settings, write=False) as store:
            with progress("copying pages") as advance:
                await store.backup(file, progress=_stepped(advance))
            return (await store.head()).cursor.revision

    revision = run(work())
    click.echo(f"backed up to {file}        revision {revision:,}")


@click.command(short_help="Replace the store by a backup.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def restore(store_url: str | None, file: Path, yes: bool) -> int:
    """Replace the embedded store by the backup FILE. The backup is checked first."""
    settings = settings_for(store_url)
    if not yes and not click.confirm(f"replace {settings.store.url} by {file}?", err=True):
        click.echo("left as it is", err=True)
        return 1

    async def work() -> Revision:
        async with open_embedded(settings, write=True) as store:
            with progress("restoring pages") as advance:
                head = await store.restore(file, progress=_stepped(advance))
        if (copy := snapshot_file(settings)) is not None:
            copy.unlink(missing_ok=True)  # it shows the history that was replaced
        return head.cursor.revision

    click.echo(f"restored from {file}        revision {run(work()):,}")
    return 0


@click.command(short_help="Archive and drop old changesets.")
@click.option(
    "--until",
    type=click.IntRange(1),
    required=True,
    metavar="REVISION",
    help="The last revision to archive.",
)
@click.pass_obj
def compact(store_url: str | None, until: int) -> None:
    """Archive changesets up to a revision, then drop them from the log.

    The record stays: who, when, why, before and after are in the archive, and the chain stays
    checkable. The fleet as of an archived revision can no longer be asked for.
    """
    directory = archive_directory(settings_for(store_url))
    if directory is None:
        raise Invalid("there is no archive directory", hint="set TRELLIS_STORE_ARCHIVE_DIRECTORY")

    async def body(engine: Engine) -> None:
        _make(directory)
        files = await engine.compact(Revision(until))
        said = f"archived in {', '.join(map(str, files))}" if files else "nothing to archive"
        click.echo(f"{said}        {at_revision(engine.view)}")

    ask(store_url, body, write=True)


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Invalid(
            f"{directory} cannot be the archive directory: {error.strerror}",
            hint="set TRELLIS_STORE_ARCHIVE_DIRECTORY to a directory, or to where one may be made",
        ) from None


def _stepped(advance: Advance) -> Callable[[int, int], None]:
    """The store says how far it is; a bar wants to know how much further it has come."""
    done = 0

    def step(now: int, _total: int) -> None:
        nonlocal done
        advance(now - done)
        done = now

    return step
