"""Keep a git repository, or a directory, equal to what should run."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import click
import uvloop

from api.telemetry.logs import log_to
from api.telemetry.traces import Traces, trace_id
from cli.artifacts import artifacts_of
from cli.output import columns
from cli.progress import progress
from cli.session import settings_for
from cli.settings import Settings
from cli.wiring import open_output, open_source
from graph.effective.portion import Overlays, Pointers
from graph.model.errors import Rejected
from graph.model.names import counted
from renderer.limits import Limits
from renderer.message import Message
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.work.errands import Errands, Rehearsed, Verified
from renderer.work.measures import Measures
from renderer.work.planner import planner, reworded, stamp
from renderer.work.publishing import Published, Publishing
from renderer.work.worker import Worker

HERE = "store"
"""What ``--from`` takes for the fleet of the store itself."""
SHOWN_MAX = 1_000
"""Files that are listed."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done."""

    once: bool
    dry_run: bool
    verify: bool
    confirm: str
    serve: bool = False
    anew: bool = False


@click.command(short_help="Keep a git repository equal to what should run.")
@click.option("--from", "source", metavar="URL|store", help="The API, instead of the setting's.")
@click.option("--to", "output", metavar="OUTPUT", help="git:PATH_OR_URL#BRANCH, or dir:PATH.")
@click.option("--once", is_flag=True, help="Publish up to now and end.")
@click.option("--dry-run", is_flag=True, help="Say what would be published, and why; publish not.")
@click.option("--verify", is_flag=True, help="Render everything and compare; 1 if it differs.")
@click.option("--adopt", is_flag=True, help="Go on from what other settings have made.")
@click.option("--anew", is_flag=True, help="Render everything, as after a restore of the fleet.")
@click.option("--confirm", metavar="APPLICATION", default="", help="Let a held wave of it go.")
@click.option("--serve", is_flag=True, help="Serve stores what is published, as OCI artifacts.")
@click.pass_obj
def render(
    store_url: str | None,
    source: str | None,
    output: str | None,
    once: bool,
    dry_run: bool,
    verify: bool,
    adopt: bool,
    anew: bool,
    confirm: str,
    serve: bool,
) -> None:
    """Keep a git repository equal to what should run.

    Follows the API until told to stop, and goes on where the newest commit ended. With --store, or
    --from store, the fleet is read from the store itself. SIGTERM and Ctrl-C let a commit under
    way finish. Where the API never comes as far as the newest commit, its fleet was restored from a
    backup: --anew goes on from what it has now, and holds what would go.
    """
    if sum(map(bool, (dry_run, verify, confirm))) > 1:
        raise click.UsageError("--dry-run, --verify and --confirm exclude each other")
    if serve and (once or dry_run or verify or confirm):
        raise click.UsageError("--serve is for a worker that goes on")
    here = source == HERE or (source is None and store_url is not None)
    settings = _given(settings_for(store_url), None if here else source, output)
    task = Task(once, dry_run, verify, confirm, serve, anew)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_render(settings, task, here=here, adopt=adopt))


async def _render(settings: Settings, task: Task, *, here: bool, adopt: bool) -> None:
    secret = settings.source.token.get_secret_value()
    work = asyncio.current_task()
    assert work is not None, "it runs in one"
    with log_to(settings.telemetry, secrets=[secret], trace_id=trace_id):
        traces = Traces(settings.telemetry)
        try:
            with _stopping(work.cancel):
                given = _publishing(settings, traces, task, here=here, adopt=adopt)
                async with given as (publishing, tidy):
                    await _do(task, publishing, settings, tidy)
        except asyncio.CancelledError:
            click.echo("stopped; what was published stays", err=True)
        finally:
            await asyncio.to_thread(traces.close)


@asynccontextmanager
async def _publishing(
    settings: Settings, traces: Traces, task: Task, *, here: bool, adopt: bool
) -> AsyncGenerator[tuple[Publishing, Callable[[], object] | None]]:
    """Everything a worker needs, given back at the end."""
    bounds = WaveBounds(settings.render.lost_clusters_max, settings.render.lost_percent_max)
    sandbox = Sandbox(Limits(**settings.template.model_dump()))
    measures = Measures()
    output, tidy = await asyncio.to_thread(open_output, settings)
    try:
        async with (
            open_source(settings, here=here) as source,
            artifacts_of(
                settings, output, serve=task.serve, deliver=not (task.dry_run or task.verify)
            ) as publisher,
        ):
            publishing = Publishing(
                source,
                publisher,
                planner(settings.format, sandbox, bounds),
                stamp(settings.format),
                name=settings.render.name,
                measures=measures,
                trace=traces.work,
                adopt=adopt,
                stale=reworded(settings.format),
            )
            try:
                with measures.served(settings.render.metrics_host, settings.render.metrics_port):
                    yield publishing, tidy
            finally:
                publishing.close()
    finally:
        sandbox.close()
        output.close()
        measures.close()


