"""Secrets as references: where a secret is kept and what it is called there, never what it is.

What it is called may end in ``#`` and the name of a part, where a secret in the store has parts.
"""

from __future__ import annotations

from collections.abc import Mapping

from graph.model.workload import Namespace, SecretProvider, SecretReference
from renderer.flow import flow
from renderer.objects.business import Marks
from renderer.objects.manifest import Manifest, manifest
from renderer.settings import FormatSettings, pairs


def secret_references(
    namespace: Namespace, settings: FormatSettings, marks: Marks
) -> list[Manifest]:
    """An object for each secret that applications of a namespace may use."""
    return [_object(each, namespace.name, settings, marks) for each in namespace.secrets]


def _object(
    secret: SecretReference, namespace: str, settings: FormatSettings, marks: Marks
) -> Manifest:
    match secret.provider:
        case SecretProvider.EXTERNAL_SECRETS:
            api, kind = "external-secrets.io/v1", "ExternalSecret"
            spec = _external_secret(secret, settings)
        case SecretProvider.SECRETS_STORE:
            api, kind = "secrets-store.csi.x-k8s.io/v1", "SecretProviderClass"
            spec = _provider_class(secret, settings)
    return manifest(api, kind, secret.name, {"spec": spec}, namespace=namespace, marks=marks)


def _external_secret(secret: SecretReference, settings: FormatSettings) -> dict[str, object]:
    return {
        "refreshInterval": f"{settings.secret_refresh_seconds}s",
        "secretStoreRef": {"kind": settings.secret_store_kind, "name": secret.store},
        "target": {"name": secret.name},
        "data": [
            {"secretKey": name, "remoteRef": _remote(called)}
            for name, called in sorted(secret.keys.items())
        ],
    }


def _remote(called: str) -> dict[str, str]:
    whole, _, part = called.partition("#")
    return {"key": whole, "property": part} if part else {"key": whole}


def _provider_class(secret: SecretReference, settings: FormatSettings) -> dict[str, object]:
    """Mounted as files, and as a Secret of the same name while a pod mounts them."""
    names = sorted(secret.keys)
    return {
        "provider": secret.store,
        "parameters": {**_parameters(secret.store, settings), **_asked(secret)},
        "secretObjects": [
            {
                "secretName": secret.name,
                "type": "Opaque",
                "data": [{"objectName": name, "key": name} for name in names],
            }
        ],
    }


def _parameters(provider: str, settings: FormatSettings) -> dict[str, str]:
    found = (
        (name.partition("."), value) for name, value in pairs(settings.secret_parameters).items()
    )
    return {parameter: value for (of, _, parameter), value in found if of == provider}


def _asked(secret: SecretReference) -> Mapping[str, str]:
    """What to fetch, as each provider wants to be asked: the text of YAML, here of JSON."""
    listed = sorted(secret.keys.items())
    match secret.store:
        case "azure":
            texts = [flow({"objectType": "secret", **_named(*each)}) for each in listed]
            return {"objects": flow({"array": texts})}
        case "gcp":
            rows = [{"resourceName": called, "path": name} for name, called in listed]
            return {"secrets": flow(rows)}
        case "vault":
            return {"objects": flow([_in_vault(*each) for each in listed])}
        case _:
            return {"objects": flow([_named(*each) for each in listed])}


def _named(name: str, called: str) -> dict[str, str]:
    return {"objectName": called, "objectAlias": name}


def _in_vault(name: str, called: str) -> dict[str, str]:
    path, _, part = called.partition("#")
    return {"objectName": name, "secretPath": path, "secretKey": part or name}
