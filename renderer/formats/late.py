"""Late-bound values on their way to the fields they fill: JSON patches, made as data.

Wherever a patch stands as text inside another document, that text is JSON made by ``flow``, at
every level: a value can neither end the text it stands in nor be taken for anything but itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.values import Value
from graph.model.workload import Application
from renderer.flow import flow

Patch = dict[str, object]
"""``target`` and ``patch``, as kustomize, Flux and Argo CD all have them."""


def object_patches(
    application: Application, late: Mapping[str, Value], *, namespace: str = ""
) -> list[Patch]:
    """A patch for each object that values of ``late`` fill, in the order of the definition.

    ``namespace`` narrows the target where other applications' objects are built beside these; an
    object outside any namespace is nobody else's anyway.
    """
    operations: dict[str, list[dict[str, object]]] = {}
    for bound in application.late_bound:
        if bound.key in late:
            value = late[bound.key]
            for field in bound.fields:
                operations.setdefault(field.object, []).append(_set(field.pointer, value))
    outside = application.cluster_scoped
    return [
        {"target": _target(each, "" if each in outside else namespace), "patch": flow(found)}
        for each, found in operations.items()
    ]


def handed_on(kind: str, name: str, pointer: str, patches: Sequence[Patch]) -> list[Patch]:
    """One patch that hands ``patches`` on to the object that tells a reconciler of them.

    ``pointer`` is that object's list of patches.
    """
    if not patches:
        return []
    added = [{"op": "add", "path": f"{pointer}/-", "value": each} for each in patches]
    return [{"target": {"kind": kind, "name": name}, "patch": flow(added)}]


def _set(pointer: str, value: Value) -> dict[str, object]:
    """To add at a number would put an item before another; there the item is replaced."""
    last = pointer.rpartition("/")[2]
    return {"op": "replace" if last.isdecimal() else "add", "path": pointer, "value": value}


def _target(written: str, namespace: str) -> dict[str, object]:
    """Kustomize reads a name as a pattern, in which a dot stands for anything."""
    kind, _, name = written.partition("/")
    target: dict[str, object] = {"kind": kind, "name": name.replace(".", "\\.")}
    return target | {"namespace": namespace} if namespace else target
