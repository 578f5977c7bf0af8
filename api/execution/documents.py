"""Documents: read, measured and validated once, then remembered.

A request that sends the same text again pays for none of that. The memory is bounded in entries
and in tokens, with all that was worked out for them since, and a text too long to be a program's
own is not kept. The order is the order of what it costs to refuse: length, tokens, cost, validity.

What is remembered depends on no fleet: the cost is that of the pages as they are declared. A query
that is too dear by them, and would not be on the smallest fleet, is measured again by what the
fleet at hand holds, each time, against the very view that it is then answered from.
"""

# graphql-core leaves the insides of its generic types unknown
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    OperationType,
    OverlappingFieldsCanBeMergedRule,
    ValidationContext,
    VariableNode,
    Visitor,
    parse,
    specified_rules,
    validate,
    visit,
)
from graphql.validation.validate import ValidationAbortedError

from api.execution.cost import Cost
from api.execution.fleet_counts import LEAST, FleetCounts
from api.execution.plan import Plan
from api.execution.sizes import Size, size_of
from api.settings import ApiSettings
from api.telemetry.metrics import Tallies
from graph.model.errors import Invalid

TEXT_KEPT_MAX = 32_768
"""Characters of a document that is remembered."""
ERRORS_MAX = 10
"""Faults of a document that are told at once."""
MERGES_MAX = 20_000
"""Steps of finding out whether repeated fields can be merged; a tenth of a second at the most."""
PLANS_KEPT_MAX = 8
"""Plans remembered for one operation: one for each way its conditions fall out."""
FIELD_TOKENS = 3
"""Tokens that a field of a plan weighs as much as."""
SIZES_KEPT_MAX = 100
"""Sizes remembered for one operation as not too dear."""


class BadDocument(Exception):
    """A document that cannot be executed; ``errors`` say why."""

    def __init__(self, errors: Sequence[GraphQLError]) -> None:
        super().__init__(errors[0].message)
        self.errors = list(errors)


@dataclass(slots=True)
class Operation:
    """One operation of a valid document."""

    node: OperationDefinitionNode
    conditions: tuple[str, ...]
    """Variables that skip and include ask for."""
    sized_by: tuple[str, ...]
    """Variables whose size is part of the cost."""
    cost: int
    """Its cost without those variables."""
    affordable: set[tuple[Size | None, ...]] = field(default_factory=set["tuple[Size | None, ...]"])
    """Their sizes that were asked for before and are not too dear."""
    read: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    """Reads its variables, the quick way; made when it is first executed."""
    plans: dict[tuple[Any, ...], Plan | None] = field(
        default_factory=dict["tuple[Any, ...]", "Plan | None"]
    )

    kind: OperationType = field(init=False)
    """Query, mutation or subscription."""
    kind_name: str = field(init=False)
    """The same as text: an enumeration takes its time to say it."""
    name: str = field(init=False)
    """The operation's name; empty if it has none."""

    def __post_init__(self) -> None:
        """Read off the node what every request asks for."""
        self.kind = self.node.operation
        self.kind_name = self.kind.value
        self.name = "" if self.node.name is None else self.node.name.value

    def root_fields(self) -> set[str]:
        """The names of the fields it begins with; an empty one for what a fragment may hide."""
        selections = self.node.selection_set.selections
        return {each.name.value if isinstance(each, FieldNode) else "" for each in selections}


