"""The structured form of a label clause: a key, and one way to test it.

Values are typed already, so nothing is converted: a value must have the type of its key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from graph.model.errors import Invalid, TrellisError
from graph.model.inventory import LabelKey
from graph.model.label import check_value
from graph.model.names import quoted
from graph.model.selector import Comparison, HasLabel, LabelIn, LabelIs, SelectorValue
from graph.model.view import FleetView
from graph.targeting.lookup import Lookup
from graph.targeting.normal import LIST_LENGTH_MAX
from graph.targeting.value import check_order

_HINT = "give key with comparison and value, or key with in, or key with has: true"


def read_label(data: object, view: FleetView) -> LabelIs | LabelIn | HasLabel:
    """The clause a label test stands for."""
    if not isinstance(data, Mapping):
        raise Invalid("a label test is given by its key", hint=_HINT)
    given = {
        key: each for key, each in cast("Mapping[str, object]", data).items() if each is not None
    }
    try:
        name = given_text(given.pop("key", None))
        key = Lookup(view, name).label_key(name, 0, len(name))
    except TrellisError as error:
        raise error.at("key") from None
    match given:
        case {"comparison": sign, "value": value, **others} if not others:
            return LabelIs(key.name, _comparison(key, sign), _value(key, value, "value"))
        case {"in": values, **others} if not others:
            return LabelIn(key.name, _values(key, values))
        case {"has": True, **others} if not others:
            return HasLabel(key.name)
        case _:
            raise Invalid("the label is not compared in one way", hint=_HINT)


def _comparison(key: LabelKey, sign: object) -> Comparison:
    try:
        if not isinstance(sign, str) or sign not in set(Comparison):
            signs = ", ".join(Comparison)
            raise Invalid(f"{quoted(str(sign))} is no comparison", hint=f"use one of {signs}")
        comparison = Comparison(sign)
        check_order(key, comparison)
    except TrellisError as error:
        raise error.at("comparison") from None
    return comparison


def _values(key: LabelKey, values: object) -> tuple[SelectorValue, ...]:
    long = Invalid("a list with too many values", hint=f"use at most {LIST_LENGTH_MAX:,}")
    try:
        given = given_list(values, LIST_LENGTH_MAX, long)
        if not given:
            raise Invalid("a list of no values", hint="list what the label may be")
        found = [_value(key, each, place) for place, each in enumerate(given)]
    except TrellisError as error:
        raise error.at("in") from None
    return tuple(dict.fromkeys(found))


def _value(key: LabelKey, value: object, place: str | int) -> SelectorValue:
    try:
        if not isinstance(value, str | int | float):
            raise Invalid(
                f"{quoted(str(value))} is no label value", hint="give text, a number, true or false"
            )
        return check_value(key.name, value, key.type)
    except TrellisError as error:
        raise error.at(place) from None


def given_text(data: object) -> str:
    """``data`` if it is text with something in it."""
    if not isinstance(data, str) or not data:
        raise Invalid("text is expected here", hint="give a name, a path or selector text")
    return data


def given_list(data: object, length_max: int, refusal: Invalid) -> Sequence[object]:
    """``data`` if it is a list; ``refusal`` if it is too long."""
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        raise Invalid("a list is expected here", hint="write [...], also for one item")
    given = cast("Sequence[object]", data)
    if len(given) > length_max:
        raise refusal
    return given
