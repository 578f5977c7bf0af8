"""What is said about selectors: how one is read, why a cluster is in or out, how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import strawberry

from api.context import Context
from api.schema.history import HistoryLine
from api.schema.inventory import Cluster
from api.schema.names import Json
from graph.model.errors import SelectorInvalid, SelectorNotFound, TrellisError
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.ref import Kind
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.scoped import readable
from graph.targeting.candidate import Completion as CoreCompletion
from graph.targeting.cycles import in_order
from graph.targeting.cypher import compile_cypher
from graph.targeting.explain import Explanation as CoreExplanation
from graph.targeting.explain import Reason as CoreReason
from graph.targeting.structured import to_structured
from graph.targeting.syntax import to_text


@strawberry.type(description="One clause of a selector, and whether it holds for the cluster.")
class Reason:
    """A line of an explanation."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    cluster: strawberry.Private[ClusterNumber]
    reason: strawberry.Private[CoreReason]

    depth: int = strawberry.field(description="How deep inside the selector; 0 is the whole.")

    @strawberry.field(description="The clause, as canonical text.")
    def text(self) -> str:
        """The clause."""
        return self.reason.text

    @strawberry.field(description="Whether it holds for the cluster.")
    def holds(self) -> bool:
        """Whether it holds."""
        return self.reason.holds

    @strawberry.field(description="The fact it rests on; empty where the text says it all.")
    def fact(self) -> str:
        """The fact."""
        return self.reason.fact

    @strawberry.field(
        description="How the cluster came to be in the one group the fact is about, if that can"
        " be told: since when, by whom, why."
    )
    async def since(self) -> HistoryLine | None:
        """The membership's beginning."""
        groups = [ref.key for ref in self.reason.about if ref.kind is Kind.GROUP]
        if len(groups) != 1 or self.view is not self.context.seen:
            return None
        group = GroupNumber(int(groups[0]))
        line = await self.context.engine.member_since(self.cluster, group, self.context.access)
        return None if line is None else HistoryLine(view=self.view, line=line)


@strawberry.type(description="Why a cluster is in or out of a selector's answer.")
class Explanation:
    """The answer for one cluster."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    explanation: strawberry.Private[CoreExplanation]

    @strawberry.field(description="The cluster.")
    def cluster(self) -> Cluster:
        """The cluster explained."""
        return Cluster(context=self.context, view=self.view, number=self.explanation.cluster)

    @strawberry.field(description="Whether the selector chooses it.")
    def holds(self) -> bool:
        """The answer."""
        return self.explanation.holds

    @strawberry.field(description="The answer in one line: how many clauses hold.")
    def summary(self) -> str:
        """The answer in words."""
        return self.explanation.summary

    @strawberry.field(description="Every clause in the author's order, each before its parts.")
    def reasons(self) -> list[Reason]:
        """The tree of clauses, as lines with a depth."""
        return [
            Reason(
                context=self.context,
                view=self.view,
                cluster=self.explanation.cluster,
                reason=reason,
                depth=depth,
            )
            for reason, depth in _lines(self.explanation.reason, 0)
        ]

    @strawberry.field(description="The fewest changes that would flip the answer; null if none.")
    def nearest(self) -> list[str] | None:
        """The nearest flip."""
        steps = self.explanation.nearest
        return None if steps is None else [str(step) for step in steps]


def _lines(reason: CoreReason, depth: int) -> Iterator[tuple[CoreReason, int]]:
    yield reason, depth
    for part in reason.parts:
        yield from _lines(part, depth + 1)


@strawberry.type(description="What is wrong with a selector, where, and what to do next.")
class SelectorProblem:
    """A selector that cannot be read."""

    code: str = strawberry.field(description="The kind of problem, for programs.")
    message: str = strawberry.field(description="What is wrong.")
    hint: str = strawberry.field(description="What to do next.")
    column: int | None = strawberry.field(description="Where, counted from 1; null: the whole.")
    length: int | None = strawberry.field(description="How many characters it is about.")
    nearest: list[str] = strawberry.field(description="Names that are there and look like it.")


@strawberry.type(description="A selector as Cypher.")
class Cypher:
    """One parameterised statement."""

    statement: str = strawberry.field(description="The statement; its rows are cluster numbers.")
    parameters: Json = strawberry.field(description="Its parameters.")


@strawberry.type(description="How a selector is read.")
class SelectorReading:
    """A text with its meaning, or the reason it has none."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    selector: strawberry.Private[Selector | None]

    problem: SelectorProblem | None = strawberry.field(description="Why it cannot be read.")

    @strawberry.field(description="The canonical text.")
    def canonical(self) -> str | None:
        """The one text of this selector."""
        return None if self.selector is None else to_text(self.selector, self.view)

    @strawberry.field(description="The same as a tree; what SelectorInput takes.")
    def tree(self) -> Json | None:
        """The structured form."""
        return None if self.selector is None else Json(to_structured(self.selector, self.view))

    @strawberry.field(
        description="The same as one Cypher statement, for Neo4j; null when a saved selector or a"
        " namespace in it names something you may not see."
    )
    def cypher(self) -> Cypher | None:
        """The statement."""
        if self.selector is None or not _is_open(self.selector, self.view):
            return None
        found = compile_cypher(self.selector, self.view)
        return Cypher(statement=found.text, parameters=Json(dict(found.parameters)))

    @strawberry.field(description="How many clusters it chooses.")
    def count(self) -> int | None:
        """The size of its answer."""
        if self.selector is None:
            return None
        return self.context.engine.count(self.selector, self.view)


