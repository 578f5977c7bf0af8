"""Answers on standard output: aligned columns for people, exact data for programs.

Every number a person reads is grouped; no number a program reads is.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain

import click

from graph.engine import Engine
from graph.index.snapshot import Snapshot
from graph.model.cluster_set import ClusterSet
from graph.model.inventory import Cluster, LabelValue
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.view import path_of
from graph.page import Order

LABEL_COLUMNS_MAX = 8
PAGE = 1_000
REVISION_GAP = " " * 8
_TITLES = frozenset({"group", "clusters", "share"})
"""Headings that are ours; others are paths, keys and values, and stay as they are."""


class Format(StrEnum):
    """What ``-o`` takes."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    CSV = "csv"


FORMAT = click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice([each.value for each in Format]),
    default=Format.TABLE.value,
    show_default=True,
    help="How to print the answer.",
)


def columns(rows: Iterable[Sequence[str]], *, right: Sequence[int] = (), indent: str = "") -> str:
    """``rows`` as aligned text; the columns in ``right`` hold numbers."""
    kept = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)] if kept else []
    lines = (
        "  ".join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in kept
    )
    return "\n".join(indent + line.rstrip() for line in lines)


def share_of(count: int, view: Snapshot) -> str:
    """``2,431 of 60,000 clusters        revision 3``."""
    total = len(view.everything())
    return f"{count:,} of {total:,} clusters{REVISION_GAP}{at_revision(view)}"


def at_revision(view: Snapshot) -> str:
    """``revision 3``."""
    return f"revision {view.cursor.revision:,}"


def shown_value(value: LabelValue | None) -> str:
    """A label's value as it stands in a cell."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


class Paths:
    """Paths of groups in one view, each worked out once."""

    def __init__(self, view: Snapshot) -> None:
        self._view = view
        self._known: dict[GroupNumber, str] = {}

    def of(self, number: GroupNumber) -> str:
        """Where the group is."""
        if number not in self._known:
            self._known[number] = path_of(self._view, number)
        return self._known[number]


def document(cluster: Cluster, paths: Paths) -> dict[str, object]:
    """A cluster as data."""
    found: dict[str, object] = {
        "name": cluster.name,
        "number": int(cluster.number),
        "title": cluster.title,
        "kind": cluster.kind.value,
        "reconciler": cluster.reconciler.value,
        "labels": dict(cluster.labels),
        "groups": sorted(map(paths.of, cluster.memberships)),
        "timeZone": cluster.time_zone,
    }
    if cluster.capacity is not None:
        found["capacity"] = {
            "cpuMillicores": cluster.capacity.cpu_millicores,
            "memoryMib": cluster.capacity.memory_mib,
            "storageMib": cluster.capacity.storage_mib,
        }
    if cluster.opening_hours is not None:
        hours = cluster.opening_hours
        found["openingHours"] = {
            name: {
                day: [{"opens": each.opens, "closes": each.closes} for each in intervals]
                for day, intervals in days.items()
            }
            for name, days in (("weekly", hours.weekly), ("exceptions", hours.exceptions))
        }
    return found


def numbers(
    engine: Engine, chosen: ClusterSet, view: Snapshot, order: Order, limit: int | None
) -> Iterator[ClusterNumber]:
    """The first ``limit`` clusters of a set in order, page by page."""
    after: str | ClusterNumber | None = None
    left = len(chosen) if limit is None else limit
    while left > 0:
        page = engine.page(chosen, first=min(PAGE, left), order=order, after=after, view=view)
        yield from page.clusters
        left -= len(page.clusters)
        if not page.more:
            return
        last = page.clusters[-1]
        after = view.cluster_name(last) if order is Order.NAME else last


def print_clusters(
    found: Iterable[ClusterNumber], total: int, view: Snapshot, form: Format
) -> None:
    """Clusters in the form asked for; a table is the caller's to bound and to conclude."""
    match form:
        case Format.NAME:
            for number in found:
                sys.stdout.write(view.cluster_name(number) + "\n")
        case Format.JSON:
            _print_json(_documents(found, view), total, view)
        case Format.YAML:
            _print_yaml(_documents(found, view))
        case Format.CSV:
            _print_csv(_clusters(found, view), view)
        case Format.TABLE:
            _print_table(list(_clusters(found, view)), view)


