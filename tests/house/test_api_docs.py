"""What the pages show of the API is what happens: their operations run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
from graphql import build_schema, parse, validate

from serving import Serving, sample_store, serve

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/api.md")
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(
        r"^```graphql\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S
    )
]
SCHEMA = build_schema((ROOT / "schema.graphql").read_text("utf-8"))


def test_every_operation_on_the_pages_is_valid() -> None:
    assert len(BLOCKS) >= 10
    for block in BLOCKS:
        assert validate(SCHEMA, parse(block)) == [], block


def test_every_query_and_mutation_on_the_pages_is_answered(tmp_path: Path) -> None:
    with serve(sample_store(tmp_path, clusters=2_000)) as server:
        for block in BLOCKS:
            if not block.startswith("subscription"):
                _run(server, block)


def _run(server: Serving, block: str) -> None:
    body = httpx.post(server.graphql, json={"query": block}, timeout=30).json()
    assert "errors" not in body, (block, body)
    if block.startswith("mutation"):
        (result,) = body["data"].values()
        assert result["__typename"] == "Applied", (block, body)
