"""The sample fleet: one seeded generator for the demo, the tests and the benchmarks.

``sample(60_000)`` is a retailer with six jagged hierarchies, about ten memberships a cluster and
eight labels, as commands in an order that can be loaded from an empty fleet. It is a stream: memory
grows with regions and franchisees, not with clusters. The same size and seed give the same
commands, byte for byte, in every process and on every machine.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from cli.sample_catalogue import (
    DELIVERY,
    DEMOGRAPHICS,
    DEVICES,
    LANGUAGES,
    REGIONS,
    SECTIONS,
    TITLES,
    Region,
)
from cli.sample_geography import City, geography
from graph.model.command import Command, CreateGroup, CreateHierarchy, DeclareLabel, RegisterCluster
from graph.model.inventory import (
    Capacity,
    ClusterKind,
    LabelType,
    LabelValue,
    Mode,
    Reconciler,
)

SEED_SENTENCE = (
    "/franchise/corporate and size = large and /geo/us/northeast and lanes >= 2"
    " and (/devices/grill/acme/acme3000 or /devices/grill/acme/acme3001)"
)
"""Company-owned, large stores in the northeastern US that have a multi-lane drive-through and an
Acme3000 or Acme3001 smart grill."""

GROUP_AND_LABEL = "/geo/us/central/tx and size = medium"
RINGS_WITHOUT_GROUP = "/geo/us and (ring = beta or ring = pilot) and not /franchise/corporate"
ALL_EXCEPT = (
    "all except /geo/europe except /planogram/menu/mcrib except /devices/assembly"
    " except drive-through = false"
)
CITIES_IN_REFERENCE = 200

HIERARCHIES = (
    CreateHierarchy("geo", Mode.SINGLE, required=True, title="Geography"),
    CreateHierarchy("franchise", Mode.SINGLE, required=True, title="Franchise"),
    CreateHierarchy("devices", Mode.MANY, title="Devices"),
    CreateHierarchy("delivery", Mode.MANY, title="Delivery"),
    CreateHierarchy("marketing", Mode.MANY, title="Marketing"),
    CreateHierarchy("planogram", Mode.MANY, title="Plan-o-gram"),
)

LABELS = (
    DeclareLabel("size", LabelType.TEXT, allowed=("small", "medium", "large")),
    DeclareLabel("lanes", LabelType.NUMBER, "Drive-through lanes", "lanes", (0, 1, 2, 3, 4)),
    DeclareLabel("sqft", LabelType.NUMBER, "Floor area", "square feet"),
    DeclareLabel("opened", LabelType.NUMBER, "Year of opening", "year"),
    DeclareLabel("drive-through", LabelType.BOOLEAN),
    DeclareLabel("type", LabelType.TEXT, "Ownership", allowed=("corp", "franchise", "master")),
    DeclareLabel("store", LabelType.TEXT, "Store number"),
    DeclareLabel("ring", LabelType.TEXT, allowed=("beta", "pilot", "broad")),
)


def sample(clusters: int, *, seed: int = 0) -> Iterator[Command]:
    """Commands that build a fleet of ``clusters`` clusters from nothing."""
    random = Random(f"{seed}:clusters")  # noqa: S311 - a reproducible sample, not a secret
    owners = _owners(clusters)
    known: set[str] = set()
    yield from HIERARCHIES
    yield from LABELS
    for path in (*_catalogue(), *owners.paths()):
        yield from _create(path, known)
    store = 0
    for city in geography(clusters, seed=seed):
        yield from _create(city.region.path, known)
        if city.path != city.region.path:
            yield CreateGroup(city.path, city.title)
        town = _Town.of(city, owners, random)
        ordinal = 0
        for held in city.sites or (1,) * city.clusters:
            store += 1
            place = f"{city.path}/site{store:05d}" if city.sites else city.path
            if city.sites:
                yield CreateGroup(place)
            for _ in range(held):
                ordinal += 1
                yield town.cluster(ordinal, place, f"{store:05d}")


def reference_selectors(clusters: int, *, seed: int = 0) -> dict[str, str]:
    """The five selectors the benchmarks answer, for the fleet of that size and seed."""
    cities = [city.path for city in geography(clusters, seed=seed)]
    step = max(1, len(cities) // CITIES_IN_REFERENCE)
    chosen = " or ".join(cities[::step][:CITIES_IN_REFERENCE])
    return {
        "Q1": SEED_SENTENCE,
        "Q2": GROUP_AND_LABEL,
        "Q3": RINGS_WITHOUT_GROUP,
        "Q4": f"({chosen}) and /devices/grill/acme",
        "Q5": ALL_EXCEPT,
    }


@dataclass(frozen=True, slots=True)
class _Choice:
    """Values with weights; drawing is one random number and a bisection."""

    values: Sequence[str]
    bounds: tuple[int, ...]

    @staticmethod
    def of(weighted: Sequence[tuple[str, int]]) -> _Choice:
        return _Choice([value for value, _ in weighted], tuple(accumulate(w for _, w in weighted)))

    def draw(self, random: Random) -> str:
        return self.values[bisect(self.bounds, random.random() * self.bounds[-1])]


_SIZES = _Choice.of((("small", 30), ("medium", 42), ("large", 28)))
_RINGS = _Choice.of((("beta", 2), ("pilot", 8), ("broad", 90)))
_LANES = {
    "small": _Choice.of((("0", 65), ("1", 33), ("2", 2))),
    "medium": _Choice.of((("0", 20), ("1", 55), ("2", 23), ("3", 2))),
    "large": _Choice.of((("0", 6), ("1", 20), ("2", 46), ("3", 22), ("4", 6))),
}
_SQFT = {"small": (900, 2_400), "medium": (1_800, 4_600), "large": (3_600, 9_800)}
_CAPACITY = {
    "small": Capacity(4_000, 16_384, 262_144),
    "medium": Capacity(8_000, 32_768, 524_288),
    "large": Capacity(16_000, 65_536, 1_048_576),
}
_MODELS = {kind: (share, _Choice.of(models)) for kind, (share, models) in DEVICES.items()}
_DEMOGRAPHICS = _Choice.of(DEMOGRAPHICS)
_SECOND_GRILL = 0.06
_CORPORATE = 0.22


@dataclass(frozen=True, slots=True)
class _Owners:
    """Who runs the stores: the company, master franchises with franchisees, single ones."""

    masters: tuple[str, ...]
    singles: tuple[str, ...]

    def paths(self) -> Iterator[str]:
        yield "/franchise/corporate"
        yield "/franchise/corporate/training"
        yield from self.masters
        yield from self.singles

    def two(self, random: Random) -> tuple[str, str]:
        """The franchisees of one city; a master's reach ends somewhere, as in life."""
        chosen = self.masters if random.random() < 0.6 else self.singles
        return random.choice(chosen), random.choice(self.masters)


