"""One archive with all a cluster runs: for a site without a network, or to build a store again.

It is the published tree cut down to one cluster, as it is, with a list of the images it needs. It
builds with plain kustomize, unpacked anywhere, and the same tree gives the same bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from renderer import paths
from renderer.artifact.archive import archive, compressed, stretch
from renderer.artifact.edition import Edition
from renderer.artifact.gather import Bounds, Gathered, gather
from renderer.artifact.host import gather_host
from renderer.artifact.images import images_of
from renderer.artifact.packer import directories, root_kustomization
from renderer.plan.pointer import read_pointer
from renderer.tree import Tree

IMAGES = "images.txt"
BOUNDS = Bounds(files_max=50_000, bytes_max=256 * 1024 * 1024)
_SYNC = re.compile(r"apps/([a-z0-9-]+)/sync/[a-z0-9-]+/([0-9a-f]{16})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Bundle:
    """An archive, and what it holds."""

    content: bytes
    files: int
    images: tuple[str, ...]


@dataclass(slots=True)
class _Cut:
    """What is taken of the tree."""

    edition: Edition
    bounds: Bounds
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    images: set[str] = field(default_factory=set[str])

    def add(self, directory: str, below: str) -> Gathered:
        found = gather(self.edition, directory, within=below, bounds=self.bounds)
        self.files.update(found.files)
        self.images |= images_of(found, directory)
        return found


def bundle(tree: Tree, cluster: str, bounds: Bounds = BOUNDS) -> Bundle:
    """Everything ``cluster`` runs at this moment."""
    cut = _Cut(Edition(tree), bounds)
    directory = paths.pointer(cluster)
    at = f"{directory}/{paths.KUSTOMIZATION}"
    content = tree.read(at)
    if content is None:
        for part in gather_host(cut.edition, cluster, bounds).values():
            cut.files.update(part.files)
    else:
        cut.files[at] = content
        cut.files[paths.KUSTOMIZATION] = root_kustomization(directory)
        for each, below in directories(read_pointer(cluster, content)):
            cut.add(each, below)
            if led := _SYNC.fullmatch(each):
                cut.add(paths.overlay(led[1], led[2]), below)
    images = tuple(sorted(cut.images))
    cut.files[IMAGES] = "".join(f"{each}\n" for each in images).encode()
    return Bundle(compressed(archive((stretch(cut.files),))), len(cut.files), images)
