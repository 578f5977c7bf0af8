"""Policies about images, as Kubernetes itself enforces them: a ValidatingAdmissionPolicy.

It is asked about every pod of one namespace, with all its containers. An image without a registry
comes from ``docker.io``, as container runtimes have it, and a registry is never taken for another
that begins alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from graph.model.workload import Policy
from renderer.flow import flow
from renderer.objects.business import Marks
from renderer.objects.manifest import manifest

_API = "admissionregistration.k8s.io/v1"
_LISTS = ("containers", "initContainers", "ephemeralContainers")
_WRITTEN = " + ".join(
    f"(has(object.spec.{each}) ? object.spec.{each}.map(c, has(c.image) ? c.image : '') : [])"
    for each in _LISTS
)
_HOST = "i.contains('/') && i.split('/')[0].matches('[.:]|^localhost$')"
_HUB = "'docker.io/' + (i.contains('/') ? i : 'library/' + i)"
_FULL = f"variables.written.map(i, {_HOST} ? i : {_HUB})"
_ASKED = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["pods", "pods/ephemeralcontainers"],
}


def image_rules(
    namespace: str, policies: Sequence[Policy], marks: Marks
) -> list[dict[str, object]]:
    """The rule about images in a namespace, and what puts it in force.

    It is there where no policy says anything, and then takes every image.
    """
    name = f"trellis-{namespace}-images"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "resourceRules": [_ASKED],
        },
        "variables": [
            {"name": "written", "expression": _WRITTEN},
            {"name": "images", "expression": _FULL},
        ],
        "validations": [_rule(each) for each in policies if each.registries]
        or [{"expression": "true"}],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return [
        manifest(_API, "ValidatingAdmissionPolicy", name, {"spec": spec}, marks=marks),
        manifest(_API, "ValidatingAdmissionPolicyBinding", name, {"spec": binding}, marks=marks),
    ]


def _rule(policy: Policy) -> dict[str, str]:
    allowed = flow([f"{each}/" for each in policy.registries])
    return {
        "expression": f"variables.images.all(i, {allowed}.exists(r, i.startsWith(r)))",
        "message": f"policy {policy.name}: images come from {', '.join(policy.registries)}",
        "reason": "Forbidden",
    }
