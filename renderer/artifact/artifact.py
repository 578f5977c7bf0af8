"""An OCI artifact: a manifest, a configuration that says nothing, and one layer of files.

Flux takes the first layer whatever it is called, and by default looks for its own name; Argo CD
wants exactly one layer of the generic name. The manifest names no commit and no time of its own:
its revision is the digest of its files, so an artifact stays the same while its files do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

import orjson

from renderer.artifact.archive import compressed

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
BEFORE_ALL_TIME = "1970-01-01T00:00:00Z"
"""When an artifact was created: bytes have no age, and the same ones are made again and again."""
NOWHERE = f"sha256:{'0' * 64}"
"""A digest nothing has: whoever is pinned to it keeps what it has, and says it cannot go on."""


class Flavour(StrEnum):
    """Whom an artifact is for."""

    FLUX = "flux"
    GENERIC = "oci"


_CONFIG = {
    Flavour.FLUX: "application/vnd.cncf.flux.config.v1+json",
    Flavour.GENERIC: "application/vnd.oci.image.config.v1+json",
}
_LAYER = {
    Flavour.FLUX: "application/vnd.cncf.flux.content.v1.tar+gzip",
    Flavour.GENERIC: "application/vnd.oci.image.layer.v1.tar+gzip",
}


class Blob(NamedTuple):
    """Bytes and what they are asked for by."""

    digest: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a registry keeps under one digest."""

    manifest: Blob
    config: Blob
    layer: Blob
    content: str
    """The digest of the files before compression: what tells two artifacts apart."""

    @property
    def digest(self) -> str:
        """What it is asked for by."""
        return self.manifest.digest

    @property
    def blobs(self) -> tuple[Blob, Blob]:
        """What must be there before the manifest is."""
        return self.config, self.layer

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(len(each.content) for each in (self.manifest, self.config, self.layer))


def digest_of(content: bytes) -> str:
    """What stands for ``content``."""
    return f"sha256:{sha256(content).hexdigest()}"


def pack(tar: bytes, flavour: Flavour, source: str) -> Artifact:
    """An archive as an artifact; ``source`` tells people where its files come from."""
    content = digest_of(tar)
    layer = _blob(compressed(tar))
    rootfs = {"type": "layers", "diff_ids": [content]}
    config = _blob(orjson.dumps({"architecture": "", "os": "", "config": {}, "rootfs": rootfs}))
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": _descriptor(config, _CONFIG[flavour]),
        "layers": [_descriptor(layer, _LAYER[flavour])],
        "annotations": {
            "org.opencontainers.image.created": BEFORE_ALL_TIME,
            "org.opencontainers.image.revision": content,
            "org.opencontainers.image.source": source,
        },
    }
    return Artifact(_blob(orjson.dumps(manifest)), config, layer, content)


def _blob(content: bytes) -> Blob:
    return Blob(digest_of(content), content)


def _descriptor(blob: Blob, media_type: str) -> dict[str, object]:
    return {"mediaType": media_type, "digest": blob.digest, "size": len(blob.content)}
