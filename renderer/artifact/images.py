"""Which images a cluster needs: read out of manifests and kustomizations as data.

What an image statement renames is followed through every directory above it. What a patch puts in
place of an image is listed beside it: too much is carried to a site before too little is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from graph.model.errors import Invalid, TrellisError
from renderer.artifact.gather import Gathered, names_in, resolve
from renderer.canonical import read_all

CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_MANIFEST = re.compile(r".*\.(?:ya?ml|json)", re.ASCII)
_SPLIT = re.compile(r"(?P<name>[^@]*?)(?P<tag>:[^:/@]*)?(?P<digest>@.*)?", re.ASCII | re.S)


def images_of(gathered: Gathered, directory: str) -> set[str]:
    """Every image of what ``directory`` builds."""
    kustomization = gathered.read[directory]
    found: set[str] = set()
    for name in names_in(kustomization):
        path = resolve(directory, name)
        if path in gathered.read:
            found |= images_of(gathered, path)
        elif path in gathered.files:
            found |= _in_file(path, gathered.files[path])
    found |= _in_patches(gathered, directory)
    statements = _maps(kustomization.get("images"))
    return {_renamed(image, statements) for image in found}


def _in_patches(gathered: Gathered, directory: str) -> set[str]:
    found: set[str] = set()
    for text, path in _patches(gathered.read[directory]):
        if text:
            found |= set(_in_text(f"a patch of {directory}", text))
        elif path:
            at = resolve(directory, path)
            found |= set(_in_text(at, gathered.files.get(at, b"").decode()))
    return found


def _patches(kustomization: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The text of each patch, or the file it stands in."""
    for key in ("patches", "patchesJson6902"):
        for each in _maps(kustomization.get(key)):
            yield str(each.get("patch") or ""), str(each.get("path") or "")
    for item in _list(kustomization.get("patchesStrategicMerge")):
        yield (str(item), "") if "\n" in str(item) else ("", str(item))


def _in_file(path: str, content: bytes) -> set[str]:
    if not _MANIFEST.fullmatch(path):
        return set()
    try:
        return set(_in_text(path, content.decode()))
    except UnicodeDecodeError:
        raise Invalid(f"{path} is not UTF-8", hint="save the file as UTF-8") from None


def _in_text(path: str, text: str) -> Iterator[str]:
    try:
        for each in read_all(text):
            yield from _in_value(each)
    except TrellisError as error:
        raise Invalid(f"{path}: {error.message}", hint=error.hint) from None


def _in_value(value: object) -> Iterator[str]:
    """Images of the containers in a manifest, or in a patch of one."""
    if isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _in_value(each)
    elif isinstance(value, dict):
        known = cast("Mapping[str, object]", value)
        if str(known.get("path", "")).endswith("/image") and isinstance(known.get("value"), str):
            yield str(known["value"])
        for key, each in known.items():
            if key in CONTAINERS:
                yield from _of_containers(each)
            yield from _in_value(each)


def _of_containers(value: object) -> Iterator[str]:
    for each in _maps(value):
        image = each.get("image")
        if isinstance(image, str) and image:
            yield image


def _renamed(image: str, statements: list[dict[str, object]]) -> str:
    """As kustomize's image transformer has it: one statement after the other."""
    for each in statements:
        parts = _SPLIT.fullmatch(image)
        if parts is None or parts["name"] != each.get("name"):
            continue
        name = str(each.get("newName") or parts["name"])
        tag = f":{each['newTag']}" if each.get("newTag") else ""
        digest = f"@{each['digest']}" if each.get("digest") else ""
        if digest or tag:
            image = f"{name}{tag}{digest}"
        else:
            image = f"{name}{parts['tag'] or ''}{parts['digest'] or ''}"
    return image


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _maps(value: object) -> list[dict[str, object]]:
    return [cast("dict[str, object]", each) for each in _list(value) if isinstance(each, dict)]
