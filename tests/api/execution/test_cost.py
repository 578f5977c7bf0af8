"""The cost of an operation: exact where it can be counted by hand, linear where it explodes."""

from __future__ import annotations

import time
from random import Random
from statistics import median
from types import MappingProxyType
from typing import Any

import pytest
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInterfaceType,
    GraphQLObjectType,
    InlineFragmentNode,
    OperationDefinitionNode,
    get_introspection_query,
    get_named_type,
    is_list_type,
    is_non_null_type,
    parse,
    value_from_ast_untyped,
)

from api.execution.charges import AS_OF, CHARGES, FACET, LIST_SIZE, SIZES, TREE_ROWS
from api.execution.cost import Cost, TooDeep
from api.execution.documents import BadDocument, Documents
from api.execution.fleet_counts import FleetCounts
from api.execution.sizes import COMMAND, LISTED, size_of
from api.schema.schema import GRAPHQL
from api.settings import ApiSettings
from api.telemetry.metrics import Tallies
from doors import SELECTORS
from graph.model.command import COMMANDS_MAX
from graph.model.errors import Invalid
from graphql_documents import Maker, Words

DOCUMENTS = {"test": 500, "campaign": 50_000}
DEFAULT = ApiSettings()


def cost(text: str, variables: dict[str, Any] | None = None, *, depth_max: int = 50) -> int:
    operations, fragments = _definitions(text)
    sizes = {name: size_of(value) for name, value in (variables or {}).items()}
    return measure(fragments, sizes, depth_max=depth_max).of(operations[0])


def measure(fragments: Any, sizes: Any = MappingProxyType({}), *, depth_max: int = 50) -> Cost:
    rows = DEFAULT.tree_rows_max
    return Cost(GRAPHQL, fragments, sizes, depth_max=depth_max, tree_rows_max=rows)


def prepare_on_a_large_fleet(text: str) -> None:
    """As every request is checked."""
    documents = Documents(GRAPHQL, DEFAULT, Tallies())
    document = documents.prepare(text)
    operation = document.operation(None)
    if not documents.check_cost(document, operation, {}):
        counts = FleetCounts(*(10**9 for _ in FleetCounts._fields))
        documents.check_cost_on(counts, document, operation, {})


def _definitions(text: str) -> tuple[list[OperationDefinitionNode], dict[str, Any]]:
    nodes = parse(text).definitions
    fragments = {n.name.value: n for n in nodes if isinstance(n, FragmentDefinitionNode)}
    return [n for n in nodes if isinstance(n, OperationDefinitionNode)], fragments


class Naive:
    """The same by writing every fragment out, each time it is spread, and counting."""

    def __init__(self, text: str, variables: dict[str, Any]) -> None:
        operations, self.fragments = _definitions(text)
        self.operation = operations[0]
        self.values = {
            each.variable.name.value: value_from_ast_untyped(each.default_value)
            for each in self.operation.variable_definitions or ()
            if each.default_value is not None
        } | variables

    def cost(self) -> int:
        return self.inside(self.operation.selection_set, GRAPHQL.query_type, None)

    def inside(self, selections: Any, parent: Any, page: int | None) -> int:
        return sum(self.part(each, parent, page) for each in selections.selections)

    def part(self, node: Any, parent: Any, page: int | None) -> int:
        if isinstance(node, FieldNode):
            return self.field(node, parent, page)
        if isinstance(node, FragmentSpreadNode):
            node = self.fragments[node.name.value]
        on = parent
        if node.type_condition is not None:
            on = GRAPHQL.get_type(node.type_condition.name.value)
        assert isinstance(node, FragmentDefinitionNode | InlineFragmentNode)
        return self.inside(node.selection_set, on, page)

    def field(self, node: FieldNode, parent: Any, page: int | None) -> int:
        if node.name.value == "__typename":
            return 1
        assert isinstance(parent, GraphQLObjectType | GraphQLInterfaceType)
        field = parent.fields[node.name.value]
        place = f"{parent.name}.{node.name.value}"
        given = {each.name.value: self.value(each.value) for each in node.arguments or ()}
        ids = as_list(given.get("ids", given.get("id", []))) if "node" in node.name.value else []
        earlier = {"asOf", "from", "to"} & set(given) or [each for each in ids if "@" in str(each)]
        alone = 1 + AS_OF * bool(earlier) + listed_in(given)
        alone += CHARGES.get(place, 0) + CHARGES.get(node.name.value, 0)
        alone += FACET * len(as_list(given.get("by", [])))
        if node.selection_set is None:
            return alone
        first = None
        if "first" in field.args:
            first = given.get("first", ...)
            first = max(0, field.args["first"].default_value if first is ... else first)
        kind = field.type.of_type if is_non_null_type(field.type) else field.type
        inner = get_named_type(kind)
        if not is_list_type(kind):
            return alone + self.inside(node.selection_set, inner, page if first is None else first)
        if first is None:
            listed = given.get("ids", given.get("by"))
            usual = SIZES.get(place, LIST_SIZE) if page is None else page
            if place == "Fleet.tree":
                depth = given.get("depth", ...)
                depth = field.args["depth"].default_value if depth is ... else depth
                usual = min(DEFAULT.tree_rows_max, TREE_ROWS[min(max(0, depth), 5)])
            first = usual if listed is None else len(as_list(listed))
        return alone + first * self.inside(node.selection_set, inner, None)

    def value(self, node: Any) -> Any:
        name = node.name.value if node.kind == "variable" else ""
        if name and name not in self.values:
            return ...  # as if it were not there
        return self.values[name] if name else value_from_ast_untyped(node, self.values)


