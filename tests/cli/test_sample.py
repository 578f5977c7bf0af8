from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from itertools import islice, pairwise

import pytest

from cli.documents import json_line
from cli.sample import CITIES_IN_REFERENCE, SEED_SENTENCE, reference_selectors, sample
from cli.sample_geography import geography
from graph.model.command import CreateGroup, CreateHierarchy, DeclareLabel, RegisterCluster
from graph.model.hours import check_time_zone
from graph.model.names import check_name, check_text, split_path

SIZE = 6_000


@pytest.fixture(scope="module")
def fleet() -> list[RegisterCluster]:
    return [each for each in sample(SIZE) if isinstance(each, RegisterCluster)]


def digest(clusters: int, seed: int) -> str:
    text = "".join(map(json_line, sample(clusters, seed=seed)))
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("clusters", [1, 2, 7, 100, 2_500])
def test_a_fleet_has_exactly_the_size_asked_for(clusters: int) -> None:
    names = [each.name for each in sample(clusters) if isinstance(each, RegisterCluster)]
    assert len(names) == len(set(names)) == clusters


def test_the_same_seed_gives_the_same_bytes_in_another_process() -> None:
    code = (
        "import hashlib; from cli.documents import json_line; from cli.sample import sample;"
        "text = ''.join(map(json_line, sample(300, seed=7)));"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert there.stdout.strip() == digest(300, 7)


def test_another_seed_gives_another_fleet() -> None:
    assert digest(300, 1) != digest(300, 2)


def test_every_command_finds_what_it_names() -> None:
    hierarchies: dict[str, CreateHierarchy] = {}
    keys: set[str] = set()
    groups: set[str] = set()
    for command in sample(1_000):
        match command:
            case CreateHierarchy(name=name):
                hierarchies[name] = command
                groups.add(f"/{name}")
            case DeclareLabel(name=name):
                keys.add(check_name(name, "label"))
            case CreateGroup(path=path, title=title):
                assert path not in groups
                assert path.rpartition("/")[0] in groups
                split_path(path)
                check_text(title, "title")
                groups.add(path)
            case RegisterCluster():
                check_name(command.name, "cluster")
                check_time_zone(command.time_zone)
                assert set(command.groups) <= groups
                assert len(set(command.groups)) == len(command.groups)
                assert set(command.labels) <= keys
                places = Counter(path.split("/")[1] for path in command.groups)
                for name, hierarchy in hierarchies.items():
                    assert hierarchy.mode == "many" or places[name] <= 1
                    assert not hierarchy.required or places[name] == 1
            case _:
                pytest.fail(f"{command} does not belong in a sample")
    assert sorted(hierarchies) == [
        "delivery",
        "devices",
        "franchise",
        "geo",
        "marketing",
        "planogram",
    ]


def test_a_million_clusters_are_a_stream() -> None:
    assert len(list(islice(sample(1_000_000), 20_000))) == 20_000


def test_hierarchies_are_jagged(fleet: list[RegisterCluster]) -> None:
    for hierarchy in ("geo", "franchise", "devices", "delivery", "marketing"):
        depths = {
            path.count("/")
            for cluster in fleet
            for path in cluster.groups
            if path.startswith(f"/{hierarchy}/")
        }
        assert len(depths) > 1, hierarchy


def test_one_site_in_twenty_holds_two_clusters(fleet: list[RegisterCluster]) -> None:
    sites = Counter(each.groups[0] for each in fleet if "/site" in each.groups[0])
    assert set(sites.values()) == {1, 2}
    share = sum(held == 2 for held in sites.values()) / len(sites)
    assert 0.035 < share < 0.065


def test_clusters_of_one_site_share_a_store_number(fleet: list[RegisterCluster]) -> None:
    stores: dict[str, set[object]] = {}
    for cluster in fleet:
        if "/site" in cluster.groups[0]:
            stores.setdefault(cluster.groups[0], set()).add(cluster.labels["store"])
    assert all(len(numbers) == 1 for numbers in stores.values())


def test_a_cluster_has_about_ten_memberships_and_some_have_several_devices(
    fleet: list[RegisterCluster],
) -> None:
    assert 9 < sum(len(each.groups) for each in fleet) / len(fleet) < 12
    devices = [sum(path.startswith("/devices/") for path in each.groups) for each in fleet]
    assert sum(count >= 2 for count in devices) > len(fleet) * 0.8


def test_sixty_thousand_clusters_stand_in_twenty_odd_thousand_groups() -> None:
    groups = sum(isinstance(each, CreateGroup) for each in sample(60_000))
    assert 20_000 < groups < 26_000


def test_numbers_have_thousands_of_values(fleet: list[RegisterCluster]) -> None:
    assert len({each.labels["sqft"] for each in fleet}) > 2_000


def test_registration_follows_geography(fleet: list[RegisterCluster]) -> None:
    regions = [each.groups[0].split("/city")[0].split("/site")[0] for each in fleet]
    changes = sum(one != other for one, other in pairwise(regions))
    assert changes == len(set(regions)) - 1


def test_the_seed_sentence_has_a_small_answer(fleet: list[RegisterCluster]) -> None:
    grills = {"/devices/grill/acme/acme3000", "/devices/grill/acme/acme3001"}
    found = [
        each
        for each in fleet
        if any(path.startswith("/franchise/corporate") for path in each.groups)
        and each.groups[0].startswith("/geo/us/northeast/")
        and each.labels["size"] == "large"
        and int(each.labels["lanes"]) >= 2
        and grills & set(each.groups)
    ]
    assert 1 <= len(found) <= 60


def test_the_reference_selectors_name_groups_of_the_fleet() -> None:
    selectors = reference_selectors(60_000)
    assert list(selectors) == ["Q1", "Q2", "Q3", "Q4", "Q5"]
    assert selectors["Q1"] == SEED_SENTENCE
    cities = {city.path for city in geography(60_000, seed=0)}
    named = selectors["Q4"].split(") and ")[0].lstrip("(").split(" or ")
    assert len(named) == CITIES_IN_REFERENCE
    assert set(named) <= cities
