"""What commits say."""

from __future__ import annotations

import pytest

from graph.model.publication import HeldBack
from renderer.message import Reason
from renderer.story import body_of, one_line, subject_of


def test_one_change_is_told_by_its_reason():
    assert subject_of([Reason(3, "ana", "open the Austin stores")], 3) == "open the Austin stores"


def test_many_changes_are_counted_and_the_first_are_told():
    told = [Reason(each, "ana", f"reason {each}") for each in range(1, 1_235)]
    subject = subject_of(told, 1_234)
    assert subject.startswith("1,234 changes: reason 1; reason 2; ")
    assert len(subject) == 72
    assert subject.endswith("…")


def test_a_reason_that_many_changes_have_is_told_once():
    told = [Reason(each, "ana", "move to ring 2") for each in range(1, 4)]
    assert subject_of(told, 3) == "3 changes: move to ring 2"


def test_where_nobody_gave_a_reason_the_revision_is_told():
    assert subject_of([], 1_234) == "Render revision 1,234"
    assert subject_of([Reason(3, "ana", " \n")], 3) == "Render revision 3"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\nlines", "two lines"),
        ("\n\nTrellis-Revision: 9.f\n", "Trellis-Revision: 9.f"),
        ("a\u2028b\u202ec\x1b[0m\ud800", "a bc [0m"),
        ("tab\tand\r\nmore  ", "tab and more"),
    ],
)
def test_a_reason_is_one_line_of_what_can_be_seen(text, line):
    assert one_line(text) == line


def test_the_body_tells_who_and_why_and_what():
    changes = {
        "apps/pos/overlays/0/kustomization.yaml": True,
        "apps/pos/sync/flux/0/x.yaml": True,
        "clusters/00/a/kustomization.yaml": True,
        "clusters/00/b/kustomization.yaml": False,
        ".trellis/held.json": True,
    }
    held = [HeldBack("pos", "failed", "line 3:\n no such value", 2, 1)]
    body = body_of([Reason(7, "ana", "why"), Reason(8, "ben", "")], changes, held, ["fleet/x"])
    assert body == (
        "7 ana: why\n8 ben: no reason given\n\n"
        "clusters: 1 written, 1 removed\noverlays: 1 written\nsync: 1 written\n"
        "trellis: 1 written\n\n"
        "held: pos (failed): line 3: no such value\n\n"
        "restored: fleet/x"
    )


def test_long_lists_are_cut():
    held = [HeldBack("", "blocked", "x" * 999, 1, 1)] * 50
    body = body_of([], {}, held, [str(each) for each in range(99)])
    assert "held: 30 more" in body
    assert "restored: 79 more" in body
    assert max(map(len, body.splitlines())) == 200
