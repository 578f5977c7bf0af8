"""What docs/workloads.md says happens: its operations run, one after the other, and so answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph.composition.merge import merge
from issuer import Issuer, issuing
from serving import serve
from trellis_process import Trellis

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "workloads.md").read_text("utf-8")
FLEET = ROOT / "tests" / "scenarios" / "fleet.yaml"
ADMIN = "a-token-of-the-house"
FILE = re.compile(r"^```yaml\n(.*?)^```$", re.M | re.S)
OPERATION = re.compile(r"^```graphql\n(.*?)^```(?:\n```json\n(.*?)^```)?$", re.M | re.S)
SPEAKER = re.compile(r"# (\w+) asks\n")
MERGED = re.compile(r"^\| `(\{.*\})` \| `(\{.*\})` \| `(\{.*\})` \|$", re.M)


@dataclass(frozen=True)
class Door:
    """Where the operations are sent, and who may be believed."""

    url: str
    issuer: Issuer

    def answer(self, operation: str) -> Mapping[str, Any]:
        """The data of an answer; an admin asks unless the first line says who does."""
        speaker = SPEAKER.match(operation)
        token = self.issuer.token(sub=speaker[1]) if speaker else ADMIN
        headers = {"authorization": f"Bearer {token}"}
        body = httpx.post(self.url, json={"query": operation}, headers=headers, timeout=30).json()
        assert "errors" not in body, (operation, body)
        data: Mapping[str, Any] = body["data"]
        return data


def laid_out(answer: object) -> str:
    """An answer as text, in which 1, 1.0 and true differ."""
    return json.dumps(answer, indent=1, sort_keys=True, ensure_ascii=False)


def test_every_operation_on_the_page_answers_as_it_says(tmp_path: Path) -> None:
    Trellis(tmp_path, [])("load", str(FLEET))
    steps = OPERATION.findall(PAGE)
    assert len(steps) >= 30
    with issuing(tmp_path) as issuer:
        settings = {**issuer.settings(), "TRELLIS_AUTH_TOKENS": f"ana:admin:{ADMIN}"}
        with serve(tmp_path / "trellis.db", settings) as server:
            door = Door(server.graphql, issuer)
            for operation, expected in steps:
                _check(operation, door.answer(operation), expected)


def test_the_file_of_the_page_is_taken(tmp_path: Path) -> None:
    (file,) = FILE.findall(PAGE)
    trellis = Trellis(tmp_path, [])
    trellis("load", str(FLEET))
    (tmp_path / "kitchen.yaml").write_text(file, "utf-8")
    assert trellis("preview", "kitchen.yaml").count("\n") > file.count("\n")
    assert "revision 2" in trellis("apply", "kitchen.yaml", "--reason", "the kitchen")


def _check(operation: str, answer: Mapping[str, Any], expected: str) -> None:
    if expected:
        assert laid_out(answer) == laid_out(json.loads(expected)), operation
        return
    (result,) = answer.values()
    assert result["__typename"] == "Applied", (operation, answer)


@pytest.mark.parametrize(("weak", "strong", "merged"), MERGED.findall(PAGE))
def test_values_on_the_page_merge_as_it_says(weak: str, strong: str, merged: str) -> None:
    assert laid_out(merge(json.loads(weak), json.loads(strong))) == laid_out(json.loads(merged))


def test_the_page_shows_how_values_merge() -> None:
    assert len(MERGED.findall(PAGE)) >= 7
