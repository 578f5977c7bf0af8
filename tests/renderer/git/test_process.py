from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from graph.model.errors import Unavailable
from renderer.git.access import Limits
from renderer.git.process import Git
from repositories import bare


@pytest.fixture
def here(tmp_path: Path) -> Git:
    return Git(bare(tmp_path / "r.git"), Limits(lock_timeout_seconds=0.2))


def test_no_configuration_of_the_user_has_a_say(here, tmp_path, monkeypatch):
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Mallory\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'user.name'='Mallory'")
    assert here.run("config", "user.name").out == b""


def test_what_the_environment_says_of_git_is_not_passed_on(here, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", "/nowhere")
    monkeypatch.setenv("SECRET", "hunter2")
    assert here.ask("rev-parse", "--git-dir") == str(here.directory)
    shown = here.run("-c", "alias.show-all=!env", "show-all").out
    assert b"hunter2" not in shown
    assert b"GIT_TERMINAL_PROMPT=0" in shown
    assert b"GIT_ALLOW_PROTOCOL=https:ssh:file" in shown


def test_hooks_of_the_repository_do_not_run(here, tmp_path):
    hooks = here.directory / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "reference-transaction").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hooks / "reference-transaction").chmod(0o755)
    tree = here.ask("mktree")
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a",
        "GIT_AUTHOR_DATE": "1700000000 +0000",
    }
    identity |= {key.replace("AUTHOR", "COMMITTER"): value for key, value in identity.items()}
    commit = here.run("commit-tree", tree, said=b"x", extra=identity).out.decode().strip()
    here.ask("update-ref", "refs/heads/main", commit)
    assert not (tmp_path / "ran").exists()


def test_a_command_that_takes_too_long_is_ended_with_all_it_started(here, tmp_path):
    noted = tmp_path / "pid"
    script = f"!sh -c 'echo $$ > {noted}; exec sleep 300'"
    with pytest.raises(Unavailable, match="took longer"):
        here.run("-c", f"alias.wait={script}", "wait", timeout_seconds=1.0)
    deadline = time.monotonic() + 10
    while _runs(int(noted.read_text())) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(int(noted.read_text()))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] != "Z"
    except OSError:
        return False


def test_a_lock_that_is_let_go_of_in_time_is_waited_for(here):
    lock = here.directory / "packed-refs.lock"
    lock.touch()
    release = threading.Timer(0.3, lock.unlink)
    release.start()
    patient = replace(here, limits=Limits(lock_timeout_seconds=30))
    patient.ask("pack-refs", "--all")
    release.join()


def test_a_lock_that_is_kept_is_named(here):
    lock = here.directory / "packed-refs.lock"
    lock.touch()
    with pytest.raises(Unavailable) as refused:
        here.ask("pack-refs", "--all")
    assert str(lock) in refused.value.message
    assert "remove" in refused.value.hint


def test_what_git_says_is_told_without_control_characters(here):
    with pytest.raises(Unavailable) as refused:
        here.ask("-c", "alias.x=!printf 'bad \\033[31m thing' >&2; false", "x")
    assert "bad ?[31m thing" in refused.value.message


def test_a_machine_without_git_is_told_so(here, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="no git"):
        here.ask("version")


def test_a_child_keeps_the_handles_it_is_given(here, tmp_path):
    handle = os.open(tmp_path / "kept", os.O_CREAT | os.O_RDWR)
    kept = replace(here, kept_open=(handle,))
    listed = kept.run("-c", f"alias.x=!ls -l /proc/self/fd/{handle}", "x").out
    assert str(tmp_path / "kept").encode() in listed
    os.close(handle)
