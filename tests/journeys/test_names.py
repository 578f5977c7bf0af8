"""Names as Kubernetes has them, from the command and GraphQL to files that kustomize builds.

One store, one serving process and the real command. Label keys have prefixes, capitals and
underscores; value keys have dots; layers are named after versions. A label key that nobody declared
is refused, unless the batch says that it declares keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import kustomize
from kubernetes_names import NO_NAMES
from serving import Serving, serve
from trellis_process import Trellis

TOKENS = (
    "ana:admin:the-token-of-ana ed:editor:the-token-of-ed-the-editor root:admin:the-token-of-root"
)
SELECTOR = (
    'need_gpu = true and ENVIRONMENT = prod and example.com/size = large and "not/safe" = no'
    ' and SIZE = XL and size = small and "IN" = 1'
)
LABELS: dict[str, Any] = {
    "need_gpu": True,
    "ENVIRONMENT": "prod",
    "example.com/size": "large",
    "not/safe": "no",
    "SIZE": "XL",
    "size": "small",
    "IN": 1,
}
TYPES = {bool: "BOOLEAN", str: "TEXT", int: "NUMBER"}
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: imdb}
data:
  gpu: {{ values["need-gpu"] }}
  environment: {{ ENVIRONMENT }}
  file: {{ values["app.properties"]["log_level"] }}
  proxy: {{ values.fleet["HTTP_PROXY"] }}
  host: none
"""
COMMANDS: list[dict[str, Any]] = [
    {"defineNamespace": {"name": "shop", "labels": {"example.com/team": "store", "tier": "a"}}},
    {
        "defineApplication": {
            "name": "imdb",
            "namespace": "shop",
            "reconcilers": ["kustomize"],
            "labels": {"app.kubernetes.io/name": "imdb", "Team_Name": "films"},
            "source": {"template": {"files": {"all.yaml": TEMPLATE}}},
            "values": {
                "need-gpu": "no",
                "ENVIRONMENT": "test",
                "app.properties": {"log_level": "info"},
            },
            "lateBound": [
                {
                    "key": r"app\.properties.host",
                    "source": "{cluster}.{example.com/size}.{ENVIRONMENT}",
                    "fields": [{"object": "ConfigMap/imdb", "pointer": "/data/host"}],
                }
            ],
            "reads": ["HTTP_PROXY"],
        }
    },
    {"assign": {"name": "everywhere", "namespace": "shop", "selector": "all"}},
    {
        "setLayer": {
            "name": "imdb-1.0.1",
            "application": "imdb",
            "selector": "example.com/size = large",
            "values": {"ENVIRONMENT": "prod", "app.properties": {"log_level": "debug"}},
        }
    },
    {
        "setLayer": {
            "name": "fleet.proxies",
            "selector": "all",
            "values": {"HTTP_PROXY": "http://proxy.example", "no-proxy.list": "none"},
        }
    },
]


def jsonl(*commands: dict[str, Any]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in commands).encode()


DECLARED = [
    {"declareLabel": {"name": key, "type": TYPES[type(value)].lower()}}
    for key, value in LABELS.items()
]
STORE = {"registerCluster": {"name": "store-1", "reconciler": "kustomize", "labels": LABELS}}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Trellis:
    """The command beside a store with all these names in it."""
    trellis = Trellis(tmp_path_factory.mktemp("names"), [])
    trellis("load", "-", stdin=jsonl(*DECLARED, STORE, *COMMANDS))
    return trellis


@pytest.fixture(scope="module")
def api(fleet: Trellis) -> Iterator[Serving]:
    settings = {"TRELLIS_AUTH_TOKENS": TOKENS}
    with serve(fleet.directory / "trellis.db", settings) as serving:
        yield serving


def ask(api: Serving, query: str, who: str = "ana", **variables: Any) -> Any:
    tokens = {each.split(":")[0]: each.split(":")[2] for each in TOKENS.split()}
    answer = httpx.post(
        api.graphql,
        json={"query": query, "variables": variables},
        headers={"Authorization": f"Bearer {tokens[who]}"},
        timeout=30,
        trust_env=False,
    ).json()
    assert "errors" not in answer, answer
    return answer["data"]


