"""What the API says, as messages of the worker.

The documents ask for exactly what ``renderer.definition`` keeps. Answers are believed to be of the
schema they were asked by: one that is not is a fault of the other side, and said so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from graph.composition.problem import Reason as BlockedReason
from graph.effective.portion import (
    Blocked,
    Held,
    Line,
    Overlay,
    Overlays,
    Pointer,
    Pointers,
    Removals,
    RemovedLines,
    Settings,
)
from graph.effective.rendition import FLEET, Cause
from graph.effective.trouble import Trouble
from graph.model.change import Cursor, Relation
from graph.model.errors import ResyncRequired, TrellisError, Unavailable
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.names import quoted
from graph.model.publication import Report
from graph.model.ref import Kind, Ref
from renderer.message import Complete, Defined, Message, Reason
from renderer.source.port import Located
from renderer.source.reasons import Page
from renderer.source.report import bounded
from renderer.source.wire_definition import application_of, namespace_of, policy_of

Json = Any
"""What a JSON parser returns."""

RENDERING = """
subscription Rendering($after: Cursor) {
  rendering(after: $after) {
    __typename
    ... on RenderingRemovals {
      clusters droppedSettings
      lines { application cause clusters }
      droppedOverlays { application key }
      droppedDefinitions { kind name }
    }
    ... on RenderingDefinitions {
      applications {
        name title owner reconcilers clusterScoped
        namespace { name }
        labels { key value }
        dependsOn(first: 1000) { name }
        source {
          __typename
          ... on BaseSource {
            path
            bindings { key kind name field }
            components { key path }
          }
          ... on TemplateSource { files { name text } }
        }
        lateBound { key source fields { object pointer } }
      }
      namespaces {
        name title owners costCenter
        labels { key value }
        quota { cpuMillicores memoryMib storageMib }
        limits { cpuMillicores memoryMib storageMib }
        secrets { name provider store keys { key place } }
      }
      policies {
        name title requiredLabels registries oversubscription
        namespaces(first: 1000) { name }
        quotaMax { cpuMillicores memoryMib storageMib }
      }
    }
    ... on RenderingSettings { settings { key layers values digest clusters } }
    ... on RenderingOverlays { overlays { application key layers values digest clusters } }
    ... on RenderingPointers {
      pointers {
        cluster kind reconciler settings policies
        lines { application namespace key lateBound }
      }
    }
    ... on RenderingBlocked { blocked { application reasons { reason message } clusters } }
    ... on RenderingComplete { cursor revision acceptedLoss }
    ... on ResyncRequired { message hint }
  }
}
"""

LOCATE = """
query Locate($cursors: [Cursor!]!, $commit: String) {
  record { cursor relations(cursors: $cursors, commit: $commit) }
}
"""

REASONS = """
query Reasons($first: Int!, $after: Cursor) {
  changesets(first: $first, after: $after) {
    nodes { revision actor reason }
    pageInfo { endCursor hasNextPage }
  }
}
"""

REPORT = """
mutation ReportPublished($input: ReportPublishedInput!) {
  reportPublished(input: $input) {
    __typename
    ... on Failure { code message hint }
  }
}
"""

REPORTED = "PublishedReport"
"""What a report that was kept is answered with."""

_LINE = itemgetter("application", "namespace", "key", "lateBound")
"""The fields of a line, of which there are millions."""
_CAUSES = {each.name: each for each in Cause}
_CLUSTER_KINDS = {each.name: each for each in ClusterKind}
_RECONCILERS = {each.name: each for each in Reconciler}
_RELATIONS = {each.name: each for each in Relation}
_BLOCKED_REASONS = {each.name: each for each in BlockedReason}


def message_of(data: Mapping[str, Json]) -> Message:
    """One message of the subscription; ``ResyncRequired`` is raised."""
    try:
        read = _READERS[data["__typename"]]
        return read(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise misunderstood(error) from error


def located_of(data: Mapping[str, Json]) -> Located:
    """What cursors are in the API's history."""
    try:
        return Located(
            Cursor.parse(data["cursor"]).revision,
            tuple(_RELATIONS[each] for each in data["relations"]),
        )
    except (KeyError, TypeError, TrellisError) as error:
        raise misunderstood(error) from error


