from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from renderer.git.objects import (
    DIRECTORY,
    EMPTY,
    FILE,
    PROGRAM,
    encode_commit,
    encode_tree,
    is_directory,
    is_file,
    object_id,
    parse_commit,
    parse_tree,
)
from repositories import bare, git

NAMES = ["a", "a-b", "a.b", "a0", "ab", "B", "ä", "z"]


def test_an_object_has_the_name_git_gives_it(tmp_path):
    repository = bare(tmp_path / "r")
    for content in (b"", b"text\n", bytes(range(256))):
        named = git(repository, "hash-object", "--stdin", said=content)
        assert object_id(b"blob", content).hex() == named
    assert git(repository, "hash-object", "-t", "tree", "--stdin") == EMPTY.hex()


def test_a_tree_is_sorted_as_git_sorts_it(tmp_path):
    repository = bare(tmp_path / "r")
    blob = git(repository, "hash-object", "-w", "--stdin", said=b"x")
    tree = git(repository, "mktree", said=f"100644 blob {blob}\tf".encode())
    for directories in ({"a"}, {"a", "a.b"}, {"a-b", "ab", "B"}, set(NAMES), set()):
        entries = {
            name: (DIRECTORY, bytes.fromhex(tree))
            if name in directories
            else (FILE, bytes.fromhex(blob))
            for name in NAMES
        }
        rows = [
            f"040000 tree {tree}\t{name}" if name in directories else f"100644 blob {blob}\t{name}"
            for name in NAMES
        ]
        made = git(repository, "mktree", said="\n".join(rows).encode())
        assert object_id(b"tree", encode_tree(entries)).hex() == made


@given(
    st.dictionaries(
        st.binary(min_size=1, max_size=9).filter(lambda name: not {0, 47} & set(name)),
        st.tuples(
            st.sampled_from([FILE, PROGRAM, DIRECTORY, b"120000", b"160000"]),
            st.binary(min_size=20, max_size=20),
        ),
    )
)
def test_a_tree_survives_whatever_its_names_and_ids_hold(entries):
    named = {name.decode("utf-8", "surrogateescape"): entry for name, entry in entries.items()}
    assert parse_tree(encode_tree(named)) == named


def test_links_and_submodules_are_neither_files_nor_directories():
    for mode in (b"120000", b"160000"):
        assert not is_file((mode, EMPTY))
        assert not is_directory((mode, EMPTY))
    assert is_directory((b"040000", EMPTY))


def test_a_commit_is_read_as_it_was_written():
    tree, parent = bytes(range(20)), bytes(range(20, 40))
    content = encode_commit(tree, parent, b"A <a@b> 1 +0000", b"Subject\n\nBody\n")
    found = parse_commit(content)
    assert (found.tree, found.parents) == (tree, (parent,))
    assert found.message == b"Subject\n\nBody\n"
    assert parse_commit(encode_commit(tree, None, b"A <a@b> 1 +0000", b"x")).parents == ()
