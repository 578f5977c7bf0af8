"""The form every benchmark's result has, and the file it goes to.

One row is one figure: what was measured, of whom, how much, and, where it is compared, how many
times the figure of the subject named in ``ratio_to``.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
PACKAGES = ("pyroaring", "apsw", "neo4j", "neo4j-rust-ext", "orjson", "lark")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. ``ratio`` is ``value`` over the value of ``ratio_to`` in the same run."""

    measure: str
    subject: str
    value: float
    unit: str
    ratio: float | None = None
    ratio_to: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one benchmark."""

    benchmark: str
    date: str
    machine: Mapping[str, Any]
    load_average: tuple[float, float]
    """Of one minute, when the run began and when it ended: what else the machine did."""
    commit: str
    notes: tuple[str, ...]
    """What was left out or is to be read with care, for this run."""
    rows: tuple[Row, ...]


def row(
    measure: str,
    subject: str,
    value: float,
    unit: str,
    *,
    over: float | None = None,
    ratio_to: str | None = None,
) -> Row:
    """A figure, compared with ``over`` (in the same unit) where one is given; four digits."""
    ratio = None if over is None else _rounded(value / over)
    return Row(measure, subject, _rounded(value), unit, ratio, ratio_to)


def record(
    benchmark: str, rows: Sequence[Row], *, notes: Sequence[str], load_before: float
) -> Result:
    """The result of a run that ends now on this machine."""
    return Result(
        benchmark=benchmark,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine(),
        load_average=(round(load_before, 1), round(os.getloadavg()[0], 1)),
        commit=commit(),
        notes=tuple(notes),
        rows=tuple(rows),
    )


def write(result: Result, directory: Path = RESULTS) -> Path:
    """Put ``result`` where the tables are made from."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{result.benchmark}.json"
    head = {key: value for key, value in asdict(result).items() if key != "rows"}
    lines = ",\n    ".join(json.dumps(asdict(each)) for each in result.rows)
    text = json.dumps(head, indent=2).removesuffix("\n}")
    path.write_text(f'{text},\n  "rows": [\n    {lines}\n  ]\n}}\n', "utf-8")
    return path


def read(path: Path) -> Result:
    """The inverse of ``write``."""
    held = json.loads(path.read_text("utf-8"))
    held["rows"] = tuple(Row(**each) for each in held["rows"])
    held["notes"] = tuple(held["notes"])
    held["load_average"] = tuple(held["load_average"])
    return Result(**held)


def read_all(directory: Path = RESULTS) -> dict[str, Result]:
    """Every result there is, by benchmark."""
    return {path.stem: read(path) for path in sorted(directory.glob("*.json"))}


def machine() -> dict[str, Any]:
    """What the figures depend on; nothing that tells whose machine it is."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
    }


def commit() -> str:
    """The commit that was measured, and whether the code differed from it."""
    head = _git("rev-parse", "--short=12", "HEAD")
    if not head:
        return "unknown"
    written = (":!bench/results", ":!bench/README.md")
    return f"{head} with changes" if _git("status", "--porcelain", "--", ".", *written) else head


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _cpu() -> str:
    """As Linux tells it; elsewhere what the platform says."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
