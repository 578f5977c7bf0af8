"""Secrets a namespace refers to: names of objects and places, never what is kept there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from graph.decide.addresses import check_object_name
from graph.decide.fields import check_list, in_each, in_field
from graph.model.errors import Invalid
from graph.model.names import check_text, quoted
from graph.model.workload import SecretReference

SECRETS_MAX = 50
"""Secrets of one namespace."""
SECRET_KEYS_MAX = 50
"""Entries of one secret."""
ENTRY_LENGTH_MAX = 253
PLACE_LENGTH_MAX = 500

_ENTRY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", re.ASCII)


def check_secrets(secrets: tuple[SecretReference, ...]) -> tuple[SecretReference, ...]:
    """The references by name, each once."""
    listed = check_list(secrets, "secrets", lambda secret: secret.name)
    if len(listed) > SECRETS_MAX:
        raise Invalid(f"{len(listed):,} secrets", hint=f"use at most {SECRETS_MAX}")
    return tuple(sorted(in_each(listed, _check_secret), key=lambda secret: secret.name))


def _check_secret(secret: SecretReference) -> SecretReference:
    in_field("name", check_object_name, secret.name)
    in_field("store", check_object_name, secret.store)
    return replace(secret, keys=in_field("keys", _check_keys, secret.keys))


def _check_keys(keys: Mapping[str, str]) -> dict[str, str]:
    if not 0 < len(keys) <= SECRET_KEYS_MAX:
        raise Invalid(
            f"a secret of {len(keys):,} keys", hint=f"list from 1 to {SECRET_KEYS_MAX} of them"
        )
    for entry, place in keys.items():
        if not _ENTRY.fullmatch(entry) or len(entry) > ENTRY_LENGTH_MAX:
            raise Invalid(
                f"{quoted(entry)} is not the key of a secret",
                hint="use letters, digits, ., _ and -, and start with no dot, as password",
            )
        if not check_text(place, f"the place of {quoted(entry)}", length_max=PLACE_LENGTH_MAX):
            raise Invalid(
                f"{quoted(entry)} is kept nowhere", hint="say what it is called in the store"
            )
    return dict(sorted(keys.items()))