@dataclass(slots=True)
class Document:
    """A valid document."""

    text: str
    ast: DocumentNode
    operations: Mapping[str, Operation]
    fragments: Mapping[str, FragmentDefinitionNode]
    weight: int
    """In tokens: its own, and what was worked out for it."""
    memory: DocumentMemory | None = None
    """Where it is remembered, if it is."""

    def keep_plan(self, operation: Operation, key: tuple[Any, ...], plan: Plan | None) -> None:
        """Remember how one of its operations is executed, where its conditions fall out so."""
        if len(operation.plans) >= PLANS_KEPT_MAX:
            self._grow(-sum(map(_tokens, operation.plans.values())))
            operation.plans.clear()
        operation.plans[key] = plan
        self._grow(_tokens(plan))

    def keep_sizes(self, operation: Operation, sizes: tuple[Size | None, ...]) -> None:
        """Remember that one of its operations is not too dear with variables of these sizes."""
        if len(operation.affordable) >= SIZES_KEPT_MAX:
            self._grow(-len(sizes) * len(operation.affordable))
            operation.affordable.clear()
        operation.affordable.add(sizes)
        self._grow(len(sizes))

    def _grow(self, tokens: int) -> None:
        self.weight += tokens
        if self.memory is not None:
            self.memory.grown(tokens)

    def operation(self, name: str | None) -> Operation:
        """The operation to execute; refused if the name does not settle which."""
        if name:
            if name not in self.operations:
                raise BadDocument([GraphQLError(f"Unknown operation named {name!r}.")])
            return self.operations[name]
        if len(self.operations) != 1:
            what = "several operations" if self.operations else "no operation"
            raise BadDocument(
                [GraphQLError(f"The document has {what}: say which by operationName.")]
            )
        return next(iter(self.operations.values()))


class DocumentMemory:
    """Documents by their text, in a number and a weight that are bounded; the oldest goes first."""

    def __init__(self, count_max: int, tokens_max: int) -> None:
        self._count_max = count_max
        self._tokens_max = tokens_max
        self._known: dict[str, Document] = {}
        self.weight = 0

    def find(self, text: str) -> Document | None:
        """The document of this text, if it is remembered."""
        return self._known.get(text)

    def keep(self, document: Document) -> None:
        """Remember ``document``."""
        self._known[document.text] = document
        document.memory = self
        self.grown(document.weight)

    def grown(self, tokens: int) -> None:
        """What is remembered weighs so much more."""
        self.weight += tokens
        while self._known and (
            self.weight > self._tokens_max or len(self._known) > self._count_max
        ):
            oldest = self._known.pop(next(iter(self._known)))
            oldest.memory = None
            self.weight -= oldest.weight