async def _do(
    task: Task, publishing: Publishing, settings: Settings, tidy: Callable[[], object] | None
) -> None:
    if not (task.once or task.dry_run or task.verify or task.confirm):
        worker = Worker(publishing, settings.render, settings.source, upkeep=tidy, anew=task.anew)
        await worker.run()
        return
    with progress("rendering") as advance:
        errands = Errands(publishing, _watching(advance))
        told = await _done(task, errands)
    told()


async def _done(task: Task, errands: Errands) -> Callable[[], None]:
    """Do an errand; what is to be said of it, once nothing else is on the screen."""
    if task.dry_run:
        return partial(_print_plan, await errands.rehearse())
    if task.verify:
        return partial(_print_differences, await errands.verify())
    return partial(_print_published, await errands.once(confirm=task.confirm, anew=task.anew))


def _watching(advance: Callable[[int], None]) -> Callable[[Message], None]:
    def watch(message: Message) -> None:
        match message:
            case Pointers(pointers):
                advance(len(pointers))
            case Overlays(overlays):
                advance(len(overlays))
            case _:
                pass

    return watch


@contextmanager
def _stopping(stop: Callable[[], object]) -> Generator[None]:
    """The first signal to end lets a commit finish; the second does what it always does."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)

    def begin() -> None:
        for each in signals:
            loop.remove_signal_handler(each)
        stop()

    for each in signals:
        with suppress(NotImplementedError):  # not every system's loop can
            loop.add_signal_handler(each, begin)
    try:
        yield
    finally:
        for each in signals:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(each)


def _given(settings: Settings, source: str | None, output: str | None) -> Settings:
    changed: dict[str, object] = {}
    if source is not None:
        changed["source"] = settings.source.model_copy(update={"url": source})
    if output is not None:
        changed["render"] = settings.render.model_copy(update={"output": output})
    return settings.model_copy(update=changed)


def _print_plan(rehearsed: Rehearsed) -> None:
    rows = [
        ("write" if written else "delete", path, _why(path, rehearsed))
        for path, written in rehearsed.changes.items()
    ]
    _print_rows(rows)
    written = sum(rehearsed.changes.values())
    removed = len(rehearsed.changes) - written
    revision = rehearsed.complete.revision
    click.echo(f"would write {written:,} and delete {removed:,} files at revision {revision:,}")


def _why(path: str, rehearsed: Rehearsed) -> str:
    """Why a file differs: what is told of it, or of the nearest directory it is in."""
    while path:
        if path in rehearsed.why:
            return rehearsed.why[path]
        path = path.rpartition("/")[0]
    return ""


def _print_published(published: Published) -> None:
    revision = published.complete.revision
    if not published.commit:
        click.echo(f"nothing differs        revision {revision:,}")
        return
    written = sum(published.changes.values())
    removed = len(published.changes) - written
    restored = f", {len(published.restored):,} put back" if published.restored else ""
    click.echo(
        f"{counted(written, 'file')} written, {removed:,} deleted{restored}"
        f"        revision {revision:,}"
        f"        {published.head.commit}"
    )


def _print_differences(verified: Verified) -> None:
    differences = verified.differences.items()
    rows = [("differs" if new else "not wanted", path, "") for path, new in differences]
    rows += [("changed by others", path, "") for path in verified.restored]
    _print_rows(rows)
    if rows:
        raise Rejected(
            f"{counted(len(rows), 'file')} {'differs' if len(rows) == 1 else 'differ'} from what"
            f" revision {verified.revision:,} renders to",
            hint="look who writes there; a worker brings them back: trellis render --once",
        )
    click.echo(f"nothing differs        revision {verified.revision:,}")


def _print_rows(rows: list[tuple[str, str, str]]) -> None:
    if rows:
        click.echo(columns(rows[:SHOWN_MAX]))
    if len(rows) > SHOWN_MAX:
        click.echo(f"... and {len(rows) - SHOWN_MAX:,} more")
