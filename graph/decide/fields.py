"""Checks that several objects of the workload share: names, labels, lists, sizes.

What is listed and means the same in any order is kept in one order, so that a definition written
in another changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar

from graph.decide.labels import LABELS_MAX
from graph.model.errors import Invalid, TrellisError
from graph.model.inventory import Capacity
from graph.model.names import (
    LABEL_PREFIX_LENGTH_MAX,
    check_label_key,
    check_name,
    check_text,
    quoted,
    with_article,
)

LABEL_VALUE_LENGTH_MAX = 63
WORKLOAD_PREFIX_LENGTH_MAX = LABEL_PREFIX_LENGTH_MAX - len(".label.trellis.dev")
"""The prefix of a label of the workload: rendered, it is part of a longer one."""
LIST_MAX = 1_000
"""What one object lists of one kind."""
SIZE_MAX = 2**40
"""Mebibytes of memory or storage."""
CPU_MAX = 2**31 - 1
"""Millicores: about two million cores, and the largest number that an Int of GraphQL carries."""

_RESERVED = frozenset({"default", "flux-system", "argocd"})
_RESERVED_STARTS = ("kube-", "trellis")

_P = ParamSpec("_P")
_T = TypeVar("_T")


def in_field(field: str, check: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """What ``check`` returns; what it refuses is refused at the command's ``field``."""
    try:
        return check(*args, **kwargs)
    except TrellisError as refusal:
        raise refusal.at(field) from None


def in_each(listed: Iterable[_T], check: Callable[[_T], _T]) -> list[_T]:
    """What ``check`` returns for each; what it refuses is refused at its place in the list."""
    found: list[_T] = []
    for at, each in enumerate(listed):
        try:
            found.append(check(each))
        except TrellisError as refusal:
            raise refusal.at(at) from None
    return found


def check_own_name(value: str, noun: str) -> str:
    """A name of a namespace or application: one that clusters do not use for themselves."""
    name = check_name(value, noun)
    if name in _RESERVED or name.startswith(_RESERVED_STARTS):
        raise Invalid(
            f"{quoted(name)} cannot name {with_article(noun)}",
            hint="default, flux-system, argocd and names that start with kube- or trellis are "
            "taken on every cluster; choose another name",
        )
    return name


def check_plain_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of the workload: keys with a line of text each, in their order."""
    if len(labels) > LABELS_MAX:
        raise Invalid(f"{len(labels):,} labels on one object", hint=f"use at most {LABELS_MAX}")
    for key, value in labels.items():
        check_workload_label(key)
        check_text(value, f"label {quoted(key)}", length_max=LABEL_VALUE_LENGTH_MAX)
    return dict(sorted(labels.items()))


def check_workload_label(key: str) -> str:
    """The key of a label of the workload, which rendered objects carry below a domain of ours."""
    return check_label_key(key, prefix_length_max=WORKLOAD_PREFIX_LENGTH_MAX)


def check_list(
    listed: Iterable[_T], noun: str, called: Callable[[_T], str] = str
) -> tuple[_T, ...]:
    """What an object lists, each once; ``noun`` is what the refusal calls them all."""
    values = tuple(listed)
    if len(values) > LIST_MAX:
        raise Invalid(f"{len(values):,} {noun}", hint=f"list at most {LIST_MAX:,}")
    seen: set[str] = set()
    for value in values:
        name = called(value)
        if name in seen:
            raise Invalid(f"the {noun} list {quoted(name)} twice", hint="list it once")
        seen.add(name)
    return values


def check_set(listed: Iterable[_T], noun: str) -> tuple[_T, ...]:
    """As ``check_list``, for what means the same in any order."""
    return tuple(sorted(check_list(listed, noun), key=str))


def check_size(size: Capacity | None, noun: str) -> Capacity | None:
    """An amount of cpu, memory and storage that some cluster could have."""
    if size is None:
        return None
    amounts = (
        (size.cpu_millicores, "millicores", CPU_MAX),
        (size.memory_mib, "MiB of memory", SIZE_MAX),
        (size.storage_mib, "MiB of storage", SIZE_MAX),
    )
    for amount, unit, most in amounts:
        if not 0 <= amount <= most:
            raise Invalid(
                f"{noun} is negative or too large (in {unit})",
                hint=f"use 0 to {most:,} {unit}",
            )
    return size
