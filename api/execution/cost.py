"""What an operation may cost, before any of it is done: fields times the sizes of their pages.

Each field costs one; whatever lies inside a list costs as often as the list is long. A page is as
long as its ``first`` says; other lists count as ``LIST_SIZE``, or what ``charges`` says. What
is listed in an argument costs as well. Some fields are dear by themselves, as reading an earlier
revision, which may mean reconstructing it. Questions about the schema are measured as all others.

Where it is known how much a fleet holds, a page of it counts as no longer than that: a page of
1,000 on a fleet of twelve is one of twelve. That holds below ``fleet`` at its newest revision only;
what reads the log or another revision counts as declared, for there may have been more.

Each fragment is measured once, however often it is spread, so the work is linear in the document;
the cost itself is an exact, possibly very large, integer. This runs before validation, which is
dearer, and so takes documents that make no sense: what is not in the schema costs nothing here.
"""

# graphql-core leaves the insides of its generic types unknown
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

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
    OperationDefinitionNode,
    SchemaMetaFieldDef,
    SelectionNode,
    SelectionSetNode,
    TypeMetaFieldDef,
    get_named_type,
    is_list_type,
    is_non_null_type,
)

from api.execution.charges import (
    AS_OF,
    BY_ID,
    CHARGES,
    EARLIER,
    FACET,
    LIST_SIZE,
    OF_EACH,
    OF_FLEET,
    OTHER_FLEET,
    OTHER_REVISIONS,
    PREVIEWS,
    PREVIEWS_MAX,
    SIZES,
    TREE_ROWS,
)
from api.execution.fleet_counts import UNBOUNDED, FleetCounts
from api.execution.sizes import ONE, Size, Sizes
from graph.model.errors import Invalid

Measure = tuple[int, int]
"""A cost, and how many levels deep it goes."""
NOTHING: Final[Measure] = (0, 0)


class Place(NamedTuple):
    """Where in an operation something is measured."""

    depth: int
    page: int | None = None
    """The size of the page it is in, if it is."""
    in_fleet: bool = False
    """Whether the counts of the fleet bound what is listed there."""

    def below(self, page: int | None, *, in_fleet: bool) -> Place:
        """Inside a field there."""
        return Place(self.depth + 1, page, in_fleet)

    def inside(self) -> Place:
        """Inside a fragment there."""
        return self._replace(depth=self.depth + 1)


class TooDeep(Invalid):
    """The operation has more levels than are allowed."""

    def __init__(self, depth_max: int) -> None:
        super().__init__(
            f"the operation goes more than {depth_max:,} levels deep",
            hint="ask for what lies further down in another operation",
        )


