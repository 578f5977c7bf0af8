"""Keep a git repository, or a directory, equal to what should run."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import click
import uvloop

from api.telemetry.logs import log_to
from api.telemetry.traces import Traces, trace_id
from cli.artifacts import artifacts_of
from cli.output import columns
from cli.problems import print_refusal
from cli.progress import progress
from cli.session import settings_for
from cli.settings import Settings, log_service_links
from cli.wiring import open_output, open_source
from graph.effective.portion import Overlays, Pointers
from graph.model.errors import Rejected
from graph.model.names import counted
from graph.model.publication import HeldBack
from renderer.limits import Limits
from renderer.message import Message
from renderer.overlay.building import Builder
from renderer.plan.retry_queue import RetryQueue
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.work.errands import Errands, Rehearsed, Verified
from renderer.work.history import OtherHistory
from renderer.work.measures import Measures
from renderer.work.planner import planner, reworded, stamp
from renderer.work.publishing import Published, Publishing
from renderer.work.worker import Worker

HERE = "store"
"""What ``--from`` takes for the fleet of the store itself."""
SHOWN_MAX = 1_000
"""Files that are listed."""
HELD_SHOWN_MAX = 20
"""Lines about what is held back."""
HELD = 3
"""The exit code where everything is done, and something is held back."""
OTHER_HISTORY = 4
"""The exit code where the output belongs to another history."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done."""

    once: bool
    dry_run: bool
    verify: bool
    confirm: str
    serve: bool = False
    anew: bool = False

    @property
    def ends(self) -> bool:
        """Whether it comes to an end by itself."""
        return self.once or self.dry_run or self.verify or bool(self.confirm)


@click.command(short_help="Keep a git repository equal to what should run.")
@click.option("--from", "source", metavar="URL|store", help="The API, instead of the setting's.")
@click.option("--to", "output", metavar="OUTPUT", help="git:PATH_OR_URL#BRANCH, or dir:PATH.")
@click.option("--once", is_flag=True, help="Publish up to now and end.")
@click.option("--dry-run", is_flag=True, help="Say what would be published, and why; publish not.")
@click.option("--verify", is_flag=True, help="Render everything and compare; 1 if it differs.")
@click.option("--adopt", is_flag=True, help="Go on from what other settings have made.")
@click.option(
    "--anew", is_flag=True, help="Render everything; the output is this fleet's from then on."
)
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
) -> int:
    """Keep a git repository equal to what should run.

    Follows the API until told to stop, and goes on where the newest commit ended. With --store, or
    --from store, the fleet is read from the store itself. SIGTERM and Ctrl-C let a commit under
    way finish. A worker waits while its fleet is behind what is published, and stops where that
    was published from another history. --anew gives the output to this fleet: the other worker
    stops then, and what would be deleted is held until it is confirmed.

    Exit codes: 0 everything is published; 1 refused or failed; 2 wrong usage;
    3 done, and something is held back; 4 the output belongs to another history.
    """
    if sum(map(bool, (dry_run, verify, confirm))) > 1:
        raise click.UsageError("--dry-run, --verify and --confirm exclude each other")
    if serve and (once or dry_run or verify or confirm):
        raise click.UsageError("--serve is for a worker that goes on")
    here = source == HERE or (source is None and store_url is not None)
    settings = _given(settings_for(store_url), None if here else source, output)
    task = Task(once, dry_run, verify, confirm, serve, anew)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            return runner.run(_render(settings, task, here=here, adopt=adopt))
        except OtherHistory as error:
            print_refusal(error)
            return OTHER_HISTORY


async def _render(settings: Settings, task: Task, *, here: bool, adopt: bool) -> int:
    secret = settings.source.token.get_secret_value()
    work = asyncio.current_task()
    assert work is not None, "it runs in one"
    with log_to(settings.telemetry, secrets=[secret], trace_id=trace_id):
        log_service_links()
        traces = Traces(settings.telemetry)
        try:
            with _stopping(work.cancel):
                given = _publishing(settings, traces, task, here=here, adopt=adopt)
                async with given as (publishing, tidy):
                    return await _do(task, publishing, settings, tidy)
        except asyncio.CancelledError:
            click.echo("stopped; what was published stays", err=True)
            return 0
        finally:
            await asyncio.to_thread(traces.close)


