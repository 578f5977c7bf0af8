"""Staging agrees with a plain dictionary of files, whatever is done in whatever order."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from renderer.git.objects import object_id
from renderer.publish.record import Record, State
from renderer.publish.staging import Staging

PATHS = ["a", "a/b", "a/b/c", "a/b/d", "a/e", "a0", "f", "f/g", "f-g", "f.g"]
STEPS = st.lists(
    st.tuples(st.sampled_from(PATHS), st.one_of(st.none(), st.sampled_from("xyz"))), max_size=10
)


def applied(files: dict[str, str], path: str, text: str | None) -> dict[str, str]:
    kept = {
        each: content
        for each, content in files.items()
        if each != path
        and not each.startswith(f"{path}/")
        and (text is None or not path.startswith(f"{each}/"))
    }
    return kept if text is None else {**kept, path: text}


@given(st.lists(STEPS, min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_any_steps_give_the_files_a_dictionary_gives(drafts):
    numbers = count(1)
    with tempfile.TemporaryDirectory() as directory:
        record = Record(Path(directory) / "record.db")
        files: dict[str, str] = {}
        for steps in drafts:
            was = dict(files)
            staging = Staging(record.base, next(numbers))
            for path, text in steps:
                files = applied(files, path, text)
                if text is None:
                    staging.remove(path)
                else:
                    staging.write(path, object_id(b"blob", text.encode()), text.encode())
            assert staging.changes() == {
                path: path in files
                for path in was.keys() | files.keys()
                if was.get(path) != files.get(path)
            }
            record.commit(State("1", "c", "s"), (), staging.apply)
            staging.drop()
            found = {path: record.content(path) for path, _ in record.files("")}
            assert found == {path: text.encode() for path, text in files.items()}
            for directory_name in ("", "a", "a/b", "f"):
                prefix = f"{directory_name}/" if directory_name else ""
                assert sorted(record.names_below(directory_name)) == sorted(
                    {path[len(prefix) :].split("/")[0] for path in files if path.startswith(prefix)}
                )
        record.close()


def test_drafts_do_not_see_each_other(tmp_path):
    record = Record(tmp_path / "record.db")
    one, two = Staging(record.base, 1), Staging(record.base, 2)
    one.write("a", b"1" * 20, b"x")
    two.write("b", b"2" * 20, b"y")
    assert one.changes() == {"a": True}
    one.drop()
    assert two.changes() == {"b": True}
    assert list(two.contents()) == [("b", b"y")]
    record.close()
