"""Commands on layers: values, and where they apply."""

from __future__ import annotations

from collections.abc import Mapping

from graph.composition.schema import check_part
from graph.decide.applications import check_setting, check_values
from graph.decide.fields import in_field
from graph.decide.late_bound import refuse_in_the_way
from graph.decide.lookup import find_application, find_layer
from graph.decide.selectors import meaning
from graph.model.change import Change
from graph.model.errors import Conflict, Invalid
from graph.model.names import Revision, check_layer_name, check_text, quoted
from graph.model.values import Values
from graph.model.view import FleetView
from graph.model.workload import Layer
from graph.model.workload_command import RemoveLayer, SetLayer

RANK_MAX = 1_000
"""Ranks lie between this and its negative."""


def set_layer(command: SetLayer, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The layer under its name, for its one application or for the fleet."""
    name = in_field("name", check_layer_name, command.name)
    before = view.workload.layers.get(name)
    if command.application:
        find_application(view, command.application, "application")
    if before is not None and before.application != command.application:
        raise Conflict(
            f"layer {quoted(name)} is for {_whose(before.application)}",
            hint="whom a layer is for is final; choose another name",
        )
    if abs(command.rank) > RANK_MAX:
        raise Invalid(
            f"rank {command.rank:,} is out of range",
            hint=f"use a rank from -{RANK_MAX:,} to {RANK_MAX:,}; higher is stronger",
            path=("rank",),
        )
    after = Layer(
        name=name,
        selector=meaning(command.selector, view, "selector"),
        values=in_field("values", _check_values, command, view),
        application=command.application,
        rank=command.rank,
        title=in_field("title", check_text, command.title, "the title"),
        changed=revision,
    )
    return (Change(before, after),)


def remove_layer(command: RemoveLayer, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The layer gone."""
    return (Change(find_layer(view, command.name, "name"), None),)


def _whose(application: str) -> str:
    return f"application {quoted(application)}" if application else "the fleet"


def _check_values(command: SetLayer, view: FleetView) -> Values:
    """The values; those of an application as its schema allows them."""
    if not command.application:
        return _check_settings(command.values)
    values = check_values(command.values, "the values")
    application = find_application(view, command.application)
    refuse_in_the_way(values, application.late_bound, "the values set")
    if application.schema is not None:
        check_part(application.schema, values, command.application, command.name)
    return values


def _check_settings(settings: Mapping[str, object]) -> Values:
    """Settings of the fleet, each under a name by which applications read it."""
    values = Values.of(settings, "the settings")
    for key in values.data:
        check_setting(key)
    return values
