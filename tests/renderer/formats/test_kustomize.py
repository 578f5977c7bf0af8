from __future__ import annotations

import kustomize
from format_samples import KEY, UNIT, Store, check_arrived
from published import MemoryTree
from renderer.formats.kustomize import Kustomize


def test_lines_lead_to_overlays_and_nobody_is_told():
    words = Kustomize()
    assert words.leads_to("pos", KEY) == f"apps/pos/overlays/{KEY}"
    assert words.files(UNIT, MemoryTree({})) == {}


def test_late_bound_values_arrive_as_what_they_are(tmp_path):
    pointer = Store(tmp_path).point(Kustomize(), {})
    check_arrived(kustomize.build(pointer))
