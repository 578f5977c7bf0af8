"""A shard of the inventory: the hosts of one of 256 parts, and what each of them runs.

A host has no pointer of its own, because Ansible reads inventories and not kustomizations; an entry
says the same: which overlay of which application, and its late-bound values.
"""

from __future__ import annotations

from typing import Any

import orjson

from renderer import paths
from renderer.flow import flow
from renderer.formats.ansible import late_of, late_text
from renderer.plan.pointer import Line, Pointer

_WRITTEN = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


def read_shard(content: bytes) -> dict[str, Pointer]:
    """The hosts of a shard, by name."""
    hosts = orjson.loads(content)["all"]["hosts"]
    return {name: _host(name, entry) for name, entry in hosts.items()}


def shard_content(hosts: dict[str, Pointer]) -> bytes:
    """The file of a shard."""
    entries = {name: _entry(pointer) for name, pointer in hosts.items()}
    return orjson.dumps({"all": {"hosts": entries}}, option=_WRITTEN)


def _host(name: str, entry: dict[str, Any]) -> Pointer:
    lines = {
        application: Line(
            paths.overlay(application, each["overlay"]),
            flow(late_of(each["late"])) if each["late"] else "",
        )
        for application, each in entry["trellis_applications"].items()
    }
    return Pointer(name, entry["trellis_settings"], {}, lines)


def _entry(pointer: Pointer) -> dict[str, Any]:
    applications = {
        application: {
            "overlay": line.key,
            "late": late_text(line.late_values) if line.late else "",
        }
        for application, line in pointer.lines.items()
    }
    return {"trellis_applications": applications, "trellis_settings": pointer.fleet}
