"""What normalised caches show: the real Apollo Client, urql's Graphcache and Relay's store.

Such a cache keeps one record for each id, whichever query it came by. So whatever a client has
received must be found in its cache again, however many other queries, changes and previews went
through the same cache meanwhile. Only what was read without ``asOf`` may be newer by then.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import httpx
import pytest

from serving import copy_store, serve

HERE = Path(__file__).parent
WAIT_SECONDS = 60

CLUSTER = """__typename id name title size: label(key: "size")
    groups { __typename id path title count }"""
RESIZE = """mutation { updateCluster(
  input: {name: "%s", title: "%s", labels: [{key: "size", value: "%s"}]}, reason: "another size"
) {
  __typename
  ... on Applied { revision objects { __typename ... on Cluster { %s } } }
  ... on Invalid { message }
} }"""

SAVE = """mutation { saveSelector(
  input: {name: "all-large", selector: {text: "size = large"}}, reason: "to see it move"
) { __typename } }"""


@pytest.fixture(scope="module")
def fleet(sample, tmp_path_factory):
    """A process of these tests alone: they count its revisions."""
    with serve(copy_store(sample, tmp_path_factory.mktemp("caches"))) as serving:
        yield Fleet(serving)


class Fleet:
    """A served fleet with one cluster that is made larger and smaller."""

    def __init__(self, server):
        self.server = server
        self.names = [each["name"] for each in self._named("all")]
        self.name = self._named("size = small")[0]["name"]

    def ask(self, query):
        answer = httpx.post(self.server.graphql, json={"query": query}).json()
        assert "errors" not in answer, answer
        return answer["data"]

    def resize(self, size):
        """The mutation that gives the cluster a size, and a title that says so."""
        return RESIZE % (self.name, f"The {size} one", size, CLUSTER)

    def apply(self, size):
        """Write it; the revision is then the newest."""
        done = self.ask(self.resize(size))["updateCluster"]
        assert done["__typename"] == "Applied", done
        return done["revision"]

    def cluster(self, field="fleet"):
        return f'{field} {{ revision cluster(name: "{self.name}") {{ {CLUSTER} }} }}'

    def query(self, field="fleet"):
        return f"{{ {self.cluster(field)} }}"

    def _named(self, text):
        query = '{ fleet { clusters(where: {text: "%s"}, first: 500) { nodes { name } } } }'
        return self.ask(query % text)["fleet"]["clusters"]["nodes"]


@pytest.fixture(scope="module", params=["apollo", "urql", "relay"])
def cached(request, modules, fleet):
    """Runs operations through a new client; what it received, what its cache has in the end."""
    process = subprocess.Popen(
        ["node", "caching.mjs", request.param, fleet.server.graphql],
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "NODE_ENV": "production"},
    )

    def run(*operations):
        print(json.dumps(operations), file=process.stdin, flush=True)
        found = json.loads(process.stdout.readline())
        assert isinstance(found, list), found
        received = [plain(each["received"]) for each in found]
        return received, [plain(each["cached"]) for each in found]

    yield run
    process.communicate(timeout=WAIT_SECONDS)


def plain(value):
    """An answer without the type names that clients add of themselves."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key != "__typename"}
    return value


def test_both_sides_of_a_comparison_in_time_are_shown_as_they_were(cached, fleet):
    small, large = fleet.apply("small"), fleet.apply("large")
    query = f"""{{
      {fleet.cluster(f"before: fleet(asOf: {small})")}
      {fleet.cluster("now: fleet")}
      {fleet.cluster(f"again: fleet(asOf: {small})")}
    }}"""
    ((received,), (shown,)) = cached(query)
    assert [received[side]["cluster"]["size"] for side in received] == ["small", "large", "small"]
    assert received["now"]["revision"] == large
    assert shown == received


def test_what_was_read_at_the_newest_revision_stays_so_when_that_is_no_longer_the_newest(
    cached, fleet
):
    newest = fleet.apply("small")
    then = fleet.query(f"fleet(asOf: {newest})")
    now = fleet.query()
    received, shown = cached(now, then, fleet.resize("large"), now)
    assert shown[1] == received[1]
    assert received[1]["fleet"]["cluster"]["size"] == "small"
    assert shown[0] == shown[3] == received[3]
    assert received[3]["fleet"]["cluster"]["size"] == "large"


