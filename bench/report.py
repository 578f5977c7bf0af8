"""From result files to the tables of bench/README.md.

Text outside the markers is written by people; between them everything comes from bench/results, and
a test fails when the two differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bench.bars import BARS, bar_of
from bench.result import ROOT, Result, Row, read_all

README = ROOT / "bench" / "README.md"
MARKED = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SUMMARY = "bars"


def update(path: Path = README, results: Mapping[str, Result] | None = None) -> None:
    """Write the tables anew."""
    text = path.read_text("utf-8")
    path.write_text(rendered(text, read_all() if results is None else results), "utf-8")


def rendered(text: str, results: Mapping[str, Result]) -> str:
    """``text`` with what is between its markers made from ``results``."""

    def section(found: re.Match[str]) -> str:
        name = found.group(2)
        lines = summary(results) if name == SUMMARY else table(results.get(name))
        return found.group(1) + "\n" + "\n".join(lines) + "\n\n" + found.group(3)

    return MARKED.sub(section, text)


def summary(results: Mapping[str, Result]) -> Iterator[str]:
    """One line a bar: its worst row."""
    yield from _head("bar", "limit", "measured", "where", "verdict")
    for bar in BARS:
        result = results.get(bar.benchmark)
        worst = bar.worst(result.rows) if result else None
        if worst is None:
            yield _line(bar.promise, str(bar), "-", "-", "not measured")
        else:
            figure = f"{worst.value:,g} {bar.unit}" if bar.unit else _times(bar.figure(worst))
            verdict = "met" if bar.met(worst) else "**missed**"
            yield _line(bar.promise, str(bar), figure, worst.measure, verdict)


def table(result: Result | None) -> Iterator[str]:
    """Every row of one benchmark, with its bar where it has one."""
    if result is None:
        yield "Not measured yet."
        return
    yield from _run(result)
    yield ""
    yield from _head("measure", "subject", "value", "ratio", "to", "bar", "")
    before = ""
    for row in result.rows:
        bar = bar_of(result.benchmark, row)
        yield _line(
            row.measure if row.measure != before else "",
            row.subject,
            quantity(row.value, row.unit),
            "" if row.ratio is None else _times(row.ratio),
            row.ratio_to or "",
            "" if bar is None else str(bar),
            "" if bar is None else "met" if bar.met(row) else "**missed**",
        )
        before = row.measure
    if result.notes:
        yield ""
        yield from (f"- {note}" for note in result.notes)


def _run(result: Result) -> Iterator[str]:
    machine = result.machine
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    began, ended = result.load_average
    yield (
        f"{result.date}, commit {result.commit}; {machine['cpu']}, {machine['cores']} cores,"
        f" {machine['memory_gb']} GB, {machine['system']}, {machine['python']}; {versions};"
        f" load average {began} at the start, {ended} at the end."
    )


def quantity(value: float, unit: str) -> str:
    """A figure as a person reads it: microseconds become ms and s where they are many."""
    if unit == "us" and value >= 1_000_000:
        value, unit = value / 1_000_000, "s"
    elif unit == "us" and value >= 1_000:
        value, unit = value / 1_000, "ms"
    return f"{_figure(value)} {unit}"


def _times(ratio: float) -> str:
    return f"{_figure(ratio)}x"


def _figure(value: float) -> str:
    """Three digits, grouped, never in powers of ten."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _head(*titles: str) -> Iterable[str]:
    return _line(*titles), "|" + "|".join("---" for _ in titles) + "|"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def shown(rows: Iterable[Row]) -> Iterator[str]:
    """Rows for the terminal."""
    for row in rows:
        ratio = "" if row.ratio is None else f"{_times(row.ratio)} of {row.ratio_to}"
        value = quantity(row.value, row.unit)
        yield f"  {row.measure:<70} {row.subject:<38} {value:>16}  {ratio}"
