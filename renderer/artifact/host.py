"""What a host is given: its own entry of the inventory, the playbook, and what it is to run.

The entry is cut out of its shard, so a host never sees another one's values, and its artifact stays
the same while its neighbours change. Roles of what it is not assigned any more are not here: a host
keeps those it ran, and takes an application away with its own copy.
"""

from __future__ import annotations

import re

import orjson

from graph.model.errors import NotFound
from graph.model.names import quoted
from renderer import paths
from renderer.artifact.edition import Edition
from renderer.artifact.gather import Bounds, Gathered, check_within, take
from renderer.plan.inventory import read_shard, shard_content

ANSIBLE = "ansible"
_SHARD = re.compile(r"[0-9a-f]{2}", re.ASCII)
VARS = "vars.json"
"""The file of an overlay that names the role."""


def gather_host(edition: Edition, name: str, bounds: Bounds) -> dict[str, Gathered]:
    """The files of a host, by the directory they lie in."""
    path = paths.inventory(name)
    content = edition.read(path)
    host = None if content is None else read_shard(content).get(name)
    if host is None:
        raise NotFound(
            f"no cluster {quoted(name)} is published",
            hint="check the name; it may run nothing yet, or the worker has not come so far",
        )
    playbook = _playbook(edition, bounds)
    playbook.files[path] = shard_content({name: host})
    playbook.inputs[path] = edition.identity(path)
    lines = host.lines.items()
    found = {f"apps/{each}": _application(edition, each, line.key, bounds) for each, line in lines}
    if host.fleet:
        found["fleet"] = Gathered()
        take(edition, paths.fleet(host.fleet), found["fleet"], bounds)
    return {ANSIBLE: playbook, **found}


def _playbook(edition: Edition, bounds: Bounds) -> Gathered:
    """What is the same for every host."""
    found = Gathered()
    for each in edition.names(ANSIBLE):
        if not _SHARD.fullmatch(each):
            take(edition, f"{ANSIBLE}/{each}", found, bounds)
    return found


def _application(edition: Edition, name: str, key: str, bounds: Bounds) -> Gathered:
    """An application's variables, and the role they are for."""
    found = Gathered()
    directory = paths.overlay(name, key)
    take(edition, directory, found, bounds)
    variables = found.files.get(f"{directory}/{VARS}")
    role = "" if variables is None else str(orjson.loads(variables).get("role", ""))
    if role:
        check_within(directory, role, f"apps/{name}")
        take(edition, role, found, bounds)
    return found
