"""Ansible: hosts, which have no cluster to tell. Ansible core 2.19 or newer.

An owner's base is a role: ``tasks/main.yaml`` makes the application be there and
``tasks/absent.yaml`` takes it away. The playbook gives a role one variable, ``trellis_values``, and
never lets a value name a variable: who may set a value may not set how Ansible connects.

Values are no templates. Ansible takes what stands in an inventory or in a file of variables for
one, so composed values are read as JSON by the playbook, and late-bound ones stand in the inventory
as the text of JSON in which no template can begin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

import orjson

from graph.model.inventory import Reconciler
from graph.model.names import quoted
from graph.model.values import Value
from graph.model.workload import Application, Base, Namespace
from renderer import paths
from renderer.failure import Failure, Unrenderable
from renderer.flow import flow
from renderer.formats.late import Patch
from renderer.formats.playbook import PLAYBOOK, PRESENT_TASKS, REMOVAL_TASKS
from renderer.formats.port import Unit
from renderer.objects.business import labels_of
from renderer.objects.manifest import kustomization
from renderer.settings import FormatSettings
from renderer.tree import Tree

VARS = "vars.json"
"""The file of an overlay that holds what a role is given."""
PRESENT = "ansible/present.yaml"
REMOVAL = "ansible/removal.yaml"

_JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_WRITTEN = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


class Ansible:
    """Lines of an inventory lead to overlays, and their late-bound values stand beside them."""

    name = "ansible"

    def leads_to(self, application: str, key: str) -> str:
        """The overlay."""
        return paths.overlay(application, key)

    def files(self, unit: Unit, tree: Tree) -> Mapping[str, bytes]:
        """None: the overlay itself holds what a role is given. Refused where there is none."""
        role_of(unit.application)
        return {}

    def patches(self, application: Application, late: Mapping[str, Value]) -> Sequence[Patch]:
        """None: an inventory has no patches."""
        return ()


def runs_on_hosts(application: Application) -> bool:
    """Whether overlays of an application hold what a role is given: it says so itself."""
    return Reconciler.ANSIBLE in application.reconcilers


def overlay_vars(
    application: Application, namespace: Namespace, values: Mapping[str, Value]
) -> bytes:
    """The file ``vars.json`` of an overlay: the role, what it needs, and the composed values."""
    said = {
        "application": application.name,
        "namespace": namespace.name,
        "owner": application.owner,
        "role": role_of(application),
        "needs": sorted(application.depends_on),
        "values": values,
    }
    return orjson.dumps(said, option=_WRITTEN)


def role_of(application: Application) -> str:
    """The directory of the role; refused where it has none."""
    source = application.source
    if runs_on_hosts(application) and isinstance(source, Base):
        return paths.below_application(application.name, source.path)
    raise Unrenderable(
        Failure(
            f"application {quoted(application.name)} is no role that runs on a host",
            hint="list ansible in its reconcilers and make its source a base: the directory"
            " of a role, with tasks/main.yaml and tasks/absent.yaml",
        )
    )


def runs_on_hosts_alone(application: Application) -> bool:
    """Whether there is nothing of an application for any cluster."""
    return tuple(application.reconcilers) == (Reconciler.ANSIBLE,)


def host_overlay(
    application: Application, namespace: Namespace, key: str, values: Mapping[str, Value]
) -> dict[str, bytes]:
    """The overlay of an application that runs on hosts alone, whose base is no kustomization.

    It builds all the same: to a ConfigMap of what the role is given.
    """
    labels, annotations = labels_of(application, namespace, key)
    options = {"disableNameSuffixHash": True, "labels": labels, "annotations": annotations}
    given = {"name": application.name, "namespace": namespace.name, "files": [VARS]}
    return {
        paths.KUSTOMIZATION: kustomization([], configMapGenerator=[given | {"options": options}]),
        VARS: overlay_vars(application, namespace, values),
    }


def late_text(late: Mapping[str, Value]) -> str:
    """Late-bound values by key, as they stand in an inventory: no template begins in them."""
    return _JSON_TEXT.sub(lambda found: found[0].replace("{", "\\u007b"), flow(late))


def late_of(text: str) -> dict[str, Value]:
    """The inverse of ``late_text``."""
    return cast("dict[str, Value]", orjson.loads(text))


def site_files(settings: FormatSettings) -> dict[str, bytes]:
    """The playbook and its tasks, by path; they depend on nothing but the settings."""
    playbook = PLAYBOOK.replace("@FACTS@", flow(settings.ansible_facts_directory))
    return {
        paths.SITE: playbook.encode(),
        PRESENT: PRESENT_TASKS.encode(),
        REMOVAL: REMOVAL_TASKS.encode(),
    }
