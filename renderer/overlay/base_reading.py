"""An owner's base read as kustomize reads it, as far as that can be done without building.

Where it certainly does not build, ``Unrenderable`` says in which file and line. Whatever cannot be
told for certain (a base from elsewhere, a patch, a prefix, YAML with aliases or tags) is taken to
be right. So is what is too much to read: whoever pushes a base must not keep all others waiting.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from graph.model.errors import Invalid, Rejected
from graph.model.names import quoted
from renderer import canonical
from renderer.failure import Failure, Unrenderable
from renderer.objects.manifest import KUSTOMIZE_API
from renderer.overlay.kustomization_file import (
    check_fields,
    decoded,
    is_here,
    is_remote,
    items_of,
    kustomization_of,
    line_with,
    refused_at,
)
from renderer.shapes import check_shape
from renderer.tree import Tree

FILE_BYTES_MAX = 256 * 1024
BASE_BYTES_MAX = 1024 * 1024
"""Of all files of a base together. Parsing takes up to a second for a quarter of it."""
PATHS_MAX = 2_000
"""Files and directories of a base: each is compared with what it was at every commit."""
DEPTH_MAX = 16

_UNDERSTOOD = frozenset(
    (
        *("apiVersion", "buildMetadata", "commonAnnotations", "commonLabels", "configMapGenerator"),
        *("generatorOptions", "images", "kind", "labels", "metadata", "namespace", "replicas"),
        *("resources", "secretGenerator", "sortOptions"),
    )
)
"""Fields of a kustomization that leave objects their names and their shape."""
_RENAMING = ("components", "namePrefix", "nameSuffix", "replacements", "transformers")
"""Fields that may give objects other names."""
_HELM = ("helmChartInflationGenerator", "helmCharts")

Address = tuple[str, str]
"""Kind and name."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """The objects of a base."""

    objects: Mapping[Address, Mapping[str, object] | None]
    """As they are written; None where they are generated."""
    places: Mapping[Address, str]
    """The file each is in."""
    versions: Mapping[Address, frozenset[str]]
    """Every ``apiVersion`` under which each is written."""
    is_complete: bool
    """Whether there can be no others, and these are what they become."""
    is_named: bool = True
    """Whether these keep the names they have here."""


class BaseReading:
    """One base being read. It ends where that is too much."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._objects: dict[Address, Mapping[str, object] | None] = {}
        self._places: dict[Address, str] = {}
        self._versions: dict[Address, frozenset[str]] = {}
        self._ids: dict[tuple[str, str, str, str], str] = {}
        self._repeated: Failure | None = None
        self._is_complete = True
        self._is_named = True
        self._entered: list[str] = []
        """The directory that is read, and those that led there."""
        self._visited: set[str] = set()
        self._bytes_left = BASE_BYTES_MAX
        self.seen: set[str] = set()
        """Directories and files that decide what is found."""

    def of(self, directory: str, *, component: bool = False) -> Holdings:
        """What ``directory`` holds; ``Unrenderable`` where it cannot build."""
        self._directory(directory, component=component)
        if self._is_complete and self._repeated is not None:
            raise Unrenderable(self._repeated)
        return Holdings(
            self._objects, self._places, self._versions, self._is_complete, self._is_named
        )

    def _directory(self, directory: str, *, component: bool = False) -> None:
        if len(self._entered) >= DEPTH_MAX or directory in self._visited:
            self._is_complete = False
            return
        self.seen.add(directory)
        self._visited.add(directory)
        file = kustomization_of(directory, self._tree)
        self._entered.append(directory)
        content = self._read(file)
        if content is not None:
            fields = self._fields(file, content, component=component)
            if fields is not None:
                _Kustomization(self, file, directory, content.decode(), fields).read()
        self._entered.pop()

    def _fields(self, file: str, content: bytes, *, component: bool) -> dict[str, object] | None:
        """The fields of a kustomization; None where they cannot be told."""
        text = decoded(file, content)
        try:
            written = list(canonical.read_all(text))
        except canonical.RepeatedKey:
            written = None  # kustomize takes the last one
        except canonical.Malformed as error:
            raise refused_at(file, error.line, error.problem, error.hint) from None
        except Invalid:
            written = None
        if written is None or len(written) > 1:
            self._is_complete = False
            return None
        found = written[0] if written else None
        if not found:
            raise refused_at(
                file, 1, "the file is empty", "write what it is made of under resources"
            )
        if not isinstance(found, dict):
            raise refused_at(file, 1, "this is no kustomization", "write a map with resources")
        fields = cast("dict[str, object]", found)
        check_fields(file, text, fields)
        kind = fields.get("kind") or "Kustomization"
        api = fields.get("apiVersion")
        if api and not str(api).startswith("kustomize.config.k8s.io/v1"):
            line = line_with(text, "apiVersion")
            raise refused_at(file, line, f"the apiVersion is {api}", f"write {KUSTOMIZE_API}")
        if kind not in ("Kustomization", "Component") or (kind == "Component") != component:
            wanted = "Component" if component else "Kustomization"
            raise refused_at(
                file,
                line_with(text, "kind"),
                f"the kind is {kind} and should be {wanted}",
                "a component is named under components, everything else under resources",
            )
        self._is_complete &= _UNDERSTOOD.issuperset(fields)
        self._is_named &= not any(fields.get(name) for name in _RENAMING)
        return fields

    def generated(self, kind: str, name: str, file: str) -> None:
        """An object that kustomize makes of files or literals."""
        self._objects.setdefault((kind, name), None)
        self._places[kind, name] = file

    def doubt(self) -> None:
        """There may be more than was read, or it may become something else."""
        self._is_complete = False

    def is_file(self, path: str) -> bool:
        """Whether there is a file, of whatever length."""
        return self._tree.identity(path) is not None and not self._tree.names(path)

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory."""
        return bool(self._tree.names(path))

    def follow(self, directory: str, *, component: bool = False) -> bool:
        """Read another directory that this one names; False where that goes in circles."""
        inside = f"{directory}/"
        if any(f"{each}/".startswith(inside) for each in self._entered):
            return False
        self._directory(directory, component=component)
        return True

    def resource(self, path: str) -> None:
        """Read a file of objects."""
        content = self._read(path)
        if content is None:
            return
        text = decoded(path, content)
        try:
            documents = list(canonical.read_all(text))
        except canonical.Malformed as error:
            raise refused_at(path, error.line, error.problem, error.hint) from None
        except Invalid:
            self._is_complete = False
            return
        for number, each in enumerate(documents):
            if each is not None:
                self._document(path, text, number, each)

    def _document(self, path: str, text: str, number: int, document: object) -> None:
        def refused(message: str, hint: str = "correct the file") -> Unrenderable:
            return refused_at(path, canonical.line_of_document(text, number), message, hint)

        if not isinstance(document, dict):
            raise refused("this is no object", "give it apiVersion, kind and metadata.name")
        for found in _flat(cast("dict[str, object]", document)):
            if not isinstance(found, dict):
                raise refused("an item of the list is no object")
            each = cast("dict[str, object]", found)
            kind, metadata = each.get("kind"), each.get("metadata")
            about = cast("dict[str, object]", metadata) if isinstance(metadata, dict) else {}
            name = about.get("name")
            if not isinstance(kind, str) or not kind:
                raise refused("an object has no kind")
            if not name or isinstance(name, dict | list | bool):
                raise refused(f"a {kind} has no metadata.name")
            if not isinstance(each.get("apiVersion", ""), str):
                raise refused(f"{kind}/{name} has no apiVersion that is text")
            if kind.endswith("List") and each.get("items") is not None:
                raise refused(f"the items of {kind}/{name} are no list")
            try:
                check_shape(each, strict=False)
            except Invalid as error:
                raise refused(error.message, error.hint) from None
            self._keep(path, refused, each, str(kind), str(name), str(about.get("namespace", "")))

    def _keep(
        self,
        path: str,
        refused: Callable[..., Unrenderable],
        found: dict[str, object],
        kind: str,
        name: str,
        namespace: str,
    ) -> None:
        api = found.get("apiVersion")
        called = (str(api), kind, namespace, name)
        if called in self._ids and self._repeated is None:
            first = self._ids[called]
            self._repeated = refused(
                f"{kind}/{name} is in {first} already", "keep one of the two"
            ).failure
        self._ids.setdefault(called, path)
        self._objects[kind, name] = found
        self._places[kind, name] = path
        if isinstance(api, str):
            before = self._versions.get((kind, name), frozenset())
            self._versions[kind, name] = before | {api}

    def exists(self, path: str) -> bool:
        """Whether anything is there."""
        return self._tree.identity(path) is not None

    def check_yaml(self, path: str) -> None:
        """Refuse a file that is no YAML, whatever it means."""
        content = self._read(path)
        if content is not None:
            try:
                canonical.check_syntax(decoded(path, content))
            except canonical.Malformed as error:
                raise refused_at(path, error.line, error.problem, error.hint) from None

    @property
    def is_too_much(self) -> bool:
        """Whether no more is read."""
        return self._bytes_left <= 0 or len(self.seen) >= PATHS_MAX

    def _read(self, path: str) -> bytes | None:
        """A file; None from the one on that is too much."""
        try:
            content = self._tree.read(path)
        except Rejected:  # more than anybody reads: as if too long here
            content = None
        if content is not None and len(content) <= min(FILE_BYTES_MAX, self._bytes_left):
            self._bytes_left -= len(content)
            return content
        self._bytes_left, self._is_complete = 0, False
        return None


class _Kustomization:
    """One kustomization, and what it names."""

    def __init__(
        self,
        reading: BaseReading,
        file: str,
        directory: str,
        text: str,
        fields: Mapping[str, object],
    ) -> None:
        self._reading = reading
        self._file = file
        self._directory = directory
        self._text = text
        self._fields = fields

    def read(self) -> None:
        """Everything it names is there, and builds as far as that can be told."""
        for field in filter(self._fields.get, _HELM):
            raise self._refused(
                field,
                f"{field} needs --enable-helm, which no reconciler gives",
                "render the chart, and push what it gives",
            )
        self._generators("configMapGenerator", "ConfigMap")
        self._generators("secretGenerator", "Secret")
        self._patches()
        for name in self._names("generators", "transformers", "validators"):
            if "\n" not in name:
                self._expect(name)
        for name in self._names("components"):
            self._directory_named(name, component=True)
        for name in self._names("bases", "resources"):
            if self._reading.is_too_much:
                self._reading.doubt()
                return
            self._resource(name)

    def _patches(self) -> None:
        """Files that change objects, or say how they are changed."""
        for name in self._names("patchesStrategicMerge", "configurations"):
            if "\n" not in name:
                self._expect_file(name, yaml=True)
        for name in self._names("crds"):
            self._expect_file(name, yaml=False)
        for field in ("patches", "patchesJson6902", "replacements"):
            for each in self._maps(field):
                self._expect_patch(field, each)
        openapi = self._fields.get("openapi")
        if isinstance(openapi, dict):
            self._path_in(cast("dict[str, object]", openapi), yaml=False)

    def _resource(self, name: str) -> None:
        path = self._resolve(name)
        if path is None:
            return
        self._reading.seen.add(path)
        if self._reading.is_directory(path):
            self._directory_named(name)
        elif self._reading.is_file(path):
            self._check_below(name, path)
            self._reading.resource(path)
        else:
            raise self._missing(name)

    def _directory_named(self, name: str, *, component: bool = False) -> None:
        path = self._resolve(name)
        if path is None:
            return
        if not self._reading.is_directory(path):
            raise self._missing(name, "a directory with a kustomization is needed")
        try:
            if not self._reading.follow(path, component=component):
                raise self._refused(name, f"{name} leads back to here", "name another directory")
        except Unrenderable as error:
            if error.failure.file:
                raise
            raise self._refused(name, error.failure.message, error.failure.hint) from None

    def _generators(self, field: str, kind: str) -> None:
        names: set[str] = set()
        for each in self._maps(field):
            name = each.get("name")
            if not isinstance(name, str) or not name:
                raise self._refused(field, f"a {field} has no name", "give it one")
            if name in names and not each.get("behavior") and not each.get("namespace"):
                raise self._refused(name, f"{kind}/{name} is generated twice", "keep one of them")
            names.add(name)
            self._reading.generated(kind, name, self._file)
            for literal in items_of(each.get("literals")):
                if not isinstance(literal, str) or "=" not in literal:
                    raise self._refused(
                        str(literal), f"the literal {quoted(str(literal))} is not KEY=VALUE"
                    )
            files = [str(one).rpartition("=")[2] for one in items_of(each.get("files"))]
            sources = [*files, *map(str, items_of(each.get("envs")))]
            sources += [str(each["env"])] if each.get("env") else []
            for source in sources:
                self._expect_file(source, yaml=False)

    def _expect_patch(self, field: str, each: dict[str, object]) -> None:
        path, patch = each.get("path"), each.get("patch")
        if field == "patches" and bool(path) == bool(patch):
            raise self._refused(field, "a patch has either a path or a patch", "give it one")
        self._path_in(each, yaml=True)

    def _path_in(self, each: dict[str, object], *, yaml: bool) -> None:
        path = each.get("path")
        if isinstance(path, str) and path:
            self._expect_file(path, yaml=yaml)

    def _expect(self, name: str) -> None:
        path = self._resolve(name)
        reading = self._reading
        if path is not None and not reading.is_directory(path) and not reading.is_file(path):
            raise self._missing(name)

    def _expect_file(self, name: str, *, yaml: bool) -> None:
        path = self._resolve(name)
        if path is None:
            return
        if not self._reading.is_file(path):
            raise self._missing(name, "a file is needed; links are not followed")
        self._check_below(name, path)
        if yaml:
            self._reading.seen.add(path)
            self._reading.check_yaml(path)

    def _resolve(self, name: str) -> str | None:
        """The path in the repository that a name stands for; None for one of somewhere else."""
        if not name:
            raise self._refused("''", "an empty name leads nowhere", "leave it out")
        if not is_here(name):
            self._reading.doubt()
            return None
        path = posixpath.normpath(f"{self._directory}/{name}")
        if is_remote(name) and not self._reading.exists(path):
            self._reading.doubt()
            return None
        if path.startswith(".."):
            raise self._refused(name, f"{name} is outside the repository", "keep a copy inside")
        return path

    def _check_below(self, name: str, path: str) -> None:
        if not path.startswith(f"{self._directory}/"):
            raise self._refused(
                name,
                f"{name} is a file outside {self._directory}, which kustomize does not read",
                "name a directory with a kustomization instead",
            )

    def _names(self, *fields: str) -> Iterator[str]:
        for field in fields:
            for each in items_of(self._fields.get(field)):
                yield "" if each is None else str(each)

    def _maps(self, field: str) -> Iterator[dict[str, object]]:
        for each in items_of(self._fields.get(field)):
            yield cast("dict[str, object]", each)

    def _missing(self, name: str, hint: str = "push it, as a file and no link") -> Unrenderable:
        return self._refused(name, f"{name} is not there", hint)

    def _refused(self, at: str, message: str, hint: str = "correct the file") -> Unrenderable:
        return refused_at(self._file, line_with(self._text, at), message, hint)


def _flat(document: dict[str, object]) -> Iterator[object]:
    items = document.get("items")
    if str(document.get("kind", "")).endswith("List") and isinstance(items, list):
        for each in cast("list[object]", items):
            if isinstance(each, dict):
                yield from _flat(cast("dict[str, object]", each))
            else:
                yield each
    else:
        yield document