class Cost:
    """Measures operations of one document with variables of some sizes."""

    def __init__(
        self,
        schema: GraphQLSchema,
        fragments: Mapping[str, FragmentDefinitionNode],
        sizes: Mapping[str, Size],
        *,
        depth_max: int,
        tree_rows_max: int,
        counts: FleetCounts | None = None,
    ) -> None:
        self._schema = schema
        self._fragments = fragments
        self._given = sizes
        self._depth_max = depth_max
        self._tree_rows_max = tree_rows_max
        self._sizes = Sizes(sizes, {})
        self._counts = counts
        self._measured: dict[tuple[str, int | None, bool], Measure] = {}

    @property
    def sized_by(self) -> frozenset[str]:
        """Variables whose sizes were looked at: the cost depends on nothing else."""
        return frozenset(self._sizes.variables)

    def of(self, operation: OperationDefinitionNode) -> int:
        """The cost of ``operation``; refused if it goes too deep."""
        root = self._schema.get_root_type(operation.operation)
        self._sizes = Sizes(
            self._given,
            {
                each.variable.name.value: each.default_value
                for each in operation.variable_definitions or ()
                if each.default_value is not None
            },
        )
        self._measured.clear()  # another operation may have other defaults
        if root is None:
            return 0
        found = self._selections(operation.selection_set, root, Place(1))[0]
        self._refuse_previews(operation.selection_set)
        return found

    def _selections(
        self, selections: SelectionSetNode, parent: GraphQLNamedType, place: Place
    ) -> Measure:
        """What is inside."""
        self._refuse_deep(place.depth)
        total = height = 0
        for selection in selections.selections:
            cost, below = self._selection(selection, parent, place)
            total += cost
            height = max(height, below)
        return total, height + 1

    def _selection(self, node: SelectionNode, parent: GraphQLNamedType, place: Place) -> Measure:
        if isinstance(node, FieldNode):
            return self._field(node, parent, place)
        if isinstance(node, InlineFragmentNode):
            inside = self._condition(node, parent)
            return self._selections(node.selection_set, inside, place.inside())
        assert isinstance(node, FragmentSpreadNode), "there is no fourth kind"
        return self._spread(node.name.value, place)

    def _spread(self, name: str, place: Place) -> Measure:
        key = (name, place.page, place.in_fleet)
        known = self._measured.get(key)
        if known is not None:
            self._refuse_deep(place.depth + known[1])
            return known
        fragment = self._fragments.get(name)
        if fragment is None:
            return NOTHING
        parent = self._schema.get_type(fragment.type_condition.name.value)
        if parent is None:
            return NOTHING
        self._measured[key] = NOTHING  # a cycle adds nothing; validation refuses it
        measured = self._selections(fragment.selection_set, parent, place.inside())
        self._measured[key] = measured
        return measured

    def _field(self, node: FieldNode, parent: GraphQLNamedType, place: Place) -> Measure:
        name = node.name.value
        field = self._definition(parent, name)
        if field is None:
            return 1, 0
        called = f"{parent.name}.{name}"
        given = {each.name.value: self._sizes.of(each.value) for each in node.arguments or ()}
        alone = _charge(called, name, given)
        if node.selection_set is None:
            return alone, 0
        inner = get_named_type(field.type)
        in_fleet = self._is_in_fleet(called, inner, given, place)
        most = self._most(inner) if in_fleet else UNBOUNDED
        first = _count(field, given, "first")
        if not _is_list(field):  # a connection hands its page on to the lists inside it
            handed = place.page if first is None else min(first, most)
            inside = place.below(handed, in_fleet=in_fleet)
            cost, height = self._selections(node.selection_set, inner, inside)
            return alone + cost, height
        length = self._length(called, field, given, place.page) if first is None else first
        inside = place.below(OF_EACH.get(called), in_fleet=in_fleet)
        cost, height = self._selections(node.selection_set, inner, inside)
        return alone + min(length, most) * cost, height

    def _is_in_fleet(
        self,
        called: str,
        inner: GraphQLNamedType,
        given: Mapping[str, Size | None],
        place: Place,
    ) -> bool:
        """Whether what is inside a field is of the fleet whose counts are known."""
        if self._counts is None:
            return False
        if called == "Query.fleet":
            return not any(each in given for each in OTHER_FLEET)
        if inner.name in OTHER_REVISIONS or any(each in given for each in EARLIER):
            return False
        return place.in_fleet

    def _most(self, inner: GraphQLNamedType) -> int:
        """How many objects of a type the fleet holds, where that is known."""
        name = OF_FLEET.get(inner.name)
        return UNBOUNDED if name is None else int(getattr(self._counts, name))

    def _length(
        self, called: str, field: GraphQLField, given: Mapping[str, Size | None], page: int | None
    ) -> int:
        for name in ("ids", "by"):
            if name in given:
                return (given[name] or ONE).length
        levels = _count(field, given, "depth") if called == "Fleet.tree" else None
        if levels is not None:
            return min(self._tree_rows_max, TREE_ROWS[min(levels, len(TREE_ROWS) - 1)])
        return SIZES.get(called, LIST_SIZE) if page is None else page

    def _definition(self, parent: GraphQLNamedType, name: str) -> GraphQLField | None:
        if parent is self._schema.query_type and name in _META:
            return _META[name]
        if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
            found: GraphQLField | None = parent.fields.get(name)
            return found
        return None

    def _condition(self, node: InlineFragmentNode, parent: GraphQLNamedType) -> GraphQLNamedType:
        if node.type_condition is None:
            return parent
        return self._schema.get_type(node.type_condition.name.value) or parent

    def _refuse_deep(self, depth: int) -> None:
        if depth > self._depth_max:
            raise TooDeep(self._depth_max)

    def _refuse_previews(self, selections: SelectionSetNode) -> None:
        found = {
            (each.alias or each.name).value
            for each in self._roots(selections, set())
            if each.name.value in PREVIEWS
        }
        if len(found) > PREVIEWS_MAX:
            raise Invalid(
                f"the operation asks for {len(found):,} previews",
                hint="ask for one at a time; a batch holds many commands",
            )

    def _roots(self, selections: SelectionSetNode, spread: set[str]) -> Iterator[FieldNode]:
        """The fields an operation begins with, wherever fragments hide them."""
        for each in selections.selections:
            if isinstance(each, FieldNode):
                yield each
            elif isinstance(each, InlineFragmentNode):
                yield from self._roots(each.selection_set, spread)
            elif isinstance(each, FragmentSpreadNode) and each.name.value not in spread:
                spread.add(each.name.value)
                fragment = self._fragments.get(each.name.value)
                if fragment is not None:
                    yield from self._roots(fragment.selection_set, spread)


_META: Final[Mapping[str, GraphQLField]] = {
    "__schema": SchemaMetaFieldDef,
    "__type": TypeMetaFieldDef,
}


def _charge(called: str, name: str, given: Mapping[str, Size | None]) -> int:
    """What a field costs by itself, with what is listed in its arguments."""
    found = 1 + CHARGES.get(called, CHARGES.get(name, 0))
    found += sum(each.weight for each in given.values() if each is not None)
    if any(each in given for each in EARLIER) or (
        called in BY_ID and any(each.earlier for each in given.values() if each is not None)
    ):
        found += AS_OF
    if "by" in given:
        found += FACET * (given["by"] or ONE).length
    return found


def _count(field: GraphQLField, given: Mapping[str, Size | None], name: str) -> int | None:
    """A number among the arguments; None if there is no such argument."""
    if name not in field.args:
        return None
    size = given.get(name)
    if size is not None:
        return size.number
    default = field.args[name].default_value
    return default if isinstance(default, int) else 1


def _is_list(field: GraphQLField) -> bool:
    kind = field.type
    return is_list_type(kind.of_type if is_non_null_type(kind) else kind)
