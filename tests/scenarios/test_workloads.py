"""Stories about what runs where, asked through the door and answered as they are written.

A story is a page of prose. It begins with the fleet of the files it links, each loaded as one
revision; an operation (a block of GraphQL) is sent over HTTP, and the block of JSON behind it is
the whole data of the answer. Ana asks, who is an admin, unless the first line of an operation says
``# gus asks``; what others may do, the story grants them.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.documents import read_commands
from doors import Served, served
from engines import give, ticking
from graph.engine import Engine
from graph.store.embedded import EmbeddedStore
from issuer import Issuer, issuing

HERE = Path(__file__).parent
STORIES = sorted((HERE / "workloads").glob("*.md"))
FLEET = re.compile(r"\]\(([\w./]+\.yaml)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPEAKER = re.compile(r"# (\w+) asks\n")


@dataclass(frozen=True)
class Step:
    """One operation, who sends it, and the answer that is written below it."""

    line: int
    who: str
    operation: str
    answer: str


@dataclass(frozen=True)
class Story:
    """A page, taken apart."""

    fleets: tuple[Path, ...]
    steps: tuple[Step, ...]


def read(page: Path) -> Story:
    """The files a story begins with and its operations, in order."""
    text = page.read_text("utf-8")
    links = dict.fromkeys(FLEET.findall(text))
    return Story(tuple(page.parent / link for link in links), tuple(_steps(text)))


def _steps(text: str) -> Iterator[Step]:
    blocks = list(BLOCK.finditer(text))
    kinds = [block[1] for block in blocks]
    assert kinds == ["graphql", "json"] * (len(kinds) // 2), "an operation, then its answer"
    for asked, answered in zip(blocks[::2], blocks[1::2], strict=True):
        speaker = SPEAKER.match(asked[2])
        line = text.count("\n", 0, asked.start()) + 1
        yield Step(line, speaker[1] if speaker else "ana", asked[2], answered[2])


@asynccontextmanager
async def begun(fleets: Iterable[Path], directory: Path, issuer: Issuer) -> AsyncIterator[Served]:
    """The fleet a story begins with, behind the door."""
    store = await EmbeddedStore.open(directory / "fleet.db", write=True, create=True)
    engine = await Engine.open(store, now=ticking())
    try:
        for file in fleets:
            commands = [placed.command for placed in read_commands(str(file))]
            await give(engine, *commands, reason="the first stores")
        async with served(engine, issuer=issuer) as door:
            yield door
    finally:
        await engine.close()


async def said(door: Served, issuer: Issuer, step: Step) -> Any:
    """What the door answers to one step."""
    token = door.tokens["ana"] if step.who == "ana" else issuer.token(sub=step.who)
    answer = await door.client.post(
        "/graphql",
        json={"query": step.operation},
        headers={"authorization": f"Bearer {token}"},
    )
    body = answer.json()
    assert "errors" not in body, body["errors"]
    return body["data"]


def laid_out(answer: Any) -> str:
    """An answer as text in which a difference is easily seen, and 1, 1.0 and true differ."""
    return json.dumps(answer, indent=1, sort_keys=True, ensure_ascii=False)


@pytest.fixture(scope="module")
def an_issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Issuer]:
    with issuing(tmp_path_factory.mktemp("issuer")) as running:
        yield running


def test_there_are_stories() -> None:
    assert len(STORIES) >= 15
    assert all(read(page).fleets and read(page).steps for page in STORIES)


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
async def test_a_story_happens_as_it_is_told(page: Path, tmp_path: Path, an_issuer: Issuer) -> None:
    story = read(page)
    async with begun(story.fleets, tmp_path, an_issuer) as door:
        for step in story.steps:
            answer = await said(door, an_issuer, step)
            place = f"{page.name}, line {step.line}"
            assert laid_out(answer) == laid_out(json.loads(step.answer)), place
