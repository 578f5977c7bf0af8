"""What the sample fleet is made of: places, devices, partners, sections.

Plain tables. The names the business itself uses are kept (cameras, smart grills, soda fountains,
Uber Eats, the swimsuit section, the McRib); the trees are jagged on purpose, as real ones are: a
country may have regions and states, only provinces, or no level at all above its sites.
"""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.inventory import Reconciler


@dataclass(frozen=True, slots=True)
class Region:
    """The last level above the cities, and its share of the fleet."""

    path: str
    title: str
    weight: int
    time_zone: str
    language: str = "en"
    warm: bool = False
    """Sells swimsuits all year; the others sell snow gear."""
    cities: bool = True
    """False where sites lie right below the region."""
    reconciler: Reconciler | None = None
    """What keeps its stores up if it is not Flux; where it is Ansible, they are hosts."""


_EAST, _MIDDLE = "America/New_York", "America/Chicago"
_MOUNTAIN, _COAST = "America/Denver", "America/Los_Angeles"
_ARGOCD, _ANSIBLE = Reconciler.ARGOCD, Reconciler.ANSIBLE

REGIONS = (
    Region("/geo/us/northeast/ny", "New York", 48, _EAST),
    Region("/geo/us/northeast/pa", "Pennsylvania", 30, _EAST),
    Region("/geo/us/northeast/nj", "New Jersey", 24, _EAST),
    Region("/geo/us/northeast/ma", "Massachusetts", 20, _EAST),
    Region("/geo/us/northeast/ct", "Connecticut", 12, _EAST),
    Region("/geo/us/northeast/me", "Maine", 6, _EAST),
    Region("/geo/us/northeast/nh", "New Hampshire", 5, _EAST),
    Region("/geo/us/northeast/ri", "Rhode Island", 4, _EAST),
    Region("/geo/us/northeast/vt", "Vermont", 3, _EAST),
    Region("/geo/us/south/fl", "Florida", 46, _EAST, warm=True),
    Region("/geo/us/south/ga", "Georgia", 28, _EAST, warm=True),
    Region("/geo/us/south/nc", "North Carolina", 26, _EAST),
    Region("/geo/us/south/va", "Virginia", 22, _EAST),
    Region("/geo/us/south/tn", "Tennessee", 18, _MIDDLE),
    Region("/geo/us/south/sc", "South Carolina", 14, _EAST, warm=True),
    Region("/geo/us/south/al", "Alabama", 13, _MIDDLE, warm=True),
    Region("/geo/us/south/ms", "Mississippi", 8, _MIDDLE, warm=True),
    Region("/geo/us/central/tx", "Texas", 60, _MIDDLE, warm=True),
    Region("/geo/us/central/il", "Illinois", 32, _MIDDLE),
    Region("/geo/us/central/oh", "Ohio", 30, _EAST),
    Region("/geo/us/central/mi", "Michigan", 26, _EAST),
    Region("/geo/us/central/mo", "Missouri", 16, _MIDDLE),
    Region("/geo/us/central/wi", "Wisconsin", 15, _MIDDLE),
    Region("/geo/us/central/mn", "Minnesota", 14, _MIDDLE),
    Region("/geo/us/central/la", "Louisiana", 12, _MIDDLE, warm=True),
    Region("/geo/us/central/ok", "Oklahoma", 10, _MIDDLE),
    Region("/geo/us/central/ia", "Iowa", 8, _MIDDLE),
    Region("/geo/us/west/ca", "California", 80, _COAST, warm=True),
    Region("/geo/us/west/wa", "Washington", 20, _COAST),
    Region("/geo/us/west/az", "Arizona", 18, "America/Phoenix", warm=True),
    Region("/geo/us/west/co", "Colorado", 15, _MOUNTAIN),
    Region("/geo/us/west/or", "Oregon", 12, _COAST),
    Region("/geo/us/west/nv", "Nevada", 9, _COAST, warm=True),
    Region("/geo/us/west/ut", "Utah", 8, _MOUNTAIN),
    Region("/geo/us/west/hi", "Hawaii", 4, "Pacific/Honolulu", warm=True),
    Region("/geo/us/west/ak", "Alaska", 3, "America/Anchorage", reconciler=_ANSIBLE),
    Region("/geo/us/pr", "Puerto Rico", 5, "America/Puerto_Rico", "es", warm=True),
    Region("/geo/ca/on", "Ontario", 26, "America/Toronto"),
    Region("/geo/ca/qc", "Quebec", 16, "America/Toronto", "fr"),
    Region("/geo/ca/bc", "British Columbia", 10, "America/Vancouver"),
    Region("/geo/ca/ab", "Alberta", 8, "America/Edmonton"),
    Region("/geo/mx/cmx", "Mexico City", 14, "America/Mexico_City", "es", warm=True),
    Region("/geo/mx/nle", "Nuevo Leon", 8, "America/Monterrey", "es", warm=True),
    Region("/geo/mx/jal", "Jalisco", 7, "America/Mexico_City", "es", warm=True),
    Region("/geo/europe/uk/england", "England", 24, "Europe/London", reconciler=_ARGOCD),
    Region("/geo/europe/uk/scotland", "Scotland", 6, "Europe/London", reconciler=_ARGOCD),
    Region("/geo/europe/de/by", "Bavaria", 10, "Europe/Berlin", "de", reconciler=_ARGOCD),
    Region(
        "/geo/europe/de/nw", "North Rhine-Westphalia", 10, "Europe/Berlin", "de", reconciler=_ARGOCD
    ),
    Region("/geo/europe/fr", "France", 18, "Europe/Paris", "fr", reconciler=_ARGOCD),
    Region("/geo/asia/jp/kanto", "Kanto", 14, "Asia/Tokyo", "ja"),
    Region("/geo/asia/jp/kansai", "Kansai", 8, "Asia/Tokyo", "ja"),
    Region(
        "/geo/asia/sg",
        "Singapore",
        3,
        "Asia/Singapore",
        warm=True,
        cities=False,
        reconciler=_ANSIBLE,
    ),
)

