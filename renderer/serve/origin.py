"""Where stores are told to fetch artifacts, and the packer that tells them."""

from __future__ import annotations

from renderer.artifact.gather import Bounds
from renderer.artifact.packer import Packer
from renderer.artifact.pinned import Origin
from renderer.serve.settings import ArtifactSettings


def origin_of(artifact: ArtifactSettings, address: str, *, loopback: bool) -> Origin:
    """Where stores are told to fetch: as set, or where it is served."""
    url = artifact.url or f"oci://{address}"
    insecure = artifact.insecure or (not artifact.url and loopback)
    return Origin(url, insecure, artifact.secret, artifact.source)


def packer_of(artifact: ArtifactSettings, origin: Origin, kept_bytes_max: int) -> Packer:
    """A packer with the bounds of the settings."""
    bounds = Bounds(artifact.files_max, artifact.bytes_max)
    return Packer(origin, bounds=bounds, kept_bytes_max=kept_bytes_max)
