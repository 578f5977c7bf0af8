"""The schema as text: ``python -m api.schema.print > schema.graphql``, or ``make schema``.

The file is committed and a test compares it, so that a change of the schema is seen in review.
"""

from __future__ import annotations

import sys

from api.schema.schema import SCHEMA


def schema_text() -> str:
    """The schema in GraphQL's own language, as ``schema.graphql`` holds it."""
    return SCHEMA.as_str().strip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
