"""Which reconciler is told in which words."""

from __future__ import annotations

from collections.abc import Mapping

from graph.model.errors import Invalid
from graph.model.inventory import Reconciler
from graph.model.names import quoted
from renderer import paths
from renderer.formats.ansible import Ansible
from renderer.formats.argocd import ArgoCD
from renderer.formats.flux import Flux
from renderer.formats.kustomize import Kustomize
from renderer.formats.own import Render, own
from renderer.formats.port import Format
from renderer.settings import FormatSettings, pairs
from renderer.tree import Tree


def formats(settings: FormatSettings, tree: Tree, render: Render) -> dict[str, Format]:
    """A format for each reconciler. Those that are somebody's own are read from ``tree`` now."""
    chosen: dict[str, Format] = {
        Reconciler.FLUX: Flux(settings),
        Reconciler.ARGOCD: ArgoCD(settings),
        Reconciler.ANSIBLE: Ansible(),
        Reconciler.KUSTOMIZE: Kustomize(),
    }
    for reconciler, directory in own_directories(settings).items():
        chosen[reconciler] = own(reconciler, directory, tree, render)
    return chosen


def own_directories(settings: FormatSettings) -> Mapping[str, str]:
    """Directories of formats that are somebody's own, by reconciler; checked."""
    found = pairs(settings.own_formats)
    for reconciler, directory in found.items():
        if reconciler not in set(Reconciler) - {Reconciler.ANSIBLE}:
            raise Invalid(
                f"no reconciler called {quoted(reconciler)} can have a format of somebody's own",
                hint=f"known: {', '.join(sorted(set(Reconciler) - {Reconciler.ANSIBLE}))}",
            )
        for part in directory.split("/"):
            paths.inside("", part)
        if paths.is_owned(directory):
            raise Invalid(
                f"{quoted(directory)} is written by the worker and cannot hold a format",
                hint="choose a directory of your own, as formats/mine",
            )
    return found
