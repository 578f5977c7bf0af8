"""``trellis render``: what is published, what is only said, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from api_process import APPLY, batch
from cli.documents import json_line
from cli.sample import sample
from graph.model.command import RegisterCluster
from serving import copy_store, serve
from trellis_process import Trellis as Process

Trellis = Callable[..., str]

HERE = ("render", "--from", "store")
WAIT_SECONDS = 60


def git(repository: Path, *words: str) -> str:
    """What git says."""
    done = subprocess.run(
        ["git", "-C", str(repository), *words], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.usefixtures("fleet")
def test_a_fleet_is_published_once_and_a_second_run_publishes_nothing(
    trellis: Trellis, place: Path
) -> None:
    said = trellis(*HERE, "--once", "--to", "git:out.git#live")
    assert "files written, 0 deleted        revision 1" in said
    said = trellis(*HERE, "--once", "--to", "git:out.git#live")
    assert "nothing differs        revision 1" in said
    assert git(place / "out.git", "rev-list", "--count", "live") == "1\n"
    message = git(place / "out.git", "log", "-1", "--format=%B", "live")
    assert message.startswith("Render everything at revision 1\n\n")
    assert "\nTrellis-Revision: 1." in message
    assert "\nTrellis-Renderer: 3." in message
    assert "nothing differs" in trellis(*HERE, "--verify", "--to", "git:out.git#live")


@pytest.mark.usefixtures("fleet")
def test_a_rehearsal_lists_files_and_reasons_and_makes_nothing(
    trellis: Trellis, place: Path
) -> None:
    trellis(*HERE, "--once", "--to", "dir:out")
    before = sorted(path for path in (place / "out").rglob("kustomization.yaml"))
    (place / "new.jsonl").write_text(json_line(another("new-1")))
    trellis("apply", "--reason", "a new store", "new.jsonl")
    said = trellis(*HERE, "--dry-run", "--to", "dir:out")
    assert "write  clusters/" in said
    assert "/new-1/kustomization.yaml  it is new" in said
    assert "would write 2 and delete 0 files at revision 2" in said
    assert sorted(path for path in (place / "out").rglob("kustomization.yaml")) == before


@pytest.mark.usefixtures("fleet")
def test_a_verification_names_what_somebody_changed(trellis: Trellis, place: Path) -> None:
    trellis(*HERE, "--once", "--to", "dir:out")
    edited = next((place / "out" / "clusters").rglob("kustomization.yaml"))
    edited.write_text("mine")
    said = trellis(*HERE, "--verify", "--to", "dir:out", expect=1)
    assert f"changed by others  {edited.relative_to(place / 'out')}" in said
    assert "1 files differ" in said or "1 file differs" in said


@pytest.mark.usefixtures("fleet")
def test_other_settings_are_adopted_only_when_told_to(
    trellis: Trellis, monkeypatch: pytest.MonkeyPatch
) -> None:
    trellis(*HERE, "--once", "--to", "dir:out")
    monkeypatch.setenv("TRELLIS_FORMAT_FLUX_NAMESPACE", "elsewhere")
    assert "other settings" in trellis(*HERE, "--once", "--to", "dir:out", expect=1)
    trellis(*HERE, "--once", "--adopt", "--to", "dir:out")


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "ftp:x"), "nowhere to publish"),
        (("--to", "out"), "nowhere to publish"),
        (("--to", "git:"), "nowhere to publish"),
        (("--once", "--to", "git:https://ann:pass@git.example/x.git"), "holds a credential"),
        (("--to", "dir:out", "--confirm", "till"), "nothing of"),
    ],
)
def test_what_cannot_be_is_refused(trellis: Trellis, words: tuple[str, ...], message: str) -> None:
    said = trellis(*HERE, *words, expect=1)
    assert message in said
    assert "pass" not in said.replace("pass over", "")


@pytest.mark.usefixtures("place")
def test_an_api_that_is_away_or_may_not_be_asked_in_the_open_is_said_so(trellis: Trellis) -> None:
    away = ("render", "--from", "ws://127.0.0.1:1", "--to", "dir:out", "--once")
    assert "cannot be reached" in trellis(*away, expect=1)
    open_ = ("render", "--from", "ws://api.example", "--to", "dir:out", "--once")
    assert "another machine" in trellis(*open_, expect=1)
    assert "exclude each other" in trellis("render", "--verify", "--dry-run", expect=2)


def test_a_worker_follows_a_served_fleet_until_it_is_told_to_stop(
    loaded: Path, tmp_path: Path
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    settings = {"TRELLIS_RENDER_BATCH_MILLISECONDS": "0"}
    with serve(copy_store(loaded / "trellis.db", tmp_path)) as server:
        worker = Process(tmp_path, started, settings).start(
            "render", "--from", server.url, "--to", "git:out.git"
        )
        try:
            _until(lambda: _cursor(tmp_path / "out.git").startswith("1."))
            sent = batch(another("new-1"), reason="open another store")
            httpx.post(server.graphql, json={"query": APPLY, "variables": {"input": sent}})
            _until(lambda: _cursor(tmp_path / "out.git").startswith("2."))
            worker.send_signal(signal.SIGTERM)
            _, said = worker.communicate(timeout=WAIT_SECONDS)
        finally:
            worker.kill()
            worker.wait()
    assert worker.returncode == 0, said
    assert b"stopped; what was published stays" in said
    assert git(tmp_path / "out.git", "log", "-1", "--format=%s", "main") == "open another store\n"


def _cursor(repository: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), "log", "-1", "--format=%B", "main"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.partition("Trellis-Revision: ")[2]


def _until(state: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not state():
        assert time.monotonic() < until, f"not so after {WAIT_SECONDS} s"
        time.sleep(0.02)


def another(name: str) -> RegisterCluster:
    """A store like one of the fleet's."""
    like = next(each for each in sample(400) if isinstance(each, RegisterCluster))
    return replace(like, name=name)
