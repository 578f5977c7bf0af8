"""What a plan is put together of."""

from __future__ import annotations

from memory_publisher import MemoryPublisher
from renderer.message import Complete
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from renderer.work.planner import planner, stamp
from scripted import cursor, pointers


def test_a_plan_writes_what_was_told_to_the_draft():
    output = MemoryPublisher()
    head = output.head()
    draft = output.begin(head)
    plan = planner(FormatSettings(), Sandbox(), WaveBounds())(head, draft, True)
    plan.take(pointers("york-1"))
    plan.finish(Complete(cursor(1), 1, 0))
    assert [path for path in draft.changes() if path.endswith("/york-1/kustomization.yaml")]


def test_the_stamp_is_of_the_settings_that_shape_the_output():
    assert stamp(FormatSettings()) == stamp(FormatSettings())
    assert stamp(FormatSettings()) != stamp(FormatSettings(flux_namespace="elsewhere"))
