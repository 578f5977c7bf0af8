"""Selectors as they travel: text or a structured tree, one meaning."""

from __future__ import annotations

from typing import Any, cast

import strawberry

from api.context import Context
from api.schema.names import GroupPath, LabelValue, Name
from graph.model.errors import TrellisError
from graph.model.selector import Selector, Structured, Written
from graph.model.view import FleetView
from graph.targeting.structured import from_structured


@strawberry.input(description="One label compared; give comparison and value, or in, or has.")
class LabelTest:
    """A comparison of one label."""

    key: Name = strawberry.field(description="The label key.")
    comparison: str | None = strawberry.field(
        default=strawberry.UNSET, description="One of = != < <= > >=."
    )
    value: LabelValue | None = strawberry.field(
        default=strawberry.UNSET, description="What it is compared with."
    )
    in_: list[LabelValue] | None = strawberry.field(
        name="in", default=strawberry.UNSET, description="Any of these values."
    )
    has: bool | None = strawberry.field(
        default=strawberry.UNSET, description="true: the cluster has the label at all."
    )


@strawberry.input(description="A selector without another.")
class ExceptInput:
    """A difference of two selectors."""

    from_: SelectorInput = strawberry.field(name="from", description="The clusters to begin with.")
    without: SelectorInput = strawberry.field(description="Those taken away.")


@strawberry.input(
    one_of=True, description="Which clusters: text, or the same as a tree. Exactly one field."
)
class SelectorInput:
    """One tree, two ways to write it."""

    text: str | None = strawberry.field(
        default=strawberry.UNSET, description='As people write it: "/geo/us and size = large".'
    )
    and_: list[SelectorInput] | None = strawberry.field(
        name="and", default=strawberry.UNSET, description="Every one of these."
    )
    or_: list[SelectorInput] | None = strawberry.field(
        name="or", default=strawberry.UNSET, description="Any of these."
    )
    not_: SelectorInput | None = strawberry.field(
        name="not", default=strawberry.UNSET, description="The rest of the fleet."
    )
    except_: ExceptInput | None = strawberry.field(
        name="except", default=strawberry.UNSET, description="One without another."
    )
    everything: bool | None = strawberry.field(
        default=strawberry.UNSET, description="true: the whole fleet."
    )
    group: GroupPath | None = strawberry.field(
        default=strawberry.UNSET,
        description="Members of the group or of any below it; * matches one segment.",
    )
    only: GroupPath | None = strawberry.field(
        default=strawberry.UNSET, description="Direct members of the group."
    )
    label: LabelTest | None = strawberry.field(
        default=strawberry.UNSET, description="A label compared."
    )
    cluster: Name | None = strawberry.field(default=strawberry.UNSET, description="One cluster.")
    saved: Name | None = strawberry.field(
        default=strawberry.UNSET, description="A saved selector, by name."
    )
    namespace: Name | None = strawberry.field(
        default=strawberry.UNSET,
        description="The clusters the assignments of a namespace choose, before any veto.",
    )


_NAMES = {"and_": "and", "or_": "or", "not_": "not", "except_": "except", "in_": "in"}
_NAMES["from_"] = "from"


def written(given: SelectorInput) -> Written:
    """The selector as it was written, to be read when and where it counts."""
    if isinstance(given.text, str):
        return given.text
    form: Structured = structured(given)
    return form


def structured(given: object) -> Any:
    """An input object as the structured form the core reads."""
    if isinstance(given, list):
        return [structured(each) for each in cast("list[object]", given)]
    if isinstance(given, SelectorInput | ExceptInput | LabelTest):
        fields = given.__dataclass_fields__
        return {
            _NAMES.get(name, name): structured(value)
            for name in fields
            if (value := getattr(given, name)) is not strawberry.UNSET
        }
    return given


def read_selector(where: SelectorInput, context: Context, view: FleetView) -> Selector:
    """The tree ``where`` stands for; text goes through the engine's memory of texts."""
    if where.text is not strawberry.UNSET and where.text is not None:
        try:
            return context.engine.parse(where.text, view)
        except TrellisError as refusal:
            raise refusal.at("text") from None
    return from_structured(structured(where), view)
