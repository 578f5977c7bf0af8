"""Every operation of the API, asked about objects in one position; together they read every field.

``READS`` are answered from the newest view, so a world of nothing but the visible answers them the
same. ``LOGS`` also read the log. ``WRITES`` are commands as the API takes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from access_cases import AUSTIN, Things
from access_schema import readings, streams

Variables = dict[str, Any]


@dataclass(frozen=True)
class Read:
    """A query and what it is asked with."""

    query: str
    variables: Callable[[Things], Variables]
    positioned: bool = True
    """Whether it depends on the position at all."""


PARTS = {
    "PAGE": "{ totalCount nodes { name } }",
    "FAILURE": """... on Failure { __typename code message hint path }
      ... on Invalid { selector { code message hint column length nearest } }
      ... on NotFound { selector { code message hint column length nearest } }
      ... on Rejected { reasons }""",
    "CHANGE": "{ id objectId kind name path action lines fields { name before after } }",
    "HISTORY": """{ revision at actor reason
      change { id objectId kind name path action lines fields { name before after } } }""",
    "CHANGESETS": """{ nodes { revision cursor at actor reason changeCount
      changes { id objectId kind name path action lines fields { name before after } } }
      edges { cursor node { revision } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }""",
}


def _made(document: str) -> str:
    """A document with its parts, written ``<PAGE>`` and the like, put in."""
    return re.sub(r"<(\w+)>", lambda found: PARTS[found[1]], document)


CLUSTERS = _made("query ($where: SelectorInput) { fleet { clusters(where: $where) <PAGE> } }")


def _text(form: str) -> Read:
    return Read(CLUSTERS, lambda at: {"where": {"text": _filled(form, at)}})


def _filled(form: str, at: Things) -> str:
    return form.format(**vars(at))


def _tree(make: Callable[[Things], dict[str, Any]]) -> Read:
    return Read(CLUSTERS, lambda at: {"where": make(at)})


def _plain(query: str) -> Read:
    return Read(_made(query), lambda at: {}, positioned=False)


def _complete(form: str) -> Read:
    query = """query ($text: String!, $at: Int!) { fleet { complete(text: $text, position: $at) {
        insert from to kind title count } } }"""

    def variables(at: Things) -> Variables:
        text = _filled(form, at)
        return {"text": text, "at": len(text)}

    return Read(query, variables)


def _explain(form: str) -> Read:
    query = """query ($cluster: Name!, $where: SelectorInput!) {
      fleet { explain(cluster: $cluster, where: $where) {
        cluster { name } holds summary nearest reasons { depth text holds fact }
      } } }"""
    return Read(query, lambda at: {"cluster": at.cluster, "where": {"text": _filled(form, at)}})


def _of_austin(form: str) -> Read:
    return Read(
        _explain(form).query,
        lambda at: {"cluster": "austin-2", "where": {"text": _filled(form, at)}},
    )


READS: Mapping[str, Read] = {
    "everything": _plain(
        """{ fleet { revision cursor clusters {
          totalCount
          nodes {
            id name title kind reconciler timeZone changed
            labels { key value }
            groups { id name path title hierarchy { id name title } parent { path } changed }
            capacity { cpuMillicores memoryMib storageMib }
            openingHours { weekly { day intervals { opens closes } } exceptions { day } }
            savedSelectors { id name title count changed }
          }
          edges { cursor node { name } }
          pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        } } }"""
    ),
    "catalogue": _plain(
        """{ fleet {
          hierarchies { id name title mode required changed root { path count childCount
            children { id path count childCount children { path children { path } } } } }
          labelKeys { id name type title unit allowed count changed }
          savedSelectors { id name title count changed }
          standards { declaredBy rule broken { totalCount nodes { name } } }
        } }"""
    ),
    "registered order": _plain(
        "{ fleet { clusters(orderBy: REGISTERED, first: 3) { nodes { name } "
        "pageInfo { endCursor hasNextPage } } } }"
    ),
    "grants": _plain("{ fleet { grants { id name title role subject claim scope changed } } }"),
    "columns": Read(
        """query ($key: Name!, $hierarchy: Name!) { fleet { clusters { nodes {
             name label(key: $key) place(hierarchy: $hierarchy) } }
             edges: clusters { nodes { name places(hierarchy: $hierarchy) } } } }""",
        lambda at: {"key": at.key, "hierarchy": at.hierarchy},
    ),
    "cluster": Read(
        "query ($name: Name!) { fleet { cluster(name: $name) { id name title } } }",
        lambda at: {"name": at.cluster},
    ),
    "group": Read(
        """query ($path: GroupPath!) { fleet { group(path: $path) {
             id path title count childCount children { path } parent { path } } } }""",
        lambda at: {"path": at.group},
    ),
    "saved selector": Read(
        "query ($name: Name!) { fleet { savedSelector(name: $name) { id name count } } }",
        lambda at: {"name": at.saved},
    ),
    "nodes": Read(
        "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }",
        lambda at: {
            "ids": [
                f"label_key:{at.key}",
                f"saved_selector:{at.saved}",
                f"hierarchy:{at.hierarchy}",
                f"grant:{at.saved}",
                "grant:zzhidden-grant-reads-texas-0",
            ]
        },
    ),
    "all nodes by number": Read(
        "query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Cluster { name } ... on Group { path }"
        " } }",
        lambda at: {"ids": [f"{kind}:{n}" for kind in ("cluster", "group") for n in range(22)]},
        positioned=False,
    ),
    "node": Read(
        "query ($id: ID!) { node(id: $id) { __typename id } }",
        lambda at: {"id": f"saved_selector:{at.saved}"},
    ),
    "tree": Read(
        """query ($root: GroupPath!) { fleet { tree(root: $root, depth: 5) {
             groupId path title depth count share } } }""",
        lambda at: {"root": at.group},
    ),
    "tree from the top": _plain(
        '{ fleet { tree(root: "/geo", depth: 9) { path count share } '
        'devices: tree(root: "/devices", depth: 9) { path count share } } }'
    ),
    "facets": Read(
        """query ($by: [FacetInput!]!) { fleet { facets(by: $by) {
             group label buckets { value count share } } } }""",
        lambda at: {"by": [{"group": at.group}, {"label": at.key}]},
    ),
    "facets from the top": _plain(
        """{ fleet { facets(by: [{group: "/geo"}, {group: "/geo/us"}, {group: "/devices"},
             {label: "size"}, {label: "lanes"}, {label: "team"}]) {
             group label bucketCount buckets(orderBy: COUNT) { value title count share } } } }"""
    ),
    "cross-tab": Read(
        """query ($rows: FacetInput!, $columns: FacetInput!) {
             fleet { crossTab(rows: $rows, columns: $columns) { rows columns counts } } }""",
        lambda at: {"rows": {"group": at.group}, "columns": {"label": at.key}},
    ),
    "by text: group": _text("{group}"),
    "by text: only": _text("only {group}"),
    "by text: not": _text("not {group}"),
    "by text: except": _text("all except {group}"),
    "by text: value": _text("{key} = {value}"),
    "by text: another value": _text("{key} != {value}"),
    "by text: one of": _text("{key} in ({value}, small)"),
    "by text: has": _text("has {key}"),
    "by text: more": _text("lanes > 6 or {key} >= 7"),
    "by text: cluster": _text("cluster {cluster}"),
    "by text: saved": _text("@{saved}"),
    "by text: pattern": _text("/geo/*/{saved} or {group}/*"),
    "by text: hierarchy": _text("/{hierarchy} or /{hierarchy}/nowhere"),
    "by text: broken": _text("{group} and ("),
    "by tree: group": _tree(lambda at: {"group": at.group}),
    "by tree: only": _tree(lambda at: {"not": {"only": at.group}}),
    "by tree: label": _tree(
        lambda at: {"label": {"key": at.key, "comparison": "=", "value": at.value}}
    ),
    "by tree: one of": _tree(lambda at: {"label": {"key": at.key, "in": [at.value]}}),
    "by tree: has": _tree(lambda at: {"label": {"key": at.key, "has": True}}),
    "by tree: cluster": _tree(lambda at: {"or": [{"cluster": at.cluster}]}),
    "by tree: saved": _tree(
        lambda at: {"except": {"from": {"everything": True}, "without": {"saved": at.saved}}}
    ),
    "explain": _explain("lanes >= 2 and size = large and not /devices/oven"),
    "explain by group": _of_austin("{group} and {key} = {value}"),
    "explain by label": _of_austin("not {key} = {value}"),
    "selector": Read(
        """query ($text: String!) { fleet { selector(text: $text) {
             problem { code message hint column length nearest }
             canonical tree cypher { statement parameters } count } } }""",
        lambda at: {"text": f"{at.group} and {at.key} = {at.value} or cluster {at.cluster}"},
    ),
    "selector by pattern": Read(
        """query ($text: String!) { fleet { selector(text: $text) {
             problem { message hint nearest } canonical tree count } } }""",
        lambda at: {"text": f"/geo/us/*/{at.leaf} or /geo/*/zz or lanes > 8"},
    ),
    "complete a path": _complete("{group}/"),
    "complete a group": _complete("/geo/us/zz"),
    "complete a hierarchy": _complete("/z"),
    "complete a device": _complete("/devices/grill/"),
    "complete a key": _complete("z"),
    "complete a value": _complete("{key} = "),
    "complete a value begun": _complete("size = zz"),
    "complete a cluster": _complete("cluster zz"),
    "complete a saved selector": _complete("@"),
    "complete anything": _complete(""),
}

LOGS: Mapping[str, Read] = {
    "histories": _plain(
        """{ fleet { clusters { nodes { name history <HISTORY> } }
             savedSelectors { text history <HISTORY> } labelKeys { history <HISTORY> }
             hierarchies { history <HISTORY> root { history <HISTORY> children { history <HISTORY>
               children { history <HISTORY> children { history <HISTORY> } } } } } } }"""
    ),
    "grants and their past": _plain("{ fleet { grants { name history <HISTORY> } } }"),
    "what is gone": Read(
        _made(
            """query ($cluster: Name!, $saved: Name!) {
             cluster: historyOfGone(kind: CLUSTER, name: $cluster) <HISTORY>
             saved: historyOfGone(kind: SAVED_SELECTOR, name: $saved) <HISTORY> }"""
        ),
        lambda at: {"cluster": at.cluster, "saved": at.saved},
    ),
    "a revert previewed": Read(
        _made(
            """query ($path: GroupPath!) { previewRevert(to: 2, scope: {subtree: $path}) {
             __typename ... on Preview { base changeCount left changes <CHANGE> } <FAILURE> } }"""
        ),
        lambda at: {"path": at.group},
    ),
    "log": _plain("{ changesets(first: 50) <CHANGESETS> }"),
    "log by pages": _plain("{ changesets(first: 2) <CHANGESETS> }"),
    "log of somebody": Read(
        _made("query ($actor: String) { changesets(first: 50, actor: $actor) <CHANGESETS> }"),
        lambda at: {"actor": "zzhidden-hand" if "zzhidden" in at.cluster else "ana"},
    ),
    "log of something": Read(
        _made("query ($id: ID) { changesets(first: 50, touching: $id) <CHANGESETS> }"),
        lambda at: {"id": f"label_key:{at.key}"},
    ),
    "difference": Read(
        """query ($where: SelectorInput!) { fleet { diff(from: 1, where: $where) {
             before after complete
             gained { totalCount nodes { name } } lost { totalCount nodes { name title } }
             changesets { revision actor reason changes { id name lines } } } } }""",
        lambda at: {"where": {"text": f"{at.group} or all"}},
    ),
    "difference of all": _plain(
        """{ fleet { diff(from: 1, where: {everything: true}) {
             gained { nodes { name title } } lost { nodes { name title } }
             changesets { revision actor reason changes { id name action lines } } } } }"""
    ),
    "why since": _plain(
        """{ fleet { explain(cluster: "comer-1", where: {text: "/geo/us/tx/waco and @mixed"}) {
             summary nearest reasons { depth text holds fact since <HISTORY> } } } }"""
    ),
    "earlier": Read(
        """query ($path: GroupPath!, $name: Name!, $r: RevisionOrTime!) {
             fleet(asOf: $r) { revision
             clusters { totalCount nodes { name title labels { value } } }
             group(path: $path) { path count } cluster(name: $name) { name title }
             hierarchies { name } labelKeys { name allowed } savedSelectors { name count } } }""",
        lambda at: {"path": at.group, "name": at.cluster, "r": 6},
    ),
    "ages": _plain("{ fleet(atLeast: 1) { age } }"),
    "viewer": _plain("{ viewer { name claims permissions { role scope everywhere } } }"),
}

EXPORTS: Mapping[str, Callable[[Things], str]] = {
    "all.ndjson": lambda at: "ndjson",
    "by group.ndjson": lambda at: f"ndjson?{urlencode({'where': at.group})}",
    "by value.csv": lambda at: f"csv?{urlencode({'where': f'{at.key} = {at.value}'})}",
    "by label.csv": lambda at: f"csv?{urlencode({'columns': f'name,label:{at.key}'})}",
    "by place.csv": lambda at: f"csv?{urlencode({'columns': f'name,places:{at.hierarchy}'})}",
    "everything.csv": lambda at: "csv?columns=id,name,title,changed,label:team,place:geo",
}


@dataclass(frozen=True)
class Write:
    """A command: the mutation's name and its input."""

    command: str
    input: Callable[[Things], dict[str, Any]]
    inside: bool = False
    """Whether an editor of Texas may do it to what is inside."""


def _group_text(at: Things) -> dict[str, Any]:
    return {"text": at.group}


def _chosen(at: Things, name: str, where: str) -> dict[str, Any]:
    """An assignment or a prohibition of a part's application."""
    return {
        "name": name,
        "namespace": f"{at.part}-space",
        "applications": [f"{at.part}-app"],
        "selector": {"text": where},
    }


def _layer(at: Things, name: str, where: str) -> dict[str, Any]:
    return {
        "name": name,
        "application": f"{at.part}-app",
        "selector": {"text": where},
        "values": {"key": "x"},
    }


WRITES: Mapping[str, Write] = {
    "register": Write(
        "registerCluster", lambda at: {"name": "zznew", "groups": [at.group]}, inside=False
    ),
    "register with a label": Write(
        "registerCluster",
        lambda at: {
            "name": "zznew",
            "groups": [AUSTIN],
            "labels": [{"key": "team", "value": "texas"}, {"key": at.key, "value": at.value}],
        },
        inside=True,
    ),
    "register a name": Write(
        "registerCluster", lambda at: {"name": at.cluster, "groups": [AUSTIN]}
    ),
    "retitle": Write("updateCluster", lambda at: {"name": at.cluster, "title": "T"}, inside=True),
    "label": Write(
        "updateCluster",
        lambda at: {"name": "austin-2", "labels": [{"key": at.key, "value": at.value}]},
        inside=True,
    ),
    "unlabel": Write(
        "updateCluster",
        lambda at: {"name": at.cluster, "labels": [{"key": "lanes", "value": None}]},
        inside=True,
    ),
    "retire": Write("retireCluster", lambda at: {"name": at.cluster}, inside=True),
    "join": Write("join", lambda at: {"cluster": "austin-2", "group": at.group}),
    "bring": Write("join", lambda at: {"cluster": at.cluster, "group": AUSTIN}),
    "leave": Write("leave", lambda at: {"cluster": at.cluster, "group": "/devices/oven"}, True),
    "leave a group": Write("leave", lambda at: {"cluster": "austin-2", "group": at.group}),
    "create a hierarchy": Write("createHierarchy", lambda at: {"name": at.hierarchy}),
    "update a hierarchy": Write(
        "updateHierarchy", lambda at: {"name": at.hierarchy, "required": True, "mode": "SINGLE"}
    ),
    "delete a hierarchy": Write("deleteHierarchy", lambda at: {"name": at.hierarchy}),
    "declare": Write("declareLabel", lambda at: {"name": at.key, "type": "NUMBER"}),
    "declare values": Write(
        "declareLabel", lambda at: {"name": at.key, "type": "TEXT", "allowed": [at.value]}
    ),
    "remove a key": Write("removeLabel", lambda at: {"name": at.key}),
    "create below": Write("createGroup", lambda at: {"path": f"{at.group}/zznew"}),
    "create": Write("createGroup", lambda at: {"path": at.group}),
    "retitle a group": Write("updateGroup", lambda at: {"path": at.group, "title": "T"}),
    "rename": Write("renameGroup", lambda at: {"path": at.group, "name": "zznew"}),
    "rename to": Write("renameGroup", lambda at: {"path": "/geo/us/tx/waco", "name": at.leaf}),
    "move": Write("moveGroup", lambda at: {"path": at.group, "parent": "/geo/us/tx/waco"}),
    "move to": Write("moveGroup", lambda at: {"path": "/geo/us/tx/waco", "parent": at.group}),
    "delete": Write("deleteGroup", lambda at: {"path": at.group}),
    "delete all below": Write("deleteGroup", lambda at: {"path": at.group, "cascade": True}),
    "save": Write("saveSelector", lambda at: {"name": "zznew", "selector": _group_text(at)}),
    "save by value": Write(
        "saveSelector",
        lambda at: {"name": "zznew", "selector": {"text": f"/geo/us/tx and {at.key} = {at.value}"}},
    ),
    "save over": Write("saveSelector", lambda at: {"name": at.saved, "selector": {"text": AUSTIN}}),
    "save by name": Write(
        "saveSelector", lambda at: {"name": "zznew", "selector": {"saved": at.saved}}
    ),
    "forget": Write("deleteSelector", lambda at: {"name": at.saved}),
    "grant": Write(
        "grantAccess",
        lambda at: {"name": "zznew", "role": "READER", "subject": "x", "scope": _group_text(at)},
    ),
    "grant over": Write(
        "grantAccess",
        lambda at: {
            "name": "zzhidden-grant-reads-texas-0",
            "role": "ADMIN",
            "subject": "x",
            "scope": {"everything": True},
        },
    ),
    "revoke": Write("revokeAccess", lambda at: {"name": "zzhidden-grant-reads-texas-0"}),
    "order hierarchies": Write("orderHierarchies", lambda at: {"names": ["geo", "devices"]}),
    "describe a namespace": Write("defineNamespace", lambda at: {"name": f"{at.part}-space"}),
    "define a namespace": Write("defineNamespace", lambda at: {"name": "zznew"}),
    "delete a namespace": Write("deleteNamespace", lambda at: {"name": f"{at.part}-space"}),
    "define an application": Write(
        "defineApplication", lambda at: {"name": f"{at.part}-app", "namespace": f"{at.part}-space"}
    ),
    "define another": Write(
        "defineApplication", lambda at: {"name": "zznew", "namespace": f"{at.part}-space"}
    ),
    "depend": Write(
        "defineApplication",
        lambda at: {
            "name": "grill-app",
            "namespace": "grill-space",
            "dependsOn": [f"{at.part}-app"],
        },
    ),
    "delete an application": Write("deleteApplication", lambda at: {"name": f"{at.part}-app"}),
    "assign": Write("assign", lambda at: _chosen(at, "zznew", at.group)),
    "reassign": Write("assign", lambda at: _chosen(at, f"{at.part}-run", AUSTIN)),
    "assign by namespace": Write(
        "assign",
        lambda at: {
            "name": "zznew",
            "namespace": "grill-space",
            "selector": {"text": f"/geo/us/tx and namespace {at.part}-space"},
        },
    ),
    "unassign": Write("unassign", lambda at: {"name": f"{at.part}-run"}),
    "prohibit": Write("prohibit", lambda at: _chosen(at, "zznew", at.group)),
    "prohibit otherwise": Write("prohibit", lambda at: _chosen(at, f"{at.part}-veto", AUSTIN)),
    "prohibit by label": Write(
        "prohibit",
        lambda at: {
            "name": "zznew",
            "labels": [{"key": at.key, "value": "x"}],
            "selector": {"text": AUSTIN},
        },
    ),
    "lift": Write("liftProhibition", lambda at: {"name": f"{at.part}-veto"}),
    "set a layer": Write("setLayer", lambda at: _layer(at, "zznew", at.group)),
    "set a layer otherwise": Write("setLayer", lambda at: _layer(at, f"{at.part}-layer", AUSTIN)),
    "set a fleet layer": Write(
        "setLayer",
        lambda at: {"name": "zznew", "selector": _group_text(at), "values": {"proxy": "x"}},
    ),
    "remove a layer": Write("removeLayer", lambda at: {"name": f"{at.part}-layer"}),
    "govern a namespace": Write(
        "setPolicy",
        lambda at: {
            "name": f"{at.part}-policy",
            "namespaces": [f"{at.part}-space"],
            "registries": ["x"],
        },
    ),
    "govern clusters": Write(
        "setPolicy",
        lambda at: {"name": "zznew", "selector": _group_text(at), "oversubscription": "REPORT"},
    ),
    "ungovern": Write("removePolicy", lambda at: {"name": f"{at.part}-policy"}),
}

APPLY = _made(
    """mutation ($input: ApplyInput!) { apply(input: $input) { __typename
      ... on Applied { revision cursor changed left objects { __typename id }
        fleet { revision clusters { totalCount nodes { name title } } } }
      <FAILURE> ... on Conflict { revision } } }"""
)
PREVIEW = _made(
    """query ($input: ApplyInput!) { preview(input: $input) { __typename
      ... on Preview { base changeCount left changes <CHANGE> impact {
        registeredCount retiredCount registered <PAGE> retired <PAGE>
        moves { name gainedCount lostCount gained <PAGE> lost <PAGE> } }
        expectedLoss refusals { __typename code message hint path reasons } }
      <FAILURE> } }"""
)
REVERT = _made(
    """mutation ($to: RevisionOrTime!, $scope: RevertScope!) {
      revert(to: $to, scope: $scope, reason: "back") { __typename
      ... on Applied { revision left } <FAILURE> } }"""
)


def mutation(command: str) -> str:
    """The mutation of one command; its variables are ``input`` and nothing else."""
    kind = command[0].upper() + command[1:] + "Input"
    return _made(
        f'mutation ($input: {kind}!) {{ {command}(input: $input, reason: "because") {{ __typename'
        " ... on Applied { revision changed objects { id } } <FAILURE> } }"
    )


REVERTS: Mapping[str, Callable[[Things], dict[str, Any]]] = {
    "one": lambda at: {"id": f"saved_selector:{at.saved}"},
    "a cluster": lambda at: {"id": "cluster:4"},
    "below": lambda at: {"subtree": at.group},
    "several": lambda at: {"parts": [{"subtree": at.group}, {"id": f"label_key:{at.key}"}]},
    "everything": lambda at: {"everything": True},
}

SUBSCRIPTIONS = {
    "changes": _made(
        """subscription ($after: Cursor) { changes(after: $after) { __typename
      ... on Changeset { cursor revision at actor reason changeCount changes <CHANGE> }
      ... on Progress { cursor } ... on ResyncRequired { message hint head } } }"""
    ),
    "clusterSet": """subscription ($where: SelectorInput!, $after: Cursor) {
      clusterSet(where: $where, after: $after) { __typename
      ... on Snapshot { cursor clusters { id name title labels { key value } } }
      ... on CaughtUp { cursor count }
      ... on Gained { cursor clusters { id name title labels { key value } } }
      ... on Lost { cursor clusters { id name } }
      ... on ResyncRequired { message hint head } } }""",
}


REPORT = _made(
    """mutation ($input: ReportPublishedInput!) { reportPublished(input: $input) { __typename
         ... on PublishedReport { revision publication {
           name cursor revision commit behind at actor
           held { application reason message clusters since } } } <FAILURE> } }"""
)
"""What a renderer says it has published."""
FORGET = _made(
    """mutation ($input: ForgetPublicationInput!) { forgetPublication(input: $input) { __typename
         ... on ForgottenPublication { name revision } <FAILURE> } }"""
)
"""An output that nobody publishes to any more."""
RECORD = """query ($cursors: [Cursor!]!) {
  record { store cursor relations(cursors: $cursors, commit: "c0ffee") } }"""
"""Which history this is."""
PUBLISHED = """{ publications { name cursor revision commit behind at actor
  held { application reason message clusters since } }
  published(revision: 1) { name behind held { application } } }"""
"""What was published, and whether a change is in it."""


def documents() -> list[str]:
    """Every document there is here."""
    found = [each.query for each in (*READS.values(), *LOGS.values())]
    found += [mutation(each.command) for each in WRITES.values()]
    found += [*readings({}), *streams()]
    return [
        *found,
        APPLY,
        PREVIEW,
        REVERT,
        REPORT,
        FORGET,
        RECORD,
        PUBLISHED,
        *SUBSCRIPTIONS.values(),
    ]
