"""What is dear, in numbers: the tables that costs are worked out from.

One is what a plain field costs graphql-core, some five microseconds. What a field does besides is
charged in the same coin, so that the dearest operation allowed takes about a second.
"""

from __future__ import annotations

from typing import Final

LIST_SIZE: Final = 10
"""What a list counts as that nobody pages."""
SIZES: Final = {
    "Facet.buckets": 20,
    "Explanation.reasons": 20,
    "BlockedApplication.reasons": 2,
    "ApplicationMove.blocked": 2,
    "PlacementCounts.reasons": 2,
    "ApplicationOnCluster.obstacles": 2,
    "Obstacle.about": 2,
    "__Schema.types": 150,
    "__Schema.directives": 10,
    "__Type.fields": 20,
    "__Type.inputFields": 20,
    "__Type.enumValues": 20,
    "__Type.interfaces": 2,
    "__Field.args": 2,
    "__Directive.args": 2,
}
"""Lists that are usually longer or shorter; those of the schema as long as they are there."""
OF_EACH: Final = {"__Schema.types": 2}
"""What the lists right inside count as where all are listed: most types have little in them."""
AS_OF: Final = 5_000
"""What an earlier revision costs."""
CHARGES: Final = {
    "history": 1_500,
    "historyOfGone": 1_500,
    "Reason.since": 1_500,
    "WorkloadExplanation.since": 1_500,
    "Query.changesets": 1_500,
    "Query.publications": 200,
    "Query.published": 200,
    "Record.store": 20,
    "Record.relations": 500,
    "Fleet.crossTab": 5_000,
    "Cluster.savedSelectors": 20,
    "Fleet.applications": 20,
    "Fleet.namespaces": 20,
    "Fleet.assignments": 80,
    "Fleet.prohibitions": 20,
    "Fleet.layers": 150,
    "Fleet.policies": 20,
    "Application.assignments": 80,
    "Application.prohibitions": 20,
    "Namespace.applications": 20,
    "Namespace.assignments": 80,
    "Namespace.prohibitions": 20,
    "Namespace.policies": 20,
    "Assignment.applications": 20,
    "Prohibition.applications": 20,
    "StoredSelector.count": 5,
    "StoredSelector.clusters": 5,
    "ClusterWorkload.namespaces": 20,
    "ClusterWorkload.applications": 20,
    "ClusterWorkload.asked": 5,
    "ClusterWorkload.settings": 10,
    "ReachedBy.assignments": 100,
    "ReachedBy.prohibitions": 100,
    "ReachedBy.layers": 100,
    "ReachedBy.policies": 100,
    "ApplicationOnCluster.obstacles": 50,
    "ApplicationOnCluster.values": 10,
    "ApplicationOnCluster.origins": 10,
    "Application.counts": 5,
    "Application.clusters": 5,
    "Application.configurations": 400,
    "Configuration.values": 10,
    "Configuration.origins": 10,
    "Configuration.digest": 10,
    "Namespace.clusters": 50,
    "BlockedClusters.message": 50,
    "ChoiceReason.explanation": 80,
    "Fleet.why": 60,
    "Fleet.compare": 10_000,
    "WorkloadDifference.leaves": 500,
    "Fleet.capacity": 200,
    "Fleet.chargeback": 2_000,
    "Fleet.policyBreaches": 200,
    "Fleet.blocked": 100,
}
"""What fields cost by themselves that read the store, or work out far more than they show."""
FACET: Final = 200
"""What each dimension of a count costs."""
EARLIER: Final = ("asOf", "from", "to")
"""Arguments that name an earlier revision."""
BY_ID: Final = frozenset({"Query.node", "Query.nodes"})
"""Fields that read an earlier revision where an id says so."""
PREVIEWS: Final = frozenset({"preview", "previewRevert"})
PREVIEWS_MAX: Final = 1
"""Dry runs in one operation."""
TREE_ROWS: Final = (100, 100, 250, 1_250, 6_250, 31_250)
"""Rows a tree counts as by its depth; a deeper one as the last, or what a request may have."""

OF_FLEET: Final = {
    "Application": "applications",
    "Assignment": "assignments",
    "Bucket": "buckets",
    "Cluster": "clusters",
    "ClusterConnection": "clusters",
    "ConfigurationConnection": "clusters",
    "Group": "groups",
    "Hierarchy": "hierarchies",
    "Label": "label_keys",
    "LabelKey": "label_keys",
    "Layer": "layers",
    "Namespace": "namespaces",
    "Policy": "policies",
    "Prohibition": "prohibitions",
    "TreeRow": "groups",
}
"""Types of which a list holds each object once, with the count of a fleet that bounds it."""
OTHER_REVISIONS: Final = frozenset({"Changeset", "ChangesetConnection", "HistoryLine", "SetDiff"})
"""Types below which objects may be of another revision than the fleet they are asked of."""
OTHER_FLEET: Final = ("asOf", "atLeast")
"""Arguments of ``fleet`` that choose another revision than the newest."""
