from __future__ import annotations

import pytest
from hypothesis import given

from graph.decide.fields import WORKLOAD_PREFIX_LENGTH_MAX, check_workload_label
from graph.model.errors import Invalid
from graph.model.names import check_label_key
from graph.model.workload import Application, Namespace
from kubernetes_names import label_keys
from renderer.objects.business import labels_of, labels_of_namespace, rendered_key

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


@given(label_keys, label_keys)
def test_labels_that_people_gave_stand_below_our_domain_and_never_meet(one: str, other: str):
    found = rendered_key(one)
    assert check_label_key(found) == found
    prefix = found.partition("/")[0]
    assert prefix == "label.trellis.dev" or prefix.endswith(".label.trellis.dev")
    assert (found == rendered_key(other)) is (one == other)


def test_the_longest_prefix_of_a_label_still_fits():
    parts = ("a" * 63, "b" * 63, "c" * 63)
    prefix = ".".join((*parts, "d" * (WORKLOAD_PREFIX_LENGTH_MAX - 3 * 64)))
    assert check_label_key(rendered_key(check_workload_label(f"{prefix}/x")))
    with pytest.raises(Invalid, match="is not a label key"):
        check_workload_label(f"{prefix}d/x")
