"""A kustomization file: which one counts, what it may hold, and where in its text something is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from graph.model.names import did_you_mean, nearest
from renderer import paths
from renderer.failure import Failure, Unrenderable
from renderer.tree import Tree

_TEXTS = (
    *("bases", "buildMetadata", "components", "configurations", "crds", "generators"),
    *("patchesStrategicMerge", "resources", "transformers", "validators"),
)
_MAPS = (
    *("configMapGenerator", "helmChartInflationGenerator", "helmCharts", "imageTags", "images"),
    *("labels", "patches", "patchesJson6902", "replacements", "replicas", "secretGenerator"),
    "vars",
)
_MAP = (
    *("commonAnnotations", "commonLabels", "generatorOptions", "helmGlobals", "inventory"),
    *("metadata", "openapi", "sortOptions"),
)
_TEXT = ("apiVersion", "kind", "namePrefix", "nameSuffix", "namespace")
_FIELDS = frozenset((*_TEXTS, *_MAPS, *_MAP, *_TEXT))
"""What a kustomization may hold, as of kustomize 5; it refuses anything else."""


def kustomization_of(directory: str, tree: Tree) -> str:
    """The file that makes ``directory`` one of kustomize's."""
    names = tree.names(directory)
    found = [name for name in paths.KUSTOMIZATIONS if name in names]
    if len(found) > 1:
        together = " and ".join(found)
        raise refused_at(
            f"{directory}/{found[1]}", 0, f"{directory} holds {together}", "keep one of them"
        )
    if found:
        return f"{directory}/{found[0]}"
    missing = f"{directory} holds no {paths.KUSTOMIZATION}" if names else f"there is no {directory}"
    raise Unrenderable(
        Failure(missing, "push it to the repository, or correct the path in the definition")
    )


def check_fields(file: str, text: str, fields: Mapping[str, object]) -> None:
    """Refuse what kustomize would, with the line it is on."""
    for name, value in fields.items():
        if name not in _FIELDS:
            hint = did_you_mean(nearest(str(name), sorted(_FIELDS))) or "leave it out"
            raise refused_at(
                file, line_with(text, str(name)), f"kustomize knows no field {name}", hint
            )
        fits = value is None
        if name in _TEXTS:
            fits |= isinstance(value, list) and all(
                each is None or isinstance(each, str) for each in cast("list[object]", value)
            )
        elif name in _MAPS:
            fits |= isinstance(value, list) and all(
                isinstance(each, dict) for each in cast("list[object]", value)
            )
        elif name in _MAP:
            fits |= isinstance(value, dict) and (
                not name.startswith("common")
                or all(isinstance(each, str) for each in cast("dict[str, object]", value).values())
            )
        else:
            fits |= isinstance(value, str)
        if not fits:
            raise refused_at(
                file, line_with(text, name), f"{name} is not {_wanted(name)}", "correct it"
            )


def _wanted(name: str) -> str:
    if name in _TEXTS:
        return "a list of names"
    if name in _MAPS:
        return "a list of maps"
    return "a map of text" if name in _MAP else "text"


def decoded(file: str, content: bytes) -> str:
    """The text of a file."""
    if content.startswith(b"%"):
        raise refused_at(file, 1, "kustomize takes no YAML directive", "leave the line out")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise refused_at(file, line, "this is no UTF-8", "save the file as UTF-8") from None


def refused_at(file: str, line: int, message: str, hint: str) -> Unrenderable:
    """What is wrong at a place of a file."""
    return Unrenderable(Failure(message, hint, file, line))


def line_with(text: str, wanted: str) -> int:
    """The first line that has ``wanted`` in it; nought where none has."""
    for number, line in enumerate(text.split("\n"), 1):
        if wanted in line:
            return number
    return 0


def items_of(value: object) -> list[object]:
    """The items of a list; nothing where it is none."""
    return cast("list[object]", value) if isinstance(value, list) else []


def is_here(name: str) -> bool:
    """Whether it is a path and not an address."""
    return "://" not in name and "?" not in name and not name.startswith(("git@", "git::", "/"))


def is_remote(name: str) -> bool:
    """Whether it may be a repository on a host, written without a scheme: ``host.example/path``."""
    host, slash, _ = name.partition("/")
    return bool(slash) and "." in host.strip(".")
