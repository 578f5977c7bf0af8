from __future__ import annotations

import orjson

import kustomize
from crds import mistakes
from format_samples import AWKWARD, STRUCTURED
from graph.effective.portion import Overlay
from renderer.objects.fleet_settings import fleet_files

KEY = "1f3a9c02d4b5e6f7"


def test_the_fleets_settings_are_a_config_map_in_a_namespace_of_their_own(tmp_path):
    values = {"telemetry": {"text": dict(AWKWARD)}, "proxy": "no", "more": dict(STRUCTURED)}
    for name, content in fleet_files(Overlay("", KEY, (), values, "digest", 1)).items():
        (tmp_path / name).write_bytes(content)
    found = kustomize.build(tmp_path)
    assert [each for one in found for each in mistakes(one)] == []
    held = kustomize.found(found, "ConfigMap", "fleet-settings")
    assert held["metadata"]["namespace"] == "trellis-system"
    assert orjson.loads(held["data"]["settings.json"]) == values
    namespace = kustomize.found(found, "Namespace", "trellis-system")
    assert namespace["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/prune"] == "disabled"


def test_equal_settings_in_another_order_are_equal_bytes():
    one = Overlay("", KEY, (), {"a": {"c": 1, "d": 2}, "b": 2}, "digest", 1)
    other = Overlay("", KEY, (), {"b": 2, "a": {"d": 2, "c": 1}}, "digest", 7)
    assert fleet_files(one) == fleet_files(other)
