"""The closed lists of the workload as they travel; the values are those of the core."""

from __future__ import annotations

from enum import Enum

import strawberry


@strawberry.enum(description="What of an owner's manifests a value fills.")
class BindingKind(Enum):
    """As ``graph.model.workload.BindingKind``."""

    IMAGE = strawberry.enum_value(
        "image",
        description="An image: a text is its tag, a map may give newName, newTag and digest.",
    )
    REPLICAS = strawberry.enum_value("replicas", description="The replicas of an object.")
    CONFIG_MAP = strawberry.enum_value("config_map", description="An entry of a ConfigMap.")
    FIELD = strawberry.enum_value("field", description="A field of an object.")


@strawberry.enum(description="What fetches a secret on a cluster.")
class SecretProvider(Enum):
    """As ``graph.model.workload.SecretProvider``."""

    EXTERNAL_SECRETS = strawberry.enum_value(
        "external_secrets", description="The External Secrets operator: an ExternalSecret."
    )
    SECRETS_STORE = strawberry.enum_value(
        "secrets_store", description="The Secrets Store CSI driver: a SecretProviderClass."
    )


@strawberry.enum(description="What happens when more is requested than a cluster has.")
class Enforcement(Enum):
    """As ``graph.model.workload.Enforcement``."""

    REFUSE = strawberry.enum_value(
        "refuse",
        description="Commands that would newly do so are refused; applications there are blocked.",
    )
    REPORT = strawberry.enum_value("report", description="It is reported and nothing else.")
