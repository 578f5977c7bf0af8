"""Values stated as kustomize data: images, replicas, entries of ConfigMaps, fields of objects.

A value that is not given is not stated, and the base's own holds. An entry of a ConfigMap is a
strategic merge patch: it reaches a ConfigMap that is written as well as one that is generated,
whose name then changes with its content, and it fails where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import orjson

from graph.model.names import shortened
from graph.model.values import Value
from graph.model.workload import Binding, BindingKind
from renderer.failure import Failure, Unrenderable
from renderer.flow import flow

Values = Mapping[str, Value]

_IMAGE_FIELDS = ("newName", "newTag", "digest")
_WRITTEN_LENGTH_MAX = 60


class WrongValue(Unrenderable):
    """A value that cannot fill what it is bound to."""


def value_at(values: Values, key: tuple[str, ...]) -> Value:
    """The value at a dotted key; None where there is none."""
    found: Value = cast("dict[str, Value]", values)
    for part in key:
        if not isinstance(found, dict):
            return None
        found = found.get(part)
    return found


def is_on(key: str, value: Value) -> bool:
    """Whether a component is switched on."""
    if value is None or isinstance(value, bool):
        return bool(value)
    raise _wrong(key, value, "switches a component, which is true or false")


class Statement:
    """What the values of one configuration say of its base."""

    def __init__(self) -> None:
        self._images: list[object] = []
        self._replicas: list[object] = []
        self._entries: dict[str, dict[str, str]] = {}
        self._changes: dict[str, list[object]] = {}

    def add(self, binding: Binding, value: Value) -> None:
        """State one value."""
        match binding.kind:
            case BindingKind.IMAGE:
                self._images.append({"name": binding.name, **_image(binding.key, value)})
            case BindingKind.REPLICAS:
                count = _count(binding.key, value)
                self._replicas.append({"name": binding.name, "count": count})
            case BindingKind.CONFIG_MAP:
                entries = self._entries.setdefault(binding.name, {})
                entries[binding.field] = _entry(value)
            case BindingKind.FIELD:
                change = {
                    "op": op_at(binding.field),
                    "path": binding.field,
                    "value": _ordered(value),
                }
                self._changes.setdefault(binding.name, []).append(change)

    def fields(self) -> dict[str, object]:
        """Fields of a kustomization."""
        patches = [
            *(_merge(name, entries) for name, entries in self._entries.items()),
            *(_change(target, changes) for target, changes in self._changes.items()),
        ]
        stated = {"images": self._images, "replicas": self._replicas, "patches": patches}
        return {name: items for name, items in stated.items() if items}


def op_at(pointer: str) -> str:
    """How a field is set: a number names an item that is there, anything else may be new."""
    return "replace" if pointer.rpartition("/")[2].isdecimal() else "add"


def _image(key: str, value: Value) -> Mapping[str, str]:
    if isinstance(value, str):
        return {"newTag": value}
    if not isinstance(value, dict):
        raise _wrong(key, value, "fills an image: the text of a tag, or a map", "quote a tag")
    if unknown := sorted(value.keys() - set(_IMAGE_FIELDS)):
        raise _wrong(f"{key}.{unknown[0]}", value[unknown[0]], _MEANS_NOTHING)
    for name, text in value.items():
        if not isinstance(text, str):
            raise _wrong(f"{key}.{name}", text, "fills an image with text", "quote it")
    return {name: cast("str", value[name]) for name in _IMAGE_FIELDS if name in value}


_MEANS_NOTHING = f"means nothing to an image, which has {', '.join(_IMAGE_FIELDS)}"


def _count(key: str, value: Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _wrong(key, value, "fills replicas, a whole number")
    return value


def _entry(value: Value) -> str:
    return value if isinstance(value, str) else _json(value)


def _ordered(value: Value) -> Value:
    """The same value whatever order its keys came in."""
    if isinstance(value, dict | list):
        return cast("Value", orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)))
    return value


def _merge(name: str, entries: Mapping[str, str]) -> dict[str, object]:
    patched = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": entries,
    }
    return {"patch": flow(patched)}


def _change(target: str, changes: list[object]) -> dict[str, object]:
    kind, _, name = target.partition("/")
    # The name of a target is a regular expression; a name has nothing else that means anything.
    return {"target": {"kind": kind, "name": name.replace(".", "\\.")}, "patch": flow(changes)}


def _json(value: Value) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _wrong(key: str, value: Value, needed: str, hint: str = "") -> WrongValue:
    written = shortened(_json(value), _WRITTEN_LENGTH_MAX)
    return WrongValue(Failure(f"{key} is {written}: it {needed}", hint or f"correct {key}"))