def as_list(value: Any) -> list[Any]:
    """What is no list stands for a list of one."""
    return value if isinstance(value, list) else [value]


def listed_in(value: Any, name: str = "") -> int:
    """How many things are in lists, at any depth; commands count as often as they cost."""
    if isinstance(value, dict):
        return sum(listed_in(each, key) for key, each in value.items())
    if isinstance(value, list):
        each = COMMAND if name == "commands" else LISTED
        return each * len(value) + sum(map(listed_in, value))
    return 0


@pytest.mark.volume
def test_the_cost_is_what_counting_with_every_fragment_written_out_gives(scale):
    words = Words(
        clusters=["austin-1"],
        paths=["/geo/us"],
        keys=["size"],
        selectors=SELECTORS,
        places=["1.0123456789abcdef"],
        revision=3,
    )
    maker = Maker(GRAPHQL, Random(7), words)
    dearest = 0
    for _ in range(DOCUMENTS[scale]):
        made = maker.document()
        counted = Naive(made.text, made.variables).cost()
        try:
            found = cost(made.text, made.variables)
        except Invalid:
            assert made.text.count("preview") > 1, made
            continue
        assert found == counted, made
        dearest = max(dearest, counted)
    assert dearest > DEFAULT.cost_max


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ fleet { revision } }", 2),
        ("{ fleet { revision revision } }", 3),
        ("{ fleet { clusters(first: 7) { nodes { name title } } } }", 3 + 7 * 2),
        ("{ fleet { clusters { nodes { name } } } }", 3 + 50),
        ("{ fleet { clusters(first: 1) { nodes { name } } } }", 3 + 1),
        ("{ fleet { clusters(first: 0) { totalCount nodes { name } } } }", 4),
        ("{ fleet { clusters(first: 7) { edges { cursor node { name } } } } }", 3 + 7 * 3),
        (
            "{ fleet { clusters(first: 7) { nodes { groups { path } } } } }",
            3 + 7 * (1 + LIST_SIZE),
        ),
        ("{ fleet(asOf: 3) { revision } }", 2 + AS_OF),
        ("{ fleet { revision } viewer { name } }", 4),
        ('{ nodes(ids: ["a", "b", "c"]) { id } }', 1 + 3 * LISTED + 3),
        ('{ node(id: "cluster:1") { id } }', 2),
        ('{ node(id: "cluster:1@3") { id } }', 2 + AS_OF),
        ('{ nodes(ids: ["a", "b@1", "c@2"]) { id } }', 1 + AS_OF + 3 * LISTED + 3),
        ('{ fleet { cluster(name: "a@1") { id } } }', 3),
        ('{ fleet { tree(root: "/geo") { path count } } }', 2 + 1_250 * 2),
        ('{ fleet { tree(root: "/geo", depth: 0) { path count } } }', 2 + 100 * 2),
        ('{ fleet { tree(root: "/geo", depth: 50) { path count } } }', 2 + 10_000 * 2),
        (
            '{ fleet { facets(by: [{label: "a"}, {label: "b"}]) { label } } }',
            2 + 2 * FACET + 2 * LISTED + 2,
        ),
        (
            '{ fleet { clusters(where: {or: [{text: "a"}, {and: [{text: "b"}]}]})'
            " { totalCount } } }",
            3 + 3 * LISTED,
        ),
        (
            '{ preview(input: {reason: "r", commands: [{leave: {cluster: "a", group: "/b"}},'
            ' {join: {cluster: "a", group: "/b"}}]}) { __typename } }',
            2 + 2 * COMMAND,
        ),
        ('mutation { revert(to: 1, scope: {id: "a"}, reason: "r") { __typename } }', 2 + AS_OF),
        ('{ previewRevert(to: 1, scope: {id: "a"}) { __typename } }', 2 + AS_OF),
        ('{ __type(name: "Cluster") { name fields { name } } }', 2 + 1 + 20),
        ("{ __schema { types { name } } }", 2 + 150),
        ("{ __schema { types { fields { name } } } }", 2 + 150 * (1 + 2)),
        ("{ nowhere { at { all } } }", 1),
        ("{ fleet { ...Nobody } }", 1),
    ],
)
def test_costs_that_can_be_counted_in_the_head(text, expected):
    assert cost(text) == expected