def _is_open(selector: Selector, view: FleetView) -> bool:
    """Whether all that ``selector`` leads to may be read: what its names stand for included."""
    return all(readable(each, view) for name in in_order(selector, view) for each in name.selectors)


def read(context: Context, view: FleetView, text: str) -> SelectorReading:
    """``text`` with its meaning, or with what is wrong with it."""
    selector, problem = None, None
    try:
        selector = context.engine.parse(text, view)
    except TrellisError as refusal:
        problem = problem_of(refusal)
    return SelectorReading(context=context, view=view, selector=selector, problem=problem)


def problem_of(refusal: TrellisError) -> SelectorProblem:
    """What is wrong with a selector, as it travels."""
    span = refusal.span if isinstance(refusal, SelectorInvalid | SelectorNotFound) else None
    return SelectorProblem(
        code=refusal.code,
        message=refusal.message,
        hint=refusal.hint,
        column=None if span is None else span.column,
        length=None if span is None else span.length,
        nearest=list(refusal.nearest) if isinstance(refusal, SelectorNotFound) else [],
    )


@strawberry.enum(description="What a completion is.")
class CompletionKind(Enum):
    """As the core's."""

    KEYWORD = strawberry.enum_value("keyword", description="A word of the language.")
    HIERARCHY = strawberry.enum_value("hierarchy", description="A hierarchy.")
    GROUP = strawberry.enum_value("group", description="A group below the one before.")
    LABEL_KEY = strawberry.enum_value("label key", description="A label key.")
    COMPARISON = strawberry.enum_value("comparison", description="A comparison.")
    VALUE = strawberry.enum_value("value", description="A value of the label before.")
    CLUSTER = strawberry.enum_value("cluster", description="A cluster's name.")
    SAVED_SELECTOR = strawberry.enum_value("saved selector", description="A saved selector.")
    NAMESPACE = strawberry.enum_value("namespace", description="A namespace.")


@strawberry.type(description="What may stand at a position of a selector.")
class Completion:
    """A candidate for an editor."""

    insert: str = strawberry.field(description="The text to put there.")
    from_: int = strawberry.field(name="from", description="Replace from this character, from 0,")
    to: int = strawberry.field(description="up to but without this one.")
    kind: CompletionKind = strawberry.field(description="What it is.")
    title: str = strawberry.field(description="What people call it; may be empty.")
    count: int | None = strawberry.field(description="How many clusters it means, where known.")


def completion_of(found: CoreCompletion) -> Completion:
    """A candidate of the core as it travels."""
    return Completion(
        insert=found.insert,
        from_=found.from_,
        to=found.to,
        kind=CompletionKind(found.kind.value),
        title=found.title,
        count=found.clusters,
    )
