"""The fleet's own settings on a cluster: a ConfigMap that anything there may read.

The file ``settings.json`` is the entry of that ConfigMap, so that whatever has no cluster, as a
host, reads the same file.
"""

from __future__ import annotations

from graph.effective.portion import Overlay
from renderer.flow import flow, ordered
from renderer.objects.business import OVERLAY
from renderer.objects.manifest import KEPT, documents, kustomization, manifest
from renderer.objects.namespace import SYSTEM_NAMESPACE
from renderer.paths import KUSTOMIZATION

CONFIG_MAP = "fleet-settings"
SETTINGS = "settings.json"
NAMESPACE = "namespace.yaml"


def fleet_files(settings: Overlay) -> dict[str, bytes]:
    """The directory of one distinct set of settings, by name of the file."""
    generated = {
        "name": CONFIG_MAP,
        "namespace": SYSTEM_NAMESPACE,
        "files": [SETTINGS],
        "options": {"disableNameSuffixHash": True, "labels": {OVERLAY: settings.key}},
    }
    namespace = manifest("v1", "Namespace", SYSTEM_NAMESPACE, annotations=KEPT)
    return {
        KUSTOMIZATION: kustomization([NAMESPACE], configMapGenerator=[generated]),
        NAMESPACE: documents([namespace]),
        SETTINGS: f"{flow(ordered(settings.values))}\n".encode(),
    }
