"""Lines written the quick way hold the patches that the format makes, and tell their values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import Invalid
from graph.model.workload import Application, FieldTarget, LateBound
from renderer.flow import flow, ordered
from renderer.formats.ansible import Ansible
from renderer.formats.argocd import ArgoCD
from renderer.formats.flux import Flux
from renderer.formats.kustomize import Kustomize
from renderer.formats.own import Description, Own, Taker
from renderer.formats.port import Format
from renderer.formats.terse import terse
from renderer.plan.binder import Binder
from renderer.plan.pointer import Line, Pointer, read_pointer
from renderer.settings import FormatSettings

SETTINGS = FormatSettings.model_validate({})
POS = Application(
    "pos",
    "shop",
    late_bound=(
        LateBound("host", fields=(FieldTarget("ConfigMap/settings", "/data/host"),)),
        LateBound(
            r"it\.s.odd", fields=(FieldTarget("ConfigMap/set.tings", "/it's~1{a:\"%s\"}/'"),)
        ),
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
LATE = st.dictionaries(st.sampled_from(["host", r"it\.s.odd", "store", "unused"]), VALUES)
TAKER = Taker(kind="Profile", pointer="/spec/it's")
FORMATS = (
    *(Flux(SETTINGS), ArgoCD(SETTINGS), Kustomize(), Ansible()),
    Own("own", Description({}, TAKER), lambda files, context: files),
)
DIRECTORY = "apps/pos/overlays/1f3a9c02d4b5e6f7"


@pytest.mark.parametrize("odd", ["a b", "a\nb", "", "{a}", "a\u2028b", "# a"])
def test_no_key_breaks_out_of_its_comment(odd: str) -> None:
    field = FieldTarget("ConfigMap/settings", "/data/host")
    binder = Binder(Flux(SETTINGS), replace(POS, late_bound=(LateBound(odd, fields=(field,)),)))
    with pytest.raises(Invalid, match="late-bound key") as refusal:
        binder.line(DIRECTORY, {odd: "x"})
    assert refusal.value.hint


@pytest.mark.parametrize("odd", ["set\ntings", "set\x85tings", "set\u2028tings", "set\ttings"])
@pytest.mark.parametrize("words", [each for each in FORMATS if not isinstance(each, Ansible)])
def test_no_object_breaks_out_of_its_line(words: Format, odd: str) -> None:
    late = LateBound("host", fields=(FieldTarget(f"ConfigMap/{odd}", "/data/host"),))
    with pytest.raises(Invalid, match="does not stand on a line") as refusal:
        Binder(words, replace(POS, late_bound=(late,))).line(DIRECTORY, {"host": "x"})
    assert refusal.value.hint


@pytest.mark.parametrize("words", FORMATS)
@given(some=st.lists(LATE, max_size=4))
def test_patches_are_those_of_the_format(words: Format, some: list[dict[str, object]]) -> None:
    binder = Binder(words, POS)
    for late in some:
        slow = tuple(terse(each) for each in words.patches(POS, late))
        assert binder.line(DIRECTORY, late).patches == slow


@pytest.mark.parametrize("words", FORMATS)
@given(late=LATE)
def test_a_line_tells_the_values_it_was_made_of(words: Format, late: dict[str, object]) -> None:
    line = Binder(words, POS).line(DIRECTORY, late)
    read = read_pointer("store-1", Pointer("store-1", lines={"pos": line}).content()).lines["pos"]
    assert read == line
    assert flow(read.late_values) == flow(ordered(late))


def test_a_line_names_the_keys_of_its_values_and_holds_those_that_fill_nothing() -> None:
    binder = Binder(Kustomize(), POS)
    late = {"store": "00042", "unused": "it's", "host": "a.example"}
    assert binder.line(DIRECTORY, late) == Line(
        DIRECTORY,
        """host store store {"unused":"it's"}""",
        (
            "{target: {kind: ConfigMap, name: settings, namespace: shop}, patch: "
            """'[{"op":"add","path":"/data/host","value":"a.example"},"""
            """{"op":"add","path":"/data/store","value":"00042"}]'}""",
            "{target: {kind: Deployment, name: pos, namespace: shop}, patch: "
            """'[{"op":"replace","path":"/spec/template/spec/containers/0/env/0","""
            """"value":"00042"}]'}""",
        ),
    )
    assert binder.line(DIRECTORY, {"unused": 1}) == Line(DIRECTORY, '{"unused":1}')