@asynccontextmanager
async def _publishing(
    settings: Settings, traces: Traces, task: Task, *, here: bool, adopt: bool
) -> AsyncGenerator[tuple[Publishing, Callable[[], object] | None]]:
    """Everything a worker needs, given back at the end."""
    bounds = WaveBounds(settings.render.lost_clusters_max, settings.render.lost_percent_max)
    builder = Builder.of(settings.render.build_with, settings.render.build_seconds_max)
    async with AsyncExitStack() as stack:
        source = await stack.enter_async_context(open_source(settings, here=here))
        if task.ends:  # whoever cannot be asked is found out before an output is made
            await source.locate((), "")
        output, tidy = await asyncio.to_thread(open_output, settings)
        stack.callback(output.close)
        sandbox = stack.enter_context(closing(Sandbox(Limits(**settings.template.model_dump()))))
        measures = stack.enter_context(closing(Measures()))
        deliver = not (task.dry_run or task.verify)
        artifacts = artifacts_of(settings, output, serve=task.serve, deliver=deliver)
        publisher = await stack.enter_async_context(artifacts)
        publishing = Publishing(
            source,
            publisher,
            planner(
                settings.format,
                sandbox,
                bounds,
                queue=RetryQueue(settings.render.retry_rounds_max),
                builder=builder,
            ),
            stamp(settings.format),
            name=settings.render.name,
            measures=measures,
            trace=traces.work,
            adopt=adopt,
            stale=reworded(settings.format),
        )
        stack.callback(publishing.close)
        host, port = settings.render.metrics_host, settings.render.metrics_port
        stack.enter_context(measures.served(host, port))
        yield publishing, tidy


async def _do(
    task: Task, publishing: Publishing, settings: Settings, tidy: Callable[[], object] | None
) -> int:
    if not task.ends:
        worker = Worker(publishing, settings.render, settings.source, upkeep=tidy, anew=task.anew)
        await worker.run()
    with progress("rendering") as advance:
        errands = Errands(publishing, _watching(advance))
        told = await _done(task, errands)
    return told()


async def _done(task: Task, errands: Errands) -> Callable[[], int]:
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


def _print_plan(rehearsed: Rehearsed) -> int:
    rows = [
        ("write" if written else "delete", path, _why(path, rehearsed))
        for path, written in rehearsed.changes.items()
    ]
    _print_rows(rows)
    written = sum(rehearsed.changes.values())
    removed = len(rehearsed.changes) - written
    revision = rehearsed.complete.revision
    click.echo(f"would write {written:,} and delete {removed:,} files at revision {revision:,}")
    _print_held(rehearsed.held)
    return 0


def _why(path: str, rehearsed: Rehearsed) -> str:
    """Why a file differs: what is told of it, or of the nearest directory it is in."""
    while path:
        if path in rehearsed.why:
            return rehearsed.why[path]
        path = path.rpartition("/")[0]
    return ""


def _print_published(published: Published) -> int:
    revision = published.complete.revision
    if not published.commit:
        click.echo(f"nothing differs        revision {revision:,}")
        return _print_held(published.held)
    written = sum(published.changes.values())
    removed = len(published.changes) - written
    restored = f", {len(published.restored):,} put back" if published.restored else ""
    click.echo(
        f"{counted(written, 'file')} written, {removed:,} deleted{restored}"
        f"        revision {revision:,}"
        f"        {published.head.commit}"
    )
    return _print_held(published.held)


def _print_held(held: Sequence[HeldBack]) -> int:
    """Say what is held back; the exit code of that."""
    if not held:
        return 0
    rows = [
        (each.application or "the fleet's settings", each.reason, each.message)
        for each in held[:HELD_SHOWN_MAX]
    ]
    click.echo(columns(rows, indent="  "))
    names = len({each.application for each in held})
    clusters = sum(each.clusters for each in held)
    click.echo(
        f"held back: {counted(names, 'application')} on {counted(clusters, 'cluster')}, which keep"
        " what they had; .trellis/held.json says where and since when"
    )
    return HELD


def _print_differences(verified: Verified) -> int:
    differences = verified.differences.items()
    rows = [("differs" if new else "not wanted", path, "") for path, new in differences]
    rows += [("changed by others", path, "") for path in verified.restored]
    _print_rows(rows)
    if rows:
        raise Rejected(
            f"{counted(len(rows), 'file')} {'differs' if len(rows) == 1 else 'differ'} from what"
            f" revision {verified.revision:,} renders to",
            hint=_remedy(verified),
        )
    click.echo(f"nothing differs        revision {verified.revision:,}")
    return _print_held(verified.held)


def _remedy(verified: Verified) -> str:
    """What mends the differences.

    A worker that goes on from its last commit puts back what others edited, and takes for right
    what that commit holds: only rendering everything corrects it.
    """
    if verified.differences:
        return (
            "a worker published this, and does not look at it again by itself; write everything"
            " again: trellis render --once --anew"
        )
    return "somebody else edited them; find out who, and put them back: trellis render --once"


def _print_rows(rows: list[tuple[str, str, str]]) -> None:
    if rows:
        click.echo(columns(rows[:SHOWN_MAX]))
    if len(rows) > SHOWN_MAX:
        click.echo(f"... and {len(rows) - SHOWN_MAX:,} more")
