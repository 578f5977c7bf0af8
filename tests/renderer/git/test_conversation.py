from __future__ import annotations

import pytest

from graph.model.errors import Unavailable
from renderer.git.access import Limits
from renderer.git.conversation import Conversation
from renderer.git.process import Git
from repositories import bare


def test_a_process_that_does_not_answer_is_not_waited_for_without_end(tmp_path):
    git = Git(bare(tmp_path / "r"), Limits(command_timeout_seconds=0.3))
    talk = Conversation(git, "-c", "alias.silent=!cat >/dev/null", "silent")
    talk.say("anybody?\n")
    with pytest.raises(Unavailable, match="did not answer"):
        talk.line()
    talk.close()


def test_a_process_that_has_ended_is_an_error_of_the_system(tmp_path):
    talk = Conversation(Git(bare(tmp_path / "r")), "version")
    assert talk.line().startswith(b"git version")
    with pytest.raises(OSError):
        talk.line()
    talk.close()


def test_lines_and_bytes_are_told_apart(tmp_path):
    talk = Conversation(Git(bare(tmp_path / "r")), "-c", "alias.echo=!cat", "echo")
    talk.say("one\n12345two\n")
    assert talk.line() == b"one"
    assert talk.exactly(5) == b"12345"
    assert talk.line() == b"two"
    talk.say("x" * 60_000 + "\nlast\n")
    assert len(talk.exactly(60_001)) == 60_001
    assert talk.line() == b"last"
    talk.close()
