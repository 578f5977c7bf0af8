"""Overlays of base applications: where the base is, and what the values say of it."""

from __future__ import annotations

from collections.abc import Mapping

from graph.model.value_path import value_path
from graph.model.values import Value
from graph.model.workload import Application, Base, Binding, Component, Namespace
from renderer import paths
from renderer.failure import Failure, Unrenderable
from renderer.objects.manifest import kustomization
from renderer.objects.marks import Marking
from renderer.overlay.binding import Statement, is_on, value_at
from renderer.overlay.fitting import misfit, trespass
from renderer.overlay.owners import Holdings, Owners
from renderer.rules import Rules

_UP = "../../"
"""From an overlay to the application's directory."""


class Recipe:
    """How the overlays of one application are made; what they share is looked at once."""

    def __init__(self, application: Application, namespace: Namespace, owners: Owners) -> None:
        self._application = application
        self._owners = owners
        self._marking = Marking(application, namespace)
        self._namespace = namespace.name
        self._base = _base_of(application)
        self._holdings: Holdings | Failure | None = None
        self._bindings = [(each, value_path(each.key)) for each in self._base.bindings]
        self._components = [(each, value_path(each.key)) for each in self._base.components]
        self._misfits: dict[Binding, Failure | None] = {}

    def kustomization(self, key: str, values: Mapping[str, Value]) -> bytes:
        """The kustomization of one overlay; ``Unrenderable`` says why there is none."""
        if not self._base.path:
            return kustomization([], **self._marking.fields(key))
        holdings = self._held()
        components = [
            each.path for each, parts in self._components if self._is_on(each, parts, values)
        ]
        statement = Statement()
        for binding, parts in self._bindings:
            value = value_at(values, parts)
            if value is not None:
                if not components:
                    self._expect(binding, holdings)
                statement.add(binding, value)
        fields = {"namespace": self._namespace, **self._marking.fields(key), **statement.fields()}
        if components:
            fields["components"] = [_UP + path for path in components]
        return kustomization([_UP + self._base.path], **fields)

    def _held(self) -> Holdings:
        """What the base holds; that it cannot be used is found out once."""
        if self._holdings is None:
            self._holdings = self._look()
        if isinstance(self._holdings, Failure):
            raise Unrenderable(self._holdings)
        return self._holdings

    def _look(self) -> Holdings | Failure:
        application = self._application
        rules = Rules(self._namespace, application.cluster_scoped)
        try:
            found = self._owners.holdings(
                paths.below_application(application.name, self._base.path)
            )
        except Unrenderable as error:
            return error.failure
        return trespass(found, rules) or found

    def _is_on(
        self, component: Component, parts: tuple[str, ...], values: Mapping[str, Value]
    ) -> bool:
        if not is_on(component.key, value_at(values, parts)):
            return False
        self._owners.expect(paths.below_application(self._application.name, component.path))
        return True

    def _expect(self, binding: Binding, holdings: Holdings) -> None:
        if binding not in self._misfits:
            self._misfits[binding] = misfit(binding, holdings)
        failure = self._misfits[binding]
        if failure is not None:
            raise Unrenderable(failure)


def _base_of(application: Application) -> Base:
    """Its base; an empty one where there is none."""
    return application.source if isinstance(application.source, Base) else Base("")