@pytest.mark.parametrize(
    ("definition", "variables", "size"),
    [
        ("$n: Int!", {"n": 400}, 400),
        ("$n: Int!", {"n": 400.0}, 400),
        ("$n: Int! = 300", {}, 300),
        ("$n: Int! = 300", {"n": 2}, 2),
        ("$n: Int", {}, 50),
        ("$n: Int!", {"n": -400}, 0),
        ("$n: Int!", {"n": True}, 1),
        ("$n: Int!", {"n": "many"}, 0),
        ("$n: Int!", {"n": None}, 0),
    ],
)
def test_a_page_sized_by_a_variable_costs_what_is_read_whichever_way_it_is_given(
    definition, variables, size
):
    text = f"query ({definition}) {{ fleet {{ clusters(first: $n) {{ nodes {{ name }} }} }} }}"
    assert cost(text, variables) == 3 + size


def test_a_negative_page_pays_for_nothing_else():
    dear = "clusters(first: 10000) { nodes { name title kind id } }"
    text = (
        f"{{ fleet {{ {dear} hierarchies {{ root {{ children(first: -100000) {{ name }} }} }} }} }}"
    )
    assert cost(text) > 40_000


def test_what_lies_below_many_fragments_is_counted():
    """However deep fragments lead, nothing is measured as free because it is far down."""
    text = "{ fleet { ...F0 } }" + "".join(
        f" fragment F{place} on Fleet {{ ...F{place + 1} }}" for place in range(30)
    )
    text += " fragment F30 on Fleet { clusters(first: 10000) { nodes { name } } }"
    assert cost(text) == 10_003
    with pytest.raises(TooDeep, match="more than 20 levels deep"):
        cost(text, depth_max=20)


def test_a_fragment_measured_in_a_shallow_place_still_counts_in_a_deep_one():
    inner = "root { hierarchy { root { hierarchy { name } } } }"
    deep = "root { hierarchy { " * 5 + "...F" + " } }" * 5
    text = f"{{ fleet {{ hierarchies {{ ...F {deep} }} }} }} fragment F on Hierarchy {{ {inner} }}"
    assert cost(text, depth_max=18)
    with pytest.raises(TooDeep):
        cost(text, depth_max=17)


def bomb(fragments: int, last: str = "revision") -> str:
    """Every fragment spreads the next one twice."""
    parts = [f"...F{place + 1} ...F{place + 1}" for place in range(fragments - 1)] + [last]
    bodies = (f"fragment F{place} on Fleet {{{part}}}" for place, part in enumerate(parts))
    return "{fleet{...F0}} " + " ".join(bodies)


@pytest.mark.parametrize("fragments", [20, 40, 100])
def test_a_fragment_bomb_is_refused_in_less_than_ten_milliseconds(fragments):
    documents = Documents(GRAPHQL, DEFAULT, Tallies())
    text = bomb(fragments)
    spent = []
    for _ in range(9):
        started = time.process_time()
        with pytest.raises(Invalid) as refused:
            documents.prepare(text)
        spent.append(time.process_time() - started)
    assert refused.value.hint
    assert median(spent) < 0.010


def test_the_cost_of_a_bomb_is_exact_however_large():
    assert cost(bomb(45)) == 1 + 2**44
    assert cost(bomb(45, "clusters(first: 3) { nodes { name } }")) == 1 + 2**44 * (2 + 3)


def test_measuring_a_bomb_takes_steps_in_proportion_to_its_length():
    def spent(fragments: int) -> float:
        operations, known = _definitions(bomb(fragments))
        started = time.process_time()
        for _ in range(20):
            measure(known, depth_max=10_000).of(operations[0])
        return time.process_time() - started

    assert median(spent(200) for _ in range(5)) < 40 * median(spent(20) for _ in range(5))


@pytest.mark.parametrize("descriptions", [True, False])
def test_the_question_every_console_asks_first_is_within_the_limits(descriptions):
    text = get_introspection_query(
        descriptions=descriptions, input_value_deprecation=True, schema_description=True
    )
    Documents(GRAPHQL, DEFAULT, Tallies()).prepare(text)


@pytest.mark.parametrize(
    "size", ["2147483647", "99999999999999999999", "9" * 5_000, "10001000", "1000000"]
)
def test_a_page_larger_than_all_limits_is_refused_as_too_dear_or_no_number(size):
    text = f"{{ fleet {{ clusters(first: {size}) {{ nodes {{ name }} }} }} }}"
    with pytest.raises((Invalid, BadDocument)):
        prepare_on_a_large_fleet(text)


