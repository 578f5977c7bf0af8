"""Who the record says made a change on the command line, and for whom."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from serving import serve
from trellis_process import Trellis

ME = f"local:{pwd.getpwuid(os.geteuid()).pw_name}"
STRANGER = 65_534
"""A user number that owns nothing here."""
LOG = "{ changesets(first: 20) { nodes { revision actor onBehalfOf reason } } }"
FLEET = """
createHierarchy: {name: geo, mode: single}
---
createGroup: {path: /geo/us}
---
createGroup: {path: /geo/ca}
---
grantAccess: {name: rita-reads, role: reader, subject: rita, scope: all}
---
grantAccess: {name: ed-edits, role: editor, subject: ed, scope: /geo/ca}
"""


@pytest.fixture
def granted(trellis: Trellis) -> Trellis:
    """A store of this user's in which rita may read and ed may edit a part."""
    (trellis.directory / "fleet.yaml").write_text(FLEET)
    trellis("load", "fleet.yaml")
    return trellis


def register(trellis: Trellis, name: str, group: str) -> str:
    """A file that registers a cluster."""
    file = f"{name}.yaml"
    text = f"registerCluster: {{name: {name}, groups: [{group}]}}\n"
    (trellis.directory / file).write_text(text)
    return file


def test_the_record_names_the_local_user_and_whom_they_act_for(granted: Trellis) -> None:
    trellis = granted
    ours, theirs = register(trellis, "ca-1", "/geo/ca"), register(trellis, "us-1", "/geo/us")
    for verb in (("apply", ours, "--reason", "x"), ("load", ours)):
        denied = trellis(*verb, "--actor", "rita", expect=1)
        assert '"rita" has not got the role editor' in denied
    assert "error: " in trellis("apply", theirs, "--reason", "x", "--actor", "ed", expect=1)

    liar = replace(trellis, settings={"USER": "eve", "LOGNAME": "eve", "USERNAME": "eve"})
    liar("apply", theirs, "--reason", "our own")
    for_ed = ("apply", ours, "--reason", "for ed", "--key", "k")
    assert trellis(*for_ed, "--actor", "ed") == trellis(*for_ed, "--actor", "ed")
    assert "key was used for another batch" in trellis(*for_ed, expect=1)
    acting = replace(trellis, settings={"TRELLIS_ACTOR": "ed"})
    acting("apply", register(trellis, "ca-2", "/geo/ca"), "--reason", "by setting")
    trellis("revert", "ca-2", "--to", "3", "--actor", "ed", "--reason", "taken back")
    assert f'{ME} for ed: "for ed"' in trellis("history", "ca-1")
    assert f'{ME}: "our own"' in trellis("history", "us-1")
    assert "the record is whole" in trellis("verify")

    with serve(trellis.directory / "trellis.db") as server:
        nodes = httpx.post(server.graphql, json={"query": LOG}).json()["data"]["changesets"]
    assert [(each["actor"], each["onBehalfOf"], each["reason"]) for each in nodes["nodes"]] == [
        (ME, "ed", "taken back"),
        (ME, "ed", "by setting"),
        (ME, "ed", "for ed"),
        (ME, None, "our own"),
        (ME, None, "load fleet.yaml"),
    ]


@pytest.fixture
def foreign(granted: Trellis) -> Iterator[Trellis]:
    """The same store, owned by somebody else."""
    if os.geteuid() != 0:
        pytest.skip("NOT RUN: only root can give a file to another user")
    os.chown(granted.directory / "trellis.db", STRANGER, STRANGER)
    yield granted


def test_acting_for_others_on_another_users_store_needs_that_users_leave(foreign: Trellis) -> None:
    trellis = foreign
    file = register(trellis, "ca-1", "/geo/ca")
    act = ("apply", file, "--reason", "x", "--actor", "ed")
    refused = trellis(*act, expect=1)
    assert refused.startswith(f'error: "{ME}" may not act for "ed": the owner of ')
    delegates = trellis.directory / "trellis.db.delegates"
    assert str(delegates) in refused.replace("\n", " ")

    delegates.write_text(f"someone\n{ME.removeprefix('local:')}\n")
    delegates.chmod(0o644)
    assert "is not believed" in trellis(*act, expect=1), "it is this user's own"
    os.chown(delegates, STRANGER, STRANGER)
    delegates.chmod(0o664)
    assert "is not believed" in trellis(*act, expect=1), "others may write it"
    delegates.chmod(0o644)
    trellis(*act)
    assert f'{ME} for ed: "x"' in trellis("history", "ca-1")
    delegates.write_text("someone\n")
    assert "may not act for" in trellis(*act, "--key", "again", expect=1)
    trellis("save", "canada", "/geo/ca")
    assert f"{ME}: " in trellis("history", "@canada")
