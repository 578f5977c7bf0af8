"""Workers that are killed, race each other, or run out of disk: real processes, real git."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from publishing import ROOT, finished, opened, start, state
from repositories import bare, files_of, git, is_sound

pytestmark = pytest.mark.crash

KINDS = ("git", "git-remote", "directory")
STEPS = {
    "git": ("sealed", "landed", "moved"),
    "git-remote": ("sealed", "landed", "moved"),
    "directory": ("written", "recorded", "placed"),
}
TARGET = 7


def place_of(kind: str, tmp_path: Path) -> Path:
    return tmp_path / "out" if kind == "directory" else bare(tmp_path / "fleet.git")


def published(kind: str, place: Path) -> tuple[int, dict[str, bytes]]:
    """Cursor and files, as another worker finds them, which then agree with what anybody sees."""
    publisher = opened(kind, str(place), lambda _: None)
    try:
        head = publisher.head()
        assert head.restored == ()
        if kind == "directory":
            skipped = (".trellis-state", ".trellis/cursor.json")
            found = {
                path.relative_to(place).as_posix(): path.read_bytes()
                for path in place.rglob("*")
                if path.is_file()
            }
            files = {name: each for name, each in found.items() if not name.startswith(skipped)}
        else:
            files = files_of(place) if head.commit else {}
        return int(head.cursor or 0), files
    finally:
        publisher.close()


def check(kind: str, place: Path) -> int:
    number, files = published(kind, place)
    assert files == state(number), "an older or a newer state, and always a whole one"
    if kind != "directory":
        assert is_sound(place)
        if number:
            assert_a_line(place, number)
    return number


def assert_a_line(repository: Path, number: int) -> None:
    told = git(
        repository, "log", "--reverse", "--format=%(trailers:key=Trellis-Revision,valueonly)"
    )
    cursors = [line for line in told.splitlines() if line]
    assert cursors == [str(each) for each in range(1, number + 1)], "none twice, none left out"
    assert git(repository, "rev-list", "--min-parents=2", "main") == ""


@pytest.mark.parametrize(
    ("kind", "step"), [(kind, step) for kind, steps in STEPS.items() for step in steps]
)
def test_a_worker_killed_after_any_step_leaves_a_whole_state(kind, step, tmp_path):
    place = place_of(kind, tmp_path)
    for nth in (1, 3):
        code, _, _ = finished(start(kind, place, TARGET, step, str(nth)))
        assert code == -9, "it was killed, and did not end by itself"
        check(kind, place)
    code, _, error = finished(start(kind, place, TARGET))
    assert code == 0, error
    assert check(kind, place) == TARGET


@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_killed_at_any_time_leaves_a_whole_state(kind, tmp_path, scale):
    place, random, target = place_of(kind, tmp_path), Random(kind), 400
    for _ in range(100 if scale == "campaign" else 4):
        child = start(kind, place, target)
        assert child.stdout is not None
        for _ in range(random.randrange(1, 4)):
            child.stdout.readline()
        try:
            child.wait(random.random() * 0.05)
        except subprocess.TimeoutExpired:
            child.kill()
        finished(child)
        check(kind, place)
    reached = check(kind, place)
    code, _, error = finished(start(kind, place, reached + 2))
    assert code == 0, error
    assert check(kind, place) == reached + 2


@pytest.mark.parametrize("kind", KINDS)
def test_two_workers_on_one_place_make_one_line(kind, tmp_path, scale):
    target = 200 if scale == "campaign" else 12
    place = place_of(kind, tmp_path)
    workers = [start(kind, place, target, WORKER=name) for name in ("one", "two")]
    ends = [finished(worker) for worker in workers]
    assert [code for code, _, _ in ends] == [0, 0], ends
    assert check(kind, place) == target


@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_takes_no_more_leaves_the_old_head(kind, tmp_path):
    place = place_of(kind, tmp_path)
    assert finished(start(kind, place, 2))[0] == 0
    limit = "8000" if kind == "directory" else "2000"
    code, out, error = finished(start(kind, place, TARGET, FILE_BYTES_MAX=limit))
    assert code == 3, (out, error)
    assert "hint: see that the disk has room" in error
    assert check(kind, place) == 2
    assert finished(start(kind, place, TARGET))[0] == 0
    assert check(kind, place) == TARGET


FULL = """
set -e
mount -t tmpfs -o size={size} tmpfs {mounted}
export PYTHONPATH={root}
{python} {script} {kind} {mounted}/place 2 >&2
dd if=/dev/zero of={mounted}/ballast bs=1k 2>/dev/null || true
{python} {script} {kind} {mounted}/place 7 >&2 && exit 9 || [ $? = 3 ]
rm {mounted}/ballast
{python} {script} {kind} {mounted}/place 7 >&2
cp -a {mounted}/place {copied}
"""


@pytest.mark.parametrize("kind", ["git", "directory"])
def test_a_full_disk_leaves_the_old_head_and_is_recovered_from(kind, tmp_path):
    unshare = shutil.which("unshare")
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    probe = [unshare or "false", "-rm", "mount", "-t", "tmpfs", "tmpfs", str(mounted)]
    if subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a small disk; the limit on files is tested")
    script = FULL.format(
        size="3m",
        mounted=mounted,
        root=ROOT,
        python=sys.executable,
        script=ROOT / "tests" / "support" / "publishing.py",
        kind=kind,
        copied=tmp_path / "copied",
    )
    done = subprocess.run(
        [str(unshare), "-rm", "sh", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "could not be" in done.stderr
    assert check(kind, tmp_path / "copied") == TARGET