def page_of(data: Mapping[str, Json]) -> Page:
    """A page of the log."""
    try:
        told = [Reason(each["revision"], each["actor"], each["reason"]) for each in data["nodes"]]
        info = data["pageInfo"]
        return Page(told, info["endCursor"] if info["hasNextPage"] else None)
    except (KeyError, TypeError) as error:
        raise misunderstood(error) from error


def report_of(report: Report) -> dict[str, Json]:
    """What was published, as the API is told."""
    report = bounded(report)
    held = [
        {
            "application": each.application or None,
            "reason": each.reason,
            "message": each.message,
            "clusters": each.clusters,
            "since": each.since,
        }
        for each in report.held
    ]
    return {
        "name": report.name,
        "cursor": str(report.cursor),
        "commit": report.commit,
        "held": held,
    }


def misunderstood(error: Exception) -> Unavailable:
    """The refusal of an answer that is not of the schema."""
    return Unavailable(
        f"the API's answer is not understood: {quoted(str(error))} ({type(error).__name__})",
        hint="run a worker and an API of the same version",
    )


def _removals(data: Mapping[str, Json]) -> Removals:
    dropped = [(each["application"], each["key"]) for each in data["droppedOverlays"]]
    return Removals(
        pointers=tuple(data["clusters"]),
        lines=tuple(
            RemovedLines(each["application"], _CAUSES[each["cause"]], tuple(each["clusters"]))
            for each in data["lines"]
        ),
        overlays=tuple([*((FLEET, key) for key in data["droppedSettings"]), *dropped]),
        definitions=tuple(
            Ref(Kind(each["kind"].lower()), each["name"]) for each in data["droppedDefinitions"]
        ),
    )


def _defined(data: Mapping[str, Json]) -> Defined:
    return Defined(
        tuple(map(application_of, data["applications"])),
        tuple(map(namespace_of, data["namespaces"])),
        tuple(map(policy_of, data["policies"])),
    )


def _overlay(application: str, data: Mapping[str, Json]) -> Overlay:
    return Overlay(
        application,
        data["key"],
        tuple(data["layers"]),
        data["values"],
        data["digest"],
        data["clusters"],
    )


def _settings(data: Mapping[str, Json]) -> Settings:
    return Settings(tuple(_overlay(FLEET, each) for each in data["settings"]))


def _overlays(data: Mapping[str, Json]) -> Overlays:
    return Overlays(tuple(_overlay(each["application"], each) for each in data["overlays"]))


def _pointers(data: Mapping[str, Json]) -> Pointers:
    return Pointers(tuple(map(_pointer, data["pointers"])))


def _pointer(data: Mapping[str, Json]) -> Pointer:
    return Pointer(
        data["cluster"],
        _CLUSTER_KINDS[data["kind"]],
        _RECONCILERS[data["reconciler"]],
        data["settings"],
        tuple(data["policies"]),
        tuple(map(Line._make, map(_LINE, data["lines"]))),
    )


def _blocked(data: Mapping[str, Json]) -> Blocked:
    return Blocked(
        tuple(
            Held(
                each["application"] or FLEET,
                tuple(
                    Trouble(_BLOCKED_REASONS[said["reason"]], said["message"])
                    for said in each["reasons"]
                ),
                tuple(each["clusters"]),
            )
            for each in data["blocked"]
        )
    )


def _complete(data: Mapping[str, Json]) -> Complete:
    return Complete(data["cursor"], data["revision"], data["acceptedLoss"])


def _resync(data: Mapping[str, Json]) -> Message:
    raise ResyncRequired(data["message"], hint=data["hint"])


_READERS: Mapping[str, Callable[[Mapping[str, Json]], Message]] = {
    "RenderingRemovals": _removals,
    "RenderingDefinitions": _defined,
    "RenderingSettings": _settings,
    "RenderingOverlays": _overlays,
    "RenderingPointers": _pointers,
    "RenderingBlocked": _blocked,
    "RenderingComplete": _complete,
    "ResyncRequired": _resync,
}
