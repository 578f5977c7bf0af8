"""Overlays of template applications: what goes into the sandbox, and files of what comes out."""

from __future__ import annotations

from collections.abc import Mapping

from graph.model.errors import Invalid
from graph.model.values import Value
from graph.model.workload import Application, Namespace, Template
from renderer import paths
from renderer.failure import Failure, Unrenderable
from renderer.objects.manifest import documents, kustomization
from renderer.objects.marks import Marking
from renderer.overlay.base_reading import Holdings
from renderer.overlay.fitting import misplaced_late
from renderer.rules import Rules, address
from renderer.sandbox.answers import Objects
from renderer.sandbox.parent import Job

_ENDINGS = (".j2", ".jinja", ".jinja2")


class Pattern:
    """How the overlays of one application are rendered."""

    def __init__(self, application: Application, namespace: Namespace, reserved: set[str]) -> None:
        assert isinstance(application.source, Template)
        self._application = application
        self._files = application.source.files
        self._marking = Marking(application, namespace)
        self._rules = Rules(namespace.name, application.cluster_scoped)
        self._names = {file: _name(file) for file in self._files if not file.startswith("_")}
        self._reserved = reserved
        self._known = {
            "application": application.name,
            "namespace": namespace.name,
            "owner": application.owner or ", ".join(namespace.owners),
        }
        self.refusal = self._refusal()
        """Why nothing of it can be rendered."""

    def job(self, key: str, values: Mapping[str, Value]) -> Job:
        """What the sandbox is to do. Values are names of their own where no other has them."""
        known = {**self._known, "overlay": key, "labels": self._marking.labels(key)}
        return Job(self._files, {**values, **known, "values": values}, self._rules)

    def files(self, key: str, found: Objects) -> dict[str, bytes]:
        """The overlay of what was rendered; ``Unrenderable`` if it holds something twice."""
        self._check_once(found)
        self._check_late(found)
        made = {self._names[file]: documents(each) for file, each in found.items() if each}
        listed = kustomization(list(made), **self._marking.fields(key))
        return {paths.KUSTOMIZATION: listed, **made}

    def _refusal(self) -> Failure | None:
        seen = {name.lower(): "the renderer" for name in self._reserved}
        for file, name in self._names.items():
            try:
                paths.inside("overlays", name)
            except Invalid as error:
                return Failure(error.message, error.hint, file)
            known = seen.setdefault(name.lower(), file)  # some file systems tell no case apart
            if known != file:
                return Failure(f"{name} is made by {known} too", "give it another name", file)
        return None

    def _check_late(self, found: Objects) -> None:
        """Late-bound values have a place to go: else the pointer would not build."""
        made = {address(each)[1:]: (file, each) for file, all_ in found.items() for each in all_}
        objects = {called: each for called, (_, each) in made.items()}
        places = {called: file for called, (file, _) in made.items()}
        failure = misplaced_late(self._application, Holdings(objects, places, {}, True))
        if failure is not None:
            raise Unrenderable(failure)

    def _check_once(self, found: Objects) -> None:
        seen: set[tuple[str, str, str]] = set()
        for file, each in found.items():
            for made in each:
                called = address(made)
                if called in seen:
                    message = f"{called[1]}/{called[2]} is made twice"
                    raise Unrenderable(Failure(message, "keep one of the two", file))
                seen.add(called)


def _name(file: str) -> str:
    """``deployment.yaml.j2`` gives ``deployment.yaml``."""
    for ending in _ENDINGS:
        file = file.removesuffix(ending)
    return file
