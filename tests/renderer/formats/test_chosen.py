from __future__ import annotations

import pytest

from graph.model.errors import Invalid
from graph.model.inventory import Reconciler
from published import MemoryTree
from renderer.formats.chosen import formats, own_directories
from renderer.formats.own import Broken, Own
from renderer.settings import FormatSettings


def settings(text: str) -> FormatSettings:
    return FormatSettings(own_formats=text)


def chosen(text: str):
    tree = MemoryTree({"formats/sveltos/format.yaml": b"{}\n"})
    return formats(settings(text), tree, lambda files, context: {})


def test_every_reconciler_has_words_under_its_name():
    found = chosen("")
    assert set(found) == set(Reconciler)
    assert all(words.name == name for name, words in found.items())


def test_a_format_of_somebodys_own_takes_the_place_of_a_built_in_one():
    found = chosen("kustomize = formats/sveltos")
    assert isinstance(found["kustomize"], Own)
    assert not isinstance(found["flux"], Own)


def test_a_format_that_cannot_be_read_stops_no_other():
    found = chosen("kustomize = formats/missing")
    assert isinstance(found["kustomize"], Broken)
    assert "formats/missing" in found["kustomize"].failure.message


@pytest.mark.parametrize(
    "text",
    [
        "sveltos=formats/x",
        "ansible=formats/x",
        "flux=../x",
        "flux=/x",
        "flux=clusters/x",
        "flux=.git",
    ],
)
def test_only_known_reconcilers_and_directories_of_the_owner_are_taken(text: str):
    with pytest.raises(Invalid) as refused:
        own_directories(settings(text))
    assert refused.value.hint


@pytest.mark.parametrize("text", ["flux", "flux=", "=x", "flux=a,flux=b"])
def test_what_is_not_written_as_pairs_is_refused(text: str):
    with pytest.raises(ValueError):
        settings(text)
