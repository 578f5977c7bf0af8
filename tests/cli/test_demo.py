from __future__ import annotations

import re
import subprocess
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

import kustomize
from cli.demo_story import STORY
from cli.main import run
from renderer import paths

pytestmark = pytest.mark.usefixtures("place")
CLUSTERS = "1500"


@dataclass(frozen=True)
class Told:
    """A demo that has been run."""

    place: Path
    said: str

    def run(self, *words: str) -> str:
        """The demo once more, in the same place."""
        with pytest.MonkeyPatch.context() as patch, StringIO() as said, redirect_stdout(said):
            patch.chdir(self.place)
            patch.delenv("TRELLIS_STORE_URL", raising=False)
            assert run(["demo", "--no-serve", *words]) == 0
            return said.getvalue()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The demo, run once for all who look at what it left."""
    place = tmp_path_factory.mktemp("demo")
    return Told(place, Told(place, "").run("--clusters", CLUSTERS))


def test_the_demo_tells_its_whole_story_and_keeps_its_fleet(told: Told) -> None:
    first = told.said
    assert "loaded " in first
    assert "opened 1,500 clusters" in first
    assert "nearest change: join /franchise/corporate" in first
    assert "log, facts, index and chain agree" in first
    counts = re.findall(r"([0-9,]+) of 1,500 clusters", first)
    before, joined, reverted = (int(each.replace(",", "")) for each in counts)
    assert (joined, reverted) == (before + 1, before)
    log = git(told.place, "log", "--format=%s")
    again = told.run("--clusters", CLUSTERS)
    assert "loaded " not in again
    assert "nothing differs" in again
    assert git(told.place, "log", "--format=%s") == log


def test_the_log_of_the_repository_reads_like_a_story(told: Told) -> None:
    place = told.place
    owners, everything, *turns = git(place, "log", "--reverse", "--format=%s").splitlines()
    assert owners == "Bases of our applications"
    assert everything.startswith("Render everything at revision ")
    assert turns == [each.reason for each in STORY]
    for reason in turns:
        assert reason in told.said
    opened, taxed, narrowed, widened, forbidden = (
        git(place, "show", "--format=", "--name-status", f"HEAD~{back}")
        for back in range(4, -1, -1)
    )
    assert "A\tclusters/15/us-northeast-ny-buffalo/kustomization.yaml" in opened
    assert {each.split("/")[1] for each in taxed.splitlines()} == {"pos"}
    assert "D\tapps/grill-vision/overlays/" in narrowed
    assert narrowed.replace("D\t", "A\t") == widened
    assert "M\tclusters/" in forbidden
    tree = "HEAD~{}:apps/grill-vision"
    assert git(place, "rev-parse", tree.format(3)) == git(place, "rev-parse", tree.format(1))


def test_the_store_that_opened_builds(told: Told, tmp_path: Path) -> None:
    pointer = paths.pointer("us-northeast-ny-buffalo")
    assert f"kubectl kustomize checkout/{pointer}" in told.said
    clone = ["git", "clone", "--quiet", str(told.place / "gitops"), str(tmp_path / "checkout")]
    subprocess.run(clone, check=True, timeout=60)
    objects = kustomize.build(tmp_path / "checkout" / pointer)
    told_of = [each["metadata"]["name"] for each in objects if each["kind"] == "Kustomization"]
    assert "grill-vision" in told_of


def test_what_the_demo_says_to_look_at_is_there(
    capfd: pytest.CaptureFixture[str], place: Path
) -> None:
    assert run(["demo", "--no-serve", "--clusters", "300"]) == 0
    said = capfd.readouterr().out
    for line in re.findall(r"^  git -C gitops (.+)$", said, re.M):
        assert git(place, *line.split())
    (bundle,) = re.findall(r"^  trellis (bundle .+)$", said, re.M)
    assert run(bundle.split()) == 0


def test_a_fleet_of_another_size_is_built_and_rendered_anew_when_told_so(
    capfd: pytest.CaptureFixture[str], place: Path
) -> None:
    assert run(["demo", "--no-serve", "--clusters", "300"]) == 0
    assert run(["demo", "--no-serve", "--clusters", "400"]) == 1
    assert "has 300 clusters, and not 400" in capfd.readouterr().err
    assert run(["demo", "--no-serve", "--clusters", "400", "--fresh"]) == 0
    assert "opened 400 clusters" in capfd.readouterr().out
    assert len(git(place, "log", "--format=%s").splitlines()) == 2 + len(STORY)


def test_a_repository_that_was_thrown_away_is_rendered_again(place: Path) -> None:
    assert run(["demo", "--no-serve", "--clusters", "300"]) == 0
    tree = git(place, "rev-parse", "HEAD^{tree}")
    (place / "gitops").rename(place / "elsewhere")
    assert run(["demo", "--no-serve", "--clusters", "300"]) == 0
    assert git(place, "rev-parse", "HEAD^{tree}") == tree


def test_a_story_that_broke_off_is_told_anew(
    capfd: pytest.CaptureFixture[str], place: Path
) -> None:
    assert run(["demo", "--no-serve", "--clusters", "300"]) == 0
    (place / "lift.yaml").write_text("- liftProhibition: {name: no-cameras-in-illinois}\n")
    lift = ["apply", "lift.yaml", "--reason", "as if it had not been there yet"]
    assert run(["--store", "sqlite:///.demo/fleet.db", *lift]) == 0
    capfd.readouterr()
    assert run(["demo", "--no-serve", "--clusters", "300"]) == 0
    assert "loaded " in capfd.readouterr().out
    assert len(git(place, "log", "--format=%s").splitlines()) == 2 + len(STORY)


def test_a_directory_of_somebody_elses_is_left_alone(
    capfd: pytest.CaptureFixture[str], place: Path
) -> None:
    (place / "gitops").mkdir()
    (place / "gitops" / "mine.txt").write_text("mine")
    assert run(["demo", "--no-serve", "--clusters", "300"]) == 1
    assert "gitops is there and is not the demo's" in capfd.readouterr().err
    assert [each.name for each in (place / "gitops").iterdir()] == ["mine.txt"]


def git(place: Path, *words: str) -> str:
    """What git says of the repository."""
    done = subprocess.run(
        ["git", "-C", str(place / "gitops"), *words], capture_output=True, text=True, check=True
    )
    return done.stdout
