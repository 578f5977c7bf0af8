"""The labels and annotations every object of an overlay is given, as kustomize data."""

from __future__ import annotations

from graph.model.workload import Application, Namespace
from renderer.objects import business

_IN_PODS = (business.APPLICATION, business.NAMESPACE, business.OWNER)
"""Labels that pods carry too. The overlay's key is not one: pods live on when a cluster moves."""


class Marking:
    """The marks of one application. They are the same in all its overlays but for the key."""

    def __init__(self, application: Application, namespace: Namespace) -> None:
        labels, self._annotations = business.labels_of(application, namespace, "")
        self._in_pods = {key: labels.pop(key) for key in _IN_PODS if key in labels}
        self._labels = labels

    def fields(self, key: str) -> dict[str, object]:
        """Fields of a kustomization."""
        fields: dict[str, object] = {
            "labels": [
                {"pairs": self._in_pods, "includeTemplates": True},
                {"pairs": {business.OVERLAY: key, **self._labels}},
            ]
        }
        if self._annotations:
            fields["commonAnnotations"] = self._annotations
        return fields

    def labels(self, key: str) -> dict[str, str]:
        """All of the labels, as templates see them."""
        return {**self._in_pods, business.OVERLAY: key, **self._labels}