READING = """query ($text: String!, $tree: SelectorInput!) { fleet {
  selector(text: $text) { problem { message } canonical tree count cypher { statement } }
  clusters(where: $tree) { totalCount nodes { label(key: "example.com/size") } }
  facets(by: [{label: "example.com/size"}, {label: "SIZE"}]) { buckets { value count } }
  complete(text: "has example.com/s", position: 17) { insert }
  labelKeys { name }
  layers { name }
} }"""


def test_names_of_kubernetes_are_asked_for_in_every_form(api: Serving, fleet: Trellis) -> None:
    found = ask(api, READING, text=SELECTOR, tree={"and": [{"text": "has need_gpu"}]})["fleet"]
    reading = found["selector"]
    assert reading["problem"] is None
    assert (reading["canonical"], reading["count"]) == (SELECTOR, 1)
    assert not any(key in reading["cypher"]["statement"] for key in LABELS if "_" in key)
    again = ask(api, READING, text=SELECTOR, tree={"text": reading["canonical"]})["fleet"]
    assert again["clusters"] == found["clusters"]
    assert found["clusters"] == {"totalCount": 1, "nodes": [{"label": "large"}]}
    assert [each["buckets"] for each in found["facets"]] == [
        [{"value": "large", "count": 1}],
        [{"value": "XL", "count": 1}],
    ]
    assert found["complete"] == [{"insert": "example.com/size"}]
    assert {each["name"] for each in found["labelKeys"]} >= LABELS.keys()
    assert {each["name"] for each in found["layers"]} == {"imdb-1.0.1", "fleet.proxies"}
    export = httpx.get(
        f"{api.url}/export/clusters.csv",
        params={"columns": "name,label:ENVIRONMENT,label:example.com/size,label:need_gpu"},
        headers={"Authorization": "Bearer the-token-of-ana"},
        trust_env=False,
    )
    assert export.text.splitlines() == [
        "name,label:ENVIRONMENT,label:example.com/size,label:need_gpu",
        "store-1,prod,large,true",
    ]
    assert "store-1" in fleet("select", SELECTOR)
    assert "declared" in fleet("history", "label:example.com/size")


def test_names_of_kubernetes_are_rendered_into_files_that_build(fleet: Trellis) -> None:
    fleet("render", "--once", "--from", "store", "--to", "dir:out")
    (pointer,) = (fleet.directory / "out" / "clusters").glob("*/store-1")
    objects = kustomize.build(pointer)
    data = kustomize.found(objects, "ConfigMap", "imdb")
    assert data["data"] == {
        "gpu": "no",
        "environment": "prod",
        "file": "debug",
        "proxy": "http://proxy.example",
        "host": "store-1.large.prod",
    }
    labels = data["metadata"]["labels"]
    assert labels["app.kubernetes.io.label.trellis.dev/name"] == "imdb"
    assert labels["label.trellis.dev/Team_Name"] == "films"
    shop = kustomize.found(objects, "Namespace", "shop")["metadata"]["labels"]
    assert shop["example.com.label.trellis.dev/team"] == "store"
    assert "nothing differs" in fleet("render", "--verify", "--from", "store", "--to", "dir:out")


APPLY = """mutation ($input: ApplyInput!) { apply(input: $input) {
  ... on Applied { revision changed } ... on Failure { code message hint path } } }"""
UPDATE = """mutation ($declare: Boolean!, $key: Name!) { updateCluster(
  input: {name: "store-1", labels: [{key: $key, value: "2"}]}, reason: "lanes",
  declareLabels: $declare) {
  ... on Applied { changed } ... on Failure { code message hint path } } }"""
PREVIEW = """query ($input: ApplyInput!) { preview(input: $input) { __typename
  ... on Preview { changeCount } ... on Failure { code } } }"""


def labelled(key: str, **more: Any) -> dict[str, Any]:
    command = {"updateCluster": {"name": "store-1", "labels": [{"key": key, "value": "2"}]}}
    return {"commands": [command], "reason": "lanes", **more}


