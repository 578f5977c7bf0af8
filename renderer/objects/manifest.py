"""Objects of Kubernetes as they are generated, and directories of them that build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from renderer.flow import document
from renderer.objects.business import Marks
from renderer.paths import KUSTOMIZATION

Manifest = Mapping[str, object]

KUSTOMIZE_API = "kustomize.config.k8s.io/v1beta1"
KEPT = {
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
}
"""Annotations of what no reconciler deletes by itself: others live in it, or need it to go."""


def manifest(
    api: str,
    kind: str,
    name: str,
    body: Mapping[str, object] | None = None,
    *,
    namespace: str = "",
    marks: Marks = ({}, {}),
    annotations: Mapping[str, str] | None = None,
    finalizers: Sequence[str] = (),
) -> dict[str, object]:
    """An object; what is empty in its metadata is left out."""
    labels, told = marks
    metadata: dict[str, object] = {
        "name": name,
        "namespace": namespace,
        "labels": labels,
        "annotations": told | dict(annotations or {}),
        "finalizers": list(finalizers),
    }
    held = {key: value for key, value in metadata.items() if value}
    return {"apiVersion": api, "kind": kind, "metadata": held, **(body or {})}


def documents(objects: Sequence[Manifest]) -> bytes:
    """Objects in one file."""
    return b"---\n".join(map(document, objects))


def kustomization(resources: Sequence[str], **fields: object) -> bytes:
    """What makes a directory build: the files or directories it is made of."""
    head = {"apiVersion": KUSTOMIZE_API, "kind": "Kustomization"}
    made_of = {"resources": list(resources)} if resources else {}
    return document({**head, **made_of, **fields})


def directory(file: str, objects: Sequence[Manifest]) -> dict[str, bytes]:
    """A directory that builds to ``objects``, which stand in one file."""
    return {KUSTOMIZATION: kustomization([file]), file: documents(objects)}
