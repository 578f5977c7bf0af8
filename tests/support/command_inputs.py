"""Commands of the core written as the API takes them, and random ones of every kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from random import Random
from typing import Any

from changes import CAPACITIES, HOURS, KEYS, SEGMENTS, random_scope, random_selector
from graph.model import command as core
from graph.model.access import Role
from graph.model.command import UNSET, Command
from graph.model.hours import OpeningHours
from graph.model.inventory import Capacity, ClusterKind, LabelType, LabelValue, Mode, Reconciler
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.model.workload import Choice
from graph.targeting.normal import normal
from graph.targeting.structured import to_structured
from twin import Twin
from workload_command_inputs import random_workload_command, shape_of


class Member(str):
    """The name of an enum's member: text in JSON, bare in a document."""


def camel(name: str) -> str:
    """``time_zone`` as ``timeZone``, ``RegisterCluster`` as ``registerCluster``."""
    first, *rest = name.split("_")
    return first[0].lower() + first[1:] + "".join(each.capitalize() for each in rest)


def name_of(command: Command) -> str:
    """The field and the mutation of a command."""
    return camel(type(command).__name__)


def input_of(command: Command, view: FleetView) -> dict[str, Any]:
    """The input object that stands for ``command``; what is UNSET is left out."""
    given = {each.name: getattr(command, each.name) for each in fields(command)}
    chosen = given.pop("choice", None)
    if isinstance(chosen, Choice):  # it has no shape of its own
        given |= {each.name: getattr(chosen, each.name) for each in fields(chosen)}
    return {
        camel(name): _written(name, value, view)
        for name, value in given.items()
        if value is not UNSET
    }


def _written(name: str, value: Any, view: FleetView) -> Any:
    if (shape := shape_of(name, value)) is not ...:
        return shape if name in ("values", "schema") else _members(shape)
    match value:
        case None:
            return None
        case _ if name in ("selector", "scope", "requires"):
            return {"text": value} if isinstance(value, str) else to_structured(value, view)
        case Enum():
            return Member(value.name)
        case Capacity():
            return {camel(each.name): getattr(value, each.name) for each in fields(value)}
        case OpeningHours():
            return {"weekly": _days(value.weekly), "exceptions": _days(value.exceptions)}
        case Mapping():
            return [{"key": key, "value": each} for key, each in value.items()]
        case tuple():
            return [_written("", each, view) for each in value]
        case _:
            return value


def _members(shape: Any) -> Any:
    """A shape with its enums by name."""
    match shape:
        case Enum():
            return Member(shape.name)
        case dict():
            return {camel(name): _members(each) for name, each in shape.items()}
        case list():
            return [_members(each) for each in shape]
        case _:
            return shape


def _days(days: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"day": day, "intervals": [{"opens": i.opens, "closes": i.closes} for i in intervals]}
        for day, intervals in days.items()
    ]


def literal(value: Any) -> str:
    """A value as it is written inside a document."""
    match value:
        case Member():
            return str(value)
        case dict():
            return "{" + " ".join(f"{key}: {literal(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + " ".join(map(literal, value)) + "]"
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case str():
            return json.dumps(value)
        case _:
            return repr(value)


def random_command(rng: Random, twin: Twin) -> Command:
    """A command of any kind; its trees can be read in ``twin``, its names need not be there."""
    if rng.random() < 0.4:
        return random_workload_command(rng, lambda: _selector(rng, twin))
    return rng.choice(_MAKERS)(rng, twin)


def _selector(rng: Random, twin: Twin) -> str | Selector:
    return rng.choice(("/geo/a and b = 'c'", _normal(random_selector(rng, twin, depth=2))))


def _path(rng: Random) -> str:
    return "/geo/" + "/".join(rng.choices(SEGMENTS, k=rng.randint(1, 4)))


def _name(rng: Random) -> str:
    return rng.choice(SEGMENTS)


def _title(rng: Random) -> str:
    return rng.choice(("", "Größe", 'a "quoted" one', "x" * 50))


def _value(rng: Random) -> LabelValue:
    values = ("large", "00042", "true", "été", 0, -7, 2.5, 2**53, True, False, "")
    return rng.choice(values)


