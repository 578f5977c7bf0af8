from __future__ import annotations

import pytest

from graph.model.workload import Application, Namespace
from renderer.objects.business import labels_of, labels_of_namespace

KEY = "1f3a9c02d4b5e6f7"


def test_an_object_says_its_application_namespace_owner_and_overlay():
    application = Application("pos", "dining", owner="team-pos", labels={"tier": "gold"})
    labels, annotations = labels_of(application, Namespace("dining", cost_center="4711"), KEY)
    assert labels == {
        "trellis.dev/application": "pos",
        "trellis.dev/namespace": "dining",
        "trellis.dev/owner": "team-pos",
        "trellis.dev/overlay": KEY,
        "trellis.dev/cost-center": "4711",
        "label.trellis.dev/tier": "gold",
    }
    assert annotations == {}


@pytest.mark.parametrize(
    "owner", ["Point of sale", "a@b.example", "-dash", "dot.", "x" * 64, "küche", "a\nb"]
)
def test_a_value_that_is_no_label_is_an_annotation(owner: str):
    labels, annotations = labels_of(Application("pos", "dining", owner=owner), Namespace("d"), KEY)
    assert "trellis.dev/owner" not in labels
    assert annotations == {"trellis.dev/owner": owner}


@pytest.mark.parametrize("owner", ["x", "x" * 63, "A.b_c-9"])
def test_whatever_kubernetes_takes_as_a_label_is_one(owner: str):
    labels, _ = labels_of(Application("pos", "dining", owner=owner), Namespace("d"), KEY)
    assert labels["trellis.dev/owner"] == owner


def test_an_application_without_an_owner_is_its_namespaces_owners():
    namespace = Namespace("dining", owners=("team-dining",))
    labels, _ = labels_of(Application("pos", "dining"), namespace, KEY)
    assert labels["trellis.dev/owner"] == "team-dining"


def test_what_is_not_said_is_left_out():
    assert labels_of_namespace(Namespace("dining")) == ({"trellis.dev/namespace": "dining"}, {})
