"""References to secrets as they travel, outwards and inwards."""

from __future__ import annotations

from collections.abc import Iterable

import strawberry

from api.schema.cluster_inputs import each_once
from api.schema.intent import choice, inside
from api.schema.workload_enums import SecretProvider
from graph.model import workload as core

NAME = "Of the object on the cluster."
STORE = "The SecretStore, or the provider of the SecretProviderClass."
KEY = "What the entry is called on the cluster."
PLACE = "What it is called in the store."


@strawberry.type(description="One entry of a secret.")
class SecretKey:
    """What it is called here and there."""

    key: str = strawberry.field(description=KEY)
    place: str = strawberry.field(description=PLACE)


@strawberry.type(description="A secret: where it is kept, never what it is.")
class SecretReference:
    """As ``graph.model.workload.SecretReference``."""

    name: str = strawberry.field(description=NAME)
    provider: SecretProvider = strawberry.field(description="What fetches it.")
    store: str = strawberry.field(description=STORE)
    keys: list[SecretKey] = strawberry.field(description="Its entries, by key.")


@strawberry.input(description="One entry of a secret.")
class SecretKeyInput:
    """What it is called here and there."""

    key: str = strawberry.field(description=KEY)
    place: str = strawberry.field(description=PLACE)


@strawberry.input(description="A secret: where it is kept, never what it is.")
class SecretReferenceInput:
    """As ``graph.model.workload.SecretReference``."""

    name: str = strawberry.field(description=NAME)
    provider: SecretProvider = strawberry.field(description="What fetches it.")
    store: str = strawberry.field(description=STORE)
    keys: list[SecretKeyInput] = strawberry.field(description="Its entries, each key once.")


def secret_of(secret: core.SecretReference) -> SecretReference:
    """A reference of the core as it travels."""
    keys = sorted(secret.keys.items())
    return SecretReference(
        name=secret.name,
        provider=SecretProvider(secret.provider.value),
        store=secret.store,
        keys=[SecretKey(key=key, place=place) for key, place in keys],
    )


def secrets_of(given: Iterable[SecretReferenceInput]) -> tuple[core.SecretReference, ...]:
    """References as the core knows them."""
    found: list[core.SecretReference] = []
    for place, each in enumerate(given):
        with inside("secrets", place):
            found.append(_given(each))
    return tuple(found)


def _given(given: SecretReferenceInput) -> core.SecretReference:
    keys = each_once(((each.key, each.place) for each in given.keys), "key", "keys")
    provider = choice(core.SecretProvider, given.provider)
    return core.SecretReference(given.name, provider, given.store, keys)
