from __future__ import annotations

from memory_publisher import MemoryTree
from renderer.artifact.edition import Edition

FILES = {
    "apps/pos/base/kustomization.yaml": b"broken",
    "apps/pos/overlays/0123456789abcdef/kustomization.yaml": b"overlay",
    "apps/menu/base/kustomization.yaml": b"menu",
    "shared/kustomization.yaml": b"shared",
}
KEPT = {".trellis/last-good/pos/base/kustomization.yaml": b"good"}
BASES = ("apps/pos/base/kustomization.yaml", "apps/menu/base/kustomization.yaml")


def test_owners_files_of_what_is_broken_are_what_they_were() -> None:
    edition = Edition(MemoryTree(FILES | KEPT))
    assert edition.read(BASES[0]) == b"good"
    assert edition.read_many(BASES) == {BASES[0]: b"good", BASES[1]: b"menu"}
    assert edition.names("apps/pos/base") == ("kustomization.yaml",)
    assert edition.read("apps/pos/overlays/0123456789abcdef/kustomization.yaml") == b"overlay"
    assert edition.read("shared/kustomization.yaml") == b"shared"
