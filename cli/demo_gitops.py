"""The demo's repository: owners' bases first, then whatever runs, then the story commit by commit.

It is rendered as a worker does it, from the engine of this process. The repository says of itself
that it is the demo's: no other one is touched.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import click

from cli.demo_story import NEW_STORE, STORY, is_told
from cli.output import columns
from cli.progress import progress
from cli.sample_bases import base_files
from cli.settings import Settings
from cli.wiring import open_output
from graph.effective.portion import Pointers
from graph.engine import Engine
from graph.model.errors import Rejected
from renderer import paths
from renderer.git.process import Git
from renderer.limits import Limits
from renderer.message import Message
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.source.engine import EngineSource
from renderer.work.errands import Errands
from renderer.work.measures import Measures
from renderer.work.planner import planner, stamp
from renderer.work.publishing import Published, Publishing

BRANCH = "main"
_OURS = "A sample fleet, rendered by trellis demo.\n"
_DESCRIPTION = "description"
"""The file in which a repository says what it is; whoever shows repositories reads it."""
_OWNERS = "Owners of the applications <owners@stores.example>"


def for_demo(settings: Settings) -> Settings:
    """Settings that publish to the demo's repository."""
    output = f"git:{settings.demo.gitops}#{BRANCH}"
    render = settings.render.model_copy(update={"output": output, "name": "demo"})
    return settings.model_copy(update={"render": render})


def check_repository(settings: Settings) -> None:
    """Refuse a directory that is somebody else's."""
    place = Path(settings.demo.gitops)
    if place.exists() and not _is_ours(place) and not (place.is_dir() and _is_empty(place)):
        raise Rejected(
            f"{place} is there and is not the demo's",
            hint="move it away, or name another directory in TRELLIS_DEMO_GITOPS",
        )


def remove_repository(settings: Settings) -> None:
    """What was rendered of another fleet goes."""
    place = Path(settings.demo.gitops)
    if _is_ours(place):
        shutil.rmtree(place)


async def tell_in_git(engine: Engine, settings: Settings, actor: str) -> None:
    """Render what runs, and then after every turn of the story."""
    place = settings.demo.gitops
    click.echo(f"\nwhat runs where, rendered into {place}, a bare git repository\n")
    await asyncio.to_thread(_begin, Path(place))
    rows = [("WRITTEN", "DELETED", "SECONDS", "COMMIT")]
    async with _errands(engine, settings) as errands_with:
        with progress("rendering", total=len(engine.view.everything())) as advance:
            rows.append(await _rendered(errands_with(_counting(advance)), "everything"))
        for turn in () if is_told(engine.view) else STORY:
            await engine.execute(await turn.batch(engine, actor))
            rows.append(await _rendered(errands_with(lambda _: None), turn.reason))
    click.echo(columns(rows, right=(0, 1, 2), indent="  "))
    click.echo(_look(settings))


def _begin(place: Path) -> None:
    """A repository with the owners' files in it, where there is none yet."""
    if _is_ours(place):
        return
    beside = place.with_name(f"{place.name}.new")  # what is interrupted is in nobody's way
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    git = Git(beside.absolute())
    git.ask("init", "--quiet", "--bare", "--template=", f"--initial-branch={BRANCH}")
    git.ask("fast-import", "--quiet", "--date-format=now", said=_owners_commit(base_files()))
    (beside / _DESCRIPTION).write_text(_OURS, "utf-8")
    beside.replace(place)


def _owners_commit(files: Mapping[str, bytes]) -> bytes:
    """One commit, in the words of ``git fast-import``."""
    reason = b"Bases of our applications"
    said = [f"commit refs/heads/{BRANCH}\ncommitter {_OWNERS} now\n".encode(), _data(reason)]
    for path, content in files.items():
        said += [f"M 100644 inline {path}\n".encode(), _data(content)]
    return b"".join(said)


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


@asynccontextmanager
async def _errands(
    engine: Engine, settings: Settings
) -> AsyncGenerator[Callable[[Callable[[Message], None]], Errands]]:
    """What renders, for whoever watches; everything is given back at the end."""
    bounds = WaveBounds(settings.render.lost_clusters_max, settings.render.lost_percent_max)
    sandbox = Sandbox(Limits(**settings.template.model_dump()))
    measures = Measures()
    output, _ = await asyncio.to_thread(open_output, settings)
    publishing = Publishing(
        EngineSource(engine),
        output,
        planner(settings.format, sandbox, bounds),
        stamp(settings.format),
        name=settings.render.name,
        measures=measures,
        adopt=True,  # whatever settings an earlier demo had
    )
    try:
        yield lambda watch: Errands(publishing, watch)
    finally:
        publishing.close()
        sandbox.close()
        output.close()
        measures.close()


async def _rendered(errands: Errands, what: str) -> tuple[str, str, str, str]:
    started = time.perf_counter()
    published = await errands.once()
    return _row(published, time.perf_counter() - started, what)


def _row(published: Published, seconds: float, what: str) -> tuple[str, str, str, str]:
    written = sum(published.changes.values())
    removed = len(published.changes) - written
    said = what if published.commit else "nothing differs"
    return f"{written:,}", f"{removed:,}", f"{seconds:.1f}", said


def _counting(advance: Callable[[int], None]) -> Callable[[Message], None]:
    def watch(message: Message) -> None:
        if isinstance(message, Pointers):
            advance(len(message.pointers))

    return watch


def _is_ours(place: Path) -> bool:
    said = place / _DESCRIPTION
    return said.is_file() and said.read_text("utf-8", "replace") == _OURS


def _is_empty(place: Path) -> bool:
    return not any(place.iterdir())


def _look(settings: Settings) -> str:
    place = settings.demo.gitops
    pointer = f"{paths.pointer(NEW_STORE)}/{paths.KUSTOMIZATION}"
    return f"""
look at it:
  git -C {place} log --shortstat
  git -C {place} show --stat HEAD~3
  git -C {place} show {BRANCH}:{pointer}
  trellis bundle {NEW_STORE} --from git:{place}#{BRANCH}
and build a store as its cluster would (kustomize does as well as kubectl):
  git clone --quiet {place} checkout && kubectl kustomize checkout/{paths.pointer(NEW_STORE)}"""
