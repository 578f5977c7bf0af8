"""Template and base applications in small: enough of each to be told apart in a test.

with Sandbox() as sandbox:
    made = render(sandbox, configured(TEMPLATED, {"tag": "v1"}))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from graph.model.values import Value
from graph.model.workload import (
    Application,
    Base,
    Binding,
    BindingKind,
    Component,
    Namespace,
    Template,
)
from memory_publisher import MemoryTree
from renderer.failure import Failure
from renderer.overlay.overlays import Configuration, Overlays, Rendered, Unbuilt
from renderer.sandbox.parent import Sandbox

KEY = "0123456789abcdef"
AWKWARD = (
    "00042",
    "no",
    "",
    "{a: b}",
    "${x} {{ y }}",
    "\"q\" and 's'",
    'prod"\nspec:\n  hostNetwork: true',
    "two\nlines\n",
    " # no comment",
    "---",
    "12:30:45",
    "1_000",
    "\t\r\n\u2028\ue000",
)
"""Texts that something on the way might take for something else."""

SHOP = Namespace("shop", owners=("shop-team",), cost_center="4711")

BASE_FILES = {
    "apps/pos/base/v1/kustomization.yaml": b"""\
resources: [web.yaml, plain.yaml]
configMapGenerator:
- name: made
  literals: [color=red, kept=yes]
""",
    "apps/pos/base/v1/web.yaml": b"""\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example/pos:1
        args: [serve]
        envFrom: [{configMapRef: {name: made}}]
""",
    "apps/pos/base/v1/plain.yaml": b"""\
apiVersion: v1
kind: ConfigMap
metadata: {name: plain}
data: {color: red, kept: "yes"}
""",
    "apps/pos/extras/kustomization.yaml": b"""\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
configMapGenerator:
- name: extra
  literals: [on=yes]
""",
}
BASE = Base(
    "base/v1",
    (
        Binding("image.tag", BindingKind.IMAGE, "registry.example/pos"),
        Binding("replicas", BindingKind.REPLICAS, "web"),
        Binding("made", BindingKind.CONFIG_MAP, "made", "color"),
        Binding("plain", BindingKind.CONFIG_MAP, "plain", "color"),
        Binding("new", BindingKind.CONFIG_MAP, "plain", "a.new_entry-1"),
        Binding(
            "args", BindingKind.FIELD, "Deployment/web", "/spec/template/spec/containers/0/args"
        ),
        Binding(
            "first", BindingKind.FIELD, "Deployment/web", "/spec/template/spec/containers/0/args/0"
        ),
        Binding("paused", BindingKind.FIELD, "Deployment/web", "/spec/paused"),
    ),
    (Component("extras.on", "extras"),),
)
BASED = Application("pos", "shop", owner="pos-team", source=BASE, labels={"tier": "front"})
TEMPLATED = Application("pos", "shop", owner="pos-team", source=Template({}))

UNWRITABLE = [*map(chr, range(0x7F, 0xA0)), "\ufffe", "\uffff"]
"""Characters that kustomize reads and cannot write: they are refused."""
WRITABLE = st.characters(exclude_categories=["Cs"], exclude_characters=UNWRITABLE)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(WRITABLE, max_size=12)
    | st.sampled_from(AWKWARD),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(WRITABLE, max_size=8), inner, max_size=4)
    ),
    max_leaves=15,
)


def templated(**files: str) -> Application:
    """A template application of ``files``; two underscores in a name stand for a dot."""
    named = {name.replace("__", "."): text for name, text in files.items()}
    return replace(TEMPLATED, source=Template(named))


def configured(
    application: Application, values: Mapping[str, Value], *layers: str
) -> Configuration:
    """The application with these values."""
    return Configuration(application, SHOP, KEY, layers, values)


def render(
    sandbox: Sandbox, configuration: Configuration, files: Mapping[str, bytes] = BASE_FILES
) -> Mapping[str, bytes] | Failure:
    """What one configuration gives."""
    ((_, made),) = Overlays(sandbox).render([configuration], MemoryTree(files))
    return files_of(made)


def files_of(made: Rendered | Unbuilt | Failure) -> Mapping[str, bytes] | Failure:
    """The files of an overlay that may be published, or why there are none."""
    match made:
        case Rendered(found):
            return found
        case Unbuilt(_, failure):
            return failure
        case _:
            return made


def laid_out(
    root: Path, made: Mapping[str, bytes] | Failure, files: Mapping[str, bytes] = BASE_FILES
) -> Path:
    """The overlay on disk, beside the bases; its directory."""
    assert not isinstance(made, Failure), made
    directory = f"apps/pos/overlays/{KEY}"
    for path, content in {**files, **{f"{directory}/{name}": made[name] for name in made}}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return root / directory
