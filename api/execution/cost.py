"""What an operation may cost, before any of it is done: fields times the sizes of their pages.

Each field costs one; whatever lies inside a list costs as often as the list is long. A page is as
long as its ``first`` says; other lists count as ``LIST_SIZE``. Reading an earlier revision may mean
reconstructing it, and is charged for.

Each fragment is measured once, however often it is spread, so the work is linear in the document;
the cost itself is an exact, possibly very large, integer. This runs before validation, which is
dearer, and so takes documents that make no sense: what is not in the schema costs nothing here.
"""

# graphql-core leaves the insides of its generic types unknown
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
    is_list_type,
    is_non_null_type,
)

from graph.model.errors import Invalid

LIST_SIZE: Final = 10
"""What a list counts as that nobody pages."""
SIZES: Final = {"tree": 100, "buckets": 20, "reasons": 20}
"""Lists that are usually longer."""
AS_OF: Final = 5_000
"""What an earlier revision costs."""
HISTORY: Final = 1_500
"""What an object's history costs, which is read from the store."""

Measure = tuple[int, int]
"""A cost, and how many levels deep it goes."""
NOTHING: Final[Measure] = (0, 0)


class TooDeep(Invalid):
    """The operation has more levels than are allowed."""

    def __init__(self, depth_max: int) -> None:
        super().__init__(
            f"the operation goes more than {depth_max:,} levels deep",
            hint="ask for what lies further down in another operation",
        )


class Cost:
    """Measures operations of one document with one set of variables."""

    def __init__(
        self,
        schema: GraphQLSchema,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: Mapping[str, Any],
        *,
        depth_max: int,
    ) -> None:
        self._schema = schema
        self._fragments = fragments
        self._variables = variables
        self._depth_max = depth_max
        self._defaults: dict[str, ValueNode] = {}
        self._measured: dict[tuple[str, int | None], Measure] = {}
        self.sized_by: set[str] = set()
        """Variables that say how long a list is: the cost depends on nothing else."""

    def of(self, operation: OperationDefinitionNode) -> int:
        """The cost of ``operation``; refused if it goes too deep."""
        root = self._schema.get_root_type(operation.operation)
        self._defaults = {
            each.variable.name.value: each.default_value
            for each in operation.variable_definitions or ()
            if each.default_value is not None
        }
        self._measured.clear()  # another operation may have other defaults
        return 0 if root is None else self._selections(operation.selection_set, root, None, 1)[0]

    def _selections(
        self, selections: SelectionSetNode, parent: GraphQLNamedType, page: int | None, depth: int
    ) -> Measure:
        """What is inside, at ``depth``; ``page`` is the size of the page it is in, if it is."""
        self._refuse_deep(depth)
        total = height = 0
        for selection in selections.selections:
            cost, below = self._selection(selection, parent, page, depth)
            total += cost
            height = max(height, below)
        return total, height + 1

    def _selection(
        self, node: SelectionNode, parent: GraphQLNamedType, page: int | None, depth: int
    ) -> Measure:
        if isinstance(node, FieldNode):
            return self._field(node, parent, page, depth)
        if isinstance(node, InlineFragmentNode):
            inside = self._condition(node, parent)
            return self._selections(node.selection_set, inside, page, depth + 1)
        assert isinstance(node, FragmentSpreadNode), "there is no fourth kind"
        return self._spread(node.name.value, page, depth)

    def _spread(self, name: str, page: int | None, depth: int) -> Measure:
        known = self._measured.get((name, page))
        if known is not None:
            self._refuse_deep(depth + known[1])
            return known
        fragment = self._fragments.get(name)
        if fragment is None:
            return NOTHING
        parent = self._schema.get_type(fragment.type_condition.name.value)
        if parent is None:
            return NOTHING
        self._measured[name, page] = NOTHING  # a cycle adds nothing; validation refuses it
        measured = self._selections(fragment.selection_set, parent, page, depth + 1)
        self._measured[name, page] = measured
        return measured

    def _field(
        self, node: FieldNode, parent: GraphQLNamedType, page: int | None, depth: int
    ) -> Measure:
        field = _definition(parent, node.name.value)
        if field is None or node.selection_set is None:
            return 1, 0
        inner = get_named_type(field.type)
        arguments = {each.name.value: each.value for each in node.arguments or ()}
        charge = _charge(node.name.value, arguments)
        first = self._first(field, arguments)
        if not _is_list(field):  # a connection hands its page on to the lists inside it
            handed = page if first is None else first
            cost, height = self._selections(node.selection_set, inner, handed, depth + 1)
            return charge + cost, height
        length = self._length(node.name.value, arguments, page) if first is None else first
        cost, height = self._selections(node.selection_set, inner, None, depth + 1)
        return charge + length * cost, height

    def _first(self, field: GraphQLField, arguments: Mapping[str, ValueNode]) -> int | None:
        if "first" not in field.args:
            return None
        default = field.args["first"].default_value
        return self._number(arguments.get("first"), default if isinstance(default, int) else 1)

    def _number(self, given: ValueNode | None, otherwise: int) -> int:
        """A size as it is given; what is no size is refused later, and counts for nothing."""
        if given is None:
            return otherwise
        if isinstance(given, IntValueNode):
            # a number longer than any page is refused as what it is: too large
            return max(0, int(given.value)) if len(given.value) < 20 else 10**20
        if not isinstance(given, VariableNode):
            return 0
        name = given.name.value
        self.sized_by.add(name)
        if name in self._variables:
            value = self._variables[name]
            return max(0, int(value)) if isinstance(value, int | float) else 0
        return self._number(self._defaults.get(name), otherwise)

    def _length(self, name: str, arguments: Mapping[str, ValueNode], page: int | None) -> int:
        listed = arguments.get("ids", arguments.get("by"))
        if listed is None:
            return SIZES.get(name, LIST_SIZE) if page is None else page
        if isinstance(listed, VariableNode):
            variable = listed.name.value
            self.sized_by.add(variable)
            if variable in self._variables:
                value = self._variables[variable]
                return len(value) if isinstance(value, list) else 1
            listed = self._defaults.get(variable)
        return len(listed.values) if isinstance(listed, ListValueNode) else 1

    def _condition(self, node: InlineFragmentNode, parent: GraphQLNamedType) -> GraphQLNamedType:
        if node.type_condition is None:
            return parent
        return self._schema.get_type(node.type_condition.name.value) or parent

    def _refuse_deep(self, depth: int) -> None:
        if depth > self._depth_max:
            raise TooDeep(self._depth_max)


def _charge(name: str, arguments: Mapping[str, ValueNode]) -> int:
    """What a field costs by itself."""
    if "asOf" in arguments or "from" in arguments:
        return 1 + AS_OF
    return 1 + HISTORY if name == "history" else 1


def _definition(parent: GraphQLNamedType, name: str) -> GraphQLField | None:
    if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
        found: GraphQLField | None = parent.fields.get(name)
        return found
    return None


def _is_list(field: GraphQLField) -> bool:
    kind = field.type
    return is_list_type(kind.of_type if is_non_null_type(kind) else kind)
