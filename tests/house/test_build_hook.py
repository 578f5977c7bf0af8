"""The build fetches what is pinned, or warns and goes on without."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from api.console.pages import NEEDED
from hatch_build import FETCHED, MARK, PACKAGES, NotFetched, Package, fetch, is_fetched, unpack

ROOT = Path(__file__).parents[2]
SOURCES = ("api", "graph", "renderer", "cli")
FILES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
BUILD_SECONDS = 120


def build_wheel(source, *, path):
    """A wheel of ``source``, built with this search path: the names in it, and what was said."""
    program = "import sys, hatchling.build as b; print(b.build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(source / "dist")],
        cwd=source,
        env={"PATH": path},
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist()), done.stdout + done.stderr


@pytest.fixture
def source(tmp_path):
    """The tree a wheel is built from, without what an earlier build fetched."""
    for name in SOURCES:
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("graphiql", "__pycache__")
        )
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / ".gitignore", tmp_path / ".gitignore")
    return tmp_path


def archive_of(directory, name, members):
    path = directory / name
    with tarfile.open(path, "w:gz") as archive:
        for member, text in members.items():
            head = tarfile.TarInfo(member)
            head.size = len(text)
            archive.addfile(head, io.BytesIO(text))
    return path


def put_npm(directory, script):
    """An npm on a search path of its own."""
    directory.mkdir()
    npm = directory / "npm"
    npm.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)
    return f"{directory}{os.pathsep}/usr/bin{os.pathsep}/bin"


def test_without_npm_the_wheel_is_built_with_a_warning_and_our_own_console(source, tmp_path):
    (tmp_path / "empty").mkdir()
    names, said = build_wheel(source, path=str(tmp_path / "empty"))
    assert "the console goes without GraphiQL: npm is not on the path" in said
    assert "api/console/assets/plain.html" in names
    assert not any(name.startswith(FETCHED.as_posix()) for name in names)


def test_the_wheel_carries_what_was_fetched_though_it_is_never_committed(source):
    fetched = source / FETCHED
    fetched.mkdir()
    for name in {name for package in PACKAGES for _, name in package.files}:
        (fetched / name).write_text("fetched", "utf-8")
    (fetched / MARK).write_text("".join(f"{each} {each.sha512}\n" for each in PACKAGES), "utf-8")
    names, said = build_wheel(source, path="")
    assert "goes without" not in said
    assert {f"{FETCHED.as_posix()}/{name}" for name in NEEDED} <= names
    assert {f"{FETCHED.as_posix()}/LICENSE-{each.name}.txt" for each in PACKAGES} <= names


def test_a_package_that_is_not_the_pinned_one_is_refused_whole(tmp_path, monkeypatch):
    archive_of(tmp_path, "forged.tgz", {"package/graphiql.min.js": b"forged"})
    path = put_npm(tmp_path / "bin", f"cp {tmp_path}/forged.tgz graphiql-4.1.2.tgz")
    monkeypatch.setenv("PATH", path)
    with pytest.raises(NotFetched, match=r"graphiql@4\.1\.2 is not what was pinned"):
        fetch(tmp_path / "graphiql")
    assert not (tmp_path / "graphiql").exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 1", "npm could not fetch graphiql@4.1.2"),
        ("exit 0", "npm left no archive of graphiql@4.1.2"),
    ],
)
def test_an_npm_that_fails_leaves_what_was_there(tmp_path, monkeypatch, script, said):
    monkeypatch.setenv("PATH", put_npm(tmp_path / "bin", script))
    kept = tmp_path / "graphiql"
    kept.mkdir()
    (kept / "older.js").write_text("older", "utf-8")
    with pytest.raises(NotFetched, match=said):
        fetch(kept)
    assert (kept / "older.js").exists()


def test_a_fetched_directory_counts_only_whole_and_for_its_own_pins(tmp_path):
    package = PACKAGES[1]._replace(files=(("package/a.js", "a.js"),))
    (tmp_path / "a.js").write_text("a", "utf-8")
    assert not is_fetched(tmp_path, (package,))
    (tmp_path / MARK).write_text(f"{package} {package.sha512}\n", "utf-8")
    assert is_fetched(tmp_path, (package,))
    assert not is_fetched(tmp_path, (package._replace(version="18.2.1"),))
    (tmp_path / "a.js").unlink()
    assert not is_fetched(tmp_path, (package,))


def test_only_the_named_files_are_taken_out_of_an_archive(tmp_path):
    members = {"package/a.js": b"a", "../b.js": b"b"}
    archive = archive_of(tmp_path, "a.tgz", members)
    digest = _sha512(archive)
    (tmp_path / "out").mkdir()
    unpack(archive, Package("a", "1", digest, (("package/a.js", "a.js"),)), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.js"]
    assert not (tmp_path / "b.js").exists()


def _sha512(path):
    return base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode("ascii")
