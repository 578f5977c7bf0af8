"""A cluster's pointer: the file that names, line by line, what runs there.

It is read back as text: what a line says about an application is carried over as it was written,
so a cluster on which one of seventy applications changes costs one new line. Late-bound values
stand in the patches made of them; a comment above names the key of each, for people and for whoever
has to write the line anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from graph.model.errors import Invalid
from graph.model.values import Value
from renderer.flow import ordered
from renderer.formats.late import values_in

_UP = "- ../../../"
_HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


class Line(NamedTuple):
    """One application of one cluster."""

    directory: str
    """Where it leads: what tells the reconciler of the overlay, or the overlay itself."""
    late: str = ""
    """Keys of the values in ``patches``, one after the other, and values that are in none, as JSON;
    empty where there are no late-bound values."""
    patches: tuple[str, ...] = ()
    """Entries of ``patches``, as they stand in the file."""

    @property
    def application(self) -> str:
        """What runs."""
        return self.directory.split("/", 2)[1]

    @property
    def key(self) -> str:
        """The overlay it runs."""
        return self.directory.rpartition("/")[2]

    @property
    def reconciler(self) -> str:
        """Who is told; empty where it leads to the overlay itself."""
        parts = self.directory.split("/")
        return parts[3] if parts[2] == "sync" else ""

    @property
    def late_values(self) -> Mapping[str, Value]:
        """The late-bound values by key, in order of the keys.

        A line of format 1 names no keys: all its values stand as JSON.
        """
        keys, brace, rest = self.late.partition("{")
        found: dict[str, Value] = orjson.loads(brace + rest) if brace else {}
        values = (value for each in self.patches for value in values_in(each))
        return ordered(found | dict(zip(keys.split(), values, strict=False)))


@dataclass(slots=True)
class Pointer:
    """What one cluster runs; edited on the way from one commit to the next."""

    cluster: str
    fleet: str = ""
    """The key of the fleet's own settings; empty where there are none yet."""
    namespaces: dict[str, str] = field(default_factory=dict[str, str])
    """Keys of the namespaces' objects, by namespace."""
    lines: dict[str, Line] = field(default_factory=dict[str, Line])
    """By application."""

    def content(self) -> bytes:
        """The file."""
        found = [_HEAD, 'metadata: {"name":"', self.cluster, '"}\n', *self._resources()]
        patched = [(name, self.lines[name]) for name in sorted(self.lines)]
        patched = [(name, line) for name, line in patched if line.patches or line.late]
        if patched:
            found.append("patches:\n" if any(line.patches for _, line in patched) else "")
            for name, line in patched:
                found.append(f"# {name} {line.late}\n")
                found.extend(f"- {each}\n" for each in line.patches)
        return "".join(found).encode()

    def _resources(self) -> Sequence[str]:
        named = [f"{_UP}fleet/{self.fleet}\n"] if self.fleet else []
        named += (
            f"{_UP}namespaces/{name}/{key}\n" for name, key in sorted(self.namespaces.items())
        )
        lines = self.lines
        named += [f"{_UP}{lines[name][0]}\n" for name in sorted(lines)]
        return ["resources:\n", *named] if named else ["resources: []\n"]


def read_pointer(cluster: str, content: bytes) -> Pointer:
    """The pointer that ``Pointer.content`` wrote."""
    found = Pointer(cluster)
    text, _, rest = content.decode().partition("\npatches:\n")
    text, _, unpatched = text.partition("\n# ")
    late: dict[str, tuple[str, tuple[str, ...]]] = {}
    if unpatched:  # late-bound values that fill no field
        rest = f"# {unpatched}"
    if rest:
        late = dict(_patched(rest))
    none = ("", ())
    for line in text.split("\n"):
        if line.startswith(_UP):
            directory = line[len(_UP) :]
            kind, name, *below = directory.split("/")
            if kind == "apps":
                values, patches = late.get(name, none)
                found.lines[name] = Line(directory, values, patches)
            elif kind == "namespaces":
                found.namespaces[name] = below[0]
            elif kind == "fleet":
                found.fleet = name
            else:
                raise _strange(cluster, line)
    return found


def _patched(text: str) -> Iterable[tuple[str, tuple[str, tuple[str, ...]]]]:
    """Late-bound values and patches, by application."""
    for block in f"\n{text}".split("\n# ")[1:]:
        head, *patches = block.rstrip("\n").split("\n")
        name, _, values = head.partition(" ")
        yield name, (values, tuple(each[2:] for each in patches))


def _strange(cluster: str, line: str) -> Invalid:
    return Invalid(
        f"the pointer of {cluster} holds a line no worker writes: {line}",
        hint="take that edit back, or let the pointer be rendered from scratch",
    )