def print_rows(header: Sequence[str], rows: Sequence[Sequence[object]], form: Format) -> None:
    """Small answers: counts as a table, or as data with the header's names as keys."""
    match form:
        case Format.TABLE:
            cells = [[each if isinstance(each, str) else _number(each) for each in r] for r in rows]
            right = [i for i in range(len(header)) if rows and not isinstance(rows[0][i], str)]
            titles = [name.upper() if name in _TITLES else name for name in header]
            click.echo(columns([titles, *cells], right=right))
        case Format.CSV:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)
        case Format.NAME:
            for row in rows:
                sys.stdout.write(f"{row[0]}\n")
        case Format.JSON:
            data = [dict(zip(header, row, strict=True)) for row in rows]
            click.echo(json.dumps(data, ensure_ascii=False, indent=2))
        case Format.YAML:
            from renderer import canonical

            click.echo(
                canonical.write([dict(zip(header, row, strict=True)) for row in rows]), nl=False
            )


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower()
    return f"{value:.1%}" if isinstance(value, float) else f"{value:,}"


def _clusters(found: Iterable[ClusterNumber], view: Snapshot) -> Iterator[Cluster]:
    for number in found:
        cluster = view.cluster(number)
        assert cluster is not None, "an answer holds clusters of its view"
        yield cluster


def _documents(found: Iterable[ClusterNumber], view: Snapshot) -> Iterator[Mapping[str, object]]:
    paths = Paths(view)
    return (document(cluster, paths) for cluster in _clusters(found, view))


def _print_json(documents: Iterator[Mapping[str, object]], total: int, view: Snapshot) -> None:
    sys.stdout.write(f'{{"revision": {view.cursor.revision}, "total": {total}, "clusters": [')
    first = next(documents, None)
    if first is not None:
        sys.stdout.write("\n" + json.dumps(first, ensure_ascii=False))
        for each in documents:
            sys.stdout.write(",\n" + json.dumps(each, ensure_ascii=False))
        sys.stdout.write("\n")
    sys.stdout.write("]}\n")


def _print_yaml(documents: Iterator[Mapping[str, object]]) -> None:
    from renderer import canonical

    first = next(documents, None)
    if first is None:
        sys.stdout.write("[]\n")
        return
    for each in chain((first,), documents):
        sys.stdout.write(canonical.write([each]))


def _print_csv(clusters: Iterator[Cluster], view: Snapshot) -> None:
    keys = [key.name for key in view.label_keys()]
    hierarchies = [hierarchy.name for hierarchy in view.hierarchies()]
    paths = Paths(view)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    fields = ("name", "title", "kind", "reconciler", "timeZone")
    writer.writerow([*fields, *keys, *(f"/{name}" for name in hierarchies)])
    for each in clusters:
        places: dict[str, list[str]] = {name: [] for name in hierarchies}
        for path in sorted(map(paths.of, each.memberships)):
            places[path.split("/", 2)[1]].append(path)
        row = (each.name, each.title, each.kind.value, each.reconciler.value, each.time_zone)
        labels = [shown_value(each.labels.get(key)) for key in keys]
        writer.writerow([*row, *labels, *(" ".join(places[name]) for name in hierarchies)])


def _print_table(clusters: Sequence[Cluster], view: Snapshot) -> None:
    if not clusters:
        return
    known = [key.name for key in view.label_keys()]
    keys = known[:LABEL_COLUMNS_MAX]
    header = ("NAME", *(key.upper() for key in keys))
    rows = [(each.name, *(shown_value(each.labels.get(key)) for key in keys)) for each in clusters]
    click.echo(columns([header, *rows]))
    if len(known) > len(keys):
        click.echo(f"\n{len(keys):,} of {len(known):,} labels shown; -o csv shows all")
