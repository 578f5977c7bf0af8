"""Plain lists: a part at a time, whole in the end, and refused alike where no part can be."""

from __future__ import annotations

from typing import Any

import pytest

from api.schema.listing import behind, by_name, checked_first, some_of
from asking import ask, data
from engines import give
from graph.model.command import CreateHierarchy, RegisterCluster, SaveSelector, UpdateCluster
from graph.model.errors import Invalid
from graph.model.inventory import Hierarchy, Mode


def test_parts_by_name_hold_everything_once_whatever_comes_and_goes():
    names = [f"h{place}" for place in range(10)]
    items = [Hierarchy(name, Mode.SINGLE) for name in names]
    seen: list[str] = []
    while part := by_name(items, 3, seen[-1] if seen else None, "hierarchies"):
        seen += [each.name for each in part]
        items = [each for each in items if each.name != seen[-1]]  # what was last is gone by now
    assert seen == names


@pytest.mark.parametrize("first", [-1, 1_001, 2**31 - 1])
def test_a_length_that_no_list_has_is_refused_with_the_lengths_that_are(first):
    with pytest.raises(Invalid, match="buckets") as refused:
        checked_first(first, 1_000, "buckets")
    assert refused.value.hint == "ask for 0 to 1,000"
    assert refused.value.path == ("first",)


def test_names_in_no_order_are_listed_in_theirs():
    names = {"b", "d", "a", "c"}
    assert some_of(names, 2, None, "layers") == ["a", "b"]
    assert some_of(names, 2, "bb", "layers") == ["c", "d"]
    assert some_of(names, 2, "d", "layers") == []


def test_what_is_none_of_the_list_cannot_be_begun_behind():
    assert behind("abc", "b", str) == "c"
    assert behind("abc", None, str) == "abc"
    with pytest.raises(Invalid, match="none of this list"):
        behind("abc", "d", str)


LISTS = {
    "hierarchies": "fleet { %s { name } }",
    "labelKeys": "fleet { %s { name } }",
    "savedSelectors": "fleet { %s { name } }",
    "grants": "fleet { %s { name } }",
    "applications": "fleet { %s { name } }",
    "namespaces": "fleet { %s { name } }",
    "assignments": "fleet { %s { name } }",
    "prohibitions": "fleet { %s { name } }",
    "layers": "fleet { %s { name } }",
    "policies": "fleet { %s { name } }",
    "children": 'fleet { group(path: "/geo/us") { %s { name } } }',
    "history": 'fleet { cluster(name: "austin-00") { %s { name: revision } } }',
    "changes": "changesets(first: 1) { nodes { %s { name: id } } }",
    "changesets": 'fleet { diff(from: 1, where: {text: "all"}) { %s { name: revision } } }',
}


async def listed(engine: Any, name: str, **given: Any) -> list[Any]:
    asked = ", ".join(
        f'{key}: "{value}"' if isinstance(value, str) else f"{key}: {value}"
        for key, value in given.items()
        if value is not None
    )
    found = await data(engine, f"{{ {LISTS[name] % (f'{name}({asked})' if asked else name)} }}")
    while isinstance(found, dict):
        (found,) = found.values()
        if name == "changes" and isinstance(found, list) and "changes" in found[0]:
            found = found[0]["changes"]
    return [each["name"] for each in found]


@pytest.fixture
async def busy(fleet):
    """The fleet, after some more has happened to it."""
    for place in range(3):
        new = RegisterCluster(f"new-{place}", groups=("/geo/ca",))
        await give(fleet, UpdateCluster("austin-00", title=f"at {place}"), new)
    several = [UpdateCluster(f"{city}-0{n}", title="t") for city, n in (("austin", 0), ("york", 3))]
    await give(fleet, *several, SaveSelector("north", "/geo/us/ny"), CreateHierarchy("brand"))
    return fleet


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_goes_on_behind_what_was_shown_last(busy, name):
    whole = await listed(busy, name)
    assert len(whole) >= 2
    seen: list[Any] = []
    for _ in whole:
        seen += await listed(busy, name, first=1, after=seen[-1] if seen else None)
    assert seen == whole
    assert await listed(busy, name, first=1, after=whole[-1]) == []


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("first", [-1, 1_000_000])
async def test_a_length_out_of_bounds_is_refused_everywhere_alike(fleet, name, first):
    answer = await ask(fleet, f"{{ {LISTS[name] % f'{name}(first: {first})'} }}")
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "INVALID"
    assert error["extensions"]["path"] == ["first"]
    assert "ask for 0 to" in error["extensions"]["hint"]


async def test_completions_out_of_bounds_are_refused_too(fleet):
    for first in (-1, 101):
        query = f'{{ fleet {{ complete(text: "", position: 0, first: {first}) {{ insert }} }} }}'
        assert (await ask(fleet, query))["errors"][0]["extensions"]["path"] == ["first"]
