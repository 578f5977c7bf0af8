"""The demo: a sample fleet in an embedded store, asked, explained, changed, rendered and served.

Times are medians of repeated calls in this process, with the engine's memory of earlier answers
switched off: what is timed is the work, not the remembering.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click

from cli.demo_gitops import check_repository, for_demo, remove_repository, tell_in_git
from cli.demo_queries import QUERIES
from cli.demo_story import is_begun, is_told
from cli.documents import Placed
from cli.loading import load_commands
from cli.output import at_revision, columns, share_of
from cli.progress import progress
from cli.reasons import reasons
from cli.running import run
from cli.sample import SEED_SENTENCE, reference_selectors, sample
from cli.sample_workload import chapters
from cli.session import group_named
from cli.settings import Settings, StoreSettings, read_settings
from cli.signing import local_author
from cli.wiring import checkpoint_directory, embedded_path, open_engine
from graph.engine import Engine
from graph.facets import ByGroup, ByLabel
from graph.model.command import COMMANDS_MAX, Batch, Join, SaveSelector
from graph.model.errors import Invalid
from graph.model.names import ClusterNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.view import subtree

MARK = "seed-sentence"
"""The saved selector that is written last: a store that has it is complete."""
REPEATS = 41
SENTENCE = (
    "which are the company-owned, large stores in the northeastern US\n"
    "with a multi-lane drive-through and an Acme3000 or Acme3001 grill?"
)
QUESTIONS = (
    "/geo/us/northeast and size = large and lanes >= 2",
    "/geo/us/*/fl and /planogram/seasonal/swimsuits",
    "sqft >= 8000 and opened < 1990 and not /franchise/corporate",
    f"@{MARK} and ring in (beta, pilot)",
)


@click.command(short_help="A sample fleet, asked, explained, changed, rendered, served.")
@click.option("--clusters", type=click.IntRange(100, 1_000_000), help="How large. [default: 60000]")
@click.option("--fresh", is_flag=True, help="Build the fleet anew even if it is there.")
@click.option("--serve/--no-serve", default=True, help="Serve the fleet at the end, or not.")
def demo(clusters: int | None, fresh: bool, serve: bool) -> None:
    """A sample fleet in an embedded store: asked, explained, changed, rendered and served."""
    settings = read_settings()
    settings = _demo_settings(settings)
    run(_demo(settings, clusters, fresh=fresh))
    if serve:
        _serve(settings)


async def _demo(settings: Settings, asked: int | None, *, fresh: bool) -> None:
    bounds = settings.graph.model_copy(update={"answers_kept_max": 0, "selectors_kept_max": 0})
    check_repository(settings)
    there = await _complete(settings) if _file(settings).exists() else None
    clusters = asked or (settings.demo.clusters if fresh or there is None else there)
    if not fresh and there is not None and asked not in (None, there):
        raise Invalid(
            f"the demo's fleet has {there:,} clusters, and not {asked:,}",
            hint="leave --clusters out to go on with it, or build it anew with --fresh",
        )
    if fresh or there is None:
        _remove(settings)
        remove_repository(settings)
        async with open_engine(settings, write=True, create=True, bounds=bounds) as engine:
            await _build(engine, clusters)
    started = time.perf_counter()
    async with open_engine(settings, write=True, bounds=bounds) as engine:
        view = engine.view
        click.echo(
            f"opened {len(view.everything()):,} clusters in {_groups(engine):,} groups of"
            f" {len(view.hierarchies())} hierarchies in {time.perf_counter() - started:.2f} s"
            f"        {at_revision(view)}"
        )
        _answer(engine, clusters)
        await _explain(engine)
        _count(engine)
        await _change_and_undo(engine)
        await tell_in_git(engine, settings, local_author().name)
        await _verify(engine)
    click.echo(_next(settings))


def _serve(settings: Settings) -> None:
    from cli.serve import run_server  # the server's imports are for those who serve

    quiet = settings.telemetry.model_copy(update={"logs": "text", "level": "warning"})
    click.echo("\nthe same fleet over GraphQL; paste these into the console:")
    for title, query in QUERIES:
        click.echo(f"\n# {title}\n{query}")
    click.echo("")
    run_server(settings.model_copy(update={"telemetry": quiet}))


async def _complete(settings: Settings) -> int | None:
    """How many clusters the fleet has if it is whole; refused while somebody else uses it."""
    async with open_engine(settings, write=True) as engine:
        view = engine.view
        whole = view.saved_selector(MARK) is not None and bool(view.workload.assignments)
        if not whole or is_begun(view) != is_told(view):
            return None
        return len(view.everything()) - is_begun(view)


async def _build(engine: Engine, clusters: int) -> None:
    started = time.perf_counter()
    with progress("loading the sample fleet") as advance:
        loaded = await load_commands(
            engine,
            _placed(clusters),
            author=local_author(),
            reason=f"a sample fleet of {clusters:,} clusters",
            batch_commands=COMMANDS_MAX,
            salt="",
            advance=advance,
        )
    for chapter in chapters():
        await engine.execute(Batch(chapter.commands, local_author().name, chapter.reason))
    save = SaveSelector(MARK, SEED_SENTENCE, "The seed sentence")
    await engine.execute(Batch((save,), local_author().name, "the fleet is complete"))
    seconds = time.perf_counter() - started
    click.echo(
        f"loaded {loaded.commands:,} commands in {loaded.batches:,} batches, and what the fleet"
        f" runs, in {seconds:.1f} s"
    )


def _placed(clusters: int) -> Iterator[Placed]:
    return (Placed(command, "the sample fleet") for command in sample(clusters))


def _answer(engine: Engine, clusters: int) -> None:
    click.echo(f"\n{SENTENCE}\n")
    click.echo(f"that, and others: medians of {REPEATS} calls, nothing remembered between them\n")
    texts = [SEED_SENTENCE, *QUESTIONS]
    texts += [text for name, text in reference_selectors(clusters).items() if name != "Q1"]
    rows = [("CLUSTERS", "READ", "EVALUATE", "SELECTOR")]
    for text in texts:
        selector = engine.parse(text)
        found = engine.resolve(selector)
        read = _median_us(partial(engine.parse, text))
        evaluate = _median_us(partial(engine.resolve, selector))
        rows.append((f"{len(found):,}", f"{read:,.0f} us", f"{evaluate:,.0f} us", _short(text)))
    click.echo(columns(rows, right=(0, 1, 2), indent="  "))


async def _explain(engine: Engine) -> None:
    """A cluster that misses the sentence by one clause is worth a look."""
    almost = engine.resolve(SEED_SENTENCE.replace("/franchise/corporate and ", ""))
    number = next(iter(almost - engine.resolve(SEED_SENTENCE)), None)
    if number is None:
        return
    name = engine.view.cluster_name(number)
    click.echo(f"\nwhy is {name} not in the first answer?\n")
    await reasons(engine, name, SEED_SENTENCE, engine.view, indent="  ")


def _count(engine: Engine) -> None:
    view = engine.view
    within = engine.resolve(SEED_SENTENCE)
    place = ByGroup(group_named(engine, "/geo/us/northeast", view))
    for title, dimension in (("by state", place), ("by ring", ByLabel("ring"))):
        buckets = engine.facet(dimension, within=within)
        spent = _median_us(partial(engine.facet, dimension, within=within))
        counts = ", ".join(f"{_leaf(each.value)} {each.clusters:,}" for each in buckets)
        click.echo(f"\nthe seed sentence {title} ({spent:,.0f} us): {counts}")


async def _change_and_undo(engine: Engine) -> None:
    almost = engine.resolve(SEED_SENTENCE.replace("/franchise/corporate and ", ""))
    number = next(iter(almost - engine.resolve(SEED_SENTENCE)), None)
    if number is None:
        return
    before = engine.view
    name = before.cluster_name(number)
    click.echo(f"\nthe company buys {name}, and gives it back\n")
    _tell(engine, "before")
    join = Join(name, "/franchise/corporate")
    await engine.execute(Batch((join,), local_author().name, "the company buys it"))
    _tell(engine, "joined /franchise/corporate")
    await _undo(engine, number, before.cursor.revision)
    _tell(engine, "reverted")


async def _undo(engine: Engine, number: ClusterNumber, revision: Revision) -> None:
    plan = await engine.plan_revert(Ref(Kind.CLUSTER, number), revision)
    await engine.execute(
        Batch((plan.command,), local_author().name, f"revert to revision {revision:,}")
    )


def _tell(engine: Engine, what: str) -> None:
    found = engine.resolve(SEED_SENTENCE)
    click.echo(f"  {what:<28}  {share_of(len(found), engine.view)}")


async def _verify(engine: Engine) -> None:
    started = time.perf_counter()
    found = await engine.verify()
    said = "log, facts, index and chain agree" if found.whole else "the record is NOT whole"
    click.echo(f"\nverify: {said} ({time.perf_counter() - started:.1f} s)")
    if not found.whole:
        raise Invalid("the demo's record is not whole", hint="run trellis demo --fresh")


def _median_us(call: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6


def _groups(engine: Engine) -> int:
    return sum(
        sum(1 for _ in subtree(engine.view, root))
        for hierarchy in engine.view.hierarchies()
        if (root := engine.view.root(hierarchy.name)) is not None
    )


def _short(text: str, length_max: int = 100) -> str:
    return text if len(text) <= length_max else f"{text[: length_max - 3]}..."


def _leaf(value: object) -> str:
    return str(value).rpartition("/")[2]


def _demo_settings(settings: Settings) -> Settings:
    directory = Path(settings.demo.directory)
    directory.mkdir(parents=True, exist_ok=True)
    store = StoreSettings(url=f"sqlite:///{directory / 'fleet.db'}")
    return for_demo(settings.model_copy(update={"store": store}))


def _file(settings: Settings) -> Path:
    return embedded_path(settings.store.url)


def _remove(settings: Settings) -> None:
    """An incomplete or differently sized fleet goes, with everything that lies beside it."""
    file = _file(settings)
    for each in file.parent.glob(f"{file.name}*"):
        if each.is_file() and not each.name.endswith(".lock"):
            each.unlink()
    if (copies := checkpoint_directory(settings)) is not None:
        shutil.rmtree(copies, ignore_errors=True)


def _next(settings: Settings) -> str:
    found = (
        "" if shutil.which("trellis") else f'\n  export PATH="{Path(sys.executable).parent}:$PATH"'
    )
    return f"""
try next, with this fleet:{found}
  export TRELLIS_STORE_URL={settings.store.url}
  trellis select '/geo/us/south and /devices/grill/acme and lanes >= 3'
  trellis tree /geo/us --depth 2 --where '@{MARK}'
  trellis cross-tab /geo/us /devices/grill
  trellis history us-northeast-ny-city003-00007"""