def _owners(clusters: int) -> _Owners:
    masters = [
        f"/franchise/master{master:03d}/fr{franchisee:02d}"
        + ("/airports" if franchisee % 9 == 0 else "")
        for master in range(1, 2 + clusters // 900)
        for franchisee in range(1, 3 + master * 7 % 23)
    ]
    singles = [f"/franchise/franchise{number:03d}" for number in range(1, 2 + clusters // 80)]
    return _Owners(tuple(masters), tuple(singles))


@dataclass(frozen=True, slots=True)
class _Town:
    """What the clusters of one city have in common, and how each is drawn."""

    city: City
    random: Random
    prefix: str
    franchisees: tuple[str, str]
    shared: tuple[str, ...]

    @staticmethod
    def of(city: City, owners: _Owners, random: Random) -> _Town:
        return _Town(
            city=city,
            random=random,
            prefix=city.path.removeprefix("/geo/").replace("/", "-"),
            franchisees=owners.two(random),
            shared=tuple(_city_groups(city, random)),
        )

    def cluster(self, ordinal: int, place: str, store: str) -> RegisterCluster:
        random = self.random
        size = _SIZES.draw(random)
        owner, kind = self._owner()
        lanes = int(_LANES[size].draw(random))
        labels: dict[str, LabelValue] = {
            "size": size,
            "lanes": lanes,
            "sqft": int(random.triangular(*_SQFT[size])),
            "opened": 2026 - int(random.random() ** 2 * 65),
            "drive-through": lanes > 0,
            "type": kind,
            "store": store,
            "ring": _RINGS.draw(random),
        }
        reconciler = self.city.region.reconciler
        on_hosts = reconciler is Reconciler.ANSIBLE
        return RegisterCluster(
            name=f"{self.prefix}-{ordinal:05d}",
            kind=ClusterKind.HOST if on_hosts else ClusterKind.KUBERNETES,
            reconciler=reconciler,
            labels=labels,
            groups=(place, owner, *self.shared, *self._equipment(size)),
            capacity=_CAPACITY[size],
            time_zone=self.city.region.time_zone,
        )

    def _owner(self) -> tuple[str, str]:
        drawn = self.random.random()
        if drawn < _CORPORATE:
            return "/franchise/corporate" + ("/training" if drawn < 0.004 else ""), "corp"
        owner = self.franchisees[drawn > 0.75]
        return owner, "master" if owner.startswith("/franchise/master") else "franchise"

    def _equipment(self, size: str) -> Iterator[str]:
        random = self.random
        for kind, (share, models) in _MODELS.items():
            if random.random() < share:
                model = models.draw(random)
                yield f"/devices/{kind}/{model}" if model else f"/devices/{kind}"
                if kind == "grill" and size == "large" and random.random() < _SECOND_GRILL:
                    second = models.draw(random)
                    if second != model:
                        yield f"/devices/grill/{second}"
        for path, share in DELIVERY:
            if random.random() < share:
                yield path
        yield from _sections(self.city.region, random)


def _city_groups(city: City, random: Random) -> Iterator[str]:
    """Languages, demographics and local channels are a city's, not a store's."""
    region = city.region
    yield f"/marketing/language/{region.language}"
    if region.language != "es" and region.path.startswith("/geo/us/") and random.random() < 0.22:
        yield "/marketing/language/es"
    if random.random() < 0.7:
        yield f"/marketing/demographics/{_DEMOGRAPHICS.draw(random)}"
    if random.random() < 0.3:
        yield _channel(region)


def _channel(region: Region) -> str:
    """Local channels carry their language: /marketing/channels/us-south-fl/en."""
    code = region.path.removeprefix("/geo/").replace("/", "-")
    return f"/marketing/channels/{code}/{region.language}"


def _sections(region: Region, random: Random) -> Iterator[str]:
    drawn = random.random()
    if region.warm:
        if drawn < 0.55:
            yield "/planogram/seasonal/swimsuits"
    elif drawn < 0.30:
        yield "/planogram/seasonal/snow-gear"
    if region.path.startswith("/geo/us/south/") and random.random() < 0.8:
        yield "/planogram/menu/mcrib"
    if region.path.endswith(("/me", "/ma")) and random.random() < 0.6:
        yield "/planogram/menu/lobster-roll"
    if drawn > 0.85:
        yield "/planogram/seasonal/holiday/toys"


def _catalogue() -> Iterator[str]:
    """Groups every fleet has, whether or not a cluster uses them."""
    for kind, (_, models) in DEVICES.items():
        yield f"/devices/{kind}"
        yield from (f"/devices/{kind}/{model}" for model, _ in models if model)
    yield from (path for path, _ in DELIVERY)
    yield from (f"/marketing/language/{language}" for language in LANGUAGES)
    yield from (f"/marketing/demographics/{name}" for name, _ in DEMOGRAPHICS)
    yield from map(_channel, REGIONS)
    yield from SECTIONS


_REGION_TITLES = TITLES | {region.path: region.title for region in REGIONS}


def _create(path: str, known: set[str]) -> Iterator[CreateGroup]:
    """``path`` and the groups above it, those not created before."""
    if path in known:
        return
    parent = path.rpartition("/")[0]
    if parent.count("/") > 1:
        yield from _create(parent, known)
    known.add(path)
    yield CreateGroup(path, _REGION_TITLES.get(path, ""))
