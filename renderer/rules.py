"""What a rendered document may be: an object of its own namespace, by name, without a secret.

Objects outside any namespace belong to everybody on a cluster, and objects that reconcilers obey
make them do whatever they may. Only those the definition lists are let through, and only an admin
lists one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from graph.model.errors import Invalid
from graph.model.names import quoted
from renderer.shapes import check_shape

_KNOWN = """
    APIService AdminNetworkPolicy BaselineAdminNetworkPolicy CSIDriver CSINode
    CertificateSigningRequest ClusterCleanupPolicy ClusterExternalSecret ClusterGenerator
    ClusterIssuer ClusterPolicy ClusterPushSecret ClusterRole ClusterRoleBinding
    ClusterSecretStore ClusterTriggerAuthentication ClusterTrustBundle ComponentStatus
    ConstraintTemplate CustomResourceDefinition DeviceClass FlowSchema GatewayClass
    GlobalNetworkPolicy IPAddress IngressClass MutatingAdmissionPolicy
    MutatingAdmissionPolicyBinding MutatingWebhookConfiguration Namespace Node PersistentVolume
    PodSecurityPolicy PriorityClass PriorityLevelConfiguration ResourceSlice RuntimeClass
    SelfSubjectAccessReview SelfSubjectReview SelfSubjectRulesReview ServiceCIDR StorageClass
    StorageVersion StorageVersionMigration SubjectAccessReview TokenReview
    ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
    VolumeAttachment VolumeAttributesClass VolumeSnapshotClass VolumeSnapshotContent
"""
CLUSTER_SCOPED = frozenset(_KNOWN.split())
"""Kinds known to live outside any namespace: of Kubernetes, and of what is often beside it."""
_ARGO = "argoproj.io"
_ARGO_CD = ("AppProject", "Application", "ApplicationSet")
"""In a group shared with kinds that run things, as any Deployment does: Rollout, Workflow."""
_FLUX = (".toolkit.fluxcd.io", "fluxcd.controlplane.io")

_API_VERSION = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/)?v[a-z0-9]+", re.ASCII)
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9]*", re.ASCII)
_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}", re.ASCII)
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?", re.ASCII)
_ROLE_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:_-]{0,251}[A-Za-z0-9])?", re.ASCII)
_ROLES = "rbac.authorization.k8s.io/"
_SECRET_FIELDS = ("data", "stringData")


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for the objects of one application."""

    namespace: str
    cluster_scoped: tuple[str, ...] = ()
    """As ``ClusterRole/pos-reader``."""


def objects(document: object, rules: Rules) -> Iterator[dict[str, object]]:
    """The objects of a document, in their namespace; none in an empty one, many in a list."""
    if document is None:
        return
    if not isinstance(document, dict):
        raise Invalid("a document is no object", hint="give it apiVersion, kind and metadata.name")
    found = cast("dict[str, object]", document)
    kind, items = found.get("kind"), found.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for item in cast("list[object]", items):
            yield from objects(item, rules)
        return
    if isinstance(kind, str) and kind.endswith("List") and items is not None:
        raise Invalid(f"the items of a {kind} are no list", hint="write them as a list of objects")
    made = _checked(found, rules)
    check_shape(made)
    yield made


def address(found: Mapping[str, object]) -> tuple[str, str, str]:
    """What makes an object one of its kind: group, kind and name."""
    group = cast("str", found["apiVersion"]).rpartition("/")[0]
    metadata = cast("Mapping[str, str]", found["metadata"])
    return group, cast("str", found["kind"]), metadata["name"]


def is_cluster_scoped(kind: str, name: str, rules: Rules) -> bool:
    """Whether an object is outside any namespace; refused unless the definition lists it."""
    if f"{kind}/{name}" in rules.cluster_scoped:
        return True
    if kind in CLUSTER_SCOPED:
        raise Invalid(
            f"{kind}/{name} is outside any namespace and not the application's own",
            hint=f"leave it out, or have an admin add {kind}/{name} to its cluster-scoped objects",
        )
    return False


def is_for_reconcilers(api: str, kind: str, name: str, rules: Rules) -> bool:
    """Whether Flux or Argo CD obeys an object; refused unless the definition lists it."""
    group = api.rpartition("/")[0]
    if not group.endswith(_FLUX) and not (group == _ARGO and kind in _ARGO_CD):
        return False
    if f"{kind}/{name}" in rules.cluster_scoped:
        return True
    raise Invalid(
        f"{kind}/{name} of {group} tells a reconciler what to do, and is not the application's own",
        hint=f"leave it out, or have an admin add {kind}/{name} to its cluster-scoped objects",
    )


def _checked(found: dict[str, object], rules: Rules) -> dict[str, object]:
    kind = _text(found, "kind", _KIND, "a document", "Deployment")
    if odd := [name for name in map(str, found) if not _FIELD.fullmatch(name)]:
        raise Invalid(f"a {kind} has the field {quoted(odd[0])}", hint="leave it out")
    api = _text(found, "apiVersion", _API_VERSION, f"a {kind}", "apps/v1")
    metadata = found.get("metadata")
    if not isinstance(metadata, dict):
        raise Invalid(f"a {kind} has no metadata", hint="give it metadata.name")
    about = cast("dict[str, object]", metadata)
    shape = _ROLE_NAME if api.startswith(_ROLES) else _NAME
    name = _text(about, "name", shape, f"the metadata of a {kind}", "pos")
    if kind == "Secret" and any(found.get(field) for field in _SECRET_FIELDS):
        raise Invalid(
            f"Secret/{name} holds what it should keep",
            hint="refer to it instead: give the namespace a secret reference",
        )
    if not is_for_reconcilers(api, kind, name, rules) and is_cluster_scoped(kind, name, rules):
        return {**found, "metadata": _outside(about, f"{kind}/{name}")}
    return {**found, "metadata": _inside(about, f"{kind}/{name}", rules.namespace)}


def _text(
    found: Mapping[str, object], field: str, shape: re.Pattern[str], where: str, example: str
) -> str:
    value = found.get(field)
    if value is None:
        raise Invalid(f"{where} has no {field}", hint=f"give it {field}, as {example}")
    if not isinstance(value, str) or not shape.fullmatch(value):
        shown = quoted(value if isinstance(value, str) else repr(value))
        raise Invalid(f"{where} has the {field} {shown}", hint=f"write it as {example}")
    return value


def _outside(about: dict[str, object], called: str) -> dict[str, object]:
    if about.get("namespace") is not None:
        raise Invalid(
            f"{called} is outside any namespace and names one", hint="leave metadata.namespace out"
        )
    return {key: value for key, value in about.items() if key != "namespace"}


def _inside(about: dict[str, object], called: str, namespace: str) -> dict[str, object]:
    stated = about.get("namespace")
    if stated is not None and stated != namespace:
        raise Invalid(
            f"{called} is in the namespace {quoted(str(stated))} and not in {namespace}",
            hint="leave metadata.namespace out; it is filled in",
        )
    return {**about, "namespace": namespace}
