"""Objects checked against the schemas of the projects that read them.

Custom resources come from the projects' own CRDs, objects of Kubernetes from its OpenAPI documents.
A field that a schema does not know is a mistake here, though an API server would only drop it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from go_modules import (
    ARGO_CD,
    EXTERNAL_SECRETS,
    FLUX_KUSTOMIZE,
    FLUX_SOURCE,
    KUBERNETES,
    Module,
    unpacked,
)

CRDS: dict[str, tuple[Module, str]] = {
    "kustomize.toolkit.fluxcd.io": (FLUX_KUSTOMIZE, "config/crd/bases"),
    "source.toolkit.fluxcd.io": (FLUX_SOURCE, "config/crd/bases"),
    "argoproj.io": (ARGO_CD, "manifests/crds"),
    "external-secrets.io": (EXTERNAL_SECRETS, "config/crds/bases"),
}
Schema = dict[str, Any]
_LEFT_OUT = ("format", "default", "properties")


def mistakes(told: dict[str, Any]) -> list[str]:
    """What is wrong with an object, by its schema."""
    validator = _validator(told["apiVersion"], told["kind"])
    return [
        f"{told['kind']}/{told['metadata']['name']} {each.json_path}: {each.message}"
        for each in validator.iter_errors(told)
    ]


@cache
def _validator(api: str, kind: str) -> Draft202012Validator:
    group = api.rpartition("/")[0]
    schema = _custom(group, api, kind) if group in CRDS else _built_in(api, kind)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _custom(group: str, api: str, kind: str) -> Schema:
    module, directory = CRDS[group]
    for crd in _read_crds(unpacked(module) / directory):
        if crd["spec"]["group"] == group and crd["spec"]["names"]["kind"] == kind:
            for version in crd["spec"]["versions"]:
                if f"{group}/{version['name']}" == api:
                    schema: Schema = closed(version["schema"]["openAPIV3Schema"])
                    schema["properties"]["metadata"] = {"type": "object"}
                    return schema
    raise LookupError(f"{module.path} has no {api} {kind}")


@cache
def _read_crds(directory: Path) -> list[Schema]:
    files = sorted(directory.glob("*.yaml"))
    read = [yaml.load(each.read_text("utf-8"), yaml.CSafeLoader) for each in files]
    return [each for each in read if each["kind"] == "CustomResourceDefinition"]


@cache
def _built_in(api: str, kind: str) -> Schema:
    group, _, version = api.rpartition("/")
    name = f"apis__{group}__{version}_openapi.json" if group else f"api__{version}_openapi.json"
    document = unpacked(KUBERNETES) / "api" / "openapi-spec" / "v3" / name
    schemas: Schema = json.loads(document.read_text("utf-8"))["components"]["schemas"]
    wanted = {"group": group, "version": version, "kind": kind}
    for called, each in schemas.items():
        if wanted in each.get("x-kubernetes-group-version-kind", ()):
            parts = {other: closed(schema) for other, schema in schemas.items()}
            return {"$ref": f"#/components/schemas/{called}", "components": {"schemas": parts}}
    raise LookupError(f"Kubernetes has no {api} {kind}")


def closed(schema: Any) -> Any:
    """As JSON Schema has it: nothing unknown beside what is known, and null where it is allowed."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items() if key not in _LEFT_OUT}
    if "properties" in schema:
        found["properties"] = {name: closed(each) for name, each in schema["properties"].items()}
        open_ended = schema.get("x-kubernetes-preserve-unknown-fields", False)
        found.setdefault("additionalProperties", bool(open_ended))
    if schema.get("nullable") is True and isinstance(schema.get("type"), str):
        found["type"] = [schema["type"], "null"]
    return found