class Documents:
    """Prepares documents, and remembers those that were sent before."""

    def __init__(self, schema: GraphQLSchema, settings: ApiSettings, tallies: Tallies) -> None:
        self._schema = schema
        self._settings = settings
        self.memory = DocumentMemory(settings.documents_kept_max, settings.documents_kept_tokens)
        self._rules = [
            _Merging if each is OverlappingFieldsCanBeMergedRule else each
            for each in specified_rules
        ]
        if not settings.introspection:
            self._rules.append(NoSchemaIntrospectionCustomRule)
        self._tallies = tallies

    def prepare(self, text: str) -> Document:
        """The document ``text`` is; ``BadDocument`` if it is none that can be executed."""
        known = self.memory.find(text)
        if known is not None:
            self._tallies.documents_hit += 1
            return known
        self._tallies.documents_missed += 1
        made = self._read(text)
        if len(text) <= TEXT_KEPT_MAX:
            self.memory.keep(made)
        return made

    def check_cost(
        self, document: Document, operation: Operation, variables: Mapping[str, Any]
    ) -> bool:
        """Whether an operation is within its bounds on any fleet, with these variables.

        If not, ``check_cost_on`` says whether it is on the fleet at hand; refused at once is what
        is too dear on every fleet.
        """
        if not operation.sized_by:
            return operation.cost <= self._settings.cost_max
        sizes = tuple(
            [size_of(variables[name]) if name in variables else None for name in operation.sized_by]
        )
        if sizes in operation.affordable:
            return True
        known = _known(operation, variables)
        cost = self._cost(document.fragments, known).of(operation.node)
        if cost > self._settings.cost_max:
            self._refuse_on_every_fleet(operation.node, document.fragments, known, cost)
            return False
        document.keep_sizes(operation, sizes)
        return True

    def check_cost_on(
        self,
        counts: FleetCounts,
        document: Document,
        operation: Operation,
        variables: Mapping[str, Any],
    ) -> None:
        """Refuse a query that is too dear on a fleet that holds so much."""
        known = _known(operation, variables)
        self._refuse_dear(self._cost(document.fragments, known, counts).of(operation.node))

    def _read(self, text: str) -> Document:
        if len(text) > self._settings.document_length_max:
            raise Invalid(
                f"a document of {len(text):,} characters,"
                f" and {self._settings.document_length_max:,} are allowed",
                hint="send values as variables",
            )
        try:
            ast = parse(text, max_tokens=self._settings.tokens_max)
        except GraphQLError as error:
            raise BadDocument([error]) from None
        except RecursionError:
            raise BadDocument([GraphQLError("The document is nested too deeply.")]) from None
        nodes = ast.definitions
        fragments = {n.name.value: n for n in nodes if isinstance(n, FragmentDefinitionNode)}
        measured = [
            (node, *self._measure(node, fragments))
            for node in nodes
            if isinstance(node, OperationDefinitionNode)
        ]
        self._validate(ast)
        conditions = _conditions(ast)
        operations = {
            "" if node.name is None else node.name.value: Operation(node, conditions, sized, cost)
            for node, cost, sized in measured
        }
        return Document(text, ast, operations, fragments, ast.token_count)

    def _measure(
        self, node: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
    ) -> tuple[int, tuple[str, ...]]:
        measure = self._cost(fragments, {})
        cost = measure.of(node)
        if cost > self._settings.cost_max:
            self._refuse_on_every_fleet(node, fragments, {}, cost)
        return cost, tuple(sorted(measure.sized_by))

    def _refuse_on_every_fleet(
        self,
        node: OperationDefinitionNode,
        fragments: Mapping[str, FragmentDefinitionNode],
        sizes: Mapping[str, Size],
        cost: int,
    ) -> None:
        """Refuse what costs too much on the smallest fleet as well."""
        if self._cost(fragments, sizes, LEAST).of(node) > self._settings.cost_max:
            self._refuse_dear(cost)

    def _cost(
        self,
        fragments: Mapping[str, FragmentDefinitionNode],
        sizes: Mapping[str, Size],
        counts: FleetCounts | None = None,
    ) -> Cost:
        return Cost(
            self._schema,
            fragments,
            sizes,
            depth_max=self._settings.depth_max,
            tree_rows_max=self._settings.tree_rows_max,
            counts=counts,
        )

    def _refuse_dear(self, cost: int) -> None:
        if cost > self._settings.cost_max:
            shown = f"{cost:,}" if cost < 10**15 else "far more"
            raise Invalid(
                f"the operation costs {shown}, and {self._settings.cost_max:,} is allowed",
                hint="ask for smaller pages or fewer fields, or use the export",
            )

    def _validate(self, ast: DocumentNode) -> None:
        try:
            errors = validate(
                self._schema,
                ast,
                self._rules,
                max_errors=ERRORS_MAX,
                hide_suggestions=not self._settings.introspection,
            )
        except RecursionError:
            errors = [GraphQLError("The document is nested too deeply.")]
        if any(isinstance(each, ValidationAbortedError) for each in errors):
            errors = [each for each in errors if not isinstance(each, ValidationAbortedError)]
            errors = errors or [GraphQLError("The document repeats too many fields to be checked.")]
        if errors:
            raise BadDocument(errors)


class _Merging(OverlappingFieldsCanBeMergedRule):
    """Whether repeated fields can be merged, within the work we are ready to do for it."""

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.rule_context.remaining_complexity_budget = MERGES_MAX


def _known(operation: Operation, variables: Mapping[str, Any]) -> dict[str, Size]:
    """The sizes of the variables on which the cost of an operation depends."""
    return {name: size_of(variables[name]) for name in operation.sized_by if name in variables}


def _tokens(plan: Plan | None) -> int:
    return 1 if plan is None else FIELD_TOKENS * plan.fields


class _Conditions(Visitor):
    """Collects the variables of skip and include."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_directive(self, node: Any, *_: Any) -> None:
        for argument in node.arguments or ():
            if isinstance(argument.value, VariableNode):
                self.names.add(argument.value.name.value)


def _conditions(ast: DocumentNode) -> tuple[str, ...]:
    found = _Conditions()
    visit(ast, found)
    return tuple(sorted(found.names))
