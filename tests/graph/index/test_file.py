"""A snapshot file is read whole or refused."""

from __future__ import annotations

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from changes import random_changes, random_fleet
from graph.index.builder import build, edit
from graph.index.file import HEADER, MAGIC, VERSION, read_snapshot, write_snapshot
from graph.index.snapshot import Snapshot
from graph.model.change import Cursor, Entity, Numbers
from graph.model.errors import Invalid, NotFound, Unavailable
from graph.model.inventory import Cluster, Hierarchy, LabelKey, LabelType, Mode
from graph.model.names import ClusterNumber, GroupNumber, Revision
from twin import START, Twin, same_fleet

CURSOR = Cursor(Revision(812), "0123456789abcdef")


def a_snapshot(seed: int = 7) -> Snapshot:
    rng = Random(seed)
    twin = Twin.of(random_fleet(rng))
    draft = edit(build(twin.entities(), cursor=CURSOR, numbers=twin.numbers))
    draft.apply(random_changes(rng, twin, Revision(2)))
    return draft.freeze(CURSOR)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fleet.snapshot"


@pytest.mark.parametrize("seed", range(40))
def test_what_was_written_is_read(path: Path, seed: int) -> None:
    snapshot = a_snapshot(seed)
    write_snapshot(snapshot, path)
    assert same_fleet(read_snapshot(path), snapshot) is None


def test_an_empty_fleet_is_written_and_read(path: Path) -> None:
    write_snapshot(Snapshot.empty(CURSOR), path)
    assert same_fleet(read_snapshot(path), Snapshot.empty(CURSOR)) is None


def test_numbers_that_are_free_though_nothing_uses_those_before_are_kept(path: Path) -> None:
    numbers = Numbers(ClusterNumber(70_000), GroupNumber(900))
    cluster = Cluster(ClusterNumber(66_000), "far-out", labels={"lanes": 2.5})
    facts: list[Entity] = [
        cluster,
        Hierarchy("geo", Mode.MANY),
        LabelKey("lanes", LabelType.NUMBER),
    ]
    snapshot = build(facts, cursor=CURSOR, numbers=numbers)
    write_snapshot(snapshot, path)
    found = read_snapshot(path)
    assert found.numbers == numbers
    assert found.cluster(ClusterNumber(66_000)) == cluster
    assert found.cluster(ClusterNumber(65_999)) is None


def test_a_snapshot_that_was_read_goes_on_with_changes(path: Path) -> None:
    rng = Random(3)
    twin = Twin.of(random_fleet(rng))
    write_snapshot(build(twin.entities(), cursor=START, numbers=twin.numbers), path)
    snapshot = read_snapshot(path)
    for step in range(30):
        changes = random_changes(rng, twin, Revision(step + 2))
        twin.apply(changes)
        draft = edit(snapshot)
        draft.apply(changes)
        snapshot = draft.freeze(START)
        assert same_fleet(snapshot, twin) is None


def test_equal_values_are_one_object_after_reading(path: Path) -> None:
    names = [f"shop-{place}" for place in range(3)]
    facts = [
        Cluster(ClusterNumber(place), name, title="Shop", labels={"size": "large"})
        for place, name in enumerate(names)
    ]
    write_snapshot(
        build(
            [*facts, LabelKey("size", LabelType.TEXT)],
            cursor=CURSOR,
            numbers=Numbers(ClusterNumber(3), GroupNumber(0)),
        ),
        path,
    )
    found = read_snapshot(path)
    assert len({id(found.label(ClusterNumber(place), "size")) for place in range(3)}) == 1
    assert len({id(found.clusters.title.get(place)) for place in range(3)}) == 1


def test_a_truncated_file_is_refused_wherever_it_ends(path: Path) -> None:
    write_snapshot(a_snapshot(), path)
    whole = path.read_bytes()
    for length in [*range(HEADER.size + 40), *range(HEADER.size + 40, len(whole), 37)]:
        path.write_bytes(whole[:length])
        with pytest.raises(Invalid) as refusal:
            read_snapshot(path)
        assert str(path) in refusal.value.message
        assert "delete the file" in refusal.value.hint


def test_a_file_with_any_bit_flipped_is_refused(path: Path) -> None:
    write_snapshot(a_snapshot(), path)
    whole = path.read_bytes()
    rng = Random(1)
    places = [*range(HEADER.size), *(rng.randrange(len(whole)) for _ in range(600))]
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(Invalid):
            read_snapshot(path)


def test_a_file_with_something_behind_it_is_refused(path: Path) -> None:
    write_snapshot(a_snapshot(), path)
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(Invalid, match="bytes"):
        read_snapshot(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        b"SQLite format 3\0" + b"\0" * 200,
        b"trellis snapsho7" + b"\0" * 200,
        b"{}",
    ],
)
def test_a_foreign_file_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(Invalid, match="is not a snapshot file"):
        read_snapshot(path)


@pytest.mark.parametrize("version", [0, VERSION + 1, 2**32 - 1])
def test_a_file_of_another_version_is_refused_and_says_which(path: Path, version: int) -> None:
    write_snapshot(a_snapshot(), path)
    whole = path.read_bytes()
    _, _, shape, length, digest = HEADER.unpack_from(whole)
    header = HEADER.pack(MAGIC, version, shape, length, digest)
    path.write_bytes(header + whole[HEADER.size :])
    with pytest.raises(Invalid, match=f"layout version {version:,}; this program reads {VERSION}"):
        read_snapshot(path)


def test_a_file_of_a_program_with_other_classes_is_refused(path: Path) -> None:
    write_snapshot(a_snapshot(), path)
    whole = path.read_bytes()
    _, version, shape, length, digest = HEADER.unpack_from(whole)
    path.write_bytes(HEADER.pack(MAGIC, version, shape ^ 1, length, digest) + whole[HEADER.size :])
    with pytest.raises(Invalid, match="another version of this program"):
        read_snapshot(path)


def test_a_missing_file_is_not_found(path: Path) -> None:
    with pytest.raises(NotFound, match="no snapshot file"):
        read_snapshot(path)


def test_what_is_no_regular_file_is_refused_and_not_read(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero")):
        with pytest.raises(Invalid, match="is no regular file"):
            read_snapshot(path)


def test_a_directory_in_its_place_is_not_overwritten(path: Path) -> None:
    path.mkdir()
    with pytest.raises(Unavailable, match="cannot be written"):
        write_snapshot(a_snapshot(), path)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_disk_without_room_is_refused_and_leaves_the_older_file_as_it_was(path: Path) -> None:
    write_snapshot(a_snapshot(1), path)
    before = path.read_bytes()
    with room_for(len(before) // 2), pytest.raises(Unavailable, match="cannot be written"):
        write_snapshot(a_snapshot(2), path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@contextmanager
def room_for(size: int) -> Generator[None]:
    """No file of this process grows beyond ``size`` bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_writing_replaces_the_older_file_and_leaves_nothing_beside_it(path: Path) -> None:
    write_snapshot(a_snapshot(1), path)
    newer = a_snapshot(2)
    write_snapshot(newer, path)
    assert same_fleet(read_snapshot(path), newer) is None
    assert [each.name for each in path.parent.iterdir()] == [path.name]