TITLES = {
    "/geo/us": "United States",
    "/geo/us/northeast": "Northeast",
    "/geo/us/south": "South",
    "/geo/us/central": "Central",
    "/geo/us/west": "West",
    "/geo/ca": "Canada",
    "/geo/mx": "Mexico",
    "/geo/europe": "Europe",
    "/geo/europe/uk": "United Kingdom",
    "/geo/europe/de": "Germany",
    "/geo/asia": "Asia",
    "/geo/asia/jp": "Japan",
    "/franchise/corporate": "Corporate stores",
    "/devices/soda-fountain": "Soda fountains",
    "/devices/shake-machine": "Shake machines",
    "/devices/assembly": "Food assembly devices",
    "/delivery/uber-eats": "Uber Eats",
    "/delivery/grubhub": "GrubHub",
    "/marketing/channels": "Local channels",
    "/planogram/menu/mcrib": "McRib",
}

DEVICES: dict[str, tuple[float, tuple[tuple[str, int], ...]]] = {
    "camera": (
        0.70,
        (
            ("axion/dome2", 30),
            ("axion/dome4k", 20),
            ("optiview/ov100", 25),
            ("optiview/ov200/indoor", 10),
            ("optiview/ov200/outdoor", 15),
        ),
    ),
    "grill": (
        0.85,
        (
            ("acme/acme3000", 12),
            ("acme/acme3001", 9),
            ("acme/acme2000", 24),
            ("brasa/b1", 25),
            ("brasa/b2/gas", 12),
            ("brasa/b2/electric", 8),
            ("ember", 10),
        ),
    ),
    "oven": (0.50, (("acme/oven9", 40), ("ember/hearth", 35), ("ember/hearth-xl", 25))),
    "fryer": (0.70, (("goldcrisp/gc4", 45), ("goldcrisp/gc6", 30), ("acme/fry200", 25))),
    "soda-fountain": (0.60, (("fizzwell/f8", 50), ("fizzwell/f16", 30), ("polar", 20))),
    "shake-machine": (0.35, (("polar/swirl", 60), ("polar/swirl-duo", 40))),
    "assembly": (0.15, (("", 40), ("robochef/line1", 40), ("robochef/line2", 20))),
}
"""Per kind: how many clusters have one, and the models with their shares."""

DELIVERY = (
    ("/delivery/store", 0.35),
    ("/delivery/curbside", 0.45),
    ("/delivery/uber-eats", 0.35),
    ("/delivery/uber-eats/express", 0.15),
    ("/delivery/grubhub", 0.28),
)

DEMOGRAPHICS = (
    ("urban", 30),
    ("suburban", 40),
    ("rural", 14),
    ("highway", 8),
    ("students/campus", 5),
    ("travellers/airport", 3),
)

SECTIONS = (
    "/planogram/seasonal/swimsuits",
    "/planogram/seasonal/snow-gear",
    "/planogram/menu/mcrib",
    "/planogram/menu/lobster-roll",
    "/planogram/seasonal/holiday/toys",
)

LANGUAGES = ("en", "es", "fr", "de", "ja")
