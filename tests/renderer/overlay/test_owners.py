from __future__ import annotations

from collections import Counter
from typing import ClassVar

import pytest

from graph.model.errors import Rejected
from memory_publisher import MemoryTree
from renderer.failure import Failure, Unrenderable
from renderer.overlay.base_reading import BASE_BYTES_MAX, FILE_BYTES_MAX, PATHS_MAX
from renderer.overlay.owners import Owners, Read

MAP = b"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
TWO = b"""\
apiVersion: v1
kind: List
items:
- {kind: Service, metadata: {name: b}}
- {kind: Service, metadata: {name: c}}
---
{kind: Job, metadata: {name: d}}
"""


def owners(**files: bytes) -> Owners:
    """Files below apps/x; two underscores stand for a dot, three for a slash."""
    return Owners(
        MemoryTree(
            {
                "apps/x/" + path.replace("___", "/").replace("__", "."): content
                for path, content in files.items()
            }
        )
    )


def refusal(base: Owners, directory: str = "apps/x/base") -> Failure:
    """Why a base does not build."""
    with pytest.raises(Unrenderable) as caught:
        base.holdings(directory)
    return caught.value.failure


def test_a_base_is_followed_into_the_directories_it_is_made_of() -> None:
    found = owners(
        base___kustomization__yaml=b"resources: [../shared, two.yaml]\nnamespace: x",
        base___two__yaml=TWO,
        shared___kustomization__yml=b"resources: [a.yaml]\nsecretGenerator: [{name: s}]",
        shared___a__yaml=MAP,
    ).holdings("apps/x/base")
    assert found.is_complete
    assert found.places == {
        ("Secret", "s"): "apps/x/shared/kustomization.yml",
        ("ConfigMap", "a"): "apps/x/shared/a.yaml",
        ("Service", "b"): "apps/x/base/two.yaml",
        ("Service", "c"): "apps/x/base/two.yaml",
        ("Job", "d"): "apps/x/base/two.yaml",
    }
    assert found.objects["Secret", "s"] is None


@pytest.mark.parametrize(
    "kustomization",
    [
        b"resources: [https://example.com/base, a.yaml]",
        b"resources: [github.com/a/b?ref=v1, a.yaml]",
        b"resources: [a.yaml]\nnamePrefix: x-",
        b"resources: [a.yaml]\npatches: [{path: a.yaml}]",
        b"metadata: {annotations: {x: &x y}, labels: {x: *x}}\nresources: [a.yaml]",
        b"resources: [a.yaml]\n---\nresources: []",
    ],
)
def test_what_cannot_be_told_is_not_taken_for_complete(kustomization: bytes) -> None:
    base = owners(base___kustomization__yaml=kustomization, base___a__yaml=MAP)
    assert not base.holdings("apps/x/base").is_complete


def test_a_base_of_itself_comes_to_an_end() -> None:
    base = owners(base___kustomization__yaml=b"resources: [../base]")
    assert refusal(base).message == "../base leads back to here"


def test_a_file_that_is_not_there_is_named_with_who_wants_it() -> None:
    base = owners(base___kustomization__yaml=b"resources: [../../../../etc/passwd]")
    found = refusal(base)
    assert (found.file, found.line) == ("apps/x/base/kustomization.yaml", 1)
    assert found.message == "../../../../etc/passwd is outside the repository"
    found = refusal(owners(base___kustomization__yaml=b"namespace: a\nresources: [gone.yaml]"))
    assert (found.line, found.message) == (2, "gone.yaml is not there")


class Counted(MemoryTree):
    """A tree that counts what is read of it."""

    read_paths: ClassVar[Counter[str]] = Counter()

    def read(self, path: str) -> bytes | None:
        self.read_paths[path] += 1
        return super().read(path)


def test_directories_that_are_named_many_times_are_each_read_once() -> None:
    names = [f"d{number}" for number in range(40)]
    Counted.read_paths.clear()
    tree = Counted(
        {
            f"apps/x/{name}/kustomization.yaml": b"resources: [%b]"
            % ", ".join(f"../{other}" for other in names[at + 1 :]).encode()
            for at, name in enumerate(names)
        }
    )
    assert not Owners(tree).holdings("apps/x/d0").is_complete
    files = {path: count for path, count in Counted.read_paths.items() if path in tree.files}
    assert set(files.values()) == {1}
    assert len(files) == 40


