"""The first peer: recursive SQL on SQLite.

Groups with their parents, memberships and labels in memory, indexed both ways and analysed. A
selector becomes one statement, in each of several forms a person might write; whichever answers a
selector fastest stands for SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    LabelIs,
    Not,
    Or,
    Selector,
    SelectorValue,
    Under,
)
from graph.model.view import FleetView, subtree

SCHEMA = """
CREATE TABLE groups (number INTEGER PRIMARY KEY, parent INTEGER);
CREATE TABLE clusters (number INTEGER PRIMARY KEY);
CREATE TABLE memberships (
  cluster INTEGER, in_group INTEGER, PRIMARY KEY (in_group, cluster)
) WITHOUT ROWID;
CREATE TABLE labels (
  cluster INTEGER, key TEXT, value, PRIMARY KEY (key, value, cluster)
) WITHOUT ROWID;
"""
INDEXES = """
CREATE INDEX child_of ON groups (parent);
CREATE INDEX member_of ON memberships (cluster, in_group);
CREATE UNIQUE INDEX label_of ON labels (cluster, key, value);
ANALYZE;
"""


@dataclass(frozen=True, slots=True)
class Query:
    """A selector in SQL: how many, and which."""

    count: str
    numbers: str


class Sql:
    """The fleet in SQLite, answering in SQL."""

    def __init__(self, view: FleetView) -> None:
        self._connection: Any = apsw.Connection(":memory:")  # its types leave bytes unknown
        self._connection.execute(SCHEMA)
        with self._connection:
            _fill(self._connection, view)
        self._connection.execute(INDEXES)

    def count(self, query: Query) -> int:
        """How many clusters."""
        (number,) = self._column(query.count)
        return number

    def numbers(self, query: Query) -> list[int]:
        """Which clusters, in no order."""
        return self._column(query.numbers)

    def _column(self, text: str) -> list[int]:
        rows: list[tuple[Any, ...]] = self._connection.execute(text).fetchall()
        return [value for (value,) in rows]


def forms(selector: Selector) -> dict[str, Query]:
    """``selector`` as SQL, in each form."""
    tests = {
        "lists": _condition(selector, _among),
        "labels row by row": _condition(selector, _looked_up),
    }
    found = {
        name: Query(
            f"SELECT count(*) FROM clusters WHERE {test}",
            f"SELECT number FROM clusters WHERE {test}",
        )
        for name, test in tests.items()
    }
    united = f"SELECT cluster FROM ({_set(selector)})"
    return found | {"sets": Query(f"SELECT count(*) FROM ({united})", united)}


def _fill(connection: Any, view: FleetView) -> None:
    connection.executemany("INSERT INTO groups VALUES (?, ?)", _groups(view))
    numbers = [int(number) for number in view.everything()]
    connection.executemany("INSERT INTO clusters VALUES (?)", ((each,) for each in numbers))
    for number in numbers:
        cluster = view.cluster(ClusterNumber(number))
        assert cluster is not None
        connection.executemany(
            "INSERT INTO memberships VALUES (?, ?)",
            [(number, int(group)) for group in cluster.memberships],
        )
        connection.executemany(
            "INSERT INTO labels VALUES (?, ?, ?)",
            [(number, key, value) for key, value in cluster.labels.items()],
        )


def _groups(view: FleetView) -> Iterator[tuple[int, int | None]]:
    for hierarchy in view.hierarchies():
        root = view.root(hierarchy.name)
        assert root is not None
        for number in subtree(view, root):
            group = view.group(number)
            assert group is not None
            yield number, group.parent


def _below(*groups: GroupNumber) -> str:
    """The numbers of the groups and of all below them."""
    start = ", ".join(f"({int(group)})" for group in groups)
    return (
        f"WITH RECURSIVE below (number) AS (VALUES {start} UNION"
        " SELECT groups.number FROM groups JOIN below ON groups.parent = below.number)"
        " SELECT number FROM below"
    )


def _members(*groups: GroupNumber) -> str:
    return f"SELECT cluster FROM memberships WHERE in_group IN ({_below(*groups)})"


def _labelled(clause: LabelIs) -> str:
    return f"SELECT cluster FROM labels WHERE {_holds(clause)}"


def _holds(clause: LabelIs) -> str:
    sign = "<>" if clause.comparison is Comparison.NE else clause.comparison.value
    return f"key = {_literal(clause.key)} AND value {sign} {_literal(clause.value)}"


def _literal(value: SelectorValue) -> str:
    """SQLite keeps booleans as 0 and 1."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(int(value) if isinstance(value, bool) else value)


Clause = Callable[[Selector], str]


def _condition(selector: Selector, clause: Clause) -> str:
    """A condition on ``number``."""
    match selector:
        case And(operands):
            return " AND ".join(f"({_condition(each, clause)})" for each in operands)
        case Or(operands):
            return _either(operands, clause)
        case Not(operand):
            return f"NOT ({_condition(operand, clause)})"
        case Except(left, right):
            kept, taken = _condition(left, clause), _condition(right, clause)
            return f"({kept}) AND NOT ({taken})"
        case Everything():
            return "TRUE"
        case _:
            return clause(selector)


def _either(operands: tuple[Selector, ...], clause: Clause) -> str:
    if groups := _all_groups(operands):
        return clause(Or(groups))
    return " OR ".join(f"({_condition(each, clause)})" for each in operands)


def _all_groups(operands: tuple[Selector, ...]) -> tuple[Under, ...]:
    """Alternatives that are all groups: one walk starts from all of them."""
    found = tuple(each for each in operands if isinstance(each, Under))
    return found if len(found) == len(operands) else ()


def _numbers(clause: Selector) -> list[GroupNumber]:
    match clause:
        case Under(group):
            return [group]
        case Or(operands):
            return [each.group for each in operands if isinstance(each, Under)]
        case _:
            raise AssertionError(f"the reference selectors have no {type(clause).__name__}")


def _among(clause: Selector) -> str:
    """Every clause a list of clusters, made once."""
    if isinstance(clause, LabelIs):
        return f"number IN ({_labelled(clause)})"
    return f"number IN ({_members(*_numbers(clause))})"


def _looked_up(clause: Selector) -> str:
    """Labels looked up for the clusters that are left."""
    if isinstance(clause, LabelIs):
        return f"EXISTS (SELECT 1 FROM labels WHERE cluster = number AND {_holds(clause)})"
    return _among(clause)


def _set(selector: Selector) -> str:
    """A query whose rows are the clusters, by set operators."""
    match selector:
        case And(operands):
            kept = [_set(each) for each in operands if not isinstance(each, Not)]
            taken = [_set(each.operand) for each in operands if isinstance(each, Not)]
            return _combined(" INTERSECT ", kept) + "".join(
                f" EXCEPT SELECT cluster FROM ({each})" for each in taken
            )
        case Or(operands):
            return _united(operands)
        case Except(left, right):
            return _combined(" EXCEPT ", [_set(left), _set(right)])
        case Everything():
            return "SELECT number AS cluster FROM clusters"
        case LabelIs():
            return _labelled(selector)
        case _:
            return f"SELECT DISTINCT cluster FROM ({_members(*_numbers(selector))})"


def _united(operands: tuple[Selector, ...]) -> str:
    if groups := _all_groups(operands):
        return _members(*(each.group for each in groups))
    return _combined(" UNION ", [_set(each) for each in operands])


def _combined(operator: str, queries: list[str]) -> str:
    return operator.join(f"SELECT cluster FROM ({each})" for each in queries)
