"""Names that lead nowhere: the refusal says which, what is near, and where in the batch it is."""

from __future__ import annotations

import pytest

from graph.model.command import (
    Command,
    CreateGroup,
    DeleteGroup,
    DeleteHierarchy,
    DeleteSelector,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    RevokeAccess,
    UpdateCluster,
    UpdateGroup,
    UpdateHierarchy,
)
from graph.model.errors import Invalid, NotFound
from small import give, small

NOWHERE: list[tuple[Command, tuple[str | int, ...]]] = [
    (UpdateCluster("nobody"), ("name",)),
    (RetireCluster("nobody"), ("name",)),
    (Join("nobody", "/geo/ca"), ("cluster",)),
    (Join("york-1", "/geo/nowhere"), ("group",)),
    (Join("york-1", "/nothing"), ("group",)),
    (Leave("nobody", "/geo/ca"), ("cluster",)),
    (Leave("york-1", "/geo/nowhere"), ("group",)),
    (RegisterCluster("new", groups=("/geo/ca", "/geo/nowhere")), ("groups", 1)),
    (CreateGroup("/geo/nowhere/new"), ("path",)),
    (UpdateGroup("/geo/nowhere", "t"), ("path",)),
    (RenameGroup("/geo/nowhere", "t"), ("path",)),
    (DeleteGroup("/geo/nowhere"), ("path",)),
    (MoveGroup("/geo/nowhere", "/geo"), ("path",)),
    (MoveGroup("/geo/ca", "/geo/nowhere"), ("parent",)),
    (UpdateHierarchy("nothing"), ("name",)),
    (DeleteHierarchy("nothing"), ("name",)),
    (RemoveLabel("nothing"), ("name",)),
    (DeleteSelector("nothing"), ("name",)),
    (RevokeAccess("nothing"), ("name",)),
]


@pytest.mark.parametrize(("command", "field"), NOWHERE)
def test_a_name_that_leads_nowhere_is_refused_where_it_stands(
    command: Command, field: tuple[str | int, ...]
) -> None:
    with pytest.raises(NotFound) as refusal:
        give(small(), UpdateCluster("york-1", title="t"), command)
    assert refusal.value.path == ("commands", 1, *field)
    assert refusal.value.hint


def test_what_is_no_path_is_refused_where_it_stands() -> None:
    with pytest.raises(Invalid) as refusal:
        give(small(), Join("york-1", "geo//ca"))
    assert refusal.value.path == ("commands", 0, "group")
