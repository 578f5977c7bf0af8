"""Where the sample fleet stands: cities of uneven size, some of which list their sites.

Kept apart from the clusters, with its own random stream, so that the cities of a fleet can be
named without generating the fleet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from cli.sample_catalogue import REGIONS, Region

CITY_SIZE_MEAN = 14
CITY_SIZE_MAX = 240
CITIES_WITH_SITES = 0.30
"""Share of the cities whose sites are groups; elsewhere clusters belong to the city itself."""
SITES_WITH_TWO = 0.0535
"""Makes one site in twenty: the last site of a city may have one cluster left to hold, not two."""


@dataclass(frozen=True, slots=True)
class City:
    """A group that holds clusters, directly or by site."""

    path: str
    title: str
    region: Region
    clusters: int
    sites: tuple[int, ...]
    """How many clusters each site holds; empty if the city does not list its sites."""


def geography(clusters: int, *, seed: int) -> Iterator[City]:
    """The cities of a fleet, region by region."""
    random = Random(f"{seed}:geo")  # noqa: S311 - a reproducible sample, not a secret
    for region, size in zip(REGIONS, _shares(clusters), strict=True):
        if size:
            yield from _cities(region, size, random)


def _shares(clusters: int) -> list[int]:
    """``clusters`` divided by weight, largest remainders first, so that the sum is exact."""
    total = sum(region.weight for region in REGIONS)
    shares = [clusters * region.weight // total for region in REGIONS]
    remainders = [clusters * region.weight % total for region in REGIONS]
    order = sorted(range(len(REGIONS)), key=lambda index: -remainders[index])
    for index in order[: clusters - sum(shares)]:
        shares[index] += 1
    return shares


def _cities(region: Region, size: int, random: Random) -> Iterator[City]:
    if not region.cities:
        yield City(region.path, region.title, region, size, _sites(size, random))
        return
    number = 0
    while size > 0:
        number += 1
        drawn = 1 + int(random.expovariate(1 / (CITY_SIZE_MEAN - 1)))
        held = min(size, drawn, CITY_SIZE_MAX)
        size -= held
        listed = random.random() < CITIES_WITH_SITES
        yield City(
            path=f"{region.path}/city{number:03d}",
            title=f"City {number}, {region.title}",
            region=region,
            clusters=held,
            sites=_sites(held, random) if listed else (),
        )


def _sites(clusters: int, random: Random) -> tuple[int, ...]:
    """One site in twenty holds two clusters, as a flagship store with two buildings does."""
    sites: list[int] = []
    while clusters:
        held = min(clusters, 2 if random.random() < SITES_WITH_TWO else 1)
        sites.append(held)
        clusters -= held
    return tuple(sites)
