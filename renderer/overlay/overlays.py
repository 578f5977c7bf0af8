"""Overlays: the files of one distinct configuration, made of a definition and composed values.

A base application's overlay states values as kustomize data and points at the owner's base. A
template application's is rendered in the sandbox, read back, and written as data. Both depend on
the configuration alone; what lies in the tree only decides whether they can be made.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.model.errors import TrellisError
from graph.model.values import Value
from graph.model.workload import Application, Base, Namespace, Template
from renderer import paths
from renderer.failure import Failure, Unrenderable, failure_of
from renderer.formats.ansible import (
    VARS,
    host_overlay,
    overlay_vars,
    role_of,
    runs_on_hosts,
    runs_on_hosts_alone,
)
from renderer.objects.namespace import reserved_namespaces
from renderer.overlay.binding import WrongValue
from renderer.overlay.building import Builder
from renderer.overlay.owners import Owners, Read
from renderer.overlay.rendered import Pattern
from renderer.overlay.stated import Recipe, Unbuildable
from renderer.rules import address
from renderer.sandbox.answers import Objects
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from renderer.tree import Tree


@dataclass(frozen=True, slots=True)
class Configuration:
    """An application as some clusters run it."""

    application: Application
    namespace: Namespace
    key: str
    layers: tuple[str, ...]
    values: Mapping[str, Value]


Files = Mapping[str, bytes]
"""Content by name, right below the overlay's directory."""
Address = tuple[str, str, str]
"""Group, kind and name of an object."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """An overlay as it is published."""

    files: Files
    objects: frozenset[Address] = frozenset()
    """What it brings to a cluster, as far as that is known."""


@dataclass(frozen=True, slots=True)
class Unbuilt:
    """An overlay that can be written, and does not build on what its owners have pushed."""

    files: Files
    failure: Failure


Made = tuple[Configuration, Rendered | Unbuilt | Failure]


class Overlays:
    """Makes overlays. One that fails fails alone."""

    def __init__(
        self,
        sandbox: Sandbox,
        settings: FormatSettings | None = None,
        builder: Builder | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._builder = builder
        self._reserved = reserved_namespaces(settings or FormatSettings())
        self._read: Read = {}

    def render(
        self, configurations: Sequence[Configuration], tree: Tree, *, first: bool = False
    ) -> Iterator[Made]:
        """What each configuration comes to, in an order of its own.

        ``first``: others wait, and whatever takes long is to be tried again later.
        """
        for each, made in self._made(configurations, tree, first=first):
            if isinstance(made, Rendered) and self._builder is not None:
                failure = self._build_failure(each.application, each.key, made.files, tree)
                yield each, made if failure is None else Unbuilt(made.files, failure)
            else:
                yield each, made

    def _build_failure(
        self, application: Application, key: str, files: Files, tree: Tree
    ) -> Failure | None:
        """Why an overlay does not build with the real kustomize, where that is asked."""
        if self._builder is None:
            return None
        borrowed = self.looked_at(application, tree)
        return self._builder.failure(application.name, key, files, tree, borrowed)

    def _made(
        self, configurations: Sequence[Configuration], tree: Tree, *, first: bool
    ) -> Iterator[Made]:
        templated: list[Configuration] = []
        recipes: dict[int, Recipe] = {}
        owners = Owners(tree, self._read)
        for each in configurations:
            if (refusal := _refusal(each, self._reserved)) is not None:
                yield each, refusal
                continue
            if isinstance(each.application.source, Template):
                templated.append(each)
                continue
            application = each.application
            if runs_on_hosts_alone(application):
                yield each, _for_hosts(each, owners)
                continue
            if id(application) not in recipes:
                recipes[id(application)] = Recipe(application, each.namespace, owners)
            yield each, _stated(each, recipes[id(application)], owners)
        yield from self._rendered(templated, first=first)

    def examine(
        self,
        application: Application,
        namespace: Namespace,
        published: Mapping[str, bytes],
        tree: Tree,
    ) -> dict[str, Failure]:
        """Which published overlays do not build any more on what owners have pushed, and why.

        ``published`` has the kustomization of each by key.
        """
        if not isinstance(application.source, Base) or not application.source.path:
            return {}
        owners = Owners(tree, self._read)
        recipe = Recipe(application, namespace, owners)
        found: dict[str, Failure] = {}
        for key, written in published.items():
            try:
                _expect_role(application, owners)
                if runs_on_hosts_alone(application):
                    continue
                recipe.check(recipe.read_back(written))
                files = {paths.KUSTOMIZATION: written}
                if failure := self._build_failure(application, key, files, tree):
                    found[key] = failure
            except (Unrenderable, TrellisError) as error:
                found[key] = failure_of(error)
        return found

    def looked_at(self, application: Application, tree: Tree) -> set[str]:
        """Paths outside its own directory on which it depends whether an application builds."""
        source = application.source
        if not isinstance(source, Base) or not source.path:
            return set()
        named = (source.path, *(each.path for each in source.components))
        directories = [paths.below_application(application.name, each) for each in named]
        inside = f"apps/{application.name}/"
        return {
            path
            for path in Owners(tree, self._read).looked_at(directories)
            if not path.startswith(inside)
        }

    def _rendered(self, configurations: Sequence[Configuration], *, first: bool) -> Iterator[Made]:
        patterns: dict[int, Pattern] = {}
        wanted: list[tuple[Configuration, Pattern]] = []
        for each in configurations:
            application = each.application
            if id(application) not in patterns:
                patterns[id(application)] = Pattern(application, each.namespace, _RESERVED)
            pattern = patterns[id(application)]
            if pattern.refusal is not None:
                yield each, pattern.refusal
            else:
                wanted.append((each, pattern))
        jobs = (pattern.job(each.key, each.values) for each, pattern in wanted)
        answers = self._sandbox.run(jobs, first=first)
        for (each, pattern), answer in zip(wanted, answers, strict=True):
            yield each, _collected(each, pattern, answer)


_RESERVED = {*paths.KUSTOMIZATIONS, VARS}


def _refusal(configuration: Configuration, reserved: Container[str]) -> Failure | None:
    """Why it may not be made, whatever it is made of."""
    name = configuration.namespace.name
    if name not in reserved:
        return None
    return Failure(
        f"the namespace {name} is where reconcilers, or the renderer, keep objects of their own",
        "move the application to another namespace",
    )


def _stated(
    configuration: Configuration, recipe: Recipe, owners: Owners
) -> Rendered | Unbuilt | Failure:
    try:
        variables = _variables(configuration)
        try:
            written, objects = recipe.kustomization(configuration.key, configuration.values)
        except Unbuildable as error:
            return Unbuilt({paths.KUSTOMIZATION: error.written, **variables}, error.failure)
        files = {paths.KUSTOMIZATION: written, **variables}
        try:
            _expect_role(configuration.application, owners)
        except Unrenderable as error:
            return Unbuilt(files, error.failure)
        return Rendered(files, objects)
    except WrongValue as error:
        return _blamed(configuration, error.failure)
    except (Unrenderable, TrellisError) as error:
        return failure_of(error)


def _expect_role(application: Application, owners: Owners) -> None:
    """Refuse a role that cannot run; one that clusters build too need not be there."""
    if runs_on_hosts(application):
        role = role_of(application)
        if runs_on_hosts_alone(application) or owners.is_role(role):
            owners.expect_role(role)


def _for_hosts(configuration: Configuration, owners: Owners) -> Rendered | Unbuilt | Failure:
    """The overlay of what no cluster runs."""
    application, namespace = configuration.application, configuration.namespace
    try:
        files = host_overlay(application, namespace, configuration.key, configuration.values)
        try:
            _expect_role(application, owners)
        except Unrenderable as error:
            return Unbuilt(files, error.failure)
        return Rendered(files)
    except (Unrenderable, TrellisError) as error:
        return failure_of(error)


def _collected(
    configuration: Configuration, pattern: Pattern, answer: Objects | Failure
) -> Rendered | Failure:
    if isinstance(answer, Failure):
        return _blamed(configuration, answer)
    try:
        made = frozenset(address(each) for found in answer.values() for each in found)
        return Rendered(pattern.files(configuration.key, answer), made)
    except Unrenderable as error:
        return _blamed(configuration, error.failure)


def _blamed(configuration: Configuration, failure: Failure) -> Failure:
    """The failure, with the layer where there is only one it can be."""
    layers = configuration.layers
    return replace(failure, layer=layers[0]) if len(layers) == 1 else failure


def _variables(configuration: Configuration) -> Files:
    """What hosts read, where there is a role for them."""
    application = configuration.application
    if not runs_on_hosts(application) or not isinstance(application.source, Base):
        return {}
    given = overlay_vars(application, configuration.namespace, configuration.values)
    return {VARS: given}
