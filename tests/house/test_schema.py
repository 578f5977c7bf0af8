"""The schema file is the schema, it explains itself, and what changed since the release is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    build_schema,
    is_specified_directive,
    is_specified_scalar_type,
)

from api.schema.print import schema_text
from api.schema.report import FILE, report

ROOT = Path(__file__).parents[2]
SCHEMA = build_schema(schema_text())


def described():
    """Everything in the schema that a reader may look up, with its description."""
    for name, kind in SCHEMA.type_map.items():
        if name.startswith("__") or is_specified_scalar_type(kind):
            continue
        yield name, kind.description
        match kind:
            case GraphQLObjectType() | GraphQLInterfaceType():
                for field, found in kind.fields.items():
                    yield f"{name}.{field}", found.description
                    for argument, each in found.args.items():
                        yield f"{name}.{field}({argument}:)", each.description
            case GraphQLInputObjectType():
                yield from (
                    (f"{name}.{key}", each.description) for key, each in kind.fields.items()
                )
            case GraphQLEnumType():
                yield from (
                    (f"{name}.{key}", each.description) for key, each in kind.values.items()
                )
            case _:
                pass
    for directive in SCHEMA.directives:
        if not is_specified_directive(directive):
            yield f"@{directive.name}", directive.description


def test_the_schema_file_is_printed_from_the_code():
    assert (ROOT / FILE).read_text("utf-8") == schema_text(), "run make schema"


def test_the_printer_writes_that_file():
    done = subprocess.run(
        [sys.executable, "-m", "api.schema.print"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == schema_text()


def test_every_type_field_argument_and_value_says_what_it_is():
    found = dict(described())
    assert len(found) > 100
    assert [name for name, text in found.items() if not (text or "").strip()] == []


def test_what_changed_since_the_last_release_is_told_or_that_there_is_none():
    done = subprocess.run(
        [sys.executable, "-m", "api.schema.report"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == report(ROOT)
    assert "nothing to compare with" in done.stdout or f"{FILE} against v" in done.stdout
