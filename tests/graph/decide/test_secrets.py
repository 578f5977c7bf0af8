"""Secrets of a namespace: where they are kept, bounded and by names that clusters take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from at_work import refused, working
from graph.decide.secrets import (
    ENTRY_LENGTH_MAX,
    PLACE_LENGTH_MAX,
    SECRET_KEYS_MAX,
    SECRETS_MAX,
)
from graph.model.errors import Invalid
from graph.model.workload import SecretProvider, SecretReference
from graph.model.workload_command import DefineNamespace
from small import give

KEYS = {"user": "shop/db#user", "password": "shop/db#password"}
DB = SecretReference("db", SecretProvider.EXTERNAL_SECRETS, "vault", KEYS)
TLS = SecretReference("shop.tls", SecretProvider.SECRETS_STORE, "azure", {"tls.crt": "cert"})


def test_secrets_are_kept_by_name_with_their_keys_in_order() -> None:
    fleet = working()
    give(fleet, DefineNamespace("shop", secrets=(TLS, DB)))
    found = fleet.workload.namespaces["shop"].secrets
    assert found == (DB, TLS)
    assert list(found[0].keys) == ["password", "user"]
    assert give(fleet, DefineNamespace("shop", secrets=(DB, TLS))) == ()
    give(fleet, DefineNamespace("shop"))
    assert fleet.workload.namespaces["shop"].secrets == ()


def test_as_many_as_are_allowed_are() -> None:
    keys = {f"k{n}": "x" * PLACE_LENGTH_MAX for n in range(SECRET_KEYS_MAX)}
    secrets = tuple(replace(DB, name=f"s{n}", keys=keys) for n in range(SECRETS_MAX))
    give(working(), DefineNamespace("shop", secrets=secrets))


@pytest.mark.parametrize(
    ("secret", "field", "says"),
    [
        (replace(DB, name="Db"), "name", "not the name of an object"),
        (replace(DB, name=""), "name", "not the name of an object"),
        (replace(DB, name="a" * 254), "name", "not the name of an object"),
        (replace(DB, store="a b"), "store", "not the name of an object"),
        (replace(DB, store=""), "store", "not the name of an object"),
        (replace(DB, keys={}), "keys", "a secret of 0 keys"),
        (replace(DB, keys={f"k{n}": "x" for n in range(51)}), "keys", "a secret of 51 keys"),
        (replace(DB, keys={"a/b": "x"}), "keys", "not the key of a secret"),
        (replace(DB, keys={"..": "x"}), "keys", "not the key of a secret"),
        (replace(DB, keys={"a" * (ENTRY_LENGTH_MAX + 1): "x"}), "keys", "not the key of a secret"),
        (replace(DB, keys={"a": ""}), "keys", "kept nowhere"),
        (replace(DB, keys={"a": "x" * (PLACE_LENGTH_MAX + 1)}), "keys", "501 characters"),
        (replace(DB, keys={"a": "x\ny"}), "keys", "U\\+000A"),
    ],
)
def test_what_no_cluster_could_fetch_is_refused(
    secret: SecretReference, field: str, says: str
) -> None:
    refusal = refused(Invalid, working(), DefineNamespace("shop", secrets=(TLS, secret)))
    assert refusal.path == ("commands", 0, "secrets", 1, field)
    with pytest.raises(Invalid, match=says):
        give(working(), DefineNamespace("shop", secrets=(secret,)))


def test_a_name_is_given_once_and_there_is_a_bound() -> None:
    assert "twice" in refused(Invalid, working(), DefineNamespace("shop", secrets=(DB, DB))).message
    many = tuple(replace(DB, name=f"s{n}") for n in range(SECRETS_MAX + 1))
    assert (
        "51 secrets" in refused(Invalid, working(), DefineNamespace("shop", secrets=many)).message
    )
