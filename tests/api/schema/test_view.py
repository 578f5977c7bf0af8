"""The fleet at one revision: each question, its answer, and its refusal."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ask, data
from doors import TEXAN
from engines import names


async def fleet_of(engine: Any, fields: str, **more: Any) -> Any:
    return (await data(engine, f"{{ fleet {{ {fields} }} }}", **more))["fleet"]


async def refusal(engine: Any, fields: str, **more: Any) -> dict[str, Any]:
    answer = await ask(engine, f"{{ fleet {{ {fields} }} }}", **more)
    return answer["errors"][0]


async def test_a_cluster_has_everything_known_about_it(fleet):
    found = await fleet_of(
        fleet,
        """cluster(name: "dallas-21") {
            name title kind reconciler timeZone changed label(key: "lanes")
            nothing: label(key: "open") place(hierarchy: "geo") nowhere: place(hierarchy: "empty")
            labels { key value } groups { path } capacity { cpuMillicores memoryMib storageMib }
            openingHours { weekly { day } } savedSelectors { name }
        }""",
    )
    assert found["cluster"] == {
        "name": "dallas-21",
        "title": "",
        "kind": "KUBERNETES",
        "reconciler": "FLUX",
        "timeZone": "America/Chicago",
        "changed": 1,
        "label": 10.5,
        "nothing": None,
        "place": "/geo/us/tx/dallas",
        "nowhere": None,
        "labels": [{"key": "lanes", "value": 10.5}, {"key": "size", "value": "small"}],
        "groups": [{"path": "/devices/grill"}, {"path": "/geo/us/tx/dallas"}],
        "capacity": {"cpuMillicores": 4000, "memoryMib": 8192.0, "storageMib": 0.0},
        "openingHours": None,
        "savedSelectors": [{"name": "grills"}, {"name": "texas"}],
    }


async def test_a_group_knows_its_place_and_what_is_below(fleet):
    found = await fleet_of(
        fleet,
        """group(path: "/geo/us/tx") { name path title count childCount
            parent { path } hierarchy { name root { path parent { path } } }
            children { name count } one: children(first: 1) { name }
            rest: children(after: "austin") { name } none: children(first: 0) { name } }""",
    )
    assert found["group"] == {
        "name": "tx",
        "path": "/geo/us/tx",
        "title": "/GEO/US/TX",
        "count": 16,
        "childCount": 2,
        "parent": {"path": "/geo/us"},
        "hierarchy": {"name": "geo", "root": {"path": "/geo", "parent": None}},
        "children": [{"name": "austin", "count": 8}, {"name": "dallas", "count": 8}],
        "one": [{"name": "austin"}],
        "rest": [{"name": "dallas"}],
        "none": [],
    }


async def test_what_is_not_there_is_null(fleet):
    found = await fleet_of(
        fleet,
        'cluster(name: "nobody") { name } group(path: "/geo/nowhere") { path }'
        ' savedSelector(name: "nobody") { name }',
    )
    assert found == {"cluster": None, "group": None, "savedSelector": None}


SAME = [
    ("/geo/us", {"group": "/geo/us"}),
    ("only /geo/us/ny", {"only": "/geo/us/ny"}),
    ("size = large", {"label": {"key": "size", "comparison": "=", "value": "large"}}),
    ("lanes >= 2", {"label": {"key": "lanes", "comparison": ">=", "value": 2}}),
    ("size in (small, large)", {"label": {"key": "size", "in": ["small", "large"]}}),
    ("has lanes", {"label": {"key": "lanes", "has": True}}),
    ("cluster austin-05", {"cluster": "austin-05"}),
    ("@texas", {"saved": "texas"}),
    ("all", {"everything": True}),
    ("not /geo/us", {"not": {"group": "/geo/us"}}),
    ("/geo/us and size = large", {"and": [{"text": "/geo/us"}, {"text": "size = large"}]}),
    ("/geo/us or /devices", {"or": [{"group": "/geo/us"}, {"group": "/devices"}]}),
    (
        "/geo/us except /devices/grill",
        {"except": {"from": {"group": "/geo/us"}, "without": {"group": "/devices/grill"}}},
    ),
]


@pytest.mark.parametrize(("text", "tree"), SAME, ids=[text for text, _ in SAME])
async def test_text_and_tree_are_one_selector(fleet, text, tree):
    query = """query ($text: SelectorInput, $tree: SelectorInput) { fleet {
        text: clusters(where: $text, first: 100) { totalCount nodes { name } }
        tree: clusters(where: $tree, first: 100) { totalCount nodes { name } } } }"""
    found = (await data(fleet, query, text={"text": text}, tree=tree))["fleet"]
    assert found["text"] == found["tree"]
    assert {each["name"] for each in found["text"]["nodes"]} == names(fleet, text)


async def test_a_tree_is_refused_where_it_is_wrong(fleet):
    wrong = 'clusters(where: {and: [{everything: true}, {group: "/geo/tx"}]}) { totalCount }'
    error = await refusal(fleet, wrong)
    assert error["extensions"]["code"] in ("NOT_FOUND", "SELECTOR_NOT_FOUND")
    assert error["extensions"]["path"][0] == "where"


async def test_a_tree_of_counts_adds_up(fleet):
    found = (await fleet_of(fleet, 'tree(root: "/geo", depth: 2) { path depth count share }'))[
        "tree"
    ]
    rows = {each["path"]: each for each in found}
    assert rows["/geo"]["count"] == 39
    assert rows["/geo"]["share"] == 1.0
    assert rows["/geo/us"]["count"] + rows["/geo/ca"]["count"] == 39
    assert max(each["depth"] for each in found) == 2
    narrowed = await fleet_of(fleet, 'tree(root: "/geo", where: {text: "@texas"}) { path count }')
    assert {each["path"]: each["count"] for each in narrowed["tree"]}["/geo"] == 16


@pytest.mark.parametrize(("depth", "rows"), [(0, 1), (1, 3), (1_000, 8)])
async def test_a_tree_goes_as_deep_as_it_is_asked_to(fleet, depth, rows):
    found = await fleet_of(fleet, f'tree(root: "/geo", depth: {depth}) {{ path }}')
    assert len(found["tree"]) == rows


async def test_facets_count_children_and_values(fleet):
    found = await fleet_of(
        fleet,
        'facets(by: [{label: "size"}, {group: "/geo/us"}]) { label group buckets'
        " { value count share } }",
    )
    by_label, by_group = found["facets"]
    assert (by_label["label"], by_label["group"]) == ("size", None)
    assert sum(each["count"] for each in by_label["buckets"]) == 39
    assert (by_group["label"], by_group["group"]) == (None, "/geo/us")
    assert {each["value"]: each["count"] for each in by_group["buckets"]}["/geo/us/tx"] == 16


async def test_a_table_has_a_count_for_each_pair(fleet):
    found = (
        await fleet_of(
            fleet,
            'crossTab(rows: {label: "size"}, columns: {group: "/geo/us"}) { rows columns counts }',
        )
    )["crossTab"]
    assert len(found["counts"]) == len(found["rows"])
    assert {len(each) for each in found["counts"]} == {len(found["columns"])}
    column = found["columns"].index("/geo/us/tx")
    assert sum(row[column] for row in found["counts"]) == 16


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ('tree(root: "/nowhere") { path }', "NOT_FOUND"),
        ('tree(root: "geo") { path }', "INVALID"),
        ('tree(root: "/geo", depth: -1) { path }', "INVALID"),
        ('tree(root: "/geo", depth: 1001) { path }', "INVALID"),
        ('tree(root: "size = large") { path }', "INVALID"),
        ('facets(by: [{label: "nothing"}]) { label }', "NOT_FOUND"),
        ('facets(by: [{group: "/nowhere"}]) { label }', "NOT_FOUND"),
        ("facets(by: [" + '{label: "size"}' * 21 + "]) { label }", "INVALID"),
        ('crossTab(rows: {label: "x"}, columns: {label: "size"}) { rows }', "NOT_FOUND"),
        ('explain(cluster: "nobody", where: {text: "all"}) { holds }', "NOT_FOUND"),
        ('explain(cluster: "austin-00", where: {text: "/gio"}) { holds }', "SELECTOR_NOT_FOUND"),
        ('group(path: "no path") { path }', "INVALID"),
        ("clusters(first: -1) { totalCount }", "INVALID"),
        ("clusters(first: 10001) { nodes { name } }", "INVALID"),
        ('diff(from: 99, where: {text: "all"}) { complete }', None),
    ],
)
async def test_a_question_about_nothing_is_refused_with_a_hint(fleet, fields, code):
    error = await refusal(fleet, fields)
    assert code is None or error["extensions"]["code"] == code
    assert error["extensions"]["code"] not in ("INTERNAL", "BAD_REQUEST")
    assert error["extensions"]["hint"]


async def test_an_explanation_says_which_clause_fails_and_what_would_help(fleet):
    found = (
        await fleet_of(
            fleet,
            'explain(cluster: "york-03", where: {text: "/geo/us/tx and size = small"})'
            " { holds summary nearest reasons { text holds fact } cluster { name } }",
        )
    )["explain"]
    assert found["holds"] is False
    assert found["cluster"]["name"] == "york-03"
    assert {each["text"]: each["holds"] for each in found["reasons"]}["/geo/us/tx"] is False
    assert any("/geo/us/tx" in each for each in found["nearest"])


async def test_a_selector_is_read_or_its_fault_is_shown(fleet):
    fields = 'selector(text: "{}") {{ canonical count tree cypher {{ statement }} problem '
    fields += "{{ code column length hint nearest }} }}"
    good = (await fleet_of(fleet, fields.format("(/geo/us) and size=large")))["selector"]
    assert good["canonical"] == "/geo/us and size = large"
    assert good["problem"] is None
    assert good["count"] == len(names(fleet, "/geo/us and size = large"))
    assert good["cypher"]["statement"]
    bad = (await fleet_of(fleet, fields.format("/gio/us")))["selector"]
    assert (bad["canonical"], bad["count"], bad["tree"], bad["cypher"]) == (None,) * 4
    assert (bad["problem"]["column"], bad["problem"]["length"]) == (2, 3)
    assert bad["problem"]["hint"] or bad["problem"]["nearest"]


@pytest.mark.parametrize("position", [-5, 0, 3, 7, 1_000])
async def test_completion_takes_any_position(fleet, position):
    query = f'complete(text: "/geo/us", position: {position}, first: 5) {{ insert from to kind }}'
    found = (await fleet_of(fleet, query))["complete"]
    assert len(found) <= 5


async def test_completion_shows_a_scoped_reader_no_hidden_name(fleet):
    query = 'complete(text: "/geo/us/", position: 8, first: 100) { insert }'
    shown = {each["insert"] for each in (await fleet_of(fleet, query, actor=TEXAN))["complete"]}
    assert any("tx" in each for each in shown)
    assert not any("ny" in each for each in shown)


async def test_a_difference_tells_who_came_and_went_and_why(fleet):
    found = (
        await fleet_of(
            fleet,
            'diff(from: 1, where: {text: "all"}) { before after complete'
            " gained { totalCount } lost { nodes { name } } changesets { revision reason } }",
        )
    )["diff"]
    assert (found["before"], found["after"], found["complete"]) == (1, 2, True)
    assert found["gained"] == {"totalCount": 0}
    assert found["lost"] == {"nodes": [{"name": "york-08"}]}
    assert found["changesets"] == [{"revision": 2, "reason": "what happens"}]


async def test_a_scoped_reader_sees_their_part_of_every_answer(fleet):
    found = await fleet_of(
        fleet,
        """clusters { totalCount } hierarchies { name } labelKeys { name }
        group(path: "/geo/us/ny") { path } cluster(name: "york-03") { name }
        tree(root: "/geo") { path count } facets(by: [{group: "/geo/us"}]) { buckets { value } }""",
        actor=TEXAN,
    )
    assert found["clusters"]["totalCount"] == 16
    assert "empty" not in {each["name"] for each in found["hierarchies"]}
    assert "open" not in {each["name"] for each in found["labelKeys"]}
    assert (found["group"], found["cluster"]) == (None, None)
    assert {each["path"] for each in found["tree"]} == {
        "/geo", "/geo/us", "/geo/us/tx", "/geo/us/tx/austin", "/geo/us/tx/dallas",
    }  # fmt: skip
    assert [each["value"] for each in found["facets"][0]["buckets"]] == ["/geo/us/tx"]


async def test_an_age_is_seconds_and_a_cursor_is_where_to_follow_from(fleet):
    found = await fleet_of(fleet, "age cursor revision")
    assert 0 <= found["age"] < 600
    assert found["cursor"] == str(fleet.view.cursor)
    assert found["cursor"].startswith(f"{found['revision']}.")
