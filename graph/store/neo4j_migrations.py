"""The schema in Neo4j: what is unique, what is indexed, by numbered steps that only go forward.

The Community edition knows uniqueness and nothing else (no required properties, no types), so the
rest is kept by the one writer there is: this package. Every statement can be run again, because a
schema change and the number that records it cannot share a transaction.

Group paths are indexed but not unique: within one transaction two groups may swap names. Label
values have no index on the key alone: the planner would at times prefer it to the whole identity.
"""

from __future__ import annotations

from typing import LiteralString

MIGRATIONS: tuple[tuple[LiteralString, ...], ...] = (
    # 1: identities
    (
        "CREATE CONSTRAINT clock IF NOT EXISTS FOR (n:Clock) REQUIRE n.id IS UNIQUE",
        "CREATE CONSTRAINT changeset IF NOT EXISTS FOR (n:Changeset) REQUIRE n.revision IS UNIQUE",
        "CREATE CONSTRAINT receipt IF NOT EXISTS "
        "FOR (n:Receipt) REQUIRE (n.actor, n.key) IS UNIQUE",
        "CREATE CONSTRAINT hierarchy IF NOT EXISTS FOR (n:Hierarchy) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT group IF NOT EXISTS FOR (n:Group) REQUIRE n.number IS UNIQUE",
        "CREATE CONSTRAINT cluster IF NOT EXISTS FOR (n:Cluster) REQUIRE n.number IS UNIQUE",
        "CREATE CONSTRAINT cluster_name IF NOT EXISTS FOR (n:Cluster) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT label_key IF NOT EXISTS FOR (n:LabelKey) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT label_value IF NOT EXISTS "
        "FOR (n:LabelValue) REQUIRE (n.key, n.value) IS UNIQUE",
        "CREATE CONSTRAINT saved_selector IF NOT EXISTS "
        "FOR (n:SavedSelector) REQUIRE n.name IS UNIQUE",
    ),
    # 2: lookups by time and by place
    (
        "CREATE INDEX changeset_at IF NOT EXISTS FOR (n:Changeset) ON (n.at)",
        "CREATE INDEX receipt_at IF NOT EXISTS FOR (n:Receipt) ON (n.at)",
        "CREATE INDEX group_path IF NOT EXISTS FOR (n:Group) ON (n.path)",
    ),
    # 3: grants
    ("CREATE CONSTRAINT grant IF NOT EXISTS FOR (n:Grant) REQUIRE n.name IS UNIQUE",),
    # 4: the workload
    (
        "CREATE CONSTRAINT namespace IF NOT EXISTS FOR (n:Namespace) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT application IF NOT EXISTS FOR (n:Application) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT assignment IF NOT EXISTS FOR (n:Assignment) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT prohibition IF NOT EXISTS FOR (n:Prohibition) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT layer IF NOT EXISTS FOR (n:Layer) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT policy IF NOT EXISTS FOR (n:Policy) REQUIRE n.name IS UNIQUE",
    ),
    # 5: publications
    ("CREATE CONSTRAINT publication IF NOT EXISTS FOR (n:Publication) REQUIRE n.name IS UNIQUE",),
)
"""Each migration is a tuple of statements; its number is its place, counted from 1."""

SCHEMA_VERSION = len(MIGRATIONS)
BEFORE_WORKLOAD = 3
"""The version in which selectors pointed at groups alone, and there was nothing else to name."""

AWAIT_INDEXES: LiteralString = "CALL db.awaitIndexes(60)"
"""An index that is still being filled answers nothing."""

FOREIGN: LiteralString = """
MATCH (n:Changeset|Receipt|Hierarchy|Group|Cluster|LabelKey|LabelValue|SavedSelector|Grant
        |Namespace|Application|Assignment|Prohibition|Layer|Policy|Publication)
RETURN 1 LIMIT 1
"""
"""Finds data of ours in a database without a Clock: then it is not ours."""

FOREIGN_WORKLOAD: LiteralString = """
MATCH (n:Namespace|Application|Assignment|Prohibition|Layer|Policy|Publication) RETURN 1 LIMIT 1
"""
"""The same beside a record from before there was a workload."""

FOREIGN_PUBLICATION: LiteralString = "MATCH (n:Publication) RETURN 1 LIMIT 1"
"""The same beside a record from before there were publications."""
