"""Names on their way to files: refused at the mutation, and again by whoever writes the file.

The second half plays an API that was taken over: what it says never passed the first half. Nothing
it says may be written anywhere but where the worker's own files are, and nothing at all is
published of a step in which it tries.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from api_process import Api, begun, calling
from graph.effective.portion import Line, Overlay, Overlays, Removals, RemovedLines
from graph.effective.rendition import Cause
from graph.model.command import Command, RegisterCluster
from graph.model.errors import TrellisError
from graph.model.workload import Application, Base, FieldTarget, LateBound, Namespace, Template
from graph.model.workload_command import DefineApplication, DefineNamespace
from renderer import paths
from renderer.message import Defined, Message
from renderer.plan.wave import WaveBounds
from renderer.publish.directory import DirectoryPublisher
from renderer.publish.git import GitPublisher
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from renderer.tree import Publisher
from renderer.work.errands import Errands
from renderer.work.measures import Measures
from renderer.work.planner import planner, stamp
from renderer.work.publishing import Publishing
from repositories import bare
from scripted import ScriptedSource, pointers
from small import SMALL

KEY = "0123456789abcdef"
HOSTILE = (
    "",
    ".",
    "..",
    "../x",
    "a/../../b",
    "/etc",
    ".git",
    ".git/hooks/y",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb",
    "CON",
    "nul.",
    "c:x",
    "~root",
    "-rf",
    "a.",
    "x" * 64,
    "x" * 300,
    "stоre",  # noqa: RUF001 - the letter in the middle is Cyrillic
    "ｓtore",  # noqa: RUF001 - and this one is as wide as two
    "store\u200b",
    "store\u202e",
    "ﬁsh",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    directory = tmp_path_factory.mktemp("names")
    store = f"sqlite:///{directory / 'trellis.db'}"
    async with begun(store, directory, {}, arguments=["--create"]) as server, calling(server) as it:
        assert (await it.apply(*SMALL, DefineNamespace("shop")))["__typename"] == "Applied"
        yield it


NAMED: dict[str, Callable[[str], Command]] = {
    "cluster": lambda name: RegisterCluster(name, groups=("/geo/us/ny",)),
    "namespace": DefineNamespace,
    "application": lambda name: DefineApplication(name, "shop"),
    "file": lambda name: DefineApplication("app", "shop", source=Template({name: "a: b"})),
    "base": lambda name: DefineApplication("app", "shop", source=Base(name)),
}
PLACES = {"base": {"a/b", "CON", "x" * 64}, "file": {"CON", "x" * 64}}
"""What is no name of something but of a file, of which more is allowed."""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("what", NAMED)
async def test_no_mutation_takes_such_a_name(api: Api, what: str) -> None:
    before = await api.revision()
    for name in HOSTILE:
        if name in PLACES.get(what, ()):
            continue
        answer = await api.apply(NAMED[what](name))
        assert answer["__typename"] == "Invalid", (name, answer)
    assert await api.revision() == before


@pytest.mark.parametrize("name", HOSTILE)
def test_no_path_is_made_of_such_a_name(name: str) -> None:
    makers: tuple[Callable[[], str], ...] = (
        lambda: paths.overlay(name, KEY),
        lambda: paths.overlay("app", name),
        lambda: paths.sync(name, "flux", KEY),
        lambda: paths.sync("app", name, KEY),
        lambda: paths.fleet(name),
        lambda: paths.namespace(name, KEY),
        lambda: paths.namespace("shop", name),
        lambda: paths.pointer(name),
        lambda: paths.inventory(name),
        lambda: paths.below_application(name, "base"),
    )
    for make in makers:
        with pytest.raises(TrellisError):
            make()


OUTPUTS = ("git", "directory")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def opened(output: str, place: Path) -> Publisher:
    if output == "git":
        return GitPublisher.open(str(bare(place / "out.git")), now=lambda: 1_700_000_000)
    return DirectoryPublisher.open(place / "out")


APP = Application("app", "shop", source=Template({"all.yaml": "a: b"}))


def told(cluster: str, name: str, namespace: str, key: str) -> list[Message]:
    """Everything a worker needs for one line, of whatever names."""
    application = replace(APP, name=name, namespace=namespace)
    defined = Defined((application,), (Namespace(namespace),), ())
    overlays = Overlays((Overlay(name, key, (), {}, "", 1),))
    return [defined, overlays, pointers(cluster, lines=[Line(name, namespace, key, {})])]


MENU = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: menu}\n"
TITLE = FieldTarget("ConfigMap/menu", "/data/title")


def late(bound: LateBound) -> list[Message]:
    """A line with a value that is filled in late."""
    line = Line("app", "shop", KEY, {bound.key: "x"})
    application = replace(APP, source=Template({"all.yaml": MENU}), late_bound=(bound,))
    defined = Defined((application,), (Namespace("shop"),), ())
    return [defined, told("york-1", "app", "shop", KEY)[1], pointers("york-1", lines=[line])]


LIES: dict[str, Callable[[str], list[Message]]] = {
    "cluster": lambda name: told(name, "app", "shop", KEY),
    "application": lambda name: told("york-1", name, "shop", KEY),
    "namespace": lambda name: told("york-1", "app", name, KEY),
    "key": lambda name: told("york-1", "app", "shop", name),
    "file": lambda name: [
        Defined((replace(APP, source=Template({name: "a: b"})),), (Namespace("shop"),), ()),
        *told("york-1", "app", "shop", KEY)[1:],
    ],
    "base": lambda name: [
        Defined((replace(APP, source=Base(name)),), (Namespace("shop"),), ()),
        *told("york-1", "app", "shop", KEY)[1:],
    ],
    "late-bound key": lambda name: late(LateBound(name, fields=(TITLE,))),
    "late-bound object": lambda name: late(
        LateBound("title", fields=(replace(TITLE, object=f"ConfigMap/{name}"),))
    ),
    "removal": lambda name: [Removals((name,), (RemovedLines(name, Cause.RETIRED, (name,)),))],
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("output", OUTPUTS)
async def test_an_api_that_lies_has_nothing_written_elsewhere(
    lie: str, output: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Whatever is published lies below the worker's own roots; mostly nothing is."""
    around = tmp_path / "around"
    around.mkdir()
    settings = FormatSettings.model_validate({})
    for number, name in enumerate(HOSTILE):
        place = around / str(number)
        place.mkdir()
        before = snapshot(around, but=place)
        source = ScriptedSource()
        source.say(*LIES[lie](name), revision=1)
        with closing(opened(output, place)) as publisher:
            publishing = Publishing(
                source,
                publisher,
                planner(settings, sandbox, WaveBounds()),
                stamp(settings),
                name="main",
                measures=Measures(),
            )
            with closing(publishing):
                try:
                    await Errands(publishing, lambda _: None).once()
                except TrellisError as error:
                    assert error.hint, "it says what to do"
                    assert publisher.head().commit == ""
            check_written(publisher, name)
        assert snapshot(around, but=place) == before
        assert all(each.suffix == ".sample" for each in place.rglob("hooks/*")), "no hook"


def check_written(publisher: Publisher, name: str) -> None:
    tree = publisher.head().tree
    written = tree.read(f"{paths.pointer('york-1')}/{paths.KUSTOMIZATION}")
    for line in (written or b"").splitlines():
        assert line.startswith(LINES), f"{name!r} broke out of its line"
    tops = set(tree.names(""))
    assert tops <= {"apps", "clusters", "fleet", "namespaces", ".trellis", "ansible"}, tops
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        for each in tree.names(directory):
            assert each in ("", *each.split("/")) and each not in (".", "..", ".git"), each
            assert name in ("", "CON", "x" * 64) or each != name, directory
            waiting.append(f"{directory}/{each}" if directory else each)


LINES = b"apiVersion: ", b"kind: ", b"metadata: ", b"resources:", b"- ", b"patches:", b"# app "
"""What lines of a pointer begin with."""


def snapshot(root: Path, but: Path) -> set[str]:
    """Everything below a directory, apart from one."""
    return {
        str(path)
        for path in (*root.rglob("*"), *root.parent.iterdir())
        if but not in (path, *path.parents)
    }
