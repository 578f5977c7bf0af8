"""A disposable Kubernetes cluster, the one that KUBECONFIG names, asked with ``kubectl``.

Only a KUBECONFIG that somebody has set counts, never the one in a home directory: whoever sets it
says that the cluster may be written to. Without one, tests are skipped and say so; with
``kubernetes`` in TRELLIS_TEST_REQUIRE they fail instead.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

import pytest

COMMAND_SECONDS = 120
POLL_SECONDS = 0.2
WAIT_SECONDS = 420
"""Longest wait for a reconciler: Argo CD looks every three minutes unless it is told otherwise."""

Object = Mapping[str, Any]


class Kubernetes:
    """The cluster, as whoever holds its KUBECONFIG."""

    def get(self, kind: str, name: str, namespace: str = "") -> dict[str, Any] | None:
        """An object; None where there is none."""
        said = self._ask("get", kind, name, *_in(namespace), "-o", "json", "--ignore-not-found")
        found: dict[str, Any] | None = json.loads(said) if said.strip() else None
        return found

    def names(self, kind: str, namespace: str, *, labels: str = "") -> set[str]:
        """The names of objects of a kind."""
        chosen = ("-l", labels) if labels else ()
        listed = json.loads(self._ask("get", kind, *_in(namespace), *chosen, "-o", "json"))
        return {each["metadata"]["name"] for each in listed["items"]}

    def apply(self, *objects: Object) -> None:
        """Bring objects there."""
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        self._ask("apply", "-f", "-", said=json.dumps(listed))

    def delete(self, kind: str, *names: str, namespace: str = "", wait: bool = False) -> None:
        """Ask for objects to go; those that are not there are gone."""
        waiting = f"--wait={str(wait).lower()}"
        self._ask("delete", kind, *names, *_in(namespace), "--ignore-not-found", waiting)

    def has(self, kind: str) -> bool:
        """Whether objects of a kind, written plural.group, can be kept there."""
        return self.get("customresourcedefinitions.apiextensions.k8s.io", kind) is not None

    def _ask(self, *arguments: str, said: str = "") -> str:
        done = subprocess.run(
            ["kubectl", *arguments],
            input=said,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout


def cluster() -> Kubernetes:
    """The cluster, or a loud skip."""
    missing = _missing()
    if missing:
        give_up(missing)
    return Kubernetes()


def give_up(missing: str) -> NoReturn:
    """Skip loudly, or fail where a cluster with all that belongs to it is required."""
    if "kubernetes" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"a cluster with Flux and Argo CD is required here: {missing}")
    pytest.skip(f"NO REAL RECONCILER HAS SEEN WHAT IS RENDERED: {missing}")


@dataclass(frozen=True)
class Waited:
    """How long something took, from a moment on."""

    since: float

    @staticmethod
    def now() -> Waited:
        return Waited(time.monotonic())

    def until(self, holds: Callable[[], bool], why: Callable[[], object] = lambda: "") -> float:
        """Look again and again until it holds; the seconds since the moment."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"not so after {WAIT_SECONDS} s: {why()}"
            time.sleep(POLL_SECONDS)
        return time.monotonic() - self.since


def until(holds: Callable[[], bool], why: Callable[[], object] = lambda: "") -> None:
    """Wait for something, within bounds; ``why`` tells what is known if it does not come."""
    Waited.now().until(holds, why)


@cache
def _missing() -> str:
    """What there is no cluster for the lack of; asked once."""
    if not os.environ.get("KUBECONFIG"):
        return "KUBECONFIG names no disposable cluster"
    if shutil.which("kubectl") is None:
        return "kubectl is not on the path"
    asked = subprocess.run(
        ["kubectl", "get", "--raw", "/readyz", "--request-timeout=20s"],
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    return "" if asked.returncode == 0 else f"the cluster does not answer: {asked.stderr[-300:]}"


def _in(namespace: str) -> tuple[str, ...]:
    return ("--namespace", namespace) if namespace else ()
