from __future__ import annotations

import os
import pwd

import pytest

from cli.settings import read_settings
from cli.signing import author_of, local_author
from graph.model.errors import Denied


def test_the_local_user_is_not_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "eve")
    assert local_author().name == f"local:{pwd.getpwuid(os.geteuid()).pw_name}"
    assert local_author().acting_for is None


def test_a_store_without_an_owner_lets_nobody_act_for_others() -> None:
    settings = read_settings({"TRELLIS_STORE_URL": "bolt://127.0.0.1:1"})
    me = local_author()
    assert author_of(settings, None) == author_of(settings, me.name) == me
    with pytest.raises(Denied, match="a server has no owner who could allow it"):
        author_of(settings, "ed")
