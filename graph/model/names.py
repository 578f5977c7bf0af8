"""Names, numbers and paths: what things are called, and what may be a name.

A name is a lower-case DNS label, so that it is safe as a path, in YAML and in a URL; anything else
is refused, never repaired. Label keys, value keys and layer names follow Kubernetes instead, so
that what a cluster has already can be said here unchanged. People read titles; programs read names.

Every name is compared byte for byte: ``size`` and ``SIZE`` are two label keys, as on a cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NewType

from graph.model.errors import Invalid

ClusterNumber = NewType("ClusterNumber", int)
"""Dense number of a cluster: given once, equal in all processes, never reused."""

GroupNumber = NewType("GroupNumber", int)
"""Dense number of a group; its identity through renames and moves."""

Revision = NewType("Revision", int)
"""Position in the change log; 0 is the empty fleet."""

NAME_LENGTH_MAX = 63
TITLE_LENGTH_MAX = 200
GROUP_DEPTH_MAX = 32
"""Deepest path, root included. The compiled Cypher walks exactly this far."""

RESERVED_HIERARCHIES = frozenset({"g", "m", "c", "n"})
"""First segments that Res-Edge's selectors use with another meaning."""

LABEL_PREFIX_LENGTH_MAX = 253
LAYER_NAME_LENGTH_MAX = 253
VALUE_KEY_LENGTH_MAX = 253

_DNS_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(_DNS_LABEL, re.ASCII)
_SUBDOMAIN = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*", re.ASCII)
_LABEL_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)
_VALUE_KEY = re.compile(r"(?!\.\.)[A-Za-z0-9._-]+", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check_name(value: str, noun: str) -> str:
    """Return ``value`` if it may be a name; ``noun`` is what the refusal calls it."""
    if not _NAME.fullmatch(value):
        raise Invalid(
            f"{quoted(value)} is not {with_article(noun)} name",
            hint="use 1 to 63 lower-case letters, digits and hyphens, "
            "starting and ending with a letter or digit",
        )
    return value


def check_label_key(value: str, *, prefix_length_max: int = LABEL_PREFIX_LENGTH_MAX) -> str:
    """Return ``value`` if Kubernetes takes it as the key of a label."""
    prefix, slash, name = value.rpartition("/")
    if not _LABEL_NAME.fullmatch(name) or (
        slash and not (_SUBDOMAIN.fullmatch(prefix) and len(prefix) <= prefix_length_max)
    ):
        raise Invalid(
            f"{quoted(value)} is not a label key",
            hint="use 1 to 63 letters, digits, -, _ and ., starting and ending with a letter or "
            "digit, as need_gpu; before it may stand a prefix and a slash, as example.com/size: "
            f"lower-case letters, digits, hyphens and dots, at most {prefix_length_max}",
        )
    return value


def check_layer_name(value: str) -> str:
    """Return ``value`` if Kubernetes takes it as the name of an object: a DNS subdomain."""
    if not _SUBDOMAIN.fullmatch(value) or len(value) > LAYER_NAME_LENGTH_MAX:
        raise Invalid(
            f"{quoted(value)} is not a layer name",
            hint="use lower-case letters, digits and hyphens with dots between, as imdb-1.0.1: "
            "each part 1 to 63 long, starting and ending with a letter or digit, all together "
            f"at most {LAYER_NAME_LENGTH_MAX}",
        )
    return value


def check_value_key(value: str, noun: str = "value key") -> str:
    """Return ``value`` if Kubernetes takes it as a key of a ConfigMap."""
    if value == "." or len(value) > VALUE_KEY_LENGTH_MAX or not _VALUE_KEY.fullmatch(value):
        raise Invalid(
            f"{quoted(value)} is not {with_article(noun)} name",
            hint=f"use 1 to {VALUE_KEY_LENGTH_MAX} letters, digits, -, _ and ., as HTTP_PROXY or "
            "app.properties; it is not . and does not start with ..",
        )
    return value


def check_text(value: str, noun: str, *, length_max: int = TITLE_LENGTH_MAX) -> str:
    """Return ``value`` if a person may read it: bounded, one line, valid Unicode."""
    if len(value) > length_max:
        raise Invalid(f"{noun} has {len(value):,} characters", hint=f"use at most {length_max:,}")
    if found := _CONTROL.search(value):
        raise Invalid(
            f"{noun} holds the character U+{ord(found.group()):04X} at position {found.start()}",
            hint="control characters, line breaks and lone surrogates are not kept",
        )
    return value


def split_path(path: str) -> tuple[str, ...]:
    """``/geo/us/tx`` as ``("geo", "us", "tx")``; refused unless every segment is a name."""
    if not path.startswith("/") or path == "/":
        raise Invalid(
            f"{quoted(path)} is not a group path",
            hint="write /hierarchy/group/group, as /geo/us/tx",
        )
    segments = tuple(path[1:].split("/"))
    if len(segments) > GROUP_DEPTH_MAX:
        raise Invalid(
            f"a path of {len(segments):,} levels is too deep",
            hint=f"use at most {GROUP_DEPTH_MAX} levels",
        )
    for segment in segments:
        check_name(segment, "group")
    return segments


def join_path(segments: Iterable[str]) -> str:
    """The inverse of ``split_path``."""
    return "/" + "/".join(segments)


def quoted(value: str, *, length_max: int = 80) -> str:
    """``value`` for an error message: quoted, escaped, cut when long."""
    safe = shortened(value, length_max).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", safe) + '"'


def shortened(value: str, length_max: int = 80) -> str:
    """``value`` as far as a message shows it."""
    return value if len(value) <= length_max else value[:length_max] + "..."


def counted(count: int, noun: str) -> str:
    """``1 cluster``, ``2,431 clusters``, ``3 policies``: a number for people, with its noun."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        plural = f"{noun[:-1]}ies"
    return f"{count:,} {noun if count == 1 else plural}"


def with_article(noun: str) -> str:
    """``a namespace``, ``an application``."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def nearest(name: str, known: Iterable[str], *, count: int = 3) -> tuple[str, ...]:
    """The ``known`` names a person may have meant by ``name``, in any letter case, best first."""
    by_lower: dict[str, list[str]] = {}
    for each in known:
        by_lower.setdefault(each.lower(), []).append(each)
    close = get_close_matches(name.lower(), list(by_lower), n=count, cutoff=0.5)
    return tuple(each for lower in close for each in by_lower[lower])[:count]


def did_you_mean(names: Sequence[str]) -> str:
    """The hint that offers what ``nearest`` found; empty if it found nothing."""
    return f"did you mean {' or '.join(names)}?" if names else ""
