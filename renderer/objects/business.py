"""Business labels: what every rendered object says about whose it is and where it came from.

Telemetry, bills and people are cut by them. A value that Kubernetes does not take as a label is an
annotation under the same key: it can still be read, only not selected by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.model.workload import Application, Namespace

DOMAIN = "trellis.dev"
"""What every key begins with; labels that people gave stand under ``label.`` of it."""
APPLICATION = f"{DOMAIN}/application"
NAMESPACE = f"{DOMAIN}/namespace"
OWNER = f"{DOMAIN}/owner"
OVERLAY = f"{DOMAIN}/overlay"
COST_CENTER = f"{DOMAIN}/cost-center"

_LABEL_VALUE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)

Marks = tuple[dict[str, str], dict[str, str]]
"""Labels and annotations."""


def labels_of(application: Application, namespace: Namespace, key: str) -> Marks:
    """Labels and annotations of whatever an overlay brings, and of what tells of it."""
    return _marks(
        {
            APPLICATION: application.name,
            NAMESPACE: namespace.name,
            OWNER: application.owner or ", ".join(namespace.owners),
            OVERLAY: key,
            COST_CENTER: namespace.cost_center,
            **_given(application.labels),
        }
    )


def labels_of_namespace(namespace: Namespace) -> Marks:
    """Labels and annotations of a namespace's own objects."""
    return _marks(
        {
            NAMESPACE: namespace.name,
            OWNER: ", ".join(namespace.owners),
            COST_CENTER: namespace.cost_center,
            **_given(namespace.labels),
        }
    )


def _given(labels: Mapping[str, str]) -> dict[str, str]:
    return {rendered_key(key): value for key, value in sorted(labels.items())}


def rendered_key(key: str) -> str:
    """The key under which objects carry a label that people gave: always below our own domain.

    ``size`` is ``label.trellis.dev/size``, and ``example.com/size`` is
    ``example.com.label.trellis.dev/size``. No two keys share one, and none can be a key that means
    something to Kubernetes or a reconciler: who may label an application may not thereby lower a
    namespace's pod security or switch pruning off.
    """
    prefix, slash, name = key.rpartition("/")
    return f"{prefix}{'.' if slash else ''}label.{DOMAIN}/{name}"


def _marks(said: Mapping[str, str]) -> Marks:
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    for key, value in said.items():
        if value:
            (labels if _LABEL_VALUE.fullmatch(value) else annotations)[key] = value
    return labels, annotations
