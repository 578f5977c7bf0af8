"""What every mapping in a file has in common: closed, strict, in camel case."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from graph.model.inventory import Capacity

Value = bool | int | float | str


class Shape(BaseModel):
    """A closed mapping in camel case. ``noun`` is what it stands for in the core."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, allow_inf_nan=False
    )

    def given(self) -> dict[str, Any]:
        """The fields the file gave, with nested shapes as the core's nouns."""
        return {name: _noun(getattr(self, name)) for name in self.model_fields_set}

    def noun(self) -> object:
        """What a nested mapping stands for."""
        raise NotImplementedError


class CapacityShape(Shape):
    """What a cluster offers, or a workload asks for."""

    cpu_millicores: int
    memory_mib: int
    storage_mib: int = 0

    def noun(self) -> Capacity:
        """The capacity."""
        return Capacity(**self.given())


def _noun(value: object) -> object:
    match value:
        case Shape():
            return value.noun()
        case list():
            return tuple(_noun(each) for each in cast("list[object]", value))
        case _:
            return value
