"""Definitions as they are kept: nothing that rendering does not care for, the same bytes always."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from graph.model.errors import Invalid
from graph.model.inventory import Capacity, Reconciler
from graph.model.names import Revision
from graph.model.selector import Everything
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Base,
    Binding,
    BindingKind,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    Namespace,
    Policy,
    SecretProvider,
    SecretReference,
    Template,
)
from renderer.definition import (
    application_json,
    application_of,
    namespace_json,
    namespace_of,
    policy_json,
    policy_of,
    trimmed_application,
    trimmed_namespace,
    trimmed_policy,
)

APPLICATION = Application(
    "till",
    "shop",
    "Till",
    owner="retail",
    labels={"tier": "front", "area": "Größe"},
    requires=Everything(),
    reconcilers=(Reconciler.FLUX, Reconciler.ARGOCD),
    depends_on=("menu", "drawer"),
    requests=Capacity(1, 2),
    source=Base(
        "base/v1",
        (Binding("image.tag", BindingKind.IMAGE, "till"),),
        (Component("tracing", "components/tracing"),),
    ),
    values=Values.of({"a": 1}),
    schema=Values.of({}),
    late_bound=(LateBound("host", "{cluster}.x", (FieldTarget("Deployment/till", "/spec/x"),)),),
    reads=("telemetry",),
    cluster_scoped=("ClusterRole/b", "ClusterRole/a"),
    changed=Revision(7),
)
NAMESPACE = Namespace(
    "shop",
    "Shop",
    owners=("retail",),
    cost_center="4711",
    labels={"tier": "gold"},
    quota=Capacity(1, 2, 3),
    limits=Capacity(4, 5),
    secrets=(
        SecretReference("b", SecretProvider.SECRETS_STORE, "vault", {"k": "v"}),
        SecretReference("a", SecretProvider.EXTERNAL_SECRETS, "store", {"x": "y"}),
    ),
    changed=Revision(3),
)
POLICY = Policy(
    "images",
    selector=Everything(),
    quota_max=Capacity(1, 1),
    required_labels=("team",),
    registries=("registry.example",),
    oversubscription=Enforcement.REPORT,
    title="Images",
    changed=Revision(2),
)


@pytest.mark.parametrize(
    "application",
    [
        APPLICATION,
        Application("bare", "shop"),
        replace(APPLICATION, source=Template({"b.yaml": "no: {{ x }}\n", "a.yaml": ""})),
    ],
)
def test_an_application_comes_back_as_far_as_rendering_cares_for_it(application):
    assert application_of(application_json(application)) == trimmed_application(application)


def test_namespaces_and_policies_come_back_as_well():
    assert namespace_of(namespace_json(NAMESPACE)) == trimmed_namespace(NAMESPACE)
    assert policy_of(policy_json(POLICY)) == trimmed_policy(POLICY)
    assert policy_of(policy_json(POLICY)).selector is None


def test_a_map_has_one_order_whichever_way_it_came():
    files = {"b.yaml": "x", "a.yaml": "y"}
    for application in (APPLICATION, replace(APPLICATION, source=Template(files))):
        read = application_of(application_json(application))
        assert repr(read) == repr(trimmed_application(application))
    keys = {"z": "place/z", "a": "place/a"}
    secret = SecretReference("tls", SecretProvider.EXTERNAL_SECRETS, "vault", keys)
    namespace = replace(NAMESPACE, labels={"z": "1", "a": "2"}, secrets=(secret,))
    assert repr(namespace_of(namespace_json(namespace))) == repr(trimmed_namespace(namespace))


@pytest.mark.parametrize(
    "other",
    [
        replace(APPLICATION, values=Values.of({"a": 2})),
        replace(APPLICATION, schema=None, requires=None, requests=None, reads=()),
        replace(APPLICATION, changed=Revision(8)),
        replace(APPLICATION, labels={"area": "Größe", "tier": "front"}),
        replace(APPLICATION, depends_on=("drawer", "menu")),
        replace(APPLICATION, cluster_scoped=("ClusterRole/a", "ClusterRole/b")),
    ],
)
def test_what_rendering_does_not_care_for_makes_no_other_bytes(other):
    assert application_json(other) == application_json(APPLICATION)


def test_everything_else_makes_other_bytes():
    kept = {
        "name": "x",
        "namespace": "x",
        "title": "x",
        "owner": "x",
        "labels": {},
        "reconcilers": (),
        "depends_on": (),
        "source": None,
        "late_bound": (),
        "cluster_scoped": (),
    }
    dropped = {"requires", "requests", "values", "schema", "reads", "changed"}
    assert kept.keys() | dropped == {each.name for each in fields(Application)}
    for name, value in kept.items():
        assert application_json(replace(APPLICATION, **{name: value})) != application_json(
            APPLICATION
        )


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"name":1}', b'"x"', b"null"])
@pytest.mark.parametrize("read", [application_of, namespace_of, policy_of])
def test_what_is_none_is_refused(read, content):
    if content == b'{"name":1}' and read is not application_of:
        return  # a name is all it needs
    with pytest.raises(Invalid) as refusal:
        read(content)
    assert refusal.value.hint