def test_a_label_key_is_declared_by_command_or_where_the_batch_says_so(api: Serving) -> None:
    refused = ask(api, APPLY, input=labelled("need_gpus"))["apply"]
    assert refused["code"] == "LABEL_UNDECLARED"
    assert refused["path"] == ["commands", "0", "labels"]
    assert "did you mean need_gpu?" in refused["hint"] and "declareLabel" in refused["hint"]
    single = ask(api, UPDATE, declare=False, key="need_gpus")["updateCluster"]
    assert single["code"] == "LABEL_UNDECLARED" and single["path"] == ["labels"]
    # whoever may not declare a key may not have one declared either, in a preview as little
    said = labelled("lanes", declareLabels=True)
    assert ask(api, APPLY, "ed", input=said)["apply"]["code"] == "DENIED"
    assert ask(api, PREVIEW, "ed", input=said)["preview"]["code"] == "DENIED"
    assert ask(api, UPDATE, "ed", declare=True, key="lanes")["updateCluster"]["code"] == "DENIED"
    assert ask(api, PREVIEW, input=labelled("lanes"))["preview"]["code"] == "LABEL_UNDECLARED"
    assert ask(api, PREVIEW, input=said)["preview"]["__typename"] == "Preview"
    # a flag that changes the outcome belongs to the batch
    first = ask(api, APPLY, input={**said, "idempotencyKey": "k"})["apply"]
    assert first["changed"]
    assert ask(api, APPLY, input={**said, "idempotencyKey": "k"})["apply"] == first
    other = ask(api, APPLY, input=labelled("lanes", idempotencyKey="k"))["apply"]
    assert other["code"] == "CONFLICT"
    # from now on the key is there for every editor
    assert ask(api, UPDATE, "ed", declare=False, key="lanes")["updateCluster"]["changed"] is False


def test_the_command_refuses_a_mistyped_label_key_and_takes_a_flag(trellis: Trellis) -> None:
    mistyped = {"registerCluster": {"name": "store-2", "labels": {"lanse": 2}}}
    first = {"declareLabel": {"name": "lanes", "type": "number"}}
    said = trellis("load", "-", "--batch", "1", stdin=jsonl(first, mistyped), expect=1)
    assert 'no label key called "lanse"' in said and "line 2" in said
    assert "did you mean lanes?" in said and "--declare-labels" in said
    (trellis.directory / "more.jsonl").write_bytes(jsonl(mistyped))
    assert "lanse" in trellis("apply", "more.jsonl", "--reason", "more", expect=1)
    assert "lanse" in trellis("preview", "more.jsonl", expect=1)
    previewed = trellis("preview", "more.jsonl", "--declare-labels")
    assert "+ label key lanse" in previewed
    # what the first try loaded is known: the flag made no difference to it
    again = trellis("load", "-", "--batch", "1", "--declare-labels", stdin=jsonl(first, mistyped))
    assert "2 commands" in again and "1 of them loaded before" in again
    assert "declared" in trellis("history", "label:lanse")
    trellis("revert", "everything", "--to", "1")
    assert "store-2" not in trellis("select", "all")


def test_names_that_kubernetes_refuses_are_refused_with_the_rule(api: Serving) -> None:
    def command(what: str, name: str) -> dict[str, Any]:
        match what:
            case "label":
                return {"declareLabel": {"name": name, "type": "TEXT"}}
            case "first use":
                return {
                    "updateCluster": {"name": "store-1", "labels": [{"key": name, "value": "x"}]}
                }
            case "layer":
                return {"setLayer": {"name": name, "selector": {"text": "all"}, "values": {"a": 1}}}
            case _:
                return {"setLayer": {"name": "l", "selector": {"text": "all"}, "values": {name: 1}}}

    for what in ("label", "first use", "layer", "fleet setting"):
        for name in NO_NAMES:
            sent = {"commands": [command(what, name)], "reason": "try", "declareLabels": True}
            answer = ask(api, APPLY, input=sent)["apply"]
            assert answer["code"] == "INVALID", (what, name, answer)
            assert "letters" in answer["hint"], answer
