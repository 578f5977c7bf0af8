from __future__ import annotations

import json

import pytest

from bench.__main__ import BENCHMARKS, main
from bench.bars import BARS
from bench.report import MARKED, README, quantity, rendered
from bench.result import RESULTS, Row, read, read_all, record, row, write

KEPT = sorted(RESULTS.glob("*.json"))


def test_the_tables_are_made_from_the_results_that_are_kept():
    text = README.read_text("utf-8")
    assert rendered(text, read_all()) == text, "run python -m bench, or its report, again"


def test_every_benchmark_has_its_table_and_its_result():
    marked = {found.group(2) for found in MARKED.finditer(README.read_text("utf-8"))}
    assert marked == {"bars", *BENCHMARKS}
    assert {path.stem for path in KEPT} == set(BENCHMARKS)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_result_has_the_form_every_benchmark_uses(path):
    held = json.loads(path.read_text("utf-8"))
    assert held["benchmark"] == path.stem
    assert {"date", "machine", "load_average", "commit", "notes", "rows"} < held.keys()
    assert {"cpu", "cores", "memory_gb", "python", "versions"} <= held["machine"].keys()
    for each in held["rows"]:
        assert list(each) == ["measure", "subject", "value", "unit", "ratio", "ratio_to"]


def test_a_result_reads_back_as_it_was_written(tmp_path):
    rows = [row("a", "x", 2.0, "us"), row("a", "y", 9.0, "us", over=2.0, ratio_to="x")]
    result = record("trial", rows, notes=["a note"], load_before=1.0)
    assert read(write(result, tmp_path)) == result
    assert result.rows[1].ratio == 4.5


@pytest.mark.parametrize("bar", BARS, ids=lambda bar: bar.promise)
def test_every_bar_covers_a_row_that_was_measured(bar):
    assert bar.worst(read_all()[bar.benchmark].rows) is not None


def test_a_bar_that_is_missed_is_said_so():
    text = "<!-- results: bars -->\n<!-- end -->"
    slow = Row("Q1 count, 1,000,000 clusters", "Trellis", 90.0, "us", 9.0, "Trellis at 60,000")
    result = record("selectors", [slow], notes=[], load_before=0.0)
    line = next(each for each in rendered(text, {"selectors": result}).splitlines() if "9x" in each)
    assert line.endswith("| at most 8x | 9x | Q1 count, 1,000,000 clusters | **missed** |")


def test_of_several_rows_the_worst_is_held_to_the_bar():
    bar = BARS[0]
    rows = [
        Row(f"Q{each} count, 60,000 clusters", bar.subject, 1.0, "us", ratio, "Trellis")
        for each, ratio in ((1, 900.0), (4, 80.0), (5, 2_000.0))
    ]
    worst = bar.worst(rows)
    assert worst is rows[1]
    assert not bar.met(worst)
    assert bar.met(rows[0])


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.456, "us", "3.46 us"),
        (3_456.0, "us", "3.46 ms"),
        (2_500_000.0, "us", "2.5 s"),
        (12_345.0, "MB", "12,345 MB"),
    ],
)
def test_a_figure_is_written_as_people_read_it(value, unit, text):
    assert quantity(value, unit) == text


def test_an_unknown_benchmark_is_refused_with_the_names_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["selector"])
    assert "load, selectors, updates, facets, start" in capsys.readouterr().err
