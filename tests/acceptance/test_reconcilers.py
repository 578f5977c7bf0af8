"""What real reconcilers make of what is rendered: every scenario, in every way there is.

Each has an application to itself, so that none waits for another to be over. What runs at the end
of one is what ran at its beginning, or is gone.
"""

from __future__ import annotations

import pytest

from acceptance_fleet import LATE, SPARE
from graph.model.workload import Choice
from graph.model.workload_command import Prohibit
from kubernetes_cluster import until
from watched_store import Watched

pytestmark = pytest.mark.timeout(3_600)

ALL_CAME_UP = "NewReplicaSetAvailable"
"""What a Deployment says from the moment on at which all its pods were there."""


def test_late_bound_values_arrive_exactly(watched: Watched) -> None:
    found = watched.settings("till")
    assert found is not None
    assert {key: found[key] for key in LATE} == LATE


def test_as_many_pods_come_up_as_values_say(watched: Watched) -> None:
    until(lambda: ALL_CAME_UP in reasons(watched), lambda: reasons(watched))
    deployment = watched.kubernetes.get("deployment", "kitchen", watched.store.namespace)
    assert deployment is not None
    assert deployment["spec"]["replicas"] == 2


def test_a_pointer_settles_and_nothing_of_it_is_undone_and_done_again(watched: Watched) -> None:
    watched.settles()


def test_a_namespace_comes_with_its_rules(watched: Watched) -> None:
    at = watched.store.namespace
    quota = watched.kubernetes.get("resourcequota", "trellis-quota", at)
    assert quota is not None
    assert quota["spec"]["hard"] == {"requests.cpu": "4", "requests.memory": "4Gi"}
    assert watched.kubernetes.get("networkpolicy", "trellis-same-namespace", at) is not None
    owners = watched.kubernetes.get("rolebinding", "trellis-owners", at)
    assert owners is not None
    assert [each["name"] for each in owners["subjects"]] == ["retail"]


def test_a_mutation_reaches_the_object_and_a_revert_brings_the_old_one_back(
    watched: Watched,
) -> None:
    before = watched.fleet.now()
    receipt = watched.fleet.give(watched.store.greeted("good evening"))
    watched.sees(
        "a value changes",
        receipt,
        lambda: watched.says("till", "greeting") == "good evening",
    )
    assert watched.says("till", "odd") == LATE["odd"]
    receipt = watched.fleet.revert(before)
    watched.sees(
        "it is reverted",
        receipt,
        lambda: watched.says("till", "greeting") == "good morning",
    )
    watched.settles("till")


def test_narrowing_an_assignment_prunes(watched: Watched) -> None:
    assert watched.says("loyalty", "points") == "10"
    receipt = watched.fleet.give(watched.store.assigned("loyalty", SPARE), loss=1)
    watched.sees(
        "an assignment is narrowed",
        receipt,
        lambda: watched.settings("loyalty") is None,
    )
    until(lambda: watched.store.named("loyalty") not in watched.follower.applications())
    assert watched.says("till", "greeting") == "good morning"


def test_a_prohibition_removes_and_lifting_it_brings_back(watched: Watched) -> None:
    name = watched.store.named("camera")
    before = watched.fleet.now()
    law = Prohibit(name, Choice(applications=(name,)), watched.store.group)
    receipt = watched.fleet.give(law, loss=1)
    watched.sees("a prohibition", receipt, lambda: watched.settings("camera") is None)
    assert watched.says("till", "greeting") == "good morning"
    receipt = watched.fleet.revert(before)
    watched.sees("it is reverted", receipt, lambda: watched.says("camera", "eye") == "open")


def test_broken_applications_leave_the_others_reconciling(watched: Watched) -> None:
    store, before = watched.store, watched.fleet.now()
    receipt = watched.fleet.give(
        store.based("sign", "base/v2"),  # it changes what may not change
        store.assigned("drone", store.everywhere),  # no cluster knows its kind
        store.greeted("good night"),
    )
    watched.sees(
        "a value changes while two others break",
        receipt,
        lambda: watched.says("till", "greeting") == "good night",
    )
    until(lambda: "immutable" in watched.complaint("sign"), lambda: watched.complaint("sign"))
    until(lambda: "Drone" in watched.complaint("drone"), lambda: watched.complaint("drone"))
    assert not watched.is_ready("sign")
    assert not watched.is_ready("drone")
    assert watched.says("sign", "edition") == "1"
    receipt = watched.fleet.give(store.greeted("good luck"))
    watched.sees(
        "a value changes while two others are broken",
        receipt,
        lambda: watched.says("till", "greeting") == "good luck",
    )
    assert not watched.is_ready("sign")
    receipt = watched.fleet.revert(before, loss=2)
    watched.sees(
        "both are reverted",
        receipt,
        lambda: (
            watched.is_ready("sign") and store.named("drone") not in watched.follower.applications()
        ),
    )
    until(lambda: watched.says("till", "greeting") == "good morning")
    watched.settles("till")


def reasons(watched: Watched) -> list[str]:
    """What the Deployment of the kitchen gives for being as it is."""
    found = watched.kubernetes.get("deployment", "kitchen", watched.store.namespace) or {}
    return [each["reason"] for each in found.get("status", {}).get("conditions", ())]
