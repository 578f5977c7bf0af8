"""Codes: every refusal there is has one, and the page on the API lists them all."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import api
from api.problems import BAD_REQUEST, INTERNAL
from graph.model.errors import TrellisError

PAGE = Path(__file__).parents[3] / "docs" / "api.md"


def kinds(kind: type[TrellisError] = TrellisError) -> Iterator[type[TrellisError]]:
    """Every refusal of the code, doors and all."""
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


def codes() -> set[str]:
    for module in pkgutil.walk_packages(api.__path__, "api."):
        importlib.import_module(module.name)
    found = {each.code for each in kinds() if each.__module__.startswith(("api.", "graph."))}
    return found | {BAD_REQUEST, INTERNAL}


def test_every_code_is_listed_on_the_page_and_no_other():
    section = PAGE.read_text("utf-8").partition("## Codes\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([A-Z_]+)` \|", section, re.M)
    assert len(listed) == len(set(listed))
    assert set(listed) == codes()


def test_no_refusal_goes_by_the_code_of_the_tree_itself():
    assert TrellisError.code not in codes()
