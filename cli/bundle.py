"""Everything one cluster runs, as one archive that builds without a network."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from cli.session import settings_for
from cli.settings import Settings
from cli.wiring import open_output
from graph.model.errors import NotFound
from renderer.artifact.bundle import Bundle
from renderer.artifact.bundle import bundle as make_bundle
from renderer.git.access import is_url


@click.command(short_help="Everything one cluster runs, as one archive.")
@click.argument("cluster")
@click.option("--from", "output", metavar="OUTPUT", help="git:PATH_OR_URL#BRANCH, or dir:PATH.")
@click.option(
    "--output",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; CLUSTER.tar.gz by default.",
)
@click.pass_obj
def bundle(store_url: str | None, cluster: str, output: str | None, file: Path | None) -> None:
    """Everything CLUSTER runs, as one archive.

    Pointer, overlays, bases, namespaces and fleet settings as they are published, and images.txt,
    the images they need. It builds with plain kustomize and without a network; the same commit
    gives the same bytes.
    """
    settings = settings_for(store_url)
    if output is not None:
        render = settings.render.model_copy(update={"output": output})
        settings = settings.model_copy(update={"render": render})
    made = _made(settings, cluster)
    file = file or Path(f"{cluster}.tar.gz")
    beside = file.with_name(f".{file.name}.new")
    beside.write_bytes(made.content)
    beside.replace(file)
    click.echo(
        f"{file}: {made.files:,} files, {len(made.images):,} images, {len(made.content):,} bytes"
    )


def _made(settings: Settings, cluster: str) -> Bundle:
    _check_there(settings.render.output)
    publisher, _ = open_output(settings)
    with closing(publisher):
        return make_bundle(publisher.head().tree, cluster)


def _check_there(output: str) -> None:
    """Opening to publish makes what is not there; whoever only reads has mistyped it."""
    place = output.partition(":")[2].rpartition("#")[0] or output.partition(":")[2]
    if place and not is_url(place) and not Path(place).exists():
        raise NotFound(
            f"there is no {place}",
            hint="check --from, or TRELLIS_RENDER_OUTPUT where it is not given",
        )
