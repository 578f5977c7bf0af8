"""How many files and bytes, beside one file per assignment and ``kustomize build`` per cluster.

Some clusters are built whole by kustomize, as a pipeline that renders every cluster would do, and
what that costs and gives is scaled to the fleet. Cut into one file per application it is what one
materialised file per assignment comes to. Late-bound values are left out: they change no size.
"""

from __future__ import annotations

import io
import re
import resource
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.render_process import Repository
from bench.result import Row, row
from bench.stores import directory
from renderer import paths

TRELLIS = "Trellis"
ASSIGNED, BUILT = "one file per assignment", "kustomize build per cluster"
_LINE = re.compile(r"^- \.\./\.\./\.\./apps/([a-z0-9-]+)/.*/([0-9a-f]{16})$", re.MULTILINE)
_OWNERS = re.compile(rb"apps/[^/]+/base/")
_TOGETHER = 500
"""Paths in one question to git."""


@dataclass(frozen=True, slots=True)
class Built:
    """What clusters come to when each is built whole; of one cluster, on average."""

    lines: float
    output_bytes: float
    cpu_seconds: float


def sizes(
    repository: Repository, clusters: Sequence[str], everyone: int, size: str, full_seconds: float
) -> tuple[list[Row], list[str]]:
    """Rows, and what to know about them; ``clusters`` are built, of ``everyone``."""
    command = kustomize()
    files, content = published(repository)
    rows = [row(f"files, {size}", TRELLIS, files, "files")]
    if command is None:
        return rows, ["KUSTOMIZE WAS NOT MEASURED: there is neither kustomize nor kubectl"]
    built = build(repository, clusters, command)
    lines, output = built.lines * everyone, built.output_bytes * everyone
    rows += [
        row(f"files, {size}", ASSIGNED, lines, "files", over=files, ratio_to=TRELLIS),
        row(f"files, {size}", BUILT, everyone, "files", over=files, ratio_to=TRELLIS),
        row(f"bytes, {size}", TRELLIS, content / 1e6, "MB"),
        row(f"bytes, {size}", ASSIGNED, output / 1e6, "MB", over=content / 1e6, ratio_to=TRELLIS),
        row(f"bytes, {size}", BUILT, output / 1e6, "MB", over=content / 1e6, ratio_to=TRELLIS),
        row(f"CPU, {size}", TRELLIS, full_seconds, "s"),
        row(
            f"CPU, {size}",
            BUILT,
            built.cpu_seconds * everyone,
            "s",
            over=full_seconds,
            ratio_to=TRELLIS,
        ),
    ]
    told = (
        f"{size}: {len(clusters):,} clusters were built by {' '.join(command)}, "
        f"{built.lines:,.1f} applications each, and scaled"
    )
    return rows, [told]


def published(repository: Repository) -> tuple[int, int]:
    """Files that the worker wrote, and their bytes."""
    files = content = 0
    for line in repository.git("ls-tree", "-r", "-l", "main").splitlines():
        told, _, path = line.partition(b"\t")
        if not _OWNERS.match(path):
            files += 1
            content += int(told.split()[3])
    return files, content


def kustomize() -> list[str] | None:
    """The first there is."""
    if alone := shutil.which("kustomize"):
        return [alone, "build"]
    if kubectl := shutil.which("kubectl"):
        return [kubectl, "kustomize"]
    return None


def build(repository: Repository, clusters: Sequence[str], command: Sequence[str]) -> Built:
    """Clusters built one after the other, from files checked out for that."""
    at = directory()
    overlays = {name: list(_overlays(repository, name)) for name in clusters}
    _check_out(repository, at, {path for led_to in overlays.values() for path in led_to})
    lines = output = 0
    before = _children_seconds()
    for name, led_to in overlays.items():
        here = at / "clusters" / name
        here.mkdir(parents=True)
        resources = "".join(f"- ../../{path}\n" for path in led_to)
        (here / "kustomization.yaml").write_text(f"resources:\n{resources}", "utf-8")
        done = subprocess.run([*command, str(here)], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        lines += len(led_to)
        output += len(done.stdout)
    spent = _children_seconds() - before
    shutil.rmtree(at)
    count = len(clusters)
    return Built(lines / count, output / count, spent / count)


def _overlays(repository: Repository, cluster: str) -> Iterator[str]:
    pointer = f"{paths.pointer(cluster)}/{paths.KUSTOMIZATION}"
    found = repository.git("show", f"main:{pointer}").decode()
    for application, key in _LINE.findall(found):
        yield f"apps/{application}/overlays/{key}"


def _check_out(repository: Repository, at: Path, overlays: set[str]) -> None:
    """Overlays, and the bases of their applications."""
    bases = {f"{path.split('/overlays/')[0]}/base" for path in overlays}
    there = set(repository.git("ls-tree", "-r", "-d", "--name-only", "main").decode().splitlines())
    wanted = sorted(overlays | (bases & there))
    for begin in range(0, len(wanted), _TOGETHER):
        packed = repository.git("archive", "main", "--", *wanted[begin : begin + _TOGETHER])
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            tar.extractall(at, filter="data")


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
