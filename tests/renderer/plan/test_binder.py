"""Patches written the quick way are those that the format makes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.workload import Application, FieldTarget, LateBound
from renderer.flow import flow
from renderer.formats.argocd import ArgoCD
from renderer.formats.flux import Flux
from renderer.formats.kustomize import Kustomize
from renderer.formats.port import Format
from renderer.plan.binder import Binder
from renderer.settings import FormatSettings

SETTINGS = FormatSettings.model_validate({})
POS = Application(
    "pos",
    "shop",
    late_bound=(
        LateBound("host", fields=(FieldTarget("ConfigMap/settings", "/data/host"),)),
        LateBound(
            "store",
            fields=(
                FieldTarget("ConfigMap/settings", "/data/store"),
                FieldTarget("Deployment/pos", "/spec/template/spec/containers/0/env/0"),
            ),
        ),
        LateBound("unused"),
    ),
)
TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, width=16)
SCALARS = TEXTS | NUMBERS | st.booleans() | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXTS, each, max_size=3),
    max_leaves=5,
)
LATE = st.dictionaries(st.sampled_from(["host", "store", "unused"]), VALUES)


@pytest.mark.parametrize("words", [Flux(SETTINGS), ArgoCD(SETTINGS), Kustomize()])
@given(some=st.lists(LATE, max_size=4))
def test_patches_are_those_of_the_format(words: Format, some: list[dict[str, object]]) -> None:
    binder = Binder(words, POS)
    for late in some:
        slow = tuple(flow(each) for each in words.patches(POS, late))
        assert binder.patches(late) == slow
