"""A fleet small enough to hold in the head, and a way to give it commands.

Every batch is decided on the twin; the net changes are then applied to the state before, which must
give what deciding command by command gave.
"""

from __future__ import annotations

from graph.decide.batch import check_batch, decide_batch
from graph.model.change import CHAIN_DIGITS, Change, Cursor
from graph.model.command import (
    Batch,
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    RegisterCluster,
    SaveSelector,
)
from graph.model.inventory import LabelType, Mode
from graph.model.names import Revision
from twin import Twin, same_fleet

SMALL: tuple[Command, ...] = (
    CreateHierarchy("geo", Mode.SINGLE),
    *(
        CreateGroup(path)
        for path in ("/geo/us", "/geo/us/tx", "/geo/us/tx/austin", "/geo/us/ny", "/geo/ca")
    ),
    CreateHierarchy("devices", Mode.MANY),
    *(
        CreateGroup(path)
        for path in ("/devices/grill", "/devices/grill/acme3000", "/devices/camera")
    ),
    DeclareLabel("size", LabelType.TEXT, allowed=("small", "large")),
    DeclareLabel("lanes", LabelType.NUMBER, unit="lanes"),
    RegisterCluster(
        "austin-1",
        labels={"size": "large", "lanes": 2},
        groups=("/geo/us/tx/austin", "/devices/grill/acme3000", "/devices/grill"),
    ),
    RegisterCluster("austin-2", labels={"size": "small"}, groups=("/geo/us/tx/austin",)),
    RegisterCluster("york-1", labels={"lanes": 1}, groups=("/geo/us/ny", "/devices/camera")),
    SaveSelector("texas", "/geo/us/tx"),
)


def small() -> Twin:
    """The small fleet at revision 1."""
    fleet = Twin()
    give(fleet, *SMALL)
    return fleet


def give(
    fleet: Twin, *commands: Command, expected: int | None = None, declare: bool = False
) -> tuple[Change, ...]:
    """Decide one batch on ``fleet``, make its changes, and return them."""
    draft = fleet.copy()
    changes = _decide(fleet, draft, commands, expected, declare)
    difference = same_fleet(fleet, draft, ignoring=("cursor", "numbers"))
    assert difference is None, difference
    return changes


def give_fast(fleet: Twin, *commands: Command) -> tuple[Change, ...]:
    """As ``give``, without comparing the two ways to the result: for long stories."""
    return _decide(fleet, fleet.copy(), commands, None)


def _decide(
    fleet: Twin,
    draft: Twin,
    commands: tuple[Command, ...],
    expected: int | None,
    declare: bool = False,
) -> tuple[Change, ...]:
    revision = None if expected is None else Revision(expected)
    batch = Batch(commands, "ana", "because", revision, declare_labels=declare)
    check_batch(batch)
    changes = decide_batch(batch, fleet, draft)
    fleet.apply(changes)
    if changes:
        fleet.cursor = Cursor(Revision(fleet.cursor.revision + 1), "f" * CHAIN_DIGITS)
    return changes
