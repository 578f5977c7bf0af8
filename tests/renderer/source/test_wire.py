"""What the API says, read: its own schema is the judge of what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from graph.composition.problem import Reason as BlockedReason
from graph.effective.portion import (
    Blocked,
    Held,
    Line,
    Overlay,
    Overlays,
    Pointer,
    Pointers,
    Removals,
    RemovedLines,
    Settings,
)
from graph.effective.rendition import Cause
from graph.effective.trouble import Trouble
from graph.model.errors import ResyncRequired, Unavailable
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.ref import Kind, Ref
from graph.model.workload import Application, Template
from renderer.message import Complete, Defined
from renderer.source.wire import REASONS, RENDERING, REPORT, message_of, page_of

SCHEMA = build_schema((Path(__file__).parents[3] / "schema.graphql").read_text("utf-8"))


@pytest.mark.parametrize("document", [RENDERING, REASONS, REPORT])
def test_what_is_asked_is_of_the_schema(document):
    assert validate(SCHEMA, parse(document)) == []


VALUES = {"key": "0" * 16, "layers": ["a"], "values": {"x": 1.0}, "digest": "d", "clusters": 3}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {
                "__typename": "RenderingRemovals",
                "clusters": ["york-1"],
                "lines": [{"application": "till", "cause": "PROHIBITED", "clusters": ["york-2"]}],
                "droppedOverlays": [{"application": "till", "key": "k"}],
                "droppedSettings": ["s"],
                "droppedDefinitions": [{"kind": "POLICY", "name": "images"}],
            },
            Removals(
                ("york-1",),
                (RemovedLines("till", Cause.PROHIBITED, ("york-2",)),),
                (("", "s"), ("till", "k")),
                (Ref(Kind.POLICY, "images"),),
            ),
        ),
        (
            {"__typename": "RenderingSettings", "settings": [VALUES]},
            Settings((Overlay("", "0" * 16, ("a",), {"x": 1.0}, "d", 3),)),
        ),
        (
            {"__typename": "RenderingOverlays", "overlays": [VALUES | {"application": "till"}]},
            Overlays((Overlay("till", "0" * 16, ("a",), {"x": 1.0}, "d", 3),)),
        ),
        (
            {
                "__typename": "RenderingPointers",
                "pointers": [
                    {
                        "cluster": "york-1",
                        "kind": "HOST",
                        "reconciler": "ANSIBLE",
                        "settings": None,
                        "policies": ["p"],
                        "lines": [
                            {
                                "application": "till",
                                "namespace": "shop",
                                "key": "k",
                                "lateBound": {"host": "00042"},
                            }
                        ],
                    }
                ],
            },
            Pointers(
                (
                    Pointer(
                        "york-1",
                        ClusterKind.HOST,
                        Reconciler.ANSIBLE,
                        None,
                        ("p",),
                        (Line("till", "shop", "k", {"host": "00042"}),),
                    ),
                )
            ),
        ),
        (
            {
                "__typename": "RenderingBlocked",
                "blocked": [
                    {
                        "application": None,
                        "reasons": [{"reason": "CONFLICT", "message": "two"}],
                        "clusters": ["york-1"],
                    }
                ],
            },
            Blocked((Held("", (Trouble(BlockedReason.CONFLICT, "two"),), ("york-1",)),)),
        ),
        (
            {"__typename": "RenderingComplete", "cursor": "3.a", "revision": 3, "acceptedLoss": 4},
            Complete("3.a", 3, 4),
        ),
    ],
)
def test_every_message_is_read(said, message):
    assert message_of(said) == message


def test_a_template_is_read():
    said = {
        "__typename": "RenderingDefinitions",
        "namespaces": [],
        "policies": [],
        "applications": [
            {
                "name": "till",
                "title": "",
                "owner": "",
                "reconcilers": [],
                "clusterScoped": [],
                "namespace": {"name": "shop"},
                "labels": [],
                "dependsOn": [],
                "lateBound": [],
                "source": {
                    "__typename": "TemplateSource",
                    "files": [{"name": "a.yaml", "text": "x"}],
                },
            }
        ],
    }
    expected = Application("till", "shop", source=Template({"a.yaml": "x"}))
    assert message_of(said) == Defined((expected,))


def test_a_stream_that_cannot_go_on_says_so():
    said = {"__typename": "ResyncRequired", "message": "too old", "hint": "start again"}
    with pytest.raises(ResyncRequired, match="too old"):
        message_of(said)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"__typename": "Else"},
        {"__typename": "RenderingPointers"},
        {"__typename": "RenderingPointers", "pointers": [{}]},
        {"__typename": "RenderingBlocked", "blocked": None},
        {"__typename": "RenderingSettings", "settings": [1]},
    ],
)
def test_what_is_not_of_the_schema_is_said_so(said):
    with pytest.raises(Unavailable, match="not understood"):
        message_of(said)
    with pytest.raises(Unavailable, match="not understood"):
        page_of(said)