APPLIED = "{ __typename }"


@pytest.mark.parametrize(
    ("text", "variables", "expected"),
    [
        (
            f"mutation ($i: ApplyInput!) {{ apply(input: $i) {APPLIED} }}",
            {"i": {"reason": "r", "commands": [{"leave": {}}] * 500}},
            2 + 500 * COMMAND,
        ),
        (
            'mutation ($c: [CommandInput!]!) { apply(input: {reason: "r", commands: $c}) '
            + APPLIED
            + " }",
            {"c": [{"leave": {}}] * 500},
            2 + 500 * COMMAND,
        ),
        (
            "query ($w: SelectorInput!) { fleet { a: clusters(where: $w) { totalCount }"
            " b: clusters(where: $w) { totalCount } } }",
            {"w": {"or": [{"text": "all"}] * 70}},
            5 + 2 * 70 * LISTED,
        ),
        (
            "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }",
            {"ids": ["cluster:1"] * 60},
            1 + 60 * LISTED + 60,
        ),
    ],
)
def test_what_is_listed_in_a_variable_costs_each_time_it_is_used(text, variables, expected):
    assert cost(text, variables) == expected


def test_a_full_batch_is_within_the_limits_and_two_are_not():
    batch = {"reason": "r", "commands": [{"leave": {"cluster": "a", "group": "/b"}}] * COMMANDS_MAX}
    one, two = (f"{name}: apply(input: $i) {APPLIED}" for name in "ab")
    once, twice = (f"mutation ($i: ApplyInput!) {{ {text} }}" for text in (one, one + two))
    assert cost(once, {"i": batch}) < DEFAULT.cost_max < cost(twice, {"i": batch})


@pytest.mark.parametrize(
    "text",
    [
        "a: preview(input: $i) { __typename } b: preview(input: $i) { __typename }",
        "preview(input: $i) { __typename } previewRevert(to: 1, scope: $s) { __typename }",
        "preview(input: $i) { __typename } ... { b: preview(input: $i) { __typename } }",
        "preview(input: $i) { __typename } ...F",
    ],
)
def test_an_operation_has_one_preview_wherever_others_hide(text):
    text = f"query ($i: ApplyInput!, $s: RevertScope!) {{ {text} }}"
    text += (
        " fragment F on Query { ...G } fragment G on Query { b: preview(input: $i) { __typename } }"
    )
    with pytest.raises(Invalid, match="2 previews"):
        cost(text)


def test_a_preview_that_is_asked_for_again_is_one_preview():
    assert cost(
        "query ($i: ApplyInput!) { preview(input: $i) { __typename } ...F }"
        " fragment F on Query { preview(input: $i) { __typename } }"
    )


def introspected(aliases: int) -> str:
    inner = " ".join(f"b{place}: fields {{ name }}" for place in range(aliases))
    outer = " ".join(
        f"a{place}: fields {{ type {{ ofType {{ ...W ofType {{ ofType {{ ...W }} }} }} }} }}"
        for place in range(aliases)
    )
    return f"{{ __schema {{ types {{ {outer} }} }} }} fragment W on __Type {{ {inner} }}"


HOSTILE = {
    "aliases of the schema": "{ "
    + " ".join(f"a{n}: __schema {{ ...W }}" for n in range(180))
    + " } fragment W on __Schema { types { name fields { name } } }",
    "aliases inside the schema": introspected(4),
    "fields of types of fields": "{ __schema { types { "
    + " ".join(f"a{n}: fields {{ type {{ fields {{ type {{ name }} }} }} }}" for n in range(10))
    + " } } }",
    "one type over and over": "{ "
    + " ".join(f'a{n}: __type(name: "Fleet") {{ ...W }}' for n in range(60))
    + " } fragment W on __Type { fields { args { type { fields { name isDeprecated } } } } }",
    "a hundred deep trees": "{ fleet { "
    + " ".join(f'a{n}: tree(root: "/geo", depth: {n}) {{ path }}' for n in range(1, 100))
    + " } }",
    "cross-tabs": "{ fleet { "
    + " ".join(
        f'a{n}: crossTab(rows: {{label: "a"}}, columns: {{label: "b"}}) {{ rows }}'
        for n in range(25)
    )
    + " } }",
    "many dimensions": "query ($by: [FacetInput!]! = ["
    + '{label: "size"} ' * 20
    + "]) { fleet { "
    + " ".join(f"a{n}: facets(by: $by) {{ label }}" for n in range(25))
    + " } }",
    "saved selectors of a page": "{ fleet { clusters(first: 5000) { nodes"
    " { savedSelectors(first: 1) { name } } } } }",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_short_to_ask_and_long_to_answer_is_too_dear(text):
    with pytest.raises(Invalid, match="costs"):
        prepare_on_a_large_fleet(text)
