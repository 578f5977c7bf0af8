"""The third peer: Cypher on a real Neo4j server, with its own indexes, over Bolt on loopback.

The statement is the one ``trellis cypher`` shows. Numbers come back as rows; for a count the same
statement ends in ``count`` instead, so that no row travels for nothing.
"""

from __future__ import annotations

from typing import Any

import neo4j

from bench.servers import Server
from graph.targeting.cypher import Statement

ROWS = "RETURN number ORDER BY number"
COUNT = "RETURN count(number)"


class Cypher:
    """One open session on the server."""

    def __init__(self, found: Server) -> None:
        auth = (found.user, found.password)
        database: Any = neo4j.GraphDatabase  # its options and compiled texts have no types
        self._driver = database.driver(found.url, auth=auth, telemetry_disabled=True)
        self._session = self._driver.session()
        self.server_seconds: list[float] = []
        """What the server says each answer took it, whole milliseconds."""

    def count(self, statement: Statement) -> int:
        """How many clusters."""
        assert statement.text.endswith(ROWS)
        return int(self._run(statement.text.removesuffix(ROWS) + COUNT, statement)[0])

    def numbers(self, statement: Statement) -> list[int]:
        """Which clusters."""
        return self._run(statement.text, statement)

    def version(self) -> str:
        """What the server calls itself."""
        text = "CALL dbms.components() YIELD name, versions, edition"
        found = self._session.run(f"{text} RETURN name, versions[0], edition LIMIT 1").single()
        return " ".join(map(str, found))

    def close(self) -> None:
        """Let go of the connection."""
        self._session.close()
        self._driver.close()

    def _run(self, text: str, statement: Statement) -> list[Any]:
        result = self._session.run(text, dict(statement.parameters))
        found = [record[0] for record in result]
        summary = result.consume()
        after = (summary.result_available_after or 0) + (summary.result_consumed_after or 0)
        self.server_seconds.append(after / 1000)
        return found
