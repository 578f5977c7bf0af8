"""Where everything lies in what is published, and which of it belongs to the worker.

Every path is made here, of names that are checked again at this last moment, whoever checked them
before: a name is one segment of lower-case letters, digits and dashes, a key is sixteen digits.
"""

from __future__ import annotations

import re
from hashlib import sha256

from graph.model.errors import Invalid
from graph.model.names import quoted

KUSTOMIZATION = "kustomization.yaml"
KUSTOMIZATIONS = (KUSTOMIZATION, "kustomization.yml", "Kustomization")
"""What kustomize looks for in a directory; it takes one of them and refuses two."""
HELD = ".trellis/held.json"
STAMP = ".trellis/renderer"
OWN_FORMATS = ".trellis/formats.json"
DISCARDED = ".trellis/discarded.json"
"""Cursors of other histories whose output was taken over: see ``renderer.work.history``."""
LAST_GOOD = ".trellis/last-good"
"""Owners' files as they were before somebody pushed what does not build, by application."""
BORROWED = ".trellis/borrowed.json"
"""Paths outside its own directory that each application's base is made of."""
SITE = "ansible/site.yaml"

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_KEY = re.compile(r"[0-9a-f]{16}", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_OWNED_ROOTS = ("fleet", "namespaces", "clusters", "ansible", ".trellis")
_OWNED_OF_APPLICATIONS = ("overlays", "sync")


def overlay(application: str, key: str) -> str:
    """The directory of an overlay."""
    return f"apps/{_name(application)}/overlays/{_key(key)}"


def sync(application: str, reconciler: str, key: str) -> str:
    """The directory of what tells a reconciler of an overlay."""
    return f"apps/{_name(application)}/sync/{_name(reconciler)}/{_key(key)}"


def below_application(application: str, path: str) -> str:
    """Something of the owner's, below the application's directory."""
    return "/".join((f"apps/{_name(application)}", *map(_file, path.split("/"))))


def fleet(key: str) -> str:
    """The directory of the fleet's own settings."""
    return f"fleet/{_key(key)}"


def namespace(name: str, key: str) -> str:
    """The directory of a namespace's objects."""
    return f"namespaces/{_name(name)}/{_key(key)}"


def shard(cluster: str) -> str:
    """Which of 256 parts a cluster is in: by its name, so that no move moves a file."""
    return sha256(cluster.encode()).hexdigest()[:2]


def pointer(cluster: str) -> str:
    """The directory of a cluster's pointer."""
    return f"clusters/{shard(_name(cluster))}/{cluster}"


def inventory(cluster: str) -> str:
    """The file of the shard in which a host is listed."""
    return f"ansible/{shard(_name(cluster))}/inventory.json"


def inside(directory: str, file: str) -> str:
    """A file right below ``directory``."""
    return f"{directory}/{_file(file)}"


def is_owned(path: str) -> bool:
    """Whether the worker alone writes ``path``; everything else passes through."""
    parts = path.split("/")
    if parts[0] in _OWNED_ROOTS:
        return True
    return parts[0] == "apps" and len(parts) > 2 and parts[2] in _OWNED_OF_APPLICATIONS


def is_name(text: str) -> bool:
    """Whether ``text`` may be an application's or a namespace's directory."""
    return _NAME.fullmatch(text) is not None


def is_key(text: str) -> bool:
    """Whether ``text`` may be the directory of an overlay, or of what tells of one."""
    return _KEY.fullmatch(text) is not None


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise _refused(text, "a name has lower-case letters, digits and dashes, 63 at most")
    return text


def _key(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise _refused(text, "a key has sixteen hexadecimal digits")
    return text


def _file(text: str) -> str:
    if not _FILE.fullmatch(text) or text.endswith(".") or text.lower() == ".git":
        raise _refused(text, "a file has letters, digits, dots and dashes, and begins with none")
    return text


def _refused(text: str, hint: str) -> Invalid:
    return Invalid(f"{quoted(text)} cannot be part of a path", hint=hint)
