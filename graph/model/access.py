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


class Role(StrEnum):
    """What one may do, each role including those before it."""

    READER = "reader"
    """Reads."""
    EDITOR = "editor"
    """Changes clusters, memberships, groups and saved selectors."""
    OPERATOR = "operator"
    """Also changes what protects the fleet."""
    ADMIN = "admin"
    """Also changes hierarchies, label keys and grants."""

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

    def __hash__(self) -> int:
        return hash(self.name)  # every request looks its actor up


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
    changed: Revision = Revision(0)
