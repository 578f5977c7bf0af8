"""The closed lists of the inventory as they travel; the values are those of the core."""

from __future__ import annotations

from enum import Enum

import strawberry


@strawberry.enum(description="How many direct memberships a cluster may have in a hierarchy.")
class Mode(Enum):
    """As ``graph.model.inventory.Mode``."""

    SINGLE = strawberry.enum_value("single", description="At most one; joining replaces it.")
    MANY = strawberry.enum_value("many", description="Any number.")


@strawberry.enum(description="The type of a label key: one for the whole fleet.")
class LabelType(Enum):
    """As ``graph.model.inventory.LabelType``."""

    TEXT = strawberry.enum_value("text", description="Text.")
    NUMBER = strawberry.enum_value("number", description="A number; compared as one.")
    BOOLEAN = strawberry.enum_value("boolean", description="true or false.")


@strawberry.enum(description="What a cluster is made of.")
class ClusterKind(Enum):
    """As ``graph.model.inventory.ClusterKind``."""

    KUBERNETES = strawberry.enum_value("kubernetes", description="A Kubernetes cluster.")
    HOST = strawberry.enum_value("host", description="A host without Kubernetes.")


@strawberry.enum(description="What pulls and applies on a cluster.")
class Reconciler(Enum):
    """As ``graph.model.inventory.Reconciler``."""

    FLUX = strawberry.enum_value("flux", description="Flux.")
    ARGOCD = strawberry.enum_value("argocd", description="Argo CD.")
    ANSIBLE = strawberry.enum_value("ansible", description="Ansible.")
    KUSTOMIZE = strawberry.enum_value(
        "kustomize",
        description="None of them: whoever applies there builds the pointer with plain kustomize.",
    )
