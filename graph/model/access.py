"""Access: who asks, and what was granted to whom.

A grant gives a role over the clusters of a scope, to one subject or to everybody whose token
carries a claim. Grants are commands in the log like everything else, so access has a history and
is the same in every process.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graph.model.names import Revision
from graph.model.selector import Selector

LOCAL = "local:"
"""Begins the names of those who open a store directly. No token is believed that says so."""


class Role(StrEnum):
    """What one may do, each role including those before it."""

    READER = "reader"
    """Reads."""
    EDITOR = "editor"
    """Changes clusters, memberships, groups, saved selectors, applications, assignments, layers."""
    OPERATOR = "operator"
    """Also changes what protects the fleet: namespaces, prohibitions, policies, stated losses."""
    ADMIN = "admin"
    """Also changes hierarchies and their order, label keys and grants."""

    def includes(self, other: Role) -> bool:
        """Whether this role may do what ``other`` may."""
        return _RANK[self] >= _RANK[other]


_RANK = {role: position for position, role in enumerate(Role)}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, as their token says. ``name`` is what the record keeps."""

    name: str
    claims: frozenset[str] = frozenset()
    """The groups of people the token says the actor belongs to."""
    standing: Role | None = None
    """A role over the whole fleet that settings give, not the log: first admins, development."""
    signed_by: str = ""
    """Who acts in this actor's name and under their grants; empty if they do so themselves."""

    def __hash__(self) -> int:
        return hash(self.name)  # every request looks its actor up


@dataclass(frozen=True, slots=True)
class Coverage:
    """A part of the workload: whole namespaces, and single applications."""

    namespaces: frozenset[str] = frozenset()
    applications: frozenset[str] = frozenset()

    def covers(self, namespace: str, application: str = "") -> bool:
        """Whether it covers an application, or a namespace as such."""
        return namespace in self.namespaces or application in self.applications


@dataclass(frozen=True, slots=True)
class Grant:
    """A role over the clusters of a scope. One of ``subject`` and ``claim`` says whose it is."""

    name: str
    role: Role
    scope: Selector
    """Clusters it covers. No saved selector inside: who may see must not hang on another's edit."""
    subject: str = ""
    claim: str = ""
    title: str = ""
    namespaces: tuple[str, ...] = ()
    """With ``applications``: the part of the workload it covers; all of it, and the inventory,
    when both are empty."""
    applications: tuple[str, ...] = ()
    changed: Revision = Revision(0)

    @property
    def coverage(self) -> Coverage | None:
        """The part of the workload it is about; None is all of it, and the inventory."""
        if not self.namespaces and not self.applications:
            return None
        return Coverage(frozenset(self.namespaces), frozenset(self.applications))