def test_the_answer_to_a_change_updates_what_is_shown_of_today_and_nothing_earlier(cached, fleet):
    newest = fleet.apply("small")
    then = fleet.query(f"fleet(asOf: {newest})")
    now = f'{{ fleet {{ cluster(name: "{fleet.name}") {{ {CLUSTER} }} }} }}'
    received, shown = cached(now, then, fleet.resize("large"))
    assert shown[1] == received[1]
    assert received[0]["fleet"]["cluster"]["size"] == "small"
    assert shown[0]["fleet"]["cluster"]["size"] == "large"


def test_what_a_set_lost_is_shown_as_it_was(cached, fleet):
    earlier = fleet.apply("large")
    fleet.apply("small")
    query = f"""{{
      {fleet.cluster()}
      then: fleet {{ diff(from: {earlier}, where: {{text: "size = large"}}) {{
        lost {{ nodes {{ {CLUSTER} }} }} gained {{ nodes {{ {CLUSTER} }} }}
        changesets {{ revision changes {{ __typename id name lines }} }}
      }} }}
      {fleet.cluster("now: fleet")}
    }}"""
    ((received,), (shown,)) = cached(query)
    (lost,) = received["then"]["diff"]["lost"]["nodes"]
    assert lost["size"] == "large"
    assert received["now"]["cluster"]["size"] == "small"
    assert shown == received


def test_changes_of_one_object_are_told_apart(cached, fleet):
    fleet.apply("small")
    fleet.apply("large")
    change = "__typename id kind name action lines"
    query = f"""{{
      changesets(first: 4) {{ nodes {{ revision changes {{ {change} }} }} }}
      fleet {{ cluster(name: "{fleet.name}") {{
        {CLUSTER} kind history(first: 4) {{ revision change {{ {change} }} }}
      }} }}
    }}"""
    ((received,), (shown,)) = cached(query)
    lines = [each["change"]["lines"] for each in received["fleet"]["cluster"]["history"]]
    assert lines[0] != lines[1]
    assert shown == received


def test_a_preview_changes_nothing_that_is_shown_of_today_or_of_another_preview(cached, fleet):
    fleet.apply("small")

    def preview(title):
        command = f'''{{updateCluster: {{
          name: "{fleet.name}", title: "{title}", labels: [{{key: "size", value: "large"}}]
        }}}}'''
        return f"""{{ preview(input: {{reason: "what if", commands: [{command}]}}) {{
          __typename
          ... on Preview {{
            changes {{ __typename id name lines }}
            impact {{ moves {{ name gained(first: 5) {{ nodes {{ {CLUSTER} }} }} }} }}
          }}
        }} }}"""

    fleet.ask(SAVE)
    now = fleet.query()
    received, shown = cached(now, preview("As it would be"), preview("Or so"))
    (move,) = [
        each for each in received[1]["preview"]["impact"]["moves"] if each["name"] == "all-large"
    ]
    (gained,) = move["gained"]["nodes"]
    assert (gained["title"], gained["size"]) == ("As it would be", "large")
    assert shown == received


def test_rows_of_two_trees_are_told_apart(cached):
    row = "__typename path title depth count"
    query = f"""{{ fleet {{
      group(path: "/geo/us") {{ __typename id title count }}
      large: tree(root: "/geo/us", depth: 1, where: {{text: "size = large"}}) {{ groupId {row} }}
      all: tree(root: "/geo/us", depth: 1) {{ groupId {row} }}
    }} }}"""
    ((received,), (shown,)) = cached(query)
    sides = received["fleet"]
    assert sides["large"][0]["count"] < sides["all"][0]["count"] == sides["group"]["count"]
    assert shown == received


def test_an_earlier_object_is_read_back_by_its_id(cached, fleet):
    small = fleet.apply("small")
    fleet.apply("large")
    at_first = fleet.query(f"fleet(asOf: {small})")
    identity = fleet.ask(at_first)["fleet"]["cluster"]["id"]
    by_id = f'{{ node(id: "{identity}") {{ __typename id ... on Cluster {{ {CLUSTER} }} }} }}'
    received, shown = cached(fleet.query(), by_id, at_first)
    assert received[1]["node"] == received[2]["fleet"]["cluster"]
    assert received[1]["node"]["size"] == "small"
    assert shown == received
