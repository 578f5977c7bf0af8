"""The sample fleet as a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cli.documents import json_line
from cli.sample import sample
from graph.model.errors import Invalid


@click.command(short_help="Write a sample fleet as JSON lines.")
@click.option("--clusters", type=click.IntRange(1, 1_000_000), default=60_000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "-o", "--output", "file", type=click.Path(dir_okay=False), help="A file instead of the screen."
)
def generate(clusters: int, seed: int, file: str | None) -> None:
    """Write a sample fleet as JSON lines, ready for trellis load.

    The same size and seed give the same bytes on every machine.
    """
    lines = map(json_line, sample(clusters, seed=seed))
    if file is None:
        sys.stdout.writelines(lines)
        return
    try:
        with Path(file).open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
    except OSError as error:
        raise Invalid(
            f"{file} cannot be written: {error.strerror}", hint="choose another file"
        ) from None
