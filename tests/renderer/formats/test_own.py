"""A fourth format, as somebody would bring it: Sveltos, whose ClusterProfile takes patches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

import kustomize
from format_samples import KEY, UNIT, Store, check_arrived
from published import MemoryTree
from renderer.failure import Failure, Unrenderable
from renderer.formats.own import Broken, Own, own
from renderer.sandbox.parent import Sandbox

PROFILE = """\
apiVersion: config.projectsveltos.io/v1beta1
kind: ClusterProfile
metadata: {name: {{ application.name | yaml }}}
spec:
  clusterSelector: {matchLabels: {role: store}}
  dependsOn: {{ needs | map(attribute="application") | list | yaml }}
  kustomizationRefs:
  - kind: GitRepository
    namespace: flux-system
    name: gitops
    path: {{ overlay.path | yaml }}
    targetNamespace: {{ namespace.name | yaml }}
  patches: []
"""
SVELTOS = {
    "formats/sveltos/format.yaml": b"late: {kind: ClusterProfile, pointer: /spec/patches}\n",
    "formats/sveltos/profile.yaml.j2": PROFILE.encode(),
}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as found:
        yield found


def unused(files: Mapping[str, str], context: Mapping[str, object]) -> Mapping[str, str]:
    raise AssertionError("nothing is to be rendered here")


def read(files: Mapping[str, bytes], render: Any = unused) -> Own | Broken:
    return own("kustomize", "formats/sveltos", MemoryTree(files), render)


def refusal(words: Own | Broken) -> Failure:
    with pytest.raises(Unrenderable) as refused:
        words.files(UNIT, MemoryTree({}))
    return refused.value.failure


def test_a_format_of_somebodys_own_tells_its_reconciler_and_late_bound_values_arrive(
    tmp_path, sandbox
):
    words = read(SVELTOS, sandbox.render)
    store = Store(tmp_path)
    pointer = store.point(words, words.files(UNIT, MemoryTree({})))
    profile = kustomize.found(kustomize.build(pointer), "ClusterProfile", "pos")
    assert profile["spec"]["kustomizationRefs"][0]["path"] == f"apps/pos/overlays/{KEY}"
    assert profile["spec"]["dependsOn"] == ["menu"]
    assert profile["metadata"]["labels"]["trellis.dev/application"] == "pos"
    assert profile["metadata"]["annotations"]["trellis.dev/owner"].startswith("Point of sale")
    check_arrived(store.reconciled(profile["spec"]["patches"]))


def test_a_format_without_templates_is_plain_kustomize(tmp_path):
    words = read({"formats/sveltos/format.yaml": b"{}\n"})
    assert words.leads_to("pos", KEY) == f"apps/pos/overlays/{KEY}"
    assert words.files(UNIT, MemoryTree({})) == {}
    check_arrived(kustomize.build(Store(tmp_path).point(words, {})))


def test_a_kustomization_of_its_own_is_left_as_it_is():
    mine = "kind: Kustomization\nresources: [a.yaml]\n"
    words = read(SVELTOS, lambda files, context: {"kustomization.yaml": mine, "a.yaml": "kind: A"})
    assert yaml.safe_load(words.files(UNIT, MemoryTree({}))["kustomization.yaml"]) == {
        "kind": "Kustomization",
        "resources": ["a.yaml"],
    }


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "holds no format.yaml"),
        ({"format.yaml": b"late: {kind: app}"}, "cannot be read as the description of a format"),
        ({"format.yaml": b"lat: {}"}, "lat: Extra inputs are not permitted"),
        ({"format.yaml": b"[1"}, "did not find expected"),
        ({"format.yaml": b"", "a\n.yaml": b""}, "cannot be part of a path"),
        ({"format.yaml": b"", "a.yaml": b"\xff"}, "is no text"),
        ({"format.yaml": b"", "a.yaml": b"x" * 200_000}, "larger than a format may be"),
    ],
)
def test_a_format_that_cannot_be_used_says_why_for_each_overlay_that_wants_it(files, message):
    words = read({f"formats/sveltos/{name}": content for name, content in files.items()})
    failure = refusal(words)
    assert message in failure.message
    assert failure.hint
    assert failure.file == "formats/sveltos"
    assert words.leads_to("pos", KEY) == f"apps/pos/sync/kustomize/{KEY}"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"../x.yaml": "kind: A"}, "cannot be part of a path"),
        ({"x.yaml": "a: [b"}, "did not find expected"),
        ({"x.yaml": "just text"}, "holds no object"),
        ({"x.yaml": ""}, "holds no object"),
    ],
)
def test_what_no_kustomization_could_name_is_not_written(made, message):
    assert message in refusal(read(SVELTOS, lambda files, context: made)).message


def test_an_error_in_a_template_names_its_file_and_line(sandbox):
    broken = SVELTOS | {"formats/sveltos/profile.yaml.j2": b"kind: A\nname: {{ aplication }}\n"}
    failure = refusal(read(broken, sandbox.render))
    assert failure.file == "profile.yaml"
    assert failure.line == 2
