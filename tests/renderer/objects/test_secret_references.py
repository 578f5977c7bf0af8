from __future__ import annotations

import pytest
import yaml

from crds import mistakes
from graph.model.workload import Namespace, SecretProvider, SecretReference
from renderer.objects.secret_references import secret_references
from renderer.settings import FormatSettings

KEYS = {"password": "dining/database#password", "user": "dining/user"}


def made(provider: SecretProvider, store: str, **settings: str):
    namespace = Namespace("dining", secrets=(SecretReference("database", provider, store, KEYS),))
    (one,) = secret_references(namespace, FormatSettings.model_validate(settings), ({}, {}))
    return one


def test_an_external_secret_names_the_store_and_what_is_in_it():
    one = made(SecretProvider.EXTERNAL_SECRETS, "vault")
    assert mistakes(one) == []
    assert one["spec"]["secretStoreRef"] == {"kind": "ClusterSecretStore", "name": "vault"}
    assert one["spec"]["target"] == {"name": "database"}
    assert one["spec"]["data"] == [
        {
            "secretKey": "password",
            "remoteRef": {"key": "dining/database", "property": "password"},
        },
        {"secretKey": "user", "remoteRef": {"key": "dining/user"}},
    ]


def test_a_provider_class_mounts_files_and_makes_a_secret_of_them():
    spec = made(SecretProvider.SECRETS_STORE, "aws")["spec"]
    assert spec["provider"] == "aws"
    assert spec["secretObjects"] == [
        {
            "secretName": "database",
            "type": "Opaque",
            "data": [
                {"objectName": "password", "key": "password"},
                {"objectName": "user", "key": "user"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("provider", "parameter", "asked"),
    [
        ("aws", "objects", {"objectName": "dining/user", "objectAlias": "user"}),
        ("gcp", "secrets", {"resourceName": "dining/user", "path": "user"}),
        (
            "vault",
            "objects",
            {"objectName": "user", "secretPath": "dining/user", "secretKey": "user"},
        ),
    ],
)
def test_every_provider_is_asked_in_its_own_way(provider: str, parameter: str, asked: dict):
    parameters = made(SecretProvider.SECRETS_STORE, provider)["spec"]["parameters"]
    assert asked in yaml.safe_load(parameters[parameter])


def test_azure_is_asked_by_texts_inside_a_text_with_the_parameters_of_the_fleet():
    one = made(
        SecretProvider.SECRETS_STORE,
        "azure",
        secret_parameters="azure.keyvaultName=stores, azure.tenantId=1, aws.region=eu",
    )
    parameters = one["spec"]["parameters"]
    assert (parameters["keyvaultName"], parameters["tenantId"]) == ("stores", "1")
    assert "region" not in parameters
    rows = [yaml.safe_load(each) for each in yaml.safe_load(parameters["objects"])["array"]]
    assert {"objectType": "secret", "objectName": "dining/user", "objectAlias": "user"} in rows