def padded(name: str, length: int) -> bytes:
    """A ConfigMap of so many bytes."""
    text = f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}\n".encode()
    return text + b"#" * (length - len(text))


def test_a_file_that_is_too_long_is_not_parsed_and_ends_what_is_known_of_the_base() -> None:
    listed = b"resources: [first.yaml, long.yaml, last.yaml]"
    for length, known in ((FILE_BYTES_MAX, {"a", "b", "c"}), (FILE_BYTES_MAX + 1, {"a"})):
        found = owners(
            base___kustomization__yaml=listed,
            base___first__yaml=padded("a", 100),
            base___long__yaml=padded("b", length),
            base___last__yaml=padded("c", 100),
        ).holdings("apps/x/base")
        assert {name for _, name in found.objects} == known
        assert found.is_complete == ("c" in known)


def test_many_files_are_read_up_to_a_bound_for_all_of_them_together() -> None:
    names = [f"f{number}" for number in range(12)]
    listed = ", ".join(f"{name}.yaml" for name in names).encode()
    files = {f"apps/x/base/{name}.yaml": padded(name, FILE_BYTES_MAX) for name in names}
    files["apps/x/base/kustomization.yaml"] = b"resources: [%b]" % listed
    found = Owners(MemoryTree(files)).holdings("apps/x/base")
    assert len(found.objects) == BASE_BYTES_MAX // FILE_BYTES_MAX - 1, "the list counts too"
    assert not found.is_complete


def test_a_base_of_more_paths_than_are_compared_at_every_commit_is_not_known() -> None:
    files = {f"apps/x/base/{number}.yaml": b"" for number in range(PATHS_MAX)}
    listed = ", ".join(f"{number}.yaml" for number in range(PATHS_MAX)).encode()
    files["apps/x/base/kustomization.yaml"] = b"resources: [%b]" % listed
    read: Read = {}
    found = Owners(MemoryTree(files), read).holdings("apps/x/base")
    assert not found.is_complete
    assert len(read["base", "apps/x/base"].seen) == PATHS_MAX


class Refusing(MemoryTree):
    """A tree with a file that is more than anybody reads."""

    def read(self, path: str) -> bytes | None:
        if path.endswith("huge.yaml"):
            raise Rejected("67,108,865 bytes")
        return super().read(path)


@pytest.mark.parametrize("listed", [b"huge.yaml, a.yaml", b"huge.yaml"])
def test_a_file_that_nobody_reads_leaves_the_base_unknown(listed: bytes) -> None:
    files = {
        "apps/x/base/kustomization.yaml": b"resources: [%b]" % listed,
        "apps/x/base/a.yaml": MAP,
        "apps/x/base/huge.yaml": b"",
    }
    found = Owners(Refusing(files)).holdings("apps/x/base")
    assert not found.is_complete
    assert not found.objects


@pytest.mark.parametrize("metadata", [b"text", b"[name]", b"{}", b"7"])
def test_an_object_without_a_name_is_told_with_its_file_and_line(metadata: bytes) -> None:
    base = owners(
        base___kustomization__yaml=b"resources: [a.yaml]",
        base___a__yaml=MAP + b"\n---\n# a job\n{kind: Job, metadata: %b}" % metadata,
    )
    found = refusal(base)
    assert (found.file, found.line) == ("apps/x/base/a.yaml", 4)
    assert found.message == "a Job has no metadata.name"


def test_two_objects_of_one_kind_and_name_are_both_told_apart_by_their_versions() -> None:
    found = owners(
        base___kustomization__yaml=b"resources: [a.yaml]",
        base___a__yaml=b"""\
{apiVersion: a.example/v1, kind: Thing, metadata: {name: x}}
---
{apiVersion: b.example/v1, kind: Thing, metadata: {name: x}}
""",
    ).holdings("apps/x/base")
    assert found.versions == {("Thing", "x"): {"a.example/v1", "b.example/v1"}}
