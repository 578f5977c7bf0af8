"""Definitions, as far as rendering cares for them, and as they are kept beside what is rendered.

An application's own values, schema and needs are answered for before anything is rendered, so they
are left out: a definition that differs in these alone is no other definition here. What is a set
or a map is in order of its names, so that equal definitions are equal values and equal bytes,
whichever way they came: from the store, over the wire, or from a file that was kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import orjson

from graph.model.errors import Invalid
from graph.model.names import Revision
from graph.model.values import Values
from graph.model.workload import Application, Namespace, Policy, Source, Template
from graph.store.selector_codec import Json
from graph.store.workload_codec import (
    WorkloadObject,
    read_application,
    read_namespace,
    read_policy,
    workload_json,
)

_NEVER = Revision(0)
_WRITTEN = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def trimmed_application(application: Application) -> Application:
    """Without what was answered for before."""
    return replace(
        application,
        labels=_by_key(application.labels),
        requires=None,
        reconcilers=tuple(sorted(application.reconcilers)),
        depends_on=tuple(sorted(application.depends_on)),
        requests=None,
        source=_trimmed_source(application.source),
        values=Values(),
        schema=None,
        reads=(),
        cluster_scoped=tuple(sorted(application.cluster_scoped)),
        changed=_NEVER,
    )


def trimmed_namespace(namespace: Namespace) -> Namespace:
    """Without when it was written."""
    secrets = tuple(
        replace(each, keys=_by_key(each.keys))
        for each in sorted(namespace.secrets, key=lambda each: each.name)
    )
    return replace(namespace, labels=_by_key(namespace.labels), secrets=secrets, changed=_NEVER)


def trimmed_policy(policy: Policy) -> Policy:
    """Without the clusters it reaches: each pointer names the policies that reach it."""
    namespaces = tuple(sorted(policy.namespaces))
    return replace(policy, namespaces=namespaces, selector=None, changed=_NEVER)


def _trimmed_source(source: Source | None) -> Source | None:
    return Template(_by_key(source.files)) if isinstance(source, Template) else source


def _by_key(found: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(found.items()))


def application_json(application: Application) -> bytes:
    """An application as it is kept; equal ones have equal bytes."""
    return _json(trimmed_application(application))


def namespace_json(namespace: Namespace) -> bytes:
    """A namespace as it is kept."""
    return _json(trimmed_namespace(namespace))


def policy_json(policy: Policy) -> bytes:
    """A policy as it is kept."""
    return _json(trimmed_policy(policy))


def application_of(content: bytes) -> Application:
    """The inverse of ``application_json``; so for all below."""
    try:
        return trimmed_application(read_application(_read(content)))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(error) from error


def namespace_of(content: bytes) -> Namespace:
    """A namespace that was kept."""
    try:
        return trimmed_namespace(read_namespace(_read(content)))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(error) from error


def policy_of(content: bytes) -> Policy:
    """A policy that was kept."""
    try:
        return trimmed_policy(read_policy(_read(content)))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(error) from error


def _json(definition: WorkloadObject) -> bytes:
    data = workload_json(definition)
    del data["changed"]
    return orjson.dumps(data, option=_WRITTEN)


def _read(content: bytes) -> Json:
    return cast("dict[str, Json]", orjson.loads(content)) | {"changed": _NEVER}


def _unreadable(error: Exception) -> Invalid:
    return Invalid(
        f"a definition that was kept cannot be read: {error}",
        hint="render from scratch with an empty branch, or restore the file below .trellis",
    )
