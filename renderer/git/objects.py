"""What a git repository is made of: blobs, trees and commits, as bytes and back.

Nothing here touches a file or a process. A tree is a mapping of names to entries; names that are no
UTF-8 survive as surrogates, so that what somebody else put there passes through unharmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha1
from typing import TypeAlias

Id: TypeAlias = bytes
"""Twenty bytes that stand for a content."""
Entry: TypeAlias = tuple[bytes, Id]
"""Mode and content. A plain tuple: a big tree has hundreds, and they are made by the million."""
Entries: TypeAlias = Mapping[str, Entry]

FILE = b"100644"
PROGRAM = b"100755"
DIRECTORY = b"40000"

NOTHING = ""
"""How an absent commit is written where an id in hexadecimal digits is expected."""

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_COMMIT = re.compile(rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)")


@dataclass(frozen=True, slots=True)
class Commit:
    """As much of a commit as the worker looks at."""

    tree: Id
    parents: tuple[Id, ...]
    message: bytes


def object_id(kind: bytes, content: bytes) -> Id:
    """The name git gives to ``content``."""
    return sha1(b"%b %d\0%b" % (kind, len(content), content), usedforsecurity=False).digest()


def is_file(entry: Entry) -> bool:
    """A file with content of its own: no directory, no link, no submodule."""
    return entry[0] == FILE or entry[0] == PROGRAM or entry[0] == b"100664"


def is_directory(entry: Entry) -> bool:
    """A tree; some old tools wrote the mode with a zero in front."""
    return entry[0] == DIRECTORY or entry[0] == b"040000"


def parse_tree(content: bytes) -> dict[str, Entry]:
    """The entries of a tree."""
    return {
        name.decode("utf-8", "surrogateescape"): (mode, found)
        for mode, name, found in _entries(content)
    }


def _entries(content: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    yield from _ENTRY.findall(content)


def encode_tree(entries: Entries) -> bytes:
    """The bytes of a tree, in the order git wants: a directory sorts as if a slash followed."""
    rows: list[tuple[bytes, bytes, Id]] = []
    for text, (mode, found) in entries.items():
        name = text.encode("utf-8", "surrogateescape")
        rows.append((name + b"/" if mode == DIRECTORY else name, b"%b %b\0" % (mode, name), found))
    rows.sort()
    return b"".join([part for _, head, found in rows for part in (head, found)])


def parse_commit(content: bytes) -> Commit:
    """Tree, parents and message of a commit."""
    found = _COMMIT.match(content)
    if found is None:
        raise ValueError("this is no commit")
    tree, parents = found.groups()
    _, _, message = content.partition(b"\n\n")
    return Commit(
        bytes.fromhex(tree.decode()),
        tuple(bytes.fromhex(line[7:].decode()) for line in parents.splitlines()),
        message,
    )


def encode_commit(tree: Id, parent: Id | None, signature: bytes, message: bytes) -> bytes:
    """The bytes of a commit; ``signature`` is who and when: ``Name <mail> 0 +0000``."""
    lines = [b"tree " + tree.hex().encode()]
    if parent is not None:
        lines.append(b"parent " + parent.hex().encode())
    lines += [b"author " + signature, b"committer " + signature, b"", message]
    return b"\n".join(lines)


EMPTY = object_id(b"tree", b"")
"""The tree of nothing."""
