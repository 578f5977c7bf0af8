"""``trellis render --verify`` names a remedy, and whoever follows it is done."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from changing_fleet import FLEET, OWNERS
from cli.documents import json_line
from cli.render import HELD
from renderer.publish.git import GitPublisher
from renderer.settings import FormatSettings
from renderer.tree import Told
from renderer.work.planner import stamp
from renderer_process import Record, run
from repositories import foreign_commit, git
from trellis_process import Trellis

REMEDY = re.compile(r"trellis render((?: --[a-z]+)+)")
BASE = "apps/pos/base/v1/kustomization.yaml"
BROKEN = {BASE: "resources: [missing.yaml]\n"}


def edit(record: Record) -> None:
    """Somebody edits a file, deletes one and adds one, where only the worker writes."""
    pointer, overlay = _file(record, "^clusters/"), _file(record, "^apps/grill/overlays/")
    foreign_commit(record.repository, {pointer: "mine\n", "fleet/x/x.yaml": "a: 1\n"}, (overlay,))


def publish_otherwise(record: Record) -> None:
    """A worker published something else for the revision: one file otherwise, one missing."""
    _publish(record, str(stamp(FormatSettings())))


def break_a_base(record: Record) -> None:
    """Owners push a base that names a missing file."""
    foreign_commit(record.repository, BROKEN)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A repository beside the store it was rendered from."""
    directory = tmp_path_factory.mktemp("verify")
    record = Record.made(directory / "fleet.git", OWNERS)
    (directory / "fleet.jsonl").write_text("".join(map(json_line, FLEET)))
    Trellis(directory, [])("load", "fleet.jsonl")
    run("store", record.path, directory, "--once")
    git(record.repository, "branch", "right", "main")
    return record


@pytest.fixture
def record(rendered: Record) -> Record:
    """The same, as it was rendered."""
    git(rendered.repository, "update-ref", "refs/heads/main", "refs/heads/right")
    return rendered


@pytest.mark.parametrize("meddle", [edit, publish_otherwise, break_a_base])
def test_the_remedy_that_is_named_mends_it(
    record: Record, meddle: Callable[[Record], None]
) -> None:
    directory = record.repository.parent
    meddle(record)
    said = run("store", record.path, directory, "--verify", expect=1)
    remedy = REMEDY.search(said)
    assert remedy is not None, said
    done = HELD if meddle is break_a_base else 0
    run("store", record.path, directory, *remedy[1].split(), expect=done)
    said = run("store", record.path, directory, "--verify", expect=done)
    assert "nothing differs" in said
    if meddle is break_a_base:
        assert record.is_held()
    else:
        assert record.files() == record.files("right")


def test_what_an_earlier_version_published_is_corrected_by_the_first_run(record: Record) -> None:
    _publish(record, f"2.{stamp(FormatSettings()).fingerprint}")
    assert record.files() != record.files("right")
    run("store", record.path, record.repository.parent, "--once")
    assert record.files() == record.files("right")


def _publish(record: Record, by: str) -> None:
    namespace = _file(record, "^namespaces/kitchen/.*/namespace.yaml$")
    text = record.files()[namespace].decode()
    publisher = GitPublisher.open(str(record.repository), now=lambda: 1_700_000_000)
    head = publisher.head()
    draft = publisher.begin(head)
    assert "1024Mi" in text and head.cursor is not None
    draft.write(namespace, text.replace("1024Mi", "1024.0Mi").encode())
    draft.remove(_file(record, "^clusters/"))
    draft.commit(Told("Render", "", head.cursor, by))
    publisher.close()


def _file(record: Record, pattern: str) -> str:
    return next(path for path in sorted(record.files()) if re.search(pattern, path))
