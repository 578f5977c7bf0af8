"""Where an application's manifests come from: an owner's base, or templates."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.decide.addresses import (
    check_file_name,
    check_object,
    check_object_name,
    check_path,
    check_pointer,
)
from graph.decide.fields import check_list
from graph.model.errors import Invalid
from graph.model.names import quoted
from graph.model.value_path import check_value_path
from graph.model.workload import Base, Binding, BindingKind, Component, Source, Template

FILES_MAX = 64
"""Files of one template."""
TEXT_LENGTH_MAX = 131_072
"""Characters of all files of one template."""

_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,254}", re.ASCII)
_ENTRY = re.compile(r"[A-Za-z0-9._-]{1,253}", re.ASCII)
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def check_source(source: Source | None) -> Source | None:
    """The source with every path, name and text checked."""
    match source:
        case Base():
            return _check_base(source)
        case Template(files):
            return Template(_check_files(files))
        case None:
            return None


def keys_of(source: Source | None) -> list[str]:
    """The keys of the values a base uses."""
    if not isinstance(source, Base):
        return []
    return [*(each.key for each in source.bindings), *(each.key for each in source.components)]


def _check_base(base: Base) -> Base:
    check_path(base.path)
    for binding in base.bindings:
        _check_binding(binding)
    for component in base.components:
        check_value_path(component.key)
        check_path(component.path)
    check_list(base.bindings, "bindings", _fills)
    check_list(base.components, "components", _path)
    return base


def _check_binding(binding: Binding) -> None:
    check_value_path(binding.key)
    match binding.kind:
        case BindingKind.IMAGE:
            _check_shape(_IMAGE, binding.name, "the name of an image", "registry.example/pos")
            _refuse_field(binding)
        case BindingKind.REPLICAS:
            check_object_name(binding.name)
            _refuse_field(binding)
        case BindingKind.CONFIG_MAP:
            check_object_name(binding.name)
            _check_shape(_ENTRY, binding.field, "an entry of a ConfigMap", "app.properties")
        case BindingKind.FIELD:
            check_object(binding.name)
            check_pointer(binding.field)


def _check_shape(shape: re.Pattern[str], value: str, noun: str, example: str) -> None:
    if not shape.fullmatch(value):
        raise Invalid(f"{quoted(value)} is not {noun}", hint=f"write it as {example}")


def _refuse_field(binding: Binding) -> None:
    if binding.field:
        raise Invalid(
            f"the binding of {binding.key} to {binding.kind} {binding.name} names a field",
            hint="leave the field out; config_map and field bindings have one",
        )


def _fills(binding: Binding) -> str:
    return " ".join(filter(None, (binding.kind, binding.name, binding.field)))


def _path(component: Component) -> str:
    return component.path


def _check_files(files: Mapping[str, str]) -> dict[str, str]:
    if not 1 <= len(files) <= FILES_MAX:
        raise Invalid(f"a template of {len(files):,} files", hint=f"give 1 to {FILES_MAX} files")
    if (length := sum(map(len, files.values()))) > TEXT_LENGTH_MAX:
        raise Invalid(
            f"the files of the template have {length:,} characters",
            hint=f"keep them to {TEXT_LENGTH_MAX:,} together",
        )
    for name, text in files.items():
        check_file_name(name)
        if found := _UNREADABLE.search(text):
            raise Invalid(
                f"{name} holds the character U+{ord(found.group()):04X} at {found.start():,}",
                hint="a template is text: lines, tabs and valid Unicode",
            )
    return dict(sorted(files.items()))
