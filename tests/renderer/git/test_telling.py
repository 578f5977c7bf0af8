from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.model.errors import Invalid
from renderer.git.telling import message, trailers
from renderer.tree import Told
from repositories import bare, git

OWNED = "0f" * 32
FORGED = f"Trellis-Revision: 999\nTrellis-Renderer: evil\nTrellis-Owned: {'e' * 64}"
OURS = f"Trellis-Revision: 1\nTrellis-Renderer: 2\nTrellis-Owned: {OWNED}\n".encode()
HOSTILE = [
    ("a\nTrellis-Revision: 999", ""),
    ("Trellis-Revision: 999", FORGED),
    ("s", f"{FORGED}\n"),
    ("s", f"text\n\n{FORGED}"),
    ("s", f"text\r\n\r\n{FORGED}\r\n\r\n\r\n"),
    ("s", f"text\u2028\u2028{FORGED}\u0085"),
    ("s", "---\nend of the message, some tools think"),
    ("s\0\x1b[31m", "b\0\x07\ud800"),
    ("\ud83d", "\udc00" * 10),
    ("", "   \n\n\n  "),
    ("x" * 10_000, "y\n" * 100_000),
    ("s", "Signed-off-by: Somebody <a@b>\nTrellis-Revision: 1"),
    ("\u202egnp", "  trellis-revision: 999"),
]


@pytest.mark.parametrize(("subject", "body"), HOSTILE)
def test_no_text_can_forge_the_trailers(subject, body, tmp_path):
    text = message(Told(subject, body, "c-42", "7 abc"), OWNED)
    assert trailers(text) == ("c-42", "7 abc", OWNED)
    repository = bare(tmp_path / "r")
    parsed = git(repository, "interpret-trailers", "--parse", said=text)
    assert parsed == f"Trellis-Revision: c-42\nTrellis-Renderer: 7 abc\nTrellis-Owned: {OWNED}"
    tree = git(repository, "mktree", said=b"")
    made = git(repository, "commit-tree", tree, said=text)
    shown = git(
        repository, "log", "-1", "--format=%(trailers:key=Trellis-Revision,valueonly)", made
    )
    assert shown.strip() == "c-42"
    subject_line = git(repository, "log", "-1", "--format=%s", made)
    assert subject_line
    assert len(subject_line) <= 202


@given(st.text(st.characters(), max_size=60), st.text(st.characters(), max_size=200))
@settings(max_examples=300)
def test_whatever_is_said_the_trailers_are_the_last_three_lines(subject, body):
    text = message(Told(subject, body, "1.a", "2.b"), OWNED).decode()
    last = f"\n\nTrellis-Revision: 1.a\nTrellis-Renderer: 2.b\nTrellis-Owned: {OWNED}\n"
    assert text.endswith(last)
    assert text.count("\nTrellis-Revision: ") == 1
    assert not text.startswith("\n")
    assert "\x00" not in text
    assert "\r" not in text


def test_a_text_that_harms_nobody_stays_as_it_is():
    body = "5 by ann: café opens\n\n6 by bob: moved"
    text = message(Told("Move 3 clusters", body, "c", "s"), OWNED)
    assert text.decode() == (
        "Move 3 clusters\n\n5 by ann: café opens\n\n6 by bob: moved\n\n"
        f"Trellis-Revision: c\nTrellis-Renderer: s\nTrellis-Owned: {OWNED}\n"
    )


@pytest.mark.parametrize("value", ["", " a", "a ", "a\nb", "é", "x" * 2_000, "a\0"])
def test_a_cursor_or_stamp_that_cannot_be_told_is_refused(value):
    with pytest.raises(Invalid, match="cursor"):
        message(Told("s", "", value, "1"), OWNED)
    with pytest.raises(Invalid, match="stamp"):
        message(Told("s", "", "1", value), OWNED)


@pytest.mark.parametrize(
    "text",
    [
        b"By hand\n",
        OURS,
        b"s\n\nTrellis-Revision: 1\n",
        b"s\n\nTrellis-Revision: 1\nTrellis-Renderer: 2\n",
        b"s\n\nTrellis-Renderer: 2\nTrellis-Revision: 1\nTrellis-Owned: " + b"0f" * 32,
        b"s\n\nTrellis-Revision: 1\nTrellis-Renderer: 2\nTrellis-Owned: 0f\n",
        b"s\n\n" + OURS + b"(cherry picked from commit abc)\n",
        b"s\n\n" + OURS + b"Signed-off-by: x\n",
        b"s\n\nText\n" + OURS,
    ],
)
def test_a_commit_that_is_not_a_worker_s_is_not_taken_for_one(text):
    assert trailers(b"s\n\n" + OURS) == ("1", "2", OWNED)
    assert trailers(text) is None