def _or_unset(rng: Random, value: Any) -> Any:
    return value if rng.random() < 0.5 else UNSET


def _labels(rng: Random, *extra: None) -> dict[str, Any]:
    keys = rng.sample(list(KEYS), rng.randint(0, 3))
    return {key: rng.choice((_value(rng), *extra)) for key in keys}


def _register(rng: Random, _: Twin) -> Command:
    return core.RegisterCluster(
        name=_name(rng),
        title=_title(rng),
        kind=rng.choice(list(ClusterKind)),
        reconciler=rng.choice((None, *Reconciler)),
        labels=_labels(rng),
        groups=tuple(_path(rng) for _ in range(rng.randint(0, 3))),
        capacity=rng.choice(CAPACITIES),
        time_zone=rng.choice(("", "America/New_York")),
        opening_hours=rng.choice(HOURS),
    )


def _update(rng: Random, _: Twin) -> Command:
    return core.UpdateCluster(
        name=_name(rng),
        title=_or_unset(rng, _title(rng)),
        kind=_or_unset(rng, rng.choice(list(ClusterKind))),
        reconciler=_or_unset(rng, rng.choice(list(Reconciler))),
        labels=_labels(rng, None),
        capacity=_or_unset(rng, rng.choice(CAPACITIES)),
        time_zone=_or_unset(rng, rng.choice(("", "Europe/Berlin"))),
        opening_hours=_or_unset(rng, rng.choice(HOURS)),
    )


def _update_hierarchy(rng: Random, _: Twin) -> Command:
    return core.UpdateHierarchy(
        _name(rng),
        mode=_or_unset(rng, rng.choice(list(Mode))),
        required=_or_unset(rng, rng.random() < 0.5),
        title=_or_unset(rng, _title(rng)),
    )


def _declare(rng: Random, _: Twin) -> Command:
    allowed = tuple(_value(rng) for _ in range(rng.randint(0, 3)))
    return core.DeclareLabel(
        _name(rng), rng.choice(list(LabelType)), _title(rng), rng.choice(("", "m²")), allowed
    )


def _normal(tree: Selector) -> Selector:
    """The tree as it is read: without repeats."""
    return normal(tree, lambda clause: clause)


def _save(rng: Random, twin: Twin) -> Command:
    return core.SaveSelector(_name(rng), _selector(rng, twin), _title(rng))


def _grant(rng: Random, twin: Twin) -> Command:
    to: dict[str, str] = rng.choice(({"subject": "Ünal"}, {"claim": "night-crew"}))
    scope = rng.choice(("all", _normal(random_scope(rng, twin))))
    covered = {
        "namespaces": tuple(rng.sample(SEGMENTS, rng.choice((0, 0, 2)))),
        "applications": tuple(rng.sample(SEGMENTS, rng.choice((0, 0, 1)))),
    }
    return core.GrantAccess(
        _name(rng), rng.choice(list(Role)), scope=scope, title=_title(rng), **to, **covered
    )


_MAKERS = (
    _register,
    _update,
    _update_hierarchy,
    _declare,
    _save,
    _grant,
    lambda rng, _: core.RetireCluster(_name(rng)),
    lambda rng, _: core.Join(_name(rng), _path(rng)),
    lambda rng, _: core.Leave(_name(rng), _path(rng)),
    lambda rng, _: core.CreateHierarchy(
        _name(rng), rng.choice(list(Mode)), rng.random() < 0.5, _title(rng)
    ),
    lambda rng, _: core.DeleteHierarchy(_name(rng)),
    lambda rng, _: core.RemoveLabel(_name(rng)),
    lambda rng, _: core.CreateGroup(_path(rng), _title(rng)),
    lambda rng, _: core.UpdateGroup(_path(rng), _title(rng)),
    lambda rng, _: core.RenameGroup(_path(rng), _name(rng)),
    lambda rng, _: core.MoveGroup(_path(rng), _path(rng)),
    lambda rng, _: core.DeleteGroup(_path(rng), rng.random() < 0.5),
    lambda rng, _: core.DeleteSelector(_name(rng)),
    lambda rng, _: core.RevokeAccess(_name(rng)),
)
