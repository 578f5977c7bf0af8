"""Reconciler objects that name a git repository, told to name an artifact by its digest instead.

Objects are told apart by what they are, not by the file they stand in, so a format of somebody's
own is pinned as well where it speaks of Flux or Argo CD. Everything else about them stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from graph.model.errors import Invalid, TrellisError
from renderer.artifact.artifact import Flavour
from renderer.canonical import read_all
from renderer.flow import document

PINNED_INTERVAL = "24h"
"""How often Flux looks after what cannot change."""
_OVERLAY = re.compile(r"(?:\./)?apps/([a-z0-9-]+)/overlays/([0-9a-f]{16})/?", re.ASCII)
_FLUX = "kustomize.toolkit.fluxcd.io/"
_ARGO_CD = "argoproj.io/"

Pin = Callable[[str, str, Flavour], str]
"""The digest of an overlay, by application and key."""
Object = dict[str, object]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where stores fetch artifacts, as the objects on them are told."""

    url: str
    """``oci://host`` or ``oci://host/prefix``."""
    insecure: bool = False
    """Whether it is reached without encryption."""
    secret: str = ""
    """The secret on the cluster that holds its token; empty where none is needed."""
    source: str = "trellis"
    """Told in every artifact: where its files come from."""


def pin_objects(path: str, content: bytes, origin: Origin, pin: Pin) -> bytes:
    """A file of objects with every overlay in it pinned; the same bytes where there is none."""
    if b"/overlays/" not in content and b"AppProject" not in content:
        return content
    try:
        objects = list(read_all(content.decode()))
    except (TrellisError, UnicodeDecodeError) as error:
        raise Invalid(f"{path}: {error}", hint="let it be rendered again") from None
    found = [after for each in objects for after in _pinned(each, origin, pin)]
    if found == objects:
        return content
    return b"---\n".join(document(cast("Object", each)) for each in found)


def _pinned(value: object, origin: Origin, pin: Pin) -> list[object]:
    if not isinstance(value, dict):
        return [value]
    known = cast("Object", value)
    version, kind = str(known.get("apiVersion", "")), known.get("kind")
    if version.startswith(_FLUX) and kind == "Kustomization":
        return _flux(known, origin, pin)
    if version.startswith(_ARGO_CD) and kind == "Application":
        return [_argo_cd(known, origin, pin)]
    if version.startswith(_ARGO_CD) and kind == "AppProject":
        repositories = {"sourceRepos": [f"{origin.url}/apps/*"]}
        return [{**known, "spec": {**_map(known, "spec"), **repositories}}]
    return [known]


def _flux(known: Object, origin: Origin, pin: Pin) -> list[object]:
    """The Kustomization, and the repository it now builds from."""
    spec, metadata = _map(known, "spec"), _map(known, "metadata")
    led = _OVERLAY.fullmatch(str(spec.get("path", "")))
    if led is None:
        return [known]
    repository: Object = {
        "interval": PINNED_INTERVAL,
        "url": f"{origin.url}/apps/{led[1]}",
        "ref": {"digest": pin(led[1], led[2], Flavour.FLUX)},
        **({"insecure": True} if origin.insecure else {}),
        **({"secretRef": {"name": origin.secret}} if origin.secret else {}),
    }
    kept = {key: metadata[key] for key in ("name", "namespace", "labels") if key in metadata}
    source = {"kind": "OCIRepository", "name": metadata.get("name")}
    return [
        {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "OCIRepository",
            "metadata": kept,
            "spec": repository,
        },
        {**known, "spec": {**spec, "sourceRef": source}},
    ]


def _argo_cd(known: Object, origin: Origin, pin: Pin) -> Object:
    spec = _map(known, "spec")
    source = _map(spec, "source")
    led = _OVERLAY.fullmatch(str(source.get("path", "")))
    if led is None:
        return known
    pinned = {
        "repoURL": f"{origin.url}/apps/{led[1]}",
        "targetRevision": pin(led[1], led[2], Flavour.GENERIC),
    }
    return {**known, "spec": {**spec, "source": {**source, **pinned}}}


def _map(value: Mapping[str, object], key: str) -> Object:
    found = value.get(key)
    return cast("Object", found) if isinstance(found, dict) else {}
