"""Late-bound values on their way to the fields they fill: JSON patches, made as data.

The operations on an object carry the values, and are JSON made by ``flow``: a number arrives as the
digits it is, and nothing is left in a text that could end a line. Wherever such a patch stands as
text inside another document it is in single quotes made by ``terse``, at every level, with every
quote in it doubled. So a value can neither end the text it stands in nor be taken for anything but
itself.

Kustomize takes a patch that begins with a bracket for JSON and any other for YAML. That tells
operations on objects from those that hand patches on, here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import orjson

from graph.model.values import Value
from graph.model.workload import Application
from renderer.flow import flow
from renderer.formats.terse import Said, terse

Patch = Mapping[str, Said]
"""``target`` and ``patch``, as kustomize, Flux and Argo CD all have them."""

_PATCH = re.compile("patch: '([^']*(?:''[^']*)*)'")
"""The text of a patch. Beside it stand words, which have no blank in them."""


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


def handed_on(kind: str, name: str, pointer: str, said: Said) -> Patch:
    """A patch that puts ``said``, in which there are patches, into what tells a reconciler."""
    operation = terse({"op": "add", "path": pointer, "value": said})
    return {"target": {"kind": kind, "name": name}, "patch": f"- {operation}"}


def values_in(written: str) -> Iterator[Value]:
    """The values of a patch as ``terse`` wrote it, one for each field, in the order they stand."""
    for text in _PATCH.findall(written):
        patch = text.replace("''", "'")
        if patch.startswith("["):
            yield from (each["value"] for each in orjson.loads(patch))
        else:
            yield from values_in(patch)


def _set(pointer: str, value: Value) -> dict[str, object]:
    """To add at a number would put an item before another; there the item is replaced."""
    last = pointer.rpartition("/")[2]
    return {"op": "replace" if last.isdecimal() else "add", "path": pointer, "value": value}


def _target(written: str, namespace: str) -> dict[str, str]:
    """Kustomize reads a name as a pattern, in which a dot stands for anything."""
    kind, _, name = written.partition("/")
    target = {"kind": kind, "name": name.replace(".", "\\.")}
    return target | {"namespace": namespace} if namespace else target
