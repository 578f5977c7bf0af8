"""Addresses a definition writes down: of objects and fields of manifests, of files.

Each ends up in a file that others read, so only what is safe there is taken.
"""

from __future__ import annotations

import re

from graph.model.errors import Invalid
from graph.model.names import quoted

POINTER_LENGTH_MAX = 500
PATH_LENGTH_MAX = 200
OBJECT_NAME_LENGTH_MAX = 253

_POINTER = re.compile(r"(?:/(?:[!-.0-}]|~[01])+)+", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?", re.ASCII)
_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}", re.ASCII)
_OBJECT_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", re.ASCII)


def check_pointer(pointer: str) -> str:
    """A JSON pointer to a field, as ``/spec/rules/0/host``."""
    if not _POINTER.fullmatch(pointer) or len(pointer) > POINTER_LENGTH_MAX:
        raise Invalid(
            f"{quoted(pointer)} is not a JSON pointer",
            hint="write /field/field, as /spec/rules/0/host; ~1 stands for a slash, ~0 for ~",
        )
    return pointer


def check_object(written: str) -> str:
    """An object of a manifest, as ``Deployment/pos``."""
    kind, slash, name = written.partition("/")
    if not slash or not _KIND.fullmatch(kind):
        raise Invalid(
            f"{quoted(written)} is not an object of a manifest",
            hint="write Kind/name, as Deployment/pos",
        )
    check_object_name(name)
    return written


def check_object_name(name: str) -> str:
    """What Kubernetes takes as the name of an object."""
    if not _OBJECT_NAME.fullmatch(name) or len(name) > OBJECT_NAME_LENGTH_MAX:
        raise Invalid(
            f"{quoted(name)} is not the name of an object",
            hint="use lower-case letters, digits, hyphens and dots, as metadata.name has it",
        )
    return name


def check_path(path: str) -> str:
    """A path below the application's own directory, as ``base/v12``; it never leads out."""
    if not all(map(_FILE.fullmatch, path.split("/"))) or len(path) > PATH_LENGTH_MAX:
        raise Invalid(
            f"{quoted(path)} is not a path below the application's directory",
            hint="write segments of letters, digits, ., _ and - that neither start nor end with a "
            "dot, 128 characters at most, as base/v12",
        )
    return path


def check_file_name(name: str) -> str:
    """The name of a file, without a directory."""
    if not _FILE.fullmatch(name) or len(name) > PATH_LENGTH_MAX:
        raise Invalid(
            f"{quoted(name)} is not a file name",
            hint="use letters, digits, ., _ and -, 128 at most, and neither start nor end with a "
            "dot, as deployment.yaml",
        )
    return name
