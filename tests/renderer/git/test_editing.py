"""Editing trees agrees with a plain dictionary of files, whatever is done in whatever order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from renderer.git.editing import Edit
from renderer.git.objects import Entries, Id, encode_tree, object_id, parse_tree

PATHS = [
    "a",
    "a/b",
    "a/b/c",
    "a/b/d",
    "a/e",
    "f",
    "f/g",
    "f-g",
    "f.g",
    "h/i/j/k",
]
STEPS = st.lists(
    st.tuples(st.sampled_from(PATHS), st.one_of(st.none(), st.sampled_from("xyz"))), max_size=12
)


class Memory:
    def __init__(self) -> None:
        self.trees: dict[Id, bytes] = {}
        self.puts = 0

    def load(self, name: Id) -> Entries:
        return parse_tree(self.trees[name])

    def put(self, kind: bytes, content: bytes, name: Id) -> Id:
        assert object_id(kind, content) == name
        self.trees[name] = content
        self.puts += 1
        return name


def applied(files: dict[str, str], path: str, text: str | None) -> dict[str, str]:
    kept = {
        each: content
        for each, content in files.items()
        if each != path
        and not each.startswith(f"{path}/")
        and (text is None or not path.startswith(f"{each}/"))
    }
    return kept if text is None else {**kept, path: text}


def edited(memory: Memory, root: Id | None, steps) -> Edit:
    edit = Edit(root, memory.load)
    for path, text in steps:
        if text is None:
            edit.remove(path)
        else:
            edit.write(path, object_id(b"blob", text.encode()))
    return edit


def listed(memory: Memory, root: Id | None, prefix: str = "") -> dict[str, Id]:
    found: dict[str, Id] = {}
    for name, (mode, each) in (memory.load(root) if root else {}).items():
        if mode == b"40000":
            below = listed(memory, each, f"{prefix}{name}/")
            assert below, "no directory is empty"
            found |= below
        else:
            found[prefix + name] = each
    return found


@given(STEPS, STEPS)
@settings(max_examples=200, deadline=None)
def test_any_steps_on_any_tree_give_the_files_a_dictionary_gives(before, after):
    memory = Memory()
    files: dict[str, str] = {}
    for step in before:
        files = applied(files, *step)
    plain = [(path, text) for path, text in sorted(files.items())]
    root = edited(memory, None, plain).seal(memory.put)
    was = dict(files)
    for step in after:
        files = applied(files, *step)
    edit = edited(memory, root, after)
    changes = dict(edit.changes())
    found = edit.seal(memory.put)
    expected = {path: object_id(b"blob", text.encode()) for path, text in files.items()}
    assert listed(memory, found) == expected
    assert changes == {
        path: path in files
        for path in was.keys() | files.keys()
        if was.get(path) != files.get(path)
    }


def test_only_directories_on_the_way_to_a_change_are_made_again():
    memory = Memory()
    files = [(f"clusters/{n % 16:02x}/store-{n}/k", str(n)) for n in range(300)]
    root = edited(memory, None, files).seal(memory.put)
    memory.puts = 0
    edited(memory, root, [("clusters/03/store-3/k", "other")]).seal(memory.put)
    assert memory.puts == 4


def test_a_tree_in_which_nothing_changed_is_the_same_tree():
    memory = Memory()
    root = edited(memory, None, [("a/b", "x"), ("c", "y")]).seal(memory.put)
    memory.puts = 0
    assert edited(memory, root, [("a/b", "x"), ("d/e", None)]).seal(memory.put) == root
    assert memory.puts == 0


def test_what_is_neither_file_nor_directory_passes_through():
    memory = Memory()
    below = memory.put(
        b"tree", *_named({"link": (b"120000", b"1" * 20), "f": (b"100644", b"2" * 20)})
    )
    root = memory.put(b"tree", *_named({"d": (b"40000", below), "m": (b"160000", b"3" * 20)}))
    made = edited(memory, root, [("d/f", "new")]).seal(memory.put)
    found = memory.load(made)
    assert found["m"] == (b"160000", b"3" * 20)
    assert memory.load(found["d"][1])["link"] == (b"120000", b"1" * 20)


def _named(entries: Entries) -> tuple[bytes, Id]:
    content = encode_tree(entries)
    return content, object_id(b"tree", content)
