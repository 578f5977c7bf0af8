"""``trellis bundle``: one archive from a real repository."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.main import run
from published import FLUX, HOST, built, sample, unpack
from published_git import publish


@pytest.fixture
def repository(tmp_path):
    publish(tmp_path / "gitops.git", sample())
    return tmp_path / "gitops.git"


def test_a_cluster_is_bundled_and_builds(repository, tmp_path, capsys):
    file = tmp_path / "out.tar.gz"
    assert run(["bundle", FLUX, "--from", f"git:{repository}#main", "--output", str(file)]) == 0
    assert "2 images" in capsys.readouterr().out
    at = unpack(file.read_bytes(), tmp_path / "out")
    assert "kind: Namespace" in built(at)
    assert (
        at / "images.txt"
    ).read_text() == "registry.example/grill:3\nregistry.example/pos:12.1\n"


def test_a_bundle_is_the_same_bytes_from_another_process(repository, tmp_path):
    found = []
    for seed in ("1", "2"):
        file = tmp_path / f"{seed}.tar.gz"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "cli.main",
                "bundle",
                FLUX,
                "--from",
                f"git:{repository}",
                "--output",
                str(file),
            ],
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
            timeout=60,
            check=True,
            capture_output=True,
        )
        found.append(file.read_bytes())
    assert found[0] == found[1]


def test_a_host_is_bundled_under_its_own_name(repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["bundle", HOST, "--from", f"git:{repository}"]) == 0
    assert (tmp_path / f"{HOST}.tar.gz").is_file()


@pytest.mark.parametrize("cluster", ["store-99999", "../x"])
def test_a_cluster_that_is_not_there_leaves_no_file(repository, tmp_path, cluster, capsys):
    file = tmp_path / "none.tar.gz"
    assert run(["bundle", cluster, "--from", f"git:{repository}", "--output", str(file)]) == 1
    assert "error:" in capsys.readouterr().err
    assert not file.exists()


def test_a_repository_that_is_not_there_is_not_made(tmp_path, capsys):
    assert run(["bundle", FLUX, "--from", f"git:{tmp_path / 'typo.git'}"]) == 1
    assert "there is no" in capsys.readouterr().err
    assert not (tmp_path / "typo.git").exists()
